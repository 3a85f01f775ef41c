//! Vocabularies inside GGUF files, as the `tokenizer.json` that they could have been made from.

mod known;
mod merges;

use checkpoint::{Config, GgufMetadata};
use serde_json::{Map, Value, json};

use crate::Error;
use known::{Kind, Pre};

const TOKENS: &str = "tokenizer.ggml.tokens";
const MERGES: &str = "tokenizer.ggml.merges";
const SCORES: &str = "tokenizer.ggml.scores";
const TYPES: &str = "tokenizer.ggml.token_type";

/// Numbers in `tokenizer.ggml.token_type`.
mod token_type {
    pub const UNKNOWN: i32 = 2;
    pub const CONTROL: i32 = 3;
    pub const USER_DEFINED: i32 = 4;
}

/// The content of a `tokenizer.json`.
///
/// # Errors
/// The vocabulary is absent, contradicts itself, or is of a kind or cutting rule that is not known.
pub fn tokenizer_json(config: &Config, lists: &GgufMetadata) -> Result<Value, Error> {
    let kind = known::kind(config)?;
    let tokens = lists.strings(TOKENS).ok_or_else(|| config.error(TOKENS, "a list of strings", "nothing"))?;
    let types = lists.i32s(TYPES).unwrap_or(&[]);
    if !types.is_empty() && types.len() != tokens.len() {
        return Err(config
            .error(TYPES, &format!("{} numbers", tokens.len()), &types.len().to_string())
            .into());
    }
    let mut vocab = Map::new();
    for (id, token) in tokens.iter().enumerate() {
        vocab.entry(token.as_str()).or_insert(Value::from(id));
    }
    let unknown =
        types.iter().position(|&number| number == token_type::UNKNOWN).map(|id| tokens[id].as_str());
    let mut built = match kind {
        Kind::ByteLevel => byte_level(&known::pre(config)?, vocab, listed(config, lists)?),
        Kind::Merges => sentence(vocab, listed(config, lists)?, unknown, false),
        Kind::Scores => {
            let scores =
                lists.f32s(SCORES).ok_or_else(|| config.error(SCORES, "a list of numbers", "nothing"))?;
            if scores.len() != tokens.len() {
                let needed = format!("{} numbers", tokens.len());
                return Err(config.error(SCORES, &needed, &scores.len().to_string()).into());
            }
            let has_prefix = config.bool_or("tokenizer.ggml.add_space_prefix", true)?;
            sentence(vocab, merges::from_scores(tokens, scores), unknown, has_prefix)
        }
    };
    built["added_tokens"] = added(kind, tokens, types);
    let begins = match kind {
        Kind::ByteLevel => known::pre(config)?.add_bos,
        Kind::Merges | Kind::Scores => true,
    };
    if config.bool_or("tokenizer.ggml.add_bos_token", begins)? {
        built["post_processor"] = beginning(config, tokens)?;
    }
    Ok(built)
}

/// The written list of merges.
fn listed(config: &Config, lists: &GgufMetadata) -> Result<Value, Error> {
    let list = lists.strings(MERGES).ok_or_else(|| config.error(MERGES, "a list of strings", "nothing"))?;
    let pair = |line: &String| {
        // A piece may itself begin with a space.
        let at = line.char_indices().skip(1).find(|&(_, letter)| letter == ' ').map(|(at, _)| at)?;
        Some(json!([line[..at], line[at + 1..]]))
    };
    let pairs = list.iter().enumerate().map(|(at, line)| {
        pair(line).ok_or_else(|| config.error(&format!("{MERGES}[{at}]"), "two pieces", line).into())
    });
    pairs.collect::<Result<Value, Error>>()
}

fn byte_level(pre: &Pre, vocab: Map<String, Value>, merges: Value) -> Value {
    let cut = |pattern: &String| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
    let byte_level =
        json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
    let steps: Vec<Value> = pre.split.iter().map(cut).chain([byte_level.clone()]).collect();
    json!({
        "version": "1.0",
        "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
        "decoder": byte_level,
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "ignore_merges": pre.ignore_merges},
    })
}

fn sentence(vocab: Map<String, Value>, merges: Value, unknown: Option<&str>, has_prefix: bool) -> Value {
    let spaces = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
    let mut normalizers = vec![spaces];
    if has_prefix {
        normalizers.insert(0, json!({"type": "Prepend", "prepend": "▁"}));
    }
    let mut decoders = vec![
        json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}),
        json!({"type": "ByteFallback"}),
        json!({"type": "Fuse"}),
    ];
    if has_prefix {
        decoders.push(json!({"type": "Strip", "content": " ", "start": 1, "stop": 0}));
    }
    json!({
        "version": "1.0",
        "normalizer": {"type": "Sequence", "normalizers": normalizers},
        "pre_tokenizer": null,
        "decoder": {"type": "Sequence", "decoders": decoders},
        "model": {"type": "BPE", "vocab": vocab, "merges": merges, "unk_token": unknown, "fuse_unk": true,
            "byte_fallback": true},
    })
}

fn added(kind: Kind, tokens: &[String], types: &[i32]) -> Value {
    let one = |(id, &number): (usize, &i32)| {
        let is_special = matches!(number, token_type::CONTROL | token_type::UNKNOWN);
        if tokens[id].is_empty() || !(is_special || number == token_type::USER_DEFINED) {
            return None;
        }
        // Control tokens are spelt as templates spell them; only text has its spaces replaced.
        let is_spaced = kind != Kind::ByteLevel && !is_special;
        let content = if is_spaced { tokens[id].replace('▁', " ") } else { tokens[id].clone() };
        Some(json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": is_special}))
    };
    types.iter().enumerate().filter_map(one).collect()
}

/// The rule that puts the token for the beginning before every text.
fn beginning(config: &Config, tokens: &[String]) -> Result<Value, Error> {
    const KEY: &str = "tokenizer.ggml.bos_token_id";
    let Some(id) = config.opt_usize(KEY)? else { return Ok(Value::Null) };
    let token = tokens
        .get(id)
        .ok_or_else(|| config.error(KEY, &format!("below {}", tokens.len()), &id.to_string()))?;
    Ok(json!({
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": token, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": {token: {"id": token, "ids": [id], "tokens": [token]}},
    }))
}
