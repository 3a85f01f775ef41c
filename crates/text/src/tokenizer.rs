//! From text to tokens.

use std::collections::{HashMap, HashSet};

use checkpoint::{Checkpoint, Kind};
use serde_json::{Value, json};

use crate::{
    Decoder, Error,
    controls::{Control, Controls, Piece},
    gguf, prefix,
    vocabulary::{self, Spelling},
};

/// Stands before every text that is not the first, so that the tokenizer does not take it for one. Non-characters:
/// no text has them, and one that does is cut between them.
const ANCHOR: &str = "\u{FDD0}\u{FDD1}";

/// What control tokens that are written out in a text mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specials {
    /// The tokens: the text is a template, written by someone who knows the model.
    Parse,
    /// Their letters: the text is somebody's words.
    AsText,
}

/// A vocabulary and the rules that cut text into it.
#[derive(Debug)]
pub struct Tokenizer {
    origin: String,
    /// Knows no control token, so it cannot make one.
    plain: tokenizers::Tokenizer,
    /// Ids of `plain` that are others in the checkpoint.
    renumbered: HashMap<u32, u32>,
    anchor: u32,
    controls: Controls,
    ids: HashMap<String, u32>,
    bytes: Vec<Box<[u8]>>,
    specials: HashSet<u32>,
    prefix: Vec<u32>,
    is_start_stripped: bool,
}

impl Tokenizer {
    /// The tokenizer of a checkpoint. Special tokens are control tokens, and so are the added tokens that `template`
    /// mentions, for its author means commands by them.
    ///
    /// # Errors
    /// There is none, or it is of a kind that is not known.
    pub fn open(checkpoint: &Checkpoint, template: &str) -> Result<Tokenizer, Error> {
        let (origin, json) = match (checkpoint.kind(), checkpoint.gguf()) {
            (Kind::Gguf, Some(lists)) => {
                (checkpoint.config().source().to_string(), gguf::tokenizer_json(checkpoint.config(), lists)?)
            }
            _ => {
                let origin = checkpoint.directory().join("tokenizer.json").display().to_string();
                let json = checkpoint.sidecar("tokenizer.json")?.ok_or_else(|| absent(checkpoint))?;
                (origin, json)
            }
        };
        let config = checkpoint.sidecar("tokenizer_config.json")?.unwrap_or(Value::Null);
        Tokenizer::from_json(&origin, json, &config, template)
    }

    /// From the content of a `tokenizer.json` and a `tokenizer_config.json` (or null).
    ///
    /// # Errors
    /// It is of a kind that is not known, or contradicts itself.
    pub fn from_json(
        origin: &str,
        mut json: Value,
        config: &Value,
        template: &str,
    ) -> Result<Tokenizer, Error> {
        let broken = |reason: String| Error::Tokenizer { origin: origin.to_string(), reason };
        let spelling = Spelling::from_json(origin, &json)?;
        let mut prefix = prefix::from_json(&json);
        let added = added_tokens(origin, &json)?;
        let (controls, kept): (Vec<_>, Vec<_>) = added
            .iter()
            .cloned()
            .partition(|(token, _)| token.is_special || template.contains(&token.content));
        let mut kept_json: Vec<Value> = kept.iter().map(|(_, json)| json.clone()).collect();
        kept_json
            .push(json!({"id": 0, "content": ANCHOR, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": false}));
        json["added_tokens"] = Value::Array(kept_json);
        for without in ["post_processor", "truncation", "padding", "decoder"] {
            json[without] = Value::Null;
        }
        let bytes = serde_json::to_vec(&json).map_err(|error| broken(error.to_string()))?;
        drop(json);
        let plain = tokenizers::Tokenizer::from_bytes(&bytes).map_err(|error| broken(error.to_string()))?;
        let id_of = |content: &str| plain.token_to_id(content);
        let anchor = id_of(ANCHOR).ok_or_else(|| broken("the vocabulary has no room".to_string()))?;
        let renumbered =
            kept.iter().filter_map(|(token, _)| Some((id_of(&token.content)?, token.id))).collect();
        let mut ids: HashMap<String, u32> = plain.get_vocab(false);
        let bytes = token_bytes(origin, spelling, &ids, &added)?;
        ids.extend(added.iter().map(|(token, _)| (token.content.clone(), token.id)));
        if let Some(bos) = config.get("bos_token").and_then(token_content).and_then(|token| ids.get(token)) {
            match config.get("add_bos_token").and_then(Value::as_bool) {
                Some(true) if !prefix.contains(bos) => prefix.insert(0, *bos),
                Some(false) => prefix.retain(|id| id != bos),
                _ => {}
            }
        }
        Ok(Tokenizer {
            origin: origin.to_string(),
            plain,
            renumbered,
            anchor,
            specials: added.iter().filter(|(token, _)| token.is_special).map(|(token, _)| token.id).collect(),
            controls: Controls::new(controls.into_iter().map(|(token, _)| token).collect()),
            ids,
            bytes,
            prefix,
            is_start_stripped: matches!(spelling, Spelling::Sentence { is_start_stripped: true }),
        })
    }

    /// The tokens of `text`, and nothing before or after them.
    ///
    /// # Errors
    /// The tokenizer has no token for some character.
    pub fn encode(&self, text: &str, specials: Specials) -> Result<Vec<u32>, Error> {
        let pieces = match specials {
            Specials::Parse => self.controls.split(text),
            Specials::AsText if text.is_empty() => Vec::new(),
            Specials::AsText => vec![Piece::Text(text)],
        };
        let mut ids = Vec::new();
        for (at, piece) in pieces.into_iter().enumerate() {
            match piece {
                Piece::Control(id) => ids.push(id),
                Piece::Text(text) => self.encode_ordinary(text, at == 0, &mut ids)?,
            }
        }
        Ok(ids)
    }

    /// Appends the tokens of ordinary text; `is_first` where nothing stands before it.
    pub(crate) fn encode_ordinary(
        &self,
        text: &str,
        is_first: bool,
        ids: &mut Vec<u32>,
    ) -> Result<(), Error> {
        let mut is_first = is_first;
        let mut rest = text;
        while let Some(at) = rest.find(ANCHOR) {
            let (part, after) = rest.split_at(at + '\u{FDD0}'.len_utf8());
            self.encode_part(part, is_first, ids)?;
            (rest, is_first) = (after, false);
        }
        self.encode_part(rest, is_first, ids)
    }

    fn encode_part(&self, text: &str, is_first: bool, ids: &mut Vec<u32>) -> Result<(), Error> {
        if text.is_empty() {
            return Ok(());
        }
        let encoding = if is_first {
            self.plain.encode_fast(text, false)
        } else {
            self.plain.encode_fast(format!("{ANCHOR}{text}"), false)
        };
        let encoding = encoding
            .map_err(|error| Error::Encode { origin: self.origin.clone(), reason: error.to_string() })?;
        let made = encoding.get_ids().iter().copied().filter(|&id| id != self.anchor);
        ids.extend(made.map(|id| self.renumbered.get(&id).copied().unwrap_or(id)));
        Ok(())
    }

    /// The text of `ids` without special tokens.
    #[must_use]
    pub fn decode(&self, ids: &[u32]) -> String {
        let mut decoder = self.decoder();
        let mut text: String = ids.iter().map(|&id| decoder.push(self, id)).collect();
        text.push_str(&decoder.finish());
        text
    }

    /// Decodes token by token.
    #[must_use]
    pub fn decoder(&self) -> Decoder {
        Decoder::new(self.is_start_stripped)
    }

    /// The bytes of one token, special ones spelt out; empty outside the vocabulary.
    #[must_use]
    pub fn token_bytes(&self, id: u32) -> Vec<u8> {
        self.bytes(id).to_vec()
    }

    pub(crate) fn bytes(&self, id: u32) -> &[u8] {
        self.bytes.get(id as usize).map_or(&[], |bytes| bytes)
    }

    /// The id of a token as the vocabulary spells it.
    #[must_use]
    pub fn id(&self, token: &str) -> Option<u32> {
        self.ids.get(token).copied()
    }

    /// Whether the token has no text of its own.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.specials.contains(&id)
    }

    /// All special ids in rising order.
    #[must_use]
    pub fn special_ids(&self) -> Vec<u32> {
        let mut ids: Vec<u32> = self.specials.iter().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// One more than the largest id.
    #[must_use]
    pub fn vocab_size(&self) -> usize {
        self.bytes.len()
    }

    /// The tokens that the model expects before every text: usually one that begins a sequence, or none.
    #[must_use]
    pub fn prefix(&self) -> &[u32] {
        &self.prefix
    }

    pub(crate) fn controls(&self) -> &Controls {
        &self.controls
    }
}

/// A token in a configuration: a string, or an object with one.
pub(crate) fn token_content(value: &Value) -> Option<&str> {
    value.as_str().or_else(|| value.get("content")?.as_str())
}

fn absent(checkpoint: &Checkpoint) -> Error {
    let directory = checkpoint.directory().to_path_buf();
    let other = ["tiktoken.model", "tokenizer.model", "vocab.json"]
        .into_iter()
        .find(|name| directory.join(name).exists());
    let found = other.map_or("no tokenizer".to_string(), |name| format!("only {name}, which is not read"));
    Error::NoTokenizer { directory, found }
}

fn added_tokens(origin: &str, json: &Value) -> Result<Vec<(Control, Value)>, Error> {
    let list = json.get("added_tokens").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let read = |(at, json): (usize, &Value)| {
        let is = |flag: &str| json.get(flag).and_then(Value::as_bool).unwrap_or(false);
        let id = json.get("id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
        let content = json.get("content").and_then(Value::as_str).filter(|content| !content.is_empty());
        let (Some(id), Some(content)) = (id, content) else {
            return Err(Error::Field {
                origin: origin.to_string(),
                field: format!("added_tokens[{at}]"),
                needed: "an id and a content".to_string(),
                found: json.to_string(),
            });
        };
        let control = Control {
            content: content.to_string(),
            id,
            is_left_stripping: is("lstrip"),
            is_right_stripping: is("rstrip"),
            is_special: is("special"),
        };
        Ok((control, json.clone()))
    };
    list.iter().enumerate().map(read).collect()
}

fn token_bytes(
    origin: &str,
    spelling: Spelling,
    ids: &HashMap<String, u32>,
    added: &[(Control, Value)],
) -> Result<Vec<Box<[u8]>>, Error> {
    let largest = ids.values().copied().chain(added.iter().map(|(token, _)| token.id)).max();
    let count = largest.map_or(0, |id| id as usize + 1);
    if count > units::limits::VOCAB_MAX {
        return Err(Error::Field {
            origin: origin.to_string(),
            field: "model.vocab".to_string(),
            needed: format!("ids below {}", units::limits::VOCAB_MAX),
            found: (count - 1).to_string(),
        });
    }
    let alphabet = vocabulary::alphabet();
    let mut bytes = vec![Box::default(); count];
    for (token, &id) in ids {
        bytes[id as usize] = spelling.bytes(token, &alphabet).into_boxed_slice();
    }
    for (token, _) in added {
        bytes[token.id as usize] = token.content.clone().into_bytes().into_boxed_slice();
    }
    Ok(bytes)
}
