//! Where a chat template comes from, and the words it may use.

use std::{fs, io::Read};

use checkpoint::Checkpoint;
use serde_json::{Map, Value};

use crate::{Error, tokenizer::token_content};

/// Larger templates are refused.
const TEMPLATE_BYTES_MAX: u64 = 4 << 20;
/// Metadata of GGUF files.
const GGUF_TEMPLATE: &str = "tokenizer.chat_template";

/// The source of a template.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The file.
    pub origin: String,
    /// The template for conversations.
    pub main: String,
    /// Another one for conversations with tools.
    pub with_tools: Option<String>,
    /// `bos_token` and other names that templates use.
    pub words: Map<String, Value>,
}

impl Source {
    /// All text of the templates.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.main, self.with_tools.as_deref().unwrap_or(""))
    }
}

/// The template of a checkpoint: `chat_template.jinja`, else `tokenizer_config.json`, else GGUF metadata.
///
/// # Errors
/// There is none, or a file that should have it cannot be read.
pub fn find(checkpoint: &Checkpoint) -> Result<Source, Error> {
    let config = checkpoint.sidecar("tokenizer_config.json")?.unwrap_or(Value::Null);
    let words = if checkpoint.gguf().is_some() { gguf_words(checkpoint) } else { words(&config) };
    let found =
        |origin: String, (main, with_tools)| Source { origin, main, with_tools, words: words.clone() };
    let path = checkpoint.directory().join("chat_template.jinja");
    if checkpoint.gguf().is_none() && fs::symlink_metadata(&path).is_ok() {
        let mut text = String::new();
        let refused = |source| Error::Io { path: path.clone(), source };
        let file = fs::File::open(&path).map_err(refused)?;
        file.take(TEMPLATE_BYTES_MAX + 1).read_to_string(&mut text).map_err(refused)?;
        let origin = path.display().to_string();
        if text.len() as u64 > TEMPLATE_BYTES_MAX {
            let reason = format!("needed at most {TEMPLATE_BYTES_MAX} bytes; found more");
            return Err(Error::Template { origin, reason });
        }
        return Ok(found(origin, (text, None)));
    }
    let (origin, value) = match checkpoint.gguf() {
        Some(_) => (checkpoint.config().source().to_string(), checkpoint.config().get(GGUF_TEMPLATE)),
        None => {
            let origin = checkpoint.directory().join("tokenizer_config.json").display().to_string();
            (origin, config.get("chat_template").filter(|value| !value.is_null()))
        }
    };
    let Some(value) = value else {
        return Err(Error::NoTemplate { origin: checkpoint.directory().display().to_string() });
    };
    let templates = named(value).ok_or_else(|| Error::Field {
        origin: origin.clone(),
        field: "chat_template".to_string(),
        needed: "a string, or a list of named templates with one called `default`".to_string(),
        found: shown(value),
    })?;
    Ok(found(origin, templates))
}

/// A template, or a list of `{"name", "template"}`, or an object of them by name.
fn named(value: &Value) -> Option<(String, Option<String>)> {
    if let Some(text) = value.as_str() {
        return Some((text.to_string(), None));
    }
    let by_name = |name: &str| match value {
        Value::Array(list) => {
            let one = list.iter().find(|one| one.get("name").and_then(Value::as_str) == Some(name))?;
            one.get("template")?.as_str().map(str::to_string)
        }
        _ => value.get(name)?.as_str().map(str::to_string),
    };
    Some((by_name("default")?, by_name("tool_use")))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let names: Vec<&str> = list.iter().filter_map(|one| one.get("name")?.as_str()).collect();
            format!("templates named {names:?}")
        }
        Value::Object(_) => "an object without it".to_string(),
        other => other.to_string().chars().take(60).collect(),
    }
}

/// `bos_token`, `eos_token` and the like.
fn words(config: &Value) -> Map<String, Value> {
    let fields = config.as_object().into_iter().flatten();
    let tokens = fields.filter(|(name, _)| name.ends_with("_token"));
    tokens.filter_map(|(name, value)| Some((name.clone(), Value::from(token_content(value)?)))).collect()
}

fn gguf_words(checkpoint: &Checkpoint) -> Map<String, Value> {
    let tokens = checkpoint.gguf().and_then(|lists| lists.strings("tokenizer.ggml.tokens")).unwrap_or(&[]);
    let word = |name: &str, key: &str| {
        let id = checkpoint.config().get(&format!("tokenizer.ggml.{key}_token_id"))?.as_u64()?;
        Some((format!("{name}_token"), Value::from(tokens.get(usize::try_from(id).ok()?)?.as_str())))
    };
    let names =
        [("bos", "bos"), ("eos", "eos"), ("unk", "unknown"), ("pad", "padding"), ("sep", "seperator")];
    names.into_iter().filter_map(|(name, key)| word(name, key)).collect()
}
