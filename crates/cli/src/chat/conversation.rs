//! What was said so far, and the next thing to say.

use session::{Finish, Session, Stats};
use text::Message;

use super::{Next, prompt};
use crate::{
    answer::{self, Given, Stream},
    call::Call,
    failure::Failure,
    output,
};

/// A conversation. A turn that fails leaves it as it was before.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<Message>,
    /// Prompt and answer of the last turn as tokens, for going on where it was cut.
    ids: Vec<u32>,
    /// Why the last answer ended.
    finish: Option<Finish>,
    stats: Option<Stats>,
}

impl Conversation {
    /// What the last answer cost.
    pub fn stats(&self) -> Option<&Stats> {
        self.stats.as_ref()
    }

    /// Answers a question.
    ///
    /// # Errors
    /// The conversation does not fit the context, or an expert cannot be read.
    pub fn ask(&mut self, call: &Call<'_>, session: &mut Session, question: &str) -> Result<Next, Failure> {
        let mut messages = self.messages.clone();
        messages.push(Message::user(question));
        let ids = prompt::chat(session, &messages)?;
        let (text, next) = self.speak(call, session, ids)?;
        messages.push(Message::assistant(text));
        self.messages = messages;
        Ok(next)
    }

    /// Goes on with the last answer.
    ///
    /// # Errors
    /// As [`Conversation::ask`].
    pub fn more(&mut self, call: &Call<'_>, session: &mut Session) -> Result<Next, Failure> {
        if !matches!(self.finish, Some(Finish::Length | Finish::Cancelled)) {
            output::note("the last answer was not cut; there is nothing to go on with");
            return Ok(Next::Ask);
        }
        let ids = self.ids.clone();
        let (text, next) = self.speak(call, session, ids)?;
        if let Some(last) = self.messages.last_mut() {
            last.content.push_str(&text);
        }
        Ok(next)
    }

    /// Streams what comes after `ids`.
    fn speak(
        &mut self,
        call: &Call<'_>,
        session: &mut Session,
        mut ids: Vec<u32>,
    ) -> Result<(String, Next), Failure> {
        let request = answer::request(&call.settings, ids.clone());
        let Given { answer, signal } = answer::give(session, &request, &call.signals, Stream::Shown)?;
        output::line("")?;
        let cut = match answer.finish {
            Finish::Stop => "",
            Finish::Length => ", cut: :more goes on",
            Finish::Cancelled => ", stopped: :more goes on",
        };
        output::note(&format!("[{}{cut}]", answer::figures(&answer)));
        ids.extend(&answer.token_ids);
        (self.ids, self.finish, self.stats) = (ids, Some(answer.finish), Some(answer.stats));
        // Ctrl-C stops the turn alone; being asked to end is meant for the whole program.
        let next = match signal {
            None | Some(crate::signals::INTERRUPT) => Next::Ask,
            Some(_) => Next::Leave,
        };
        Ok((answer.text.unwrap_or_default(), next))
    }
}
