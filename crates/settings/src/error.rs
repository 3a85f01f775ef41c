//! Why the settings cannot be had.

use std::path::PathBuf;

/// What somebody wrote that is no setting, or no value of one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// A variable of this program's prefix that names no setting.
    #[error("environment variable `{variable}` is not a setting")]
    UnknownVariable {
        /// As it is spelt.
        variable: String,
        /// What may have been meant.
        suggestion: Option<String>,
    },
    /// A key of the configuration file that names no setting.
    #[error("{}: key `{key}` is not a setting", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// As it is spelt.
        key: String,
        /// What may have been meant.
        suggestion: Option<String>,
    },
    /// A value outside its setting's range.
    #[error("{origin}: needed {needed}; found {found}")]
    Range {
        /// Setting and place, as in `--ram` or `COLI_RAM`.
        origin: String,
        /// The range.
        needed: String,
        /// What was written.
        found: String,
        /// The setting.
        setting: &'static str,
    },
    /// A value of a type that its setting does not have.
    #[error("{}: key `{key}`: needed {needed}; found a value of type {found}", path.display())]
    FileType {
        /// The file.
        path: PathBuf,
        /// The setting.
        key: &'static str,
        /// The range.
        needed: String,
        /// Type of the value.
        found: &'static str,
    },
    /// The configuration file cannot be parsed.
    #[error("{}: line {line}: {reason}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// What the parser says.
        reason: String,
    },
}

impl Error {
    /// What to try next, in one line.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Error::UnknownVariable { suggestion: Some(meant), .. }
            | Error::UnknownKey { suggestion: Some(meant), .. } => {
                format!("did you mean `{meant}`?")
            }
            Error::UnknownVariable { variable, .. } => {
                format!("unset {variable}; docs/settings.md lists all settings")
            }
            Error::UnknownKey { .. } => "remove it; docs/settings.md lists all settings".to_string(),
            Error::Range { setting, .. } => {
                let default = crate::find(setting).map_or("", |setting| setting.default_words());
                format!("without it: {default}")
            }
            Error::FileType { key, .. } => format!("write it as on the command line: {key} = \"…\""),
            Error::Toml { .. } => "the file is TOML, one `key = value` a line".to_string(),
        }
    }
}
