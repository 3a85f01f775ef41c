//! Everything a checkpoint says about text.

use checkpoint::Checkpoint;
use serde_json::Value;

use crate::{
    ChatTemplate, Error, Extras, Message, Specials, Tokenizer, controls::Piece, guard::Guard, sources,
};

/// A tokenizer and, where there is one, its chat template.
#[derive(Debug)]
pub struct Text {
    tokenizer: Tokenizer,
    template: Result<ChatTemplate, Error>,
}

impl Text {
    /// Reads the tokenizer and the chat template of a checkpoint. A template that is absent or broken is no reason to
    /// refuse the rest; [`Text::template`] says why there is none.
    ///
    /// # Errors
    /// There is no usable tokenizer.
    pub fn open(checkpoint: &Checkpoint) -> Result<Text, Error> {
        let source = sources::find(checkpoint);
        let mentioned = source.as_ref().map(sources::Source::text).unwrap_or_default();
        let tokenizer = Tokenizer::open(checkpoint, &mentioned)?;
        Ok(Text { tokenizer, template: source.and_then(ChatTemplate::new) })
    }

    /// The tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The chat template.
    ///
    /// # Errors
    /// Why there is none.
    pub fn template(&self) -> Result<&ChatTemplate, &Error> {
        self.template.as_ref()
    }

    /// The tokens of a whole text, with what the model expects before every text, once.
    ///
    /// # Errors
    /// The tokenizer has no token for some character.
    pub fn encode(&self, text: &str, specials: Specials) -> Result<Vec<u32>, Error> {
        Ok(self.with_prefix(self.tokenizer.encode(text, specials)?))
    }

    /// The text of a conversation that waits for an answer, as people may read it: control tokens spelt out.
    ///
    /// # Errors
    /// There is no usable template, or it refuses these messages.
    pub fn render(&self, messages: &[Message], extras: &Extras) -> Result<String, Error> {
        self.usable()?.render(&json(messages), extras)
    }

    /// The tokens of a conversation that waits for an answer.
    ///
    /// # Errors
    /// As [`Text::encode_chat_with`].
    pub fn encode_chat(&self, messages: &[Message]) -> Result<Vec<u32>, Error> {
        self.encode_chat_with(&json(messages), &Extras::default())
    }

    /// The tokens of a conversation. Only the template makes control tokens: where they are spelt out in messages, tools
    /// or variables, they are text. In assistant messages this holds for special tokens alone, since models write the
    /// others, such as the marks around their reasoning.
    ///
    /// # Errors
    /// There is no usable template, or it refuses these messages; the tokenizer has no token for some character.
    pub fn encode_chat_with(&self, messages: &Value, extras: &Extras) -> Result<Vec<u32>, Error> {
        let template = self.usable()?;
        let given = [
            messages.to_string(),
            extras.tools.to_string(),
            Value::from(extras.variables.clone()).to_string(),
        ];
        let [messages_text, tools_text, variables_text] = &given;
        let texts = [template.text(), messages_text, tools_text, variables_text];
        let guard = Guard::new(self.tokenizer.controls(), &texts).ok_or_else(|| Error::Render {
            origin: template.origin().to_string(),
            reason: "the messages use every private-use character".to_string(),
        })?;
        let guarded = Extras {
            add_generation_prompt: extras.add_generation_prompt,
            tools: guard.value(&extras.tools),
            variables: extras
                .variables
                .iter()
                .map(|(name, value)| (name.clone(), guard.value(value)))
                .collect(),
        };
        let rendered = template.render(&guard.messages(messages), &guarded)?;
        let mut ids = Vec::new();
        for (at, piece) in self.tokenizer.controls().split(&rendered).into_iter().enumerate() {
            match piece {
                Piece::Control(id) => ids.push(id),
                Piece::Text(text) => {
                    self.tokenizer.encode_ordinary(&guard.unmarked(text), at == 0, &mut ids)?
                }
            }
        }
        Ok(self.with_prefix(ids))
    }

    /// `ids` with the tokens that stand before every text exactly once, whether or not a template wrote them too.
    fn with_prefix(&self, mut ids: Vec<u32>) -> Vec<u32> {
        let prefix = self.tokenizer.prefix();
        if prefix.is_empty() {
            return ids;
        }
        if !ids.starts_with(prefix) {
            ids.splice(0..0, prefix.iter().copied());
        }
        while ids[prefix.len()..].starts_with(prefix) {
            ids.drain(..prefix.len());
        }
        ids
    }

    fn usable(&self) -> Result<&ChatTemplate, Error> {
        self.template.as_ref().map_err(|error| match error {
            Error::Template { origin, reason } => {
                Error::Template { origin: origin.clone(), reason: reason.clone() }
            }
            Error::NoTemplate { origin } => Error::NoTemplate { origin: origin.clone() },
            other => Error::Template { origin: "the chat template".to_string(), reason: other.to_string() },
        })
    }
}

fn json(messages: &[Message]) -> Value {
    let one = |message: &Message| serde_json::json!({"role": message.role, "content": message.content});
    messages.iter().map(one).collect()
}
