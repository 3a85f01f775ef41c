//! Keeps what people write from being read as commands.
//!
//! Before rendering, a mark is put inside of every control token that is spelt out in the values given to a template;
//! afterwards the rendered text is cut at control tokens, which can only be the template's own, and the marks are
//! removed from the ordinary text between them.

use serde_json::Value;

use crate::controls::Controls;

/// Which control tokens are broken up in a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    All,
    /// A model writes the others itself, as text: `<think>` and the like.
    Special,
}

/// A mark that none of the texts has.
#[derive(Debug)]
pub struct Guard<'a> {
    controls: &'a Controls,
    mark: char,
}

impl<'a> Guard<'a> {
    /// For texts that will be rendered together: the values and the template. None where every private-use character
    /// occurs in them.
    pub fn new(controls: &'a Controls, texts: &[&str]) -> Option<Guard<'a>> {
        let is_free = |mark: &char| !texts.iter().any(|text| text.contains(*mark));
        let mark = ('\u{E000}'..='\u{F8FF}').rev().find(is_free)?;
        Some(Guard { controls, mark })
    }

    /// The list of messages with control tokens broken up; of assistant messages only special ones.
    pub fn messages(&self, messages: &Value) -> Value {
        let Value::Array(list) = messages else { return self.value(messages) };
        let one = |message: &Value| {
            let is_own = message.get("role").and_then(Value::as_str) == Some("assistant");
            self.walk(message, if is_own { Broken::Special } else { Broken::All })
        };
        Value::Array(list.iter().map(one).collect())
    }

    /// Any other value with control tokens broken up.
    pub fn value(&self, value: &Value) -> Value {
        self.walk(value, Broken::All)
    }

    /// Takes the marks out again.
    pub fn unmarked(&self, text: &str) -> String {
        text.replace(self.mark, "")
    }

    fn walk(&self, value: &Value, broken: Broken) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text, broken)),
            Value::Array(values) => values.iter().map(|value| self.walk(value, broken)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(key, value)| (self.text(key, broken), self.walk(value, broken))).collect()
            }
            other => other.clone(),
        }
    }

    fn text(&self, text: &str, broken: Broken) -> String {
        let mut marked = String::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            marked.push(letter);
            let control = self.controls.at_start(&text[at..]);
            if control.is_some_and(|control| broken == Broken::All || control.is_special) {
                marked.push(self.mark);
            }
        }
        // The next value may go on where this one ends.
        if self.controls.is_open_at_end(text) {
            marked.push(self.mark);
        }
        marked
    }
}
