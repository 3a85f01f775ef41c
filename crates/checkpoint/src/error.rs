//! Why a checkpoint was refused: the object, what was needed, what was found.

use std::{fmt::Write as _, io, path::PathBuf};

/// A file that something else names and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentFile {
    /// Its name, relative to the directory of the checkpoint.
    pub name: String,
    /// Tensors that the index expects in it; none where nothing says so.
    pub tensors: Option<usize>,
}

/// Everything that can be wrong with what is on disk.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// Nothing here looks like a model.
    #[error("{}: needed {needed}; found {found}", path.display())]
    NotACheckpoint {
        /// What was opened.
        path: PathBuf,
        /// What would do.
        needed: &'static str,
        /// What is there.
        found: String,
    },
    /// A symbolic link whose target is gone.
    #[error("{}: dangling link to {}", link.display(), target.display())]
    Dangling {
        /// The link.
        link: PathBuf,
        /// Where it points.
        target: PathBuf,
    },
    /// A Git LFS pointer stands where the file itself should.
    #[error("{}: a Git LFS pointer{}, not the file itself", path.display(), stands_for(*size_bytes))]
    LfsPointer {
        /// The pointer.
        path: PathBuf,
        /// Size of the real file, as the pointer gives it.
        size_bytes: Option<u64>,
    },
    /// Files that belong to the checkpoint are not there; all of them are listed.
    #[error("{}: {} of {of} files that {namer} names are absent: {}", directory.display(), files.len(), listed(files))]
    Absent {
        /// Where they should be.
        directory: PathBuf,
        /// What names them.
        namer: String,
        /// The absent ones.
        files: Vec<AbsentFile>,
        /// Files there should be in all.
        of: usize,
    },
    /// A file ends before what its header promises.
    #[error("{}: truncated: the header describes {needed_bytes} bytes, the file has {found_bytes}", path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Bytes the header describes, itself included.
        needed_bytes: u64,
        /// Size of the file.
        found_bytes: u64,
    },
    /// The beginning of a file is not what its kind requires.
    #[error("{}: header: needed {needed}; found {found}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What the format requires.
        needed: String,
        /// What is there.
        found: String,
    },
    /// One tensor is not described in a way that can hold.
    #[error("{}: tensor `{tensor}`: needed {needed}; found {found}", path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        tensor: String,
        /// What would hold.
        needed: String,
        /// What the file says.
        found: String,
    },
    /// One name stands in two places.
    #[error("tensor `{tensor}` is in {} and again in {}; needed once", first.display(), second.display())]
    Duplicate {
        /// The name.
        tensor: String,
        /// Where it was first.
        first: PathBuf,
        /// Where it is again.
        second: PathBuf,
    },
    /// A file that must be JSON is not.
    #[error("{}: line {line}, column {column}: {reason}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What the parser says.
        reason: String,
    },
    /// A field of a configuration is absent, of another type, or out of range.
    #[error("{origin}: field `{field}`: needed {needed}; found {found}")]
    Field {
        /// The configuration.
        origin: String,
        /// The field.
        field: String,
        /// What was needed.
        needed: String,
        /// What is there.
        found: String,
    },
}

impl Error {
    /// What to try next, in one line, where this crate can know it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Absent { directory, files, .. } => {
                let repository =
                    crate::hub::repository(directory).unwrap_or_else(|| "REPOSITORY".to_string());
                let mut hint = format!("fetch only what is absent: hf download {repository}");
                for file in files {
                    let _ = write!(hint, " {}", file.name);
                }
                if crate::hub::repository(directory).is_none() {
                    let _ = write!(hint, " --local-dir {}", directory.display());
                }
                Some(hint)
            }
            Error::LfsPointer { path, .. } => {
                let directory = path.parent().unwrap_or(path).display();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Some(format!("fetch the real file: git -C {directory} lfs pull --include {name}"))
            }
            Error::Truncated { path, .. } => Some(format!(
                "the download of {} did not finish or the file is damaged; fetch it again",
                path.display()
            )),
            Error::Dangling { target, .. } => {
                Some(format!("is the drive that holds {} mounted?", target.display()))
            }
            _ => None,
        }
    }
}

fn stands_for(size_bytes: Option<u64>) -> String {
    size_bytes.map_or_else(String::new, |bytes| format!(" ({} are elsewhere)", units::ByteSize(bytes)))
}

fn listed(files: &[AbsentFile]) -> String {
    let name = |file: &AbsentFile| match file.tensors {
        Some(1) => format!("{} (1 tensor)", file.name),
        Some(count) => format!("{} ({count} tensors)", file.name),
        None => file.name.clone(),
    };
    files.iter().map(name).collect::<Vec<_>>().join(", ")
}
