//! Why text cannot be made into tokens or back: the file or field, what was needed, what was found.

use std::{io, path::PathBuf};

/// Everything that can be wrong with the text side of a checkpoint.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the checkpoint cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// The checkpoint has no tokenizer in a form that is read.
    #[error("{}: needed tokenizer.json; found {found}", directory.display())]
    NoTokenizer {
        /// Where it should be.
        directory: PathBuf,
        /// What is there.
        found: String,
    },
    /// A field of a tokenizer has the wrong type, or a value that is not known.
    #[error("{origin}: field `{field}`: needed {needed}; found {found}")]
    Field {
        /// The file.
        origin: String,
        /// The field.
        field: String,
        /// What would do.
        needed: String,
        /// What is there.
        found: String,
    },
    /// The tokenizer cannot be built from its description.
    #[error("{origin}: not a usable tokenizer: {reason}")]
    Tokenizer {
        /// The file.
        origin: String,
        /// Why not.
        reason: String,
    },
    /// The checkpoint has no chat template.
    #[error("{origin}: no chat template in chat_template.jinja, tokenizer_config.json or GGUF metadata")]
    NoTemplate {
        /// The checkpoint.
        origin: String,
    },
    /// The chat template is not one.
    #[error("{origin}: the chat template cannot be parsed: {reason}")]
    Template {
        /// The file.
        origin: String,
        /// What the parser says.
        reason: String,
    },
    /// The template refuses these messages, or fails on them.
    #[error("{origin}: the chat template refuses these messages: {reason}")]
    Render {
        /// The file.
        origin: String,
        /// What it says.
        reason: String,
    },
    /// The tokenizer fails on this text.
    #[error("{origin}: the text cannot be made into tokens: {reason}")]
    Encode {
        /// The file of the tokenizer.
        origin: String,
        /// Why not.
        reason: String,
    },
}
