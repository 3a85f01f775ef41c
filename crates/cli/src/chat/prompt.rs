//! From what people write to the tokens of a prompt.

use session::Session;
use text::{Message, Specials, Text};

use crate::failure::Failure;

fn text(session: &Session) -> Result<&Text, Failure> {
    session
        .text()
        .map_err(|error| Failure::refused(crate::failure::one_line(error), "--ids 1,2,3 needs no tokenizer"))
}

/// Whether the model can chat at all.
///
/// # Errors
/// It has no tokenizer or no chat template.
pub fn check(session: &Session) -> Result<(), Failure> {
    let hint = "coli run --raw takes a prompt as it is";
    text(session)?
        .template()
        .map(|_| ())
        .map_err(|error| Failure::refused(crate::failure::one_line(&error), hint))
}

/// The tokens of a conversation that waits for an answer.
///
/// # Errors
/// As [`check`], or the template refuses these messages.
pub fn chat(session: &Session, messages: &[Message]) -> Result<Vec<u32>, Failure> {
    Ok(text(session)?.encode_chat(messages)?)
}

/// The tokens of a conversation of one question.
///
/// # Errors
/// As [`chat`].
pub fn alone(session: &Session, question: &str) -> Result<Vec<u32>, Failure> {
    check(session)?;
    chat(session, &[Message::user(question)])
}

/// The tokens of a text as it is. Special tokens that are written out are taken as such: who asks for a raw prompt writes
/// the template.
///
/// # Errors
/// There is no tokenizer, or it refuses the text.
pub fn raw(session: &Session, prompt: &str) -> Result<Vec<u32>, Failure> {
    Ok(text(session)?.encode(prompt, Specials::Parse)?)
}
