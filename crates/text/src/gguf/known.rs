//! The kinds of vocabulary and cutting rules that are known by name. The names are data, for many are those of models.

use std::{collections::BTreeMap, sync::LazyLock};

use checkpoint::Config;
use serde::Deserialize;

use crate::Error;

/// How a vocabulary is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Merges over the byte alphabet, inside of words.
    ByteLevel,
    /// Merges that follow from the scores of the tokens, over whole texts.
    Scores,
    /// Merges over characters, over whole texts.
    Merges,
}

/// How text is cut into words before merges.
#[derive(Clone, Debug, Deserialize)]
pub struct Pre {
    /// Patterns, applied one after the other to what is left between matches and to the matches alike.
    pub split: Vec<String>,
    /// Whether a word that is a token is taken whole.
    #[serde(default)]
    pub ignore_merges: bool,
    /// Whether a beginning token comes first where the file does not say.
    #[serde(default)]
    pub add_bos: bool,
}

#[derive(Deserialize)]
struct Table {
    models: BTreeMap<String, Kind>,
    pre: BTreeMap<String, Pre>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../pre_tokenizers.json"))
        .expect("the file is part of this crate and tested")
});

/// The kind of the vocabulary.
///
/// # Errors
/// It is absent or not known.
pub fn kind(config: &Config) -> Result<Kind, Error> {
    const KEY: &str = "tokenizer.ggml.model";
    let name = config.str(KEY)?;
    TABLE.models.get(name).copied().ok_or_else(|| config.error(KEY, &one_of(&TABLE.models), name).into())
}

/// The cutting rule; files from before it was written down have the one called `default`.
///
/// # Errors
/// It is not known.
pub fn pre(config: &Config) -> Result<Pre, Error> {
    const KEY: &str = "tokenizer.ggml.pre";
    let name = config.opt_str(KEY)?.unwrap_or("default");
    TABLE.pre.get(name).cloned().ok_or_else(|| config.error(KEY, &one_of(&TABLE.pre), name).into())
}

fn one_of<T>(names: &BTreeMap<String, T>) -> String {
    format!("one of {}", names.keys().map(String::as_str).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn refuses_unknown_names() {
        let config =
            Config::new("m.gguf", json!({"tokenizer.ggml.model": "other", "tokenizer.ggml.pre": "other"}));
        for error in [kind(&config).err(), pre(&config).err()] {
            let text = error.expect("it is unknown").to_string();
            assert!(text.starts_with("m.gguf: field `tokenizer.ggml."), "{text}");
            assert!(text.ends_with("; found other"), "{text}");
        }
        let silent = Config::new("m.gguf", json!({}));
        assert_eq!(pre(&silent).expect("old files say nothing").split.len(), 4);
    }

    #[test]
    fn patterns_compile() {
        for (name, pre) in &TABLE.pre {
            for pattern in &pre.split {
                tokenizers::utils::SysRegex::new(pattern).unwrap_or_else(|error| panic!("{name}: {error}"));
            }
        }
    }
}
