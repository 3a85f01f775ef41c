//! Why bytes did not arrive.

use std::{io, path::PathBuf};

/// A file that cannot be opened or read. The message says which, and where in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened.
    #[error("{}: cannot be opened: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A read failed.
    #[error("{}: read at byte {offset_bytes} failed: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Where the read began.
        offset_bytes: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file ends before the wanted bytes do.
    #[error("{}: ends at byte {found}, needed up to byte {needed}", file.display())]
    Ended {
        /// The file.
        file: PathBuf,
        /// End of the wanted bytes.
        needed: u64,
        /// End of the file.
        found: u64,
    },
    /// A way of reading that was asked for by name cannot be had.
    #[error("storage `{strategy}` cannot be used here: {reason}")]
    Unavailable {
        /// The way of reading.
        strategy: &'static str,
        /// Why not.
        reason: String,
    },
}
