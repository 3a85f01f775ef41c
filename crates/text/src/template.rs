//! Chat templates: from messages to the text that a model was trained on.

mod clock;

use minijinja::{
    Environment, ErrorKind, Value as Word,
    syntax::SyntaxConfig,
    value::{Kwargs, Serde},
};
use serde_json::{Map, Value};

use crate::{Error, json, sources::Source};

const MAIN: &str = "default";
const WITH_TOOLS: &str = "tool_use";
/// Deeper indentation of JSON is refused.
const INDENT_MAX: usize = 64;

/// What a template is given beside the messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Extras {
    /// Whether the text ends where the answer begins.
    pub add_generation_prompt: bool,
    /// Descriptions of tools, a list; null without any.
    pub tools: Value,
    /// Further names, such as `enable_thinking`.
    pub variables: Map<String, Value>,
}

impl Default for Extras {
    fn default() -> Extras {
        Extras { add_generation_prompt: true, tools: Value::Null, variables: Map::new() }
    }
}

/// A parsed template.
#[derive(Debug)]
pub struct ChatTemplate {
    origin: String,
    text: String,
    words: Map<String, Value>,
    environment: Environment<'static>,
}

impl ChatTemplate {
    /// Parses a template, with the whitespace rules and additions that the writers of templates count on: methods of
    /// Python strings and mappings, `tojson` as Python writes it, `raise_exception`, `strftime_now`, `break`.
    pub(crate) fn new(source: Source) -> Result<ChatTemplate, Error> {
        let text = source.text();
        let broken = |error: minijinja::Error| Error::Template {
            origin: source.origin.clone(),
            reason: reason(&error),
        };
        let mut environment = Environment::new();
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().map_err(broken)?;
        environment.set_syntax(syntax);
        environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_filter("tojson", to_json);
        environment.add_function("raise_exception", raise_exception);
        environment.add_function("strftime_now", clock::strftime_now);
        environment.add_template_owned(MAIN, without_generation_tags(&source.main)).map_err(broken)?;
        if let Some(other) = &source.with_tools {
            environment.add_template_owned(WITH_TOOLS, without_generation_tags(other)).map_err(broken)?;
        }
        Ok(ChatTemplate { origin: source.origin, text, words: source.words, environment })
    }

    /// The file it was found in.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The template itself.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a conversation: `messages` is a list of objects.
    ///
    /// # Errors
    /// The template refuses the messages, in its own words, or uses something that is not known.
    pub fn render(&self, messages: &Value, extras: &Extras) -> Result<String, Error> {
        let refused =
            |error: minijinja::Error| Error::Render { origin: self.origin.clone(), reason: reason(&error) };
        let mut words = self.words.clone();
        words.insert("documents".to_string(), Value::Null);
        words.extend(extras.variables.clone());
        words.insert("messages".to_string(), messages.clone());
        words.insert("tools".to_string(), extras.tools.clone());
        words.insert("add_generation_prompt".to_string(), Value::Bool(extras.add_generation_prompt));
        let has_other = !extras.tools.is_null() && self.environment.get_template(WITH_TOOLS).is_ok();
        let name = if has_other { WITH_TOOLS } else { MAIN };
        let template = self.environment.get_template(name).map_err(refused)?;
        template.render(Word::from(Serde(words))).map_err(refused)
    }
}

fn reason(error: &minijinja::Error) -> String {
    let mut text = match (error.detail(), error.kind()) {
        (Some(detail), ErrorKind::InvalidOperation) => detail.to_string(),
        (Some(detail), kind) => format!("{kind}: {detail}"),
        (None, kind) => kind.to_string(),
    };
    if let Some(line) = error.line() {
        text.push_str(&format!(" (line {line})"));
    }
    text
}

fn raise_exception(message: String) -> Result<Word, minijinja::Error> {
    Err(minijinja::Error::new(ErrorKind::InvalidOperation, message))
}

fn to_json(value: &Word, arguments: Kwargs) -> Result<Word, minijinja::Error> {
    let failed = |reason: String| minijinja::Error::new(ErrorKind::InvalidOperation, reason);
    // The only style is the one that templates use; the other arguments would change bytes, so they are not ignored.
    let indent: Option<usize> = arguments.get("indent")?;
    let is_ascii: Option<bool> = arguments.get("ensure_ascii")?;
    arguments.assert_all_used()?;
    if indent.is_some_and(|width| width > INDENT_MAX) || is_ascii == Some(true) {
        return Err(failed(format!("tojson: needed an indent of at most {INDENT_MAX} and no ensure_ascii")));
    }
    let value = serde_json::to_value(value).map_err(|error| failed(format!("tojson: {error}")))?;
    Ok(Word::from(json::dumps(&value, indent)))
}

/// `{% generation %}` marks what a trainer learns from; it becomes a block that is always taken.
fn without_generation_tags(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find("{%") {
        // From behind the opening mark on, or `{%}` would be taken for a whole tag.
        let Some(length) = rest[start + 2..].find("%}").map(|length| length + 2) else { break };
        let (tag, end) = (&rest[start + 2..start + length], start + length + 2);
        out.push_str(&rest[..start]);
        let inner = tag.strip_prefix(['-', '+']).unwrap_or(tag);
        let inner = inner.strip_suffix(['-', '+']).unwrap_or(inner);
        let tag = match inner.trim() {
            word @ "generation" => tag.replace(word, "if true"),
            word @ "endgeneration" => tag.replace(word, "endif"),
            _ => tag.to_string(),
        };
        out.push_str("{%");
        out.push_str(&tag);
        out.push_str("%}");
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generation_tags_become_plain_blocks() {
        let rows = [
            ("a{% generation %}b{% endgeneration %}c", "a{% if true %}b{% endif %}c"),
            ("{%- generation -%}", "{%- if true -%}"),
            ("{%}", "{%}"),
            ("{%}x%}", "{%}x%}"),
            ("{%", "{%"),
            ("%}{%%}", "%}{%%}"),
        ];
        for (template, expected) in rows {
            assert_eq!(without_generation_tags(template), expected, "{template}");
        }
    }
}
