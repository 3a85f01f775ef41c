//! The files beside the weights: copied, and an index of what is in which shard.

use std::{collections::BTreeMap, fs, io, path::Path};

use serde_json::json;

use super::state::write_whole;
use crate::failure::Failure;

/// Files that are copied where they are there. The configuration comes last: without it a folder is not a checkpoint, so
/// half a conversion cannot be taken for a model.
const COPIED: [&str; 14] = [
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "tokenizer.model",
    "tiktoken.model",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
    "preprocessor_config.json",
    "processor_config.json",
    "config.json",
];

/// Copies what belongs to a checkpoint beside its weights, following links.
///
/// # Errors
/// A file cannot be read or written.
pub fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    for name in COPIED {
        let source = from.join(name);
        match fs::read(&source) {
            Ok(bytes) => write_whole(&to.join(name), &bytes)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Failure::io(&source, error)),
        }
    }
    Ok(())
}

/// Writes the index of a checkpoint of several shards: tensor to file.
///
/// # Errors
/// The folder cannot be written.
pub fn index(to: &Path, weight_map: &BTreeMap<String, String>, total_bytes: u64) -> Result<(), Failure> {
    let index = json!({"metadata": {"total_size": total_bytes}, "weight_map": weight_map});
    write_whole(&to.join("model.safetensors.index.json"), index.to_string().as_bytes())
}
