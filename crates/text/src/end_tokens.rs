//! The tokens that end an answer.

use std::collections::BTreeSet;

use checkpoint::{Checkpoint, Config};
use serde_json::Value;

use crate::{Error, Text, tokenizer::token_content};

/// Written by templates at the end of every turn. A model that was trained on the template writes them too, whether or
/// not its configuration says that they end an answer.
const TURN_ENDS: [&str; 7] =
    ["<|im_end|>", "<|end|>", "<|eot_id|>", "<end_of_turn>", "<turn|>", "<|end_of_turn|>", "<|endofturn|>"];
/// A template with this one ends messages inside of a turn with `<|end|>`.
const TRUE_END: &str = "<|return|>";

/// Every token that ends an answer, in rising order: those that `config.json`, `generation_config.json`,
/// `tokenizer_config.json` or GGUF metadata name, and the ends of turns that the chat template writes.
///
/// # Errors
/// A field that should name one has another type.
pub fn end_tokens(checkpoint: &Checkpoint, text: Option<&Text>) -> Result<Vec<u32>, Error> {
    let mut ids = BTreeSet::new();
    let config = checkpoint.config();
    if checkpoint.gguf().is_some() {
        for key in ["eos_token_id", "eot_token_id", "eom_token_id", "eos_token_ids", "eog_token_ids"] {
            ids.extend(read(config, &format!("tokenizer.ggml.{key}"))?);
        }
    } else {
        ids.extend(read(config, "eos_token_id")?);
        if let Some(inner) = config.object("text_config")? {
            ids.extend(read(&inner, "eos_token_id")?);
        }
        if let Some(generation) = checkpoint.sidecar("generation_config.json")? {
            let origin = checkpoint.directory().join("generation_config.json").display().to_string();
            ids.extend(read(&Config::new(origin, generation), "eos_token_id")?);
        }
    }
    let Some(text) = text else { return Ok(ids.into_iter().collect()) };
    let tokenizer = text.tokenizer();
    let named = checkpoint.sidecar("tokenizer_config.json")?;
    if let Some(token) = named.as_ref().and_then(|config| token_content(config.get("eos_token")?)) {
        ids.extend(tokenizer.id(token));
    }
    if let Ok(template) = text.template() {
        let has_true_end = template.text().contains(TRUE_END);
        let ends = TURN_ENDS.into_iter().filter(|end| template.text().contains(end));
        for end in ends.filter(|&end| !(has_true_end && end == "<|end|>")) {
            let control = tokenizer.controls().iter().find(|control| control.content == end);
            ids.extend(control.map(|control| control.id));
        }
    }
    Ok(ids.into_iter().collect())
}

/// One id, or a list of them. Some files write -1 for none.
fn read(config: &Config, key: &str) -> Result<Vec<u32>, Error> {
    let refused = |found: &Value| config.error(key, "a token id or a list of them", &found.to_string());
    let one = |value: &Value| match (value.as_u64().map(u32::try_from), value.as_i64()) {
        (Some(Ok(id)), _) => Ok((id != u32::MAX).then_some(id)),
        (_, Some(-1)) => Ok(None),
        _ => Err(Error::from(refused(value))),
    };
    match config.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list.iter().filter_map(|value| one(value).transpose()).collect(),
        Some(value) => Ok(one(value)?.into_iter().collect()),
    }
}
