//! Everything that can end a command early: one line that says what is wrong, one that says what to try, an exit code.

use std::{error::Error, io, path::Path, process::ExitCode};

/// Why a command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line makes no sense.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What to try.
        hint: String,
    },
    /// A setting is unknown or out of range.
    #[error(transparent)]
    Settings(#[from] settings::Error),
    /// A session cannot be had or an answer not given.
    #[error(transparent)]
    Session(Box<session::Error>),
    /// A file or folder of this program's own cannot be used.
    #[error("{object}: {source}")]
    Io {
        /// The file or folder.
        object: String,
        /// The system's answer.
        source: io::Error,
    },
    /// Something that this program will not or cannot do.
    #[error("{message}")]
    Refused {
        /// What, and why.
        message: String,
        /// What to try.
        hint: String,
    },
    /// Standard output cannot be written.
    #[error("standard output: {0}")]
    Output(io::Error),
    /// The user stopped it.
    #[error("stopped by signal {signal}")]
    Stopped {
        /// The signal's number.
        signal: u8,
    },
}

impl Failure {
    /// A failure to use `path`.
    pub fn io(path: &Path, source: io::Error) -> Failure {
        Failure::Io { object: path.display().to_string(), source }
    }

    /// A command line that makes no sense.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Usage { message: message.into(), hint: hint.into() }
    }

    /// Something that will not be done.
    pub fn refused(message: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Refused { message: message.into(), hint: hint.into() }
    }

    /// The two lines for people; none where there is nothing to say or nobody to hear it.
    pub fn lines(&self) -> Option<[String; 2]> {
        let is_silent = match self {
            Failure::Output(error) => error.kind() == io::ErrorKind::BrokenPipe,
            Failure::Stopped { .. } => true,
            _ => false,
        };
        (!is_silent).then(|| [format!("error: {}", one_line(self)), format!("hint: {}", self.hint())])
    }

    /// 2 for what was written wrongly, 128 and the signal's number when stopped, 1 for everything else. A reader that has
    /// seen enough is no failure.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Usage { .. } | Failure::Settings(_) => ExitCode::from(2),
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Failure::Stopped { signal } => ExitCode::from(128 + signal),
            Failure::Session(_) | Failure::Io { .. } | Failure::Refused { .. } | Failure::Output(_) => {
                ExitCode::FAILURE
            }
        }
    }

    fn hint(&self) -> String {
        match self {
            Failure::Usage { hint, .. } | Failure::Refused { hint, .. } => hint.clone(),
            Failure::Settings(error) => error.hint(),
            Failure::Session(error) => session_hint(error),
            Failure::Io { .. } => {
                "check that it exists, that it may be used, and that the drive has room".to_string()
            }
            Failure::Output(_) => "is the drive full?".to_string(),
            Failure::Stopped { .. } => String::new(),
        }
    }
}

impl From<session::Error> for Failure {
    fn from(error: session::Error) -> Failure {
        Failure::Session(Box::new(error))
    }
}

impl From<checkpoint::Error> for Failure {
    fn from(error: checkpoint::Error) -> Failure {
        session::Error::from(error).into()
    }
}

impl From<storage::Error> for Failure {
    fn from(error: storage::Error) -> Failure {
        session::Error::from(error).into()
    }
}

impl From<text::Error> for Failure {
    fn from(error: text::Error) -> Failure {
        session::Error::from(error).into()
    }
}

fn session_hint(error: &session::Error) -> String {
    let hint = match error {
        session::Error::Checkpoint(error) => return checkpoint_hint(error),
        session::Error::Model(models::Error::Config(error)) => return checkpoint_hint(error),
        session::Error::Model(_) => {
            "the families that are named can be run; `coli info MODEL` tells what this one is"
        }
        session::Error::Layers(_) => {
            "`coli doctor MODEL` checks every file; is this a complete checkpoint of its family?"
        }
        session::Error::Storage(_) => "`--storage pread --direct off` reads in the plainest way",
        session::Error::DoesNotFit { .. } => {
            "raise --ram, lower --ctx, or make the model smaller: coli convert MODEL DST --format int4-g64"
        }
        session::Error::MemoryUnknown => "set a ceiling: --ram 8G",
        session::Error::Context { .. } => "lower --ctx, or leave it out",
        session::Error::Kernels { .. } => "leave --kernels out to take the best",
        session::Error::ContextFull { .. } => "shorten the prompt or raise --ctx",
        session::Error::EmptyPrompt => "write a prompt, or give its ids with --ids 1,2,3",
        session::Error::Token { .. } => "`coli info MODEL` tells the size of the vocabulary",
        session::Error::StopsNeedText => "leave --stop out",
        session::Error::Text(_) => {
            "--ids 1,2,3 needs no tokenizer and no chat template, --raw no chat template"
        }
        _ => "`coli doctor MODEL` checks the model and the machine",
    };
    hint.to_string()
}

fn checkpoint_hint(error: &checkpoint::Error) -> String {
    match error {
        checkpoint::Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            "MODEL is a checkpoint's folder or a .gguf file; without one, the embedded demo model answers"
                .to_string()
        }
        checkpoint::Error::Io { .. } => "check that the file may be read".to_string(),
        _ => error
            .hint()
            .unwrap_or_else(|| "the file is damaged or of another kind; fetch it again".to_string()),
    }
}

/// The message of `error` with those of its causes that it does not repeat itself, in one line.
pub fn one_line(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
