//! The bytes that each token stands for.

use std::collections::HashMap;

use serde_json::Value;

use crate::Error;

/// How the strings of a vocabulary spell bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Every byte is one character of a printable alphabet (as in GPT-2).
    ByteAlphabet,
    /// `▁` is a space, `<0x0A>` a single byte (as in SentencePiece).
    Sentence {
        /// Whether a space at the very beginning of a text is the tokenizer's own and is taken away again.
        is_start_stripped: bool,
    },
    /// The strings are the text.
    Plain,
}

impl Spelling {
    /// From the field `decoder` of a `tokenizer.json`.
    pub fn from_json(origin: &str, json: &Value) -> Result<Spelling, Error> {
        let mut found = Spelling::Plain;
        for step in steps(json.get("decoder").unwrap_or(&Value::Null)) {
            let kind = step.get("type").and_then(Value::as_str).unwrap_or("nothing");
            let is_stripping = match found {
                Spelling::Sentence { is_start_stripped } => is_start_stripped,
                _ => false,
            };
            found = match kind {
                "ByteLevel" => return Ok(Spelling::ByteAlphabet),
                "Metaspace" => {
                    let scheme = step.get("prepend_scheme").and_then(Value::as_str);
                    let is_prefixed = step.get("add_prefix_space").and_then(Value::as_bool).unwrap_or(true);
                    let is_start_stripped = scheme.map_or(is_prefixed, |scheme| scheme != "never");
                    Spelling::Sentence { is_start_stripped }
                }
                "Strip" => {
                    let count = step.get("start").and_then(Value::as_u64).unwrap_or(0);
                    Spelling::Sentence { is_start_stripped: is_stripping || count > 0 }
                }
                "Replace" | "ByteFallback" => Spelling::Sentence { is_start_stripped: is_stripping },
                "Fuse" => found,
                other => {
                    return Err(Error::Field {
                        origin: origin.to_string(),
                        field: "decoder.type".to_string(),
                        needed: "ByteLevel, Metaspace, or Replace, ByteFallback, Fuse and Strip".to_string(),
                        found: other.to_string(),
                    });
                }
            };
        }
        Ok(found)
    }

    /// The bytes of an ordinary token.
    pub fn bytes(self, token: &str, alphabet: &HashMap<char, u8>) -> Vec<u8> {
        match self {
            Spelling::ByteAlphabet => {
                let known: Option<Vec<u8>> =
                    token.chars().map(|letter| alphabet.get(&letter).copied()).collect();
                known.unwrap_or_else(|| token.as_bytes().to_vec())
            }
            Spelling::Sentence { .. } => match single_byte(token) {
                Some(byte) => vec![byte],
                None => token.replace('▁', " ").into_bytes(),
            },
            Spelling::Plain => token.as_bytes().to_vec(),
        }
    }
}

/// The steps of a part of a `tokenizer.json` that may be a sequence.
pub fn steps(part: &Value) -> Vec<&Value> {
    if part.is_null() {
        return Vec::new();
    }
    for inner in ["decoders", "pretokenizers", "normalizers", "processors"] {
        if let Some(parts) = part.get(inner).and_then(Value::as_array) {
            return parts.iter().flat_map(steps).collect();
        }
    }
    vec![part]
}

/// `<0x0A>` is byte 10.
fn single_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    if digits.len() != 2 { None } else { u8::from_str_radix(digits, 16).ok() }
}

/// The printable alphabet of byte-level vocabularies: printable Latin-1 stands for itself, the other 68 bytes for the
/// characters from U+0100 on, in order.
pub fn alphabet() -> HashMap<char, u8> {
    let is_own = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut next = 0x100_u32;
    let mut letters = HashMap::new();
    for byte in 0..=u8::MAX {
        let letter = if is_own(byte) {
            char::from(byte)
        } else {
            next += 1;
            char::from_u32(next - 1).unwrap_or(char::REPLACEMENT_CHARACTER)
        };
        letters.insert(letter, byte);
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_bytes() {
        let alphabet = alphabet();
        assert_eq!(alphabet.len(), 256);
        let sentence = Spelling::Sentence { is_start_stripped: true };
        for (spelling, token, bytes) in [
            (Spelling::ByteAlphabet, "Ġhi", b" hi".as_slice()),
            (Spelling::ByteAlphabet, "ÃĬ", b"\xC3\x8A"),
            (Spelling::ByteAlphabet, "Ċ", b"\n"),
            (Spelling::ByteAlphabet, "世", "世".as_bytes()),
            (sentence, "▁a▁", b" a "),
            (sentence, "<0xC3>", b"\xC3"),
            (sentence, "<0xG3>", b"<0xG3>"),
            (Spelling::Plain, "▁", "▁".as_bytes()),
        ] {
            assert_eq!(spelling.bytes(token, &alphabet), bytes, "{token}");
        }
    }
}
