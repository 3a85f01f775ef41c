//! `coli info`: what a model is, from its headers.

use std::collections::BTreeMap;

use checkpoint::{Checkpoint, Kind};
use layers::Description;
use serde_json::{Value, json};
use text::Text;
use units::ByteSize;

use crate::{
    call::Call,
    failure::{Failure, one_line},
    model::Chosen,
    output,
};

/// Prints what the model's headers and configuration say.
///
/// # Errors
/// The model cannot be opened.
pub fn info(call: &Call<'_>) -> Result<(), Failure> {
    let chosen = Chosen::of(call)?;
    let checkpoint = Checkpoint::open(&chosen.path)?;
    let facts = Facts::of(&checkpoint);
    if call.is_on("json") { output::json(&facts.json()) } else { output::rows(&facts.rows()) }
}

/// What there is to say; a part that cannot be had says why.
struct Facts<'a> {
    checkpoint: &'a Checkpoint,
    description: Result<Description, String>,
    text: Result<Text, String>,
    end_tokens: Vec<u32>,
    stored: BTreeMap<&'static str, u64>,
}

impl<'a> Facts<'a> {
    fn of(checkpoint: &'a Checkpoint) -> Facts<'a> {
        let text = Text::open(checkpoint);
        let end_tokens = text::end_tokens(checkpoint, text.as_ref().ok()).unwrap_or_default();
        let mut stored = BTreeMap::new();
        for tensor in checkpoint.tensors() {
            *stored.entry(tensor.dtype.name()).or_insert(0) += tensor.len_bytes;
        }
        Facts {
            checkpoint,
            description: models::describe(checkpoint).map_err(|error| one_line(&error)),
            text: text.map_err(|error| one_line(&error)),
            end_tokens,
            stored,
        }
    }

    fn bytes(&self) -> u64 {
        self.stored.values().sum()
    }

    fn kind(&self) -> &'static str {
        match self.checkpoint.kind() {
            Kind::Safetensors => "safetensors",
            Kind::Gguf => "gguf",
        }
    }

    fn template(&self) -> Result<(), String> {
        let text = self.text.as_ref().map_err(Clone::clone)?;
        text.template().map(|_| ()).map_err(|error| one_line(&error))
    }

    fn json(&self) -> Value {
        let described =
            |value: fn(&Description) -> Value| self.description.as_ref().map_or(Value::Null, value);
        json!({
            "path": self.checkpoint.path(),
            "kind": self.kind(),
            "family": described(|model| json!(model.family)),
            "family_error": self.description.as_ref().err(),
            "layers": described(|model| json!(model.layers.len())),
            "hidden": described(|model| json!(model.hidden)),
            "vocab": described(|model| json!(model.vocab)),
            "context": described(|model| json!(model.context)),
            "experts": described(|model| json!(model.experts())),
            "files": self.checkpoint.files(),
            "tensors": self.checkpoint.tensors().len(),
            "stored_bytes": self.bytes(),
            "stored_bytes_by_type": self.stored,
            "tokenizer_error": self.text.as_ref().err(),
            "chat_template_error": self.template().err(),
            "end_tokens": self.end_tokens,
            "notes": self.checkpoint.notes(),
        })
    }

    fn rows(&self) -> Vec<(String, String)> {
        let files = self.checkpoint.files();
        let types: Vec<String> =
            self.stored.iter().map(|(name, bytes)| format!("{name} {}", ByteSize(*bytes))).collect();
        let or_why = |result: Result<(), String>| {
            result.map_or_else(|why| format!("none: {why}"), |()| "yes".to_string())
        };
        let mut rows = vec![
            ("path", self.checkpoint.path().display().to_string()),
            (
                "files",
                format!(
                    "{} of {}, {} tensors, {}",
                    files.len(),
                    self.kind(),
                    self.checkpoint.tensors().len(),
                    ByteSize(self.bytes())
                ),
            ),
            ("types", types.join(", ")),
        ];
        match &self.description {
            Ok(model) => {
                rows.push(("family", model.family.to_string()));
                rows.push((
                    "shape",
                    format!(
                        "{} layers, hidden {}, vocabulary {}, context {}",
                        model.layers.len(),
                        model.hidden,
                        model.vocab,
                        model.context
                    ),
                ));
                rows.push(("experts", model.experts().to_string()));
            }
            Err(why) => rows.push(("family", format!("not known: {why}"))),
        }
        rows.push(("tokenizer", or_why(self.text.as_ref().map(|_| ()).map_err(Clone::clone))));
        rows.push(("chat template", or_why(self.template())));
        rows.push(("end tokens", self.end_tokens.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")));
        rows.extend(self.checkpoint.notes().iter().map(|note| ("note", note.clone())));
        rows.into_iter().map(|(word, value)| (word.to_string(), value)).collect()
    }
}
