//! From the parser's complaints to one line and a hint.

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, ErrorKind},
};
use settings::suggest;

use crate::{arguments, failure::Failure, output};

/// Prints help or version where that was asked for; anything else is a failure.
///
/// # Errors
/// The command line makes no sense, or standard output is closed.
pub fn explain(error: &clap::Error) -> Result<(), Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => output::answer(&error.render().to_string()),
        _ => Err(Failure::Usage { message: message(error), hint: hint(error) }),
    }
}

/// The first paragraph of what the parser would print, in one line.
fn message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or(&text);
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn hint(error: &clap::Error) -> String {
    match suggested(error).or_else(|| nearest(error)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`coli --help` lists commands, `coli COMMAND --help` their flags".to_string(),
    }
}

/// What the parser suggests; it knows the flags of the command at hand.
fn suggested(error: &clap::Error) -> Option<String> {
    let suggestions =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    suggestions.iter().find_map(|kind| match error.get(*kind)? {
        ContextValue::String(word) => Some(word.clone()),
        ContextValue::Strings(words) => words.first().cloned(),
        _ => None,
    })
}

/// The nearest flag or command of all; the parser misses exchanged letters.
fn nearest(error: &clap::Error) -> Option<String> {
    let command = arguments::command();
    let written = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if let Some(word) = written(ContextKind::InvalidSubcommand) {
        return suggest::closest(word, command.get_subcommands().map(Command::get_name)).map(str::to_string);
    }
    let flag = written(ContextKind::InvalidArg)?.strip_prefix("--")?;
    let commands = || std::iter::once(&command).chain(command.get_subcommands());
    let flags = commands().flat_map(Command::get_arguments).filter_map(Arg::get_long);
    suggest::closest(flag, flags).map(|name| format!("--{name}"))
}
