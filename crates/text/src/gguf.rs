//! Vocabularies inside GGUF files, as the `tokenizer.json` that they were made from.

use checkpoint::{Config, GgufMetadata};
use serde_json::Value;

use crate::Error;

/// The content of a `tokenizer.json`.
///
/// # Errors
/// The vocabulary is absent or of a kind that is not known.
pub fn tokenizer_json(config: &Config, _lists: &GgufMetadata) -> Result<Value, Error> {
    let model = config.str("tokenizer.ggml.model")?;
    Err(config.error("tokenizer.ggml.model", "a known kind of vocabulary", model).into())
}
