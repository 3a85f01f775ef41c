//! `coli chat`: questions and answers until somebody leaves.

mod conversation;
mod lines;
pub mod prompt;
mod words;

use session::Session;

use crate::{answer, call::Call, failure::Failure, model::Chosen, output, signals::INTERRUPT};
use conversation::Conversation;
use lines::{Line, Lines};
use words::{Typed, Word};

/// What the loop does after a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Ask,
    Leave,
}

/// Answers questions until the input ends or somebody leaves.
///
/// # Errors
/// The model cannot be opened or has no chat template; on plain input, the first question that cannot be answered.
pub fn chat(call: &Call<'_>) -> Result<(), Failure> {
    let mut session = Chosen::of(call)?.open()?;
    // A model that cannot chat says so before the first question is typed.
    prompt::check(&session)?;
    let mut lines = Lines::of(&call.environment);
    if lines.is_editor() {
        greet(&session);
    }
    let mut conversation = Conversation::default();
    let mut interrupts = 0;
    loop {
        let line = match lines.next()? {
            Line::Said(line) => line,
            Line::End => return Ok(()),
            Line::Interrupted if interrupts > 0 => return Err(Failure::Stopped { signal: INTERRUPT }),
            Line::Interrupted => {
                interrupts += 1;
                output::note("Ctrl-C again, Ctrl-D or :quit to leave");
                continue;
            }
        };
        interrupts = 0;
        match turn(call, &mut session, &mut conversation, &line) {
            Ok(Next::Ask) => {}
            Ok(Next::Leave) => return Ok(()),
            // A person reads why and asks otherwise; a script must not mistake silence for an answer.
            Err(failure) if lines.is_editor() && is_about_this_question(&failure) => {
                failure.lines().into_iter().flatten().for_each(|line| output::note(&line));
            }
            Err(failure) => return Err(failure),
        }
    }
}

fn greet(session: &Session) {
    let plan = session.plan();
    output::note(&format!(
        "{} ({} tokens of context); :help lists what else can be typed",
        plan.model, plan.context
    ));
}

fn is_about_this_question(failure: &Failure) -> bool {
    matches!(failure, Failure::Session(_) | Failure::Refused { .. })
}

fn turn(
    call: &Call<'_>,
    session: &mut Session,
    conversation: &mut Conversation,
    line: &str,
) -> Result<Next, Failure> {
    match words::read(line) {
        Typed::Nothing => Ok(Next::Ask),
        Typed::Question(question) => conversation.ask(call, session, question),
        Typed::Word(Word::More) => conversation.more(call, session),
        Typed::Word(Word::Help) => output::line(&words::help()).map(|()| Next::Ask),
        Typed::Word(Word::Quit) => Ok(Next::Leave),
        Typed::Word(Word::Reset) => {
            *conversation = Conversation::default();
            session.reset();
            output::note("forgotten");
            Ok(Next::Ask)
        }
        Typed::Word(Word::Stats) => {
            match conversation.stats() {
                Some(stats) => output::rows(&answer::rows(stats))?,
                None => output::note("nothing was answered yet"),
            }
            Ok(Next::Ask)
        }
        Typed::Unknown(word) => {
            output::note(&format!("{word} is not a word of the chat; :help lists them"));
            Ok(Next::Ask)
        }
    }
}
