//! Where questions come from: an editor on a terminal, plain lines elsewhere.

use std::{
    borrow::Cow,
    fs,
    io::{self, BufRead, IsTerminal},
    path::{Path, PathBuf},
};

use reedline::{FileBackedHistory, Prompt, PromptEditMode, PromptHistorySearch, Reedline, Signal};

use crate::{environment::Environment, failure::Failure, output};

/// Questions that are remembered.
const HISTORY: usize = 1000;

/// Somebody who asks.
pub enum Lines {
    /// A person with an editor.
    Editor(Box<Reedline>),
    /// A file or pipe.
    Plain(io::StdinLock<'static>),
}

/// What was asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// This.
    Said(String),
    /// Ctrl-C without a question.
    Interrupted,
    /// Nothing more will come.
    End,
}

impl Lines {
    /// An editor if both input and output of the conversation are a terminal, else plain lines.
    pub fn of(environment: &Environment) -> Lines {
        if io::stdin().is_terminal() && io::stdout().is_terminal() {
            Lines::Editor(Box::new(editor(environment)))
        } else {
            Lines::Plain(io::stdin().lock())
        }
    }

    /// Whether a person types.
    pub fn is_editor(&self) -> bool {
        matches!(self, Lines::Editor(_))
    }

    /// The next line.
    ///
    /// # Errors
    /// The input cannot be read.
    pub fn next(&mut self) -> Result<Line, Failure> {
        match self {
            Lines::Editor(editor) => match editor.read_line(&Mark) {
                Ok(Signal::Success(line)) => Ok(Line::Said(line)),
                Ok(Signal::CtrlC) => Ok(Line::Interrupted),
                Ok(_) => Ok(Line::End),
                Err(error) => Err(input(io::Error::other(error.to_string()))),
            },
            Lines::Plain(stdin) => {
                let mut bytes = Vec::new();
                match stdin.read_until(b'\n', &mut bytes).map_err(input)? {
                    0 => Ok(Line::End),
                    _ => Ok(Line::Said(String::from_utf8_lossy(&bytes).into_owned())),
                }
            }
        }
    }
}

fn input(source: io::Error) -> Failure {
    Failure::Io { object: "standard input".to_string(), source }
}

fn editor(environment: &Environment) -> Reedline {
    let editor = Reedline::create();
    let Some(folder) = environment.state_folder().map(|folder| folder.join("colibri")) else {
        output::note("history is not kept: there is no HOME");
        return editor;
    };
    match history(&folder) {
        Ok(history) => editor.with_history(Box::new(history)),
        Err(why) => {
            output::note(&format!("history is not kept: {}: {why}", folder.display()));
            editor
        }
    }
}

/// The history file, if it can be written: an editor that finds out later would complain after every line.
fn history(folder: &Path) -> Result<FileBackedHistory, String> {
    let file: PathBuf = folder.join("history.txt");
    let probe = fs::create_dir_all(folder)
        .and_then(|()| fs::OpenOptions::new().append(true).create(true).open(&file));
    probe.map_err(|error| error.to_string())?;
    FileBackedHistory::with_file(HISTORY, file).map_err(|error| error.to_string())
}

/// The mark before a question.
struct Mark;

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed("> ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("  ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        Cow::Owned(format!("search {}: ", search.term))
    }
}
