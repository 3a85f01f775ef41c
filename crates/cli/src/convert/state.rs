//! What a conversion has finished, kept beside its files so that it can go on after anything.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use checkpoint::Checkpoint;
use serde::{Deserialize, Serialize};

use super::rules::Target;
use crate::failure::Failure;

/// Name of the state's file in the destination.
pub const FILE: &str = "colibri-convert.json";

/// The layout of this file and of what is written.
const VERSION: u32 = 1;

/// A conversion as far as it has come. A shard is listed after it is whole on the drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    version: u32,
    source: String,
    format: String,
    io_format: String,
    /// Names of finished shards.
    pub shards_done: BTreeSet<String>,
    /// Whether everything is written.
    pub is_complete: bool,
}

impl State {
    /// A conversion that has just begun.
    fn new(source: &Checkpoint, target: Target) -> State {
        State {
            version: VERSION,
            source: identity(source),
            format: target.format.name().to_string(),
            io_format: target.io_format.name().to_string(),
            shards_done: BTreeSet::new(),
            is_complete: false,
        }
    }

    /// The state in `folder`, or a new one if the folder is absent or empty.
    ///
    /// # Errors
    /// The folder holds another conversion or something else, or cannot be read.
    pub fn find(folder: &Path, source: &Checkpoint, target: Target) -> Result<State, Failure> {
        let new = State::new(source, target);
        let path = folder.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if is_free(folder)? { Ok(new) } else { Err(occupied(folder)) };
            }
            Err(error) => return Err(Failure::io(&path, error)),
        };
        let found: State = serde_json::from_str(&text).map_err(|error| {
            Failure::refused(format!("{}: {error}", path.display()), "remove the destination to begin again")
        })?;
        found.check(&new, &path)?;
        Ok(found)
    }

    /// Refuses to go on with another conversion than the one that was begun.
    fn check(&self, new: &State, path: &Path) -> Result<(), Failure> {
        let pairs = [
            ("source", &new.source, &self.source),
            ("format", &new.format, &self.format),
            ("io-format", &new.io_format, &self.io_format),
        ];
        if self.version != VERSION {
            return Err(Failure::refused(
                format!("{}: needed version {VERSION}; found {}", path.display(), self.version),
                "remove the destination to begin again",
            ));
        }
        for (what, needed, found) in pairs {
            if needed != found {
                return Err(Failure::refused(
                    format!("{}: {what}: needed {needed}; found a conversion with {found}", path.display()),
                    "go on with what was begun, or choose another destination",
                ));
            }
        }
        Ok(())
    }

    /// Writes the state so that a reader finds either the old or the new one, whole.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        write_whole(&folder.join(FILE), text.as_bytes())
    }
}

/// Writes a file by way of another name, so that it is never there in part.
///
/// # Errors
/// The folder cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let draft = draft(path);
    let written = fs::File::create(&draft).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&draft, path)).map_err(|source| Failure::io(path, source))
}

fn draft(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    path.with_file_name(name)
}

/// What tells one source from another: the layout of its tensors and the sizes of its files.
fn identity(source: &Checkpoint) -> String {
    let file_bytes: u64 =
        (0..source.files().len()).map(|at| source.file_bytes(checkpoint::FileIdx(at as u32))).sum();
    format!("{}-{}-{file_bytes}", source.fingerprint(), source.files().len())
}

fn is_free(folder: &Path) -> Result<bool, Failure> {
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            Ok(entries.all(|entry| entry.is_ok_and(|entry| is_draft_of_state(&entry.file_name()))))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(Failure::io(folder, error)),
    }
}

/// The first write of the state may have been interrupted.
fn is_draft_of_state(name: &std::ffi::OsStr) -> bool {
    draft(Path::new(FILE)).as_os_str() == name
}

fn occupied(folder: &Path) -> Failure {
    Failure::refused(
        format!(
            "{}: needed an absent or empty folder, or a conversion to go on with; found other files",
            folder.display()
        ),
        "choose another destination; nothing is ever overwritten",
    )
}
