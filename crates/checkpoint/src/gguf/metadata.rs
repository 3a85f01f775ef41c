//! The lists of a GGUF file that are too long for a configuration: vocabularies, merges, scores.

use std::collections::HashMap;

/// The long lists in the metadata of a GGUF file, by key. Everything shorter is in [`crate::Checkpoint::config`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GgufMetadata {
    pub(super) strings: HashMap<String, Vec<String>>,
    pub(super) f32s: HashMap<String, Vec<f32>>,
    pub(super) i32s: HashMap<String, Vec<i32>>,
    /// Type numbers of the tensors whose dtype does not tell them.
    pub(super) other_types: HashMap<String, u32>,
}

impl GgufMetadata {
    /// A list of strings, such as `tokenizer.ggml.tokens`.
    #[must_use]
    pub fn strings(&self, key: &str) -> Option<&[String]> {
        self.strings.get(key).map(Vec::as_slice)
    }

    /// A list of floats, such as `tokenizer.ggml.scores`.
    #[must_use]
    pub fn f32s(&self, key: &str) -> Option<&[f32]> {
        self.f32s.get(key).map(Vec::as_slice)
    }

    /// A list of whole numbers, such as `tokenizer.ggml.token_type`, whatever their width in the file.
    #[must_use]
    pub fn i32s(&self, key: &str) -> Option<&[i32]> {
        self.i32s.get(key).map(Vec::as_slice)
    }

    /// The type number of a tensor that has [`units::Dtype::GgufOther`].
    #[must_use]
    pub fn type_number(&self, tensor: &str) -> Option<u32> {
        self.other_types.get(tensor).copied()
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.strings.contains_key(key) || self.f32s.contains_key(key) || self.i32s.contains_key(key)
    }

    /// Takes over what another part of the same model says about its tensors.
    pub(crate) fn adopt_types(&mut self, part: GgufMetadata) {
        self.other_types.extend(part.other_types);
    }
}
