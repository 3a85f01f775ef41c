//! Where words go: answers to standard output, everything else to standard error.

use std::io::{self, IsTerminal, Write};

use crate::failure::Failure;

/// Writes `text` to standard output at once.
///
/// # Errors
/// The output is closed or full.
pub fn answer(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::Output)
}

/// As [`answer`], with the end of a line.
///
/// # Errors
/// As [`answer`].
pub fn line(text: &str) -> Result<(), Failure> {
    answer(&format!("{text}\n"))
}

/// Writes `value` to standard output as one line of JSON.
///
/// # Errors
/// As [`answer`].
pub fn json(value: &serde_json::Value) -> Result<(), Failure> {
    line(&value.to_string())
}

/// Writes rows of a word and its value to standard output, the values below one another.
///
/// # Errors
/// As [`answer`].
pub fn rows(rows: &[(String, String)]) -> Result<(), Failure> {
    let width = rows.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
    rows.iter().try_for_each(|(word, value)| line(format!("{word:width$}  {value}").trim_end()))
}

/// Says something beside the answer. Nobody listening is no reason to stop.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Whether somebody watches standard error.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}
