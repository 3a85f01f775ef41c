//! A place that breaks a rule.

use std::{fmt, path::PathBuf};

/// Where, and what is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Counted from 1; 0 when the whole file is meant.
    pub line: usize,
    /// One sentence without a full stop.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}
