//! The tokens that a tokenizer puts before every text.

use serde_json::Value;

use crate::vocabulary::steps;

/// From the field `post_processor` of a `tokenizer.json`: what its template for one text has before that text.
pub fn from_json(json: &Value) -> Vec<u32> {
    let mut prefix = Vec::new();
    for step in steps(json.get("post_processor").unwrap_or(&Value::Null)) {
        match step.get("type").and_then(Value::as_str) {
            Some("TemplateProcessing") => prefix.extend(before_text(step)),
            Some("BertProcessing" | "RobertaProcessing") => {
                prefix.extend(step.pointer("/cls/1").and_then(id));
            }
            _ => {}
        }
    }
    prefix
}

fn before_text(step: &Value) -> Vec<u32> {
    let single = step.get("single").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let names = single.iter().map_while(|part| part.pointer("/SpecialToken/id").and_then(Value::as_str));
    let ids = |name: &str| step.get("special_tokens")?.get(name)?.get("ids")?.as_array();
    names.filter_map(ids).flatten().filter_map(id).collect()
}

fn id(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| u32::try_from(id).ok())
}
