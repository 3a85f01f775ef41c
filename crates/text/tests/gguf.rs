//! Vocabularies inside GGUF files against the `tokenizer.json` they were made from.

use std::{fs, path::Path};

use checkpoint::Checkpoint;
use serde_json::{Value, json};
use text::{Message, Specials, Text, Tokenizer};

/// A GGUF file with metadata and one tiny tensor.
#[derive(Default)]
struct File {
    fields: u64,
    bytes: Vec<u8>,
}

impl File {
    const U32: u32 = 4;
    const I32: u32 = 5;
    const F32: u32 = 6;
    const BOOL: u32 = 7;
    const STRING: u32 = 8;
    const ARRAY: u32 = 9;

    fn string(&mut self, text: &str) {
        self.bytes.extend((text.len() as u64).to_le_bytes());
        self.bytes.extend(text.as_bytes());
    }

    fn field(&mut self, key: &str, kind: u32, value: &[u8]) {
        self.fields += 1;
        self.string(key);
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(value);
    }

    fn text(&mut self, key: &str, text: &str) {
        self.field(key, File::STRING, &[]);
        self.string(text);
    }

    fn number(&mut self, key: &str, number: u32) {
        self.field(key, File::U32, &number.to_le_bytes());
    }

    fn list(&mut self, key: &str, kind: u32, count: usize) {
        self.field(key, File::ARRAY, &kind.to_le_bytes());
        self.bytes.extend((count as u64).to_le_bytes());
    }

    fn texts(&mut self, key: &str, texts: &[String]) {
        self.list(key, File::STRING, texts.len());
        texts.iter().for_each(|text| self.string(text));
    }

    fn types(&mut self, types: &[i32]) {
        self.list("tokenizer.ggml.token_type", File::I32, types.len());
        self.bytes.extend(types.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn scores(&mut self, scores: &[f32]) {
        self.list("tokenizer.ggml.scores", File::F32, scores.len());
        self.bytes.extend(scores.iter().flat_map(|number| number.to_le_bytes()));
    }

    /// Whether text opens, or why not.
    fn open(mut self) -> (Checkpoint, Result<Text, text::Error>) {
        self.text("general.architecture", "any");
        let mut whole = b"GGUF".to_vec();
        whole.extend(3_u32.to_le_bytes());
        whole.extend(1_u64.to_le_bytes());
        whole.extend(self.fields.to_le_bytes());
        self.string("t");
        self.bytes.extend(1_u32.to_le_bytes());
        self.bytes.extend(8_u64.to_le_bytes());
        self.bytes.extend(0_u32.to_le_bytes());
        self.bytes.extend(0_u64.to_le_bytes());
        whole.extend(self.bytes);
        whole.resize(whole.len().next_multiple_of(32) + 32, 0);
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("m.gguf");
        fs::write(&path, whole).expect("it is writable");
        let checkpoint = Checkpoint::open(&path).expect("it is whole");
        let text = Text::open(&checkpoint);
        (checkpoint, text)
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

/// The first model or rule of a kind, for some names are those of models.
fn model_of(kind: &str) -> String {
    let known = parsed(include_str!("../src/pre_tokenizers.json"));
    let models = known["models"].as_object().expect("an object");
    models.iter().find(|(_, value)| *value == kind).expect("there is one").0.clone()
}

/// Tokens by id.
fn tokens(json: &Value) -> (Vec<String>, Vec<i32>) {
    let vocab = json["model"]["vocab"].as_object().expect("an object");
    let added = json["added_tokens"].as_array().expect("a list");
    let mut all: Vec<(u64, String)> =
        vocab.iter().map(|(token, id)| (id.as_u64().expect("an id"), token.clone())).collect();
    for token in added {
        let (id, content) = (token["id"].as_u64().expect("an id"), token["content"].as_str().expect("text"));
        all.retain(|(other, _)| *other != id);
        all.push((id, content.to_string()));
    }
    all.sort();
    let special = |id: &u64| added.iter().any(|token| token["id"] == *id);
    let types = all.iter().map(|(id, _)| if special(id) { 3 } else { 1 }).collect();
    (all.into_iter().map(|(_, token)| token).collect(), types)
}

fn demo() -> (Value, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../demo");
    let read =
        |name: &str| fs::read_to_string(path.join(name)).expect("the demo model is part of the repository");
    (parsed(&read("tokenizer.json")), read("chat_template.jinja"))
}

fn byte_level(pre: &str) -> File {
    let (json, template) = demo();
    let (tokens, types) = tokens(&json);
    let merges: Vec<String> = json["model"]["merges"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|pair| match pair.as_array() {
            Some(pair) => format!("{} {}", pair[0].as_str().expect("text"), pair[1].as_str().expect("text")),
            None => pair.as_str().expect("text").to_string(),
        })
        .collect();
    let mut file = File::default();
    file.text("tokenizer.ggml.model", &model_of("byte-level"));
    file.text("tokenizer.ggml.pre", pre);
    file.text("tokenizer.chat_template", &template);
    file.texts("tokenizer.ggml.tokens", &tokens);
    file.texts("tokenizer.ggml.merges", &merges);
    file.types(&types);
    file.number("tokenizer.ggml.eos_token_id", 0);
    file
}

#[test]
fn byte_level_vocabularies_encode_as_their_origin() {
    let (checkpoint, text) = byte_level("gpt-2").open();
    let text = text.expect("it is known");
    let origin = Tokenizer::from_json("demo", demo().0, &Value::Null, "").expect("it is known");
    for sample in ["What is a dog?", "  two  spaces\n\n\tI'm CAN'T 1234 — 世界🙂", "<|user|>x<|end|>", ""]
    {
        for specials in [Specials::Parse, Specials::AsText] {
            let found = text.tokenizer().encode(sample, specials).expect("it is text");
            assert_eq!(found, origin.encode(sample, specials).expect("it is text"), "{sample:?}");
        }
    }
    assert_eq!(text::end_tokens(&checkpoint, Some(&text)).expect("they are ids"), [0, 4]);
    let ids = text.encode_chat(&[Message::user("<|end|>")]).expect("there is a template");
    assert_eq!(ids.iter().filter(|&&id| id < 5).copied().collect::<Vec<_>>(), [2, 4, 3]);
}

#[test]
fn an_unknown_rule_is_refused_by_name() {
    let error = byte_level("some-rule").open().1.expect_err("it is not known").to_string();
    assert!(error.contains("field `tokenizer.ggml.pre`: needed one of "), "{error}");
    assert!(error.ends_with("found some-rule"), "{error}");
}

#[test]
fn scores_join_as_the_merges_of_their_origin() {
    let rows = parsed(include_str!("data/tokenizers.json"));
    let rows = rows.as_array().expect("a list");
    let origin =
        rows.iter().find(|row| row["name"] == "byte fall-back, normalizer").expect("written by make.py");
    let (tokens, mut types) = tokens(&origin["tokenizer"]);
    types[0] = 2;
    let scores: Vec<f32> = (0..tokens.len()).map(|id| -(id as f32)).collect();
    let mut file = File::default();
    file.text("tokenizer.ggml.model", &model_of("scores"));
    file.texts("tokenizer.ggml.tokens", &tokens);
    file.scores(&scores);
    file.types(&types);
    file.number("tokenizer.ggml.bos_token_id", 1);
    file.field("tokenizer.ggml.add_bos_token", File::BOOL, &[1]);
    let text = file.open().1.expect("it is known");
    for row in origin["rows"].as_array().expect("a list") {
        let sample = row[0].as_str().expect("text");
        // In GGUF no token swallows white space.
        if sample.contains("<n>") {
            continue;
        }
        let found = text.tokenizer().encode(sample, Specials::Parse).expect("it is text");
        assert_eq!(json!(found), row[1], "{sample:?}");
        assert_eq!(text.tokenizer().decode(&found), row[2].as_str().expect("text"), "{sample:?}");
    }
    assert_eq!(text.encode("<s>ab", Specials::Parse).expect("it is text"), [1, 264]);
    assert_eq!(text.encode("ab", Specials::Parse).expect("it is text"), [1, 264]);
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let three = ["a".to_string(), "b".to_string(), "ab".to_string()];
    let mut short = File::default();
    short.text("tokenizer.ggml.model", &model_of("scores"));
    short.texts("tokenizer.ggml.tokens", &three);
    short.scores(&[0.0]);
    let mut merges = File::default();
    merges.text("tokenizer.ggml.model", &model_of("byte-level"));
    merges.texts("tokenizer.ggml.tokens", &three);
    merges.texts("tokenizer.ggml.merges", &["a b".to_string(), "ab".to_string()]);
    let mut unknown = File::default();
    unknown.text("tokenizer.ggml.model", "other");
    for (file, needle) in [
        (short, "field `tokenizer.ggml.scores`: needed 3 numbers; found 1"),
        (merges, "field `tokenizer.ggml.merges[1]`: needed two pieces; found ab"),
        (unknown, "field `tokenizer.ggml.model`: needed one of "),
        (File::default(), "field `tokenizer.ggml.model`: needed a string; found nothing"),
    ] {
        let error = file.open().1.expect_err("it does not fit").to_string();
        assert!(error.contains(needle), "{error}");
    }
}
