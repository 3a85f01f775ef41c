//! Tokenizers against the reference implementation, whose answers are in `data/` (see `data/make.py`).

use serde_json::{Value, json};
use text::{Specials, Tokenizer};

fn open(description: Value) -> Tokenizer {
    Tokenizer::from_json("tokenizer.json", description, &Value::Null, "").expect("the reference reads it")
}

fn rows(file: &str) -> Value {
    serde_json::from_str(file).expect("written by make.py")
}

fn ids(value: &Value) -> Vec<u32> {
    value.as_array().expect("a list").iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

#[test]
fn encodes_and_decodes_as_the_reference() {
    for one in rows(include_str!("data/tokenizers.json")).as_array().expect("a list") {
        let tokenizer = open(one["tokenizer"].clone());
        for row in one["rows"].as_array().expect("a list") {
            let (text, expected) = (row[0].as_str().expect("text"), ids(&row[1]));
            let found = tokenizer.encode(text, Specials::Parse).expect("it is text");
            assert_eq!(found, expected, "{}: {text:?}", one["name"]);
            assert_eq!(tokenizer.decode(&found), row[2].as_str().expect("text"), "{}: {text:?}", one["name"]);
        }
    }
}

#[test]
fn cuts_words_as_the_reference() {
    let data = rows(include_str!("data/cuts.json"));
    let letters: Vec<char> = letters();
    let spelt = |piece: &str| piece.bytes().map(|byte| letters[byte as usize]).collect::<String>();
    for rule in data["rules"].as_array().expect("a list") {
        let strings = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .expect("a list")
                .iter()
                .map(|one| one.as_str().expect("text").to_string())
                .collect()
        };
        let pieces: Vec<Vec<String>> =
            rule["pieces"].as_array().expect("a list").iter().map(strings).collect();
        // Whole pieces are tokens, so that the ids tell where the text was cut.
        let mut vocab: serde_json::Map<String, Value> =
            letters.iter().enumerate().map(|(id, letter)| (letter.to_string(), json!(id))).collect();
        for piece in pieces.iter().flatten() {
            let id = vocab.len();
            vocab.entry(spelt(piece)).or_insert(json!(id));
        }
        let byte_level =
            json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false});
        let mut steps: Vec<Value> = strings(&rule["split"])
            .into_iter()
            .map(|pattern| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false}))
            .collect();
        steps.push(byte_level.clone());
        let tokenizer = open(json!({
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": steps},
            "decoder": byte_level,
            "model": {"type": "BPE", "vocab": vocab, "merges": [], "ignore_merges": true},
        }));
        for (text, pieces) in strings(&data["texts"]).iter().zip(&pieces) {
            let found = tokenizer.encode(text, Specials::AsText).expect("it is text");
            let found: Vec<String> = found
                .iter()
                .map(|&id| String::from_utf8(tokenizer.token_bytes(id)).expect("cut between characters"))
                .collect();
            assert_eq!(&found, pieces, "{}: {text:?}", rule["name"]);
        }
    }
}

/// The byte alphabet, byte 0 first.
fn letters() -> Vec<char> {
    let own = |byte: u8| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut rest = 0x100..;
    (0..=255)
        .map(
            |byte| {
                if own(byte) { byte.into() } else { rest.next().and_then(char::from_u32).expect("endless") }
            },
        )
        .collect()
}

/// Every byte a token, and a special one.
fn bytes_only() -> Tokenizer {
    let vocab: serde_json::Map<String, Value> =
        (0..=255).map(|byte| (format!("<0x{byte:02X}>"), json!(byte))).collect();
    open(json!({
        "added_tokens": [{"id": 256, "content": "<|t|>", "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true}],
        "decoder": {"type": "ByteFallback"},
        "model": {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": true},
    }))
}

#[test]
fn gives_out_whole_characters() {
    let tokenizer = bytes_only();
    let smile = "🙂".as_bytes();
    for (bytes, pieces, rest) in [
        (&[0xC3, 0xA9][..], &["", "é"][..], ""),
        (smile, &["", "", "", "🙂"], ""),
        (b"ab", &["a", "b"], ""),
        (&[0xC3], &[""], "\u{FFFD}"),
        (&smile[..3], &["", "", ""], "\u{FFFD}"),
        // A broken character shows as soon as it cannot be one.
        (&[0xC3, b'a'], &["", "\u{FFFD}a"], ""),
        (&[0xFF, 0x80], &["\u{FFFD}", "\u{FFFD}"], ""),
        (&[0xF0, 0x9F, 0xC3, 0xA9], &["", "", "\u{FFFD}", "é"], ""),
    ] {
        let mut decoder = tokenizer.decoder();
        let found: Vec<String> = bytes.iter().map(|&byte| decoder.push(&tokenizer, byte.into())).collect();
        assert_eq!(found, pieces);
        assert_eq!(decoder.finish(), rest);
        assert_eq!(decoder.finish(), "");
        assert_eq!(found.concat() + rest, String::from_utf8_lossy(bytes));
    }
    // Special tokens and ids outside the vocabulary have no text, and do not break a character.
    assert_eq!(tokenizer.decode(&[0xC3, 256, 0xA9, 257, u32::MAX]), "é");
}

proptest::proptest! {
    #[test]
    fn any_bytes_decode_to_their_lossy_text(bytes: Vec<u8>) {
        let tokenizer = bytes_only();
        let ids: Vec<u32> = bytes.iter().map(|&byte| byte.into()).collect();
        proptest::prop_assert_eq!(tokenizer.decode(&ids), String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn any_text_survives(text: String) {
        let tokenizer = bytes_only();
        for specials in [Specials::AsText, Specials::Parse] {
            let ids = tokenizer.encode(&text, specials).expect("every byte has a token");
            proptest::prop_assert_eq!(tokenizer.decode(&ids), text.clone());
        }
    }
}

#[test]
fn special_tokens_can_be_text() {
    let tokenizer = bytes_only();
    let letters: Vec<u32> = b"<|t|>".iter().map(|&byte| byte.into()).collect();
    assert_eq!(tokenizer.encode("<|t|>", Specials::Parse).expect("it is text"), [256]);
    assert_eq!(tokenizer.encode("<|t|>", Specials::AsText).expect("it is text"), letters);
    assert_eq!((tokenizer.special_ids(), tokenizer.vocab_size()), (vec![256], 257));
    assert!(tokenizer.is_special(256) && !tokenizer.is_special(0));
    // What the crate itself writes before texts is text like any other.
    let anchor = "a\u{FDD0}\u{FDD1}\u{FDD0}\u{FDD1}b";
    assert_eq!(tokenizer.decode(&tokenizer.encode(anchor, Specials::AsText).expect("it is text")), anchor);
}

#[test]
fn refuses_what_is_no_tokenizer() {
    for (description, needle) in [
        (json!({}), "not a usable tokenizer"),
        (json!({"model": {"type": "Other"}}), "not a usable tokenizer"),
        (json!({"decoder": {"type": "CTC"}, "model": {}}), "field `decoder.type`"),
        (json!({"added_tokens": [{"id": -1, "content": "x"}], "model": {}}), "field `added_tokens[0]`"),
        (
            json!({"model": {"type": "BPE", "vocab": {"a": 4_000_000_000_u32}, "merges": []}}),
            "ids below 16777216",
        ),
    ] {
        let error = Tokenizer::from_json("m/tokenizer.json", description, &Value::Null, "")
            .expect_err("it is broken");
        assert!(error.to_string().starts_with("m/tokenizer.json: "), "{error}");
        assert!(error.to_string().contains(needle), "{error}");
    }
}
