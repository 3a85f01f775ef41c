//! The directory layout of the Hugging Face cache: `models--OWNER--NAME/{refs/main, snapshots/REVISION/…}`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::Error;

/// The snapshot to use when `path` is the cache directory of a whole repository; `None` when it is something else.
///
/// `refs/main` decides; without it, the only snapshot does.
///
/// # Errors
/// There are several snapshots and nothing says which.
pub fn snapshot(path: &Path) -> Result<Option<PathBuf>, Error> {
    let snapshots = path.join("snapshots");
    if !snapshots.is_dir() || path.join("config.json").exists() {
        return Ok(None);
    }
    if let Ok(revision) = fs::read_to_string(path.join("refs").join("main")) {
        let chosen = snapshots.join(revision.trim());
        if chosen.is_dir() {
            return Ok(Some(chosen));
        }
    }
    let entries = fs::read_dir(&snapshots).map_err(|source| Error::Io { path: snapshots.clone(), source })?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|entry| entry.is_dir()).collect();
    match found.len() {
        0 => Ok(None),
        1 => Ok(found.pop()),
        count => Err(Error::NotACheckpoint {
            path: snapshots,
            needed: "one snapshot, or refs/main to choose",
            found: format!("{count} snapshots"),
        }),
    }
}

/// `OWNER/NAME` when `directory` lies in the cache of that repository.
pub fn repository(directory: &Path) -> Option<String> {
    directory.ancestors().find_map(|ancestor| {
        let name = ancestor.file_name()?.to_str()?.strip_prefix("models--")?;
        name.split_once("--").map(|(owner, name)| format!("{owner}/{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_layout_names_the_repository() {
        for (path, repository_name) in [
            ("/h/hub/models--some--thing-7b/snapshots/abc", Some("some/thing-7b")),
            ("/h/models/thing", None),
            ("models--short", None),
        ] {
            assert_eq!(repository(Path::new(path)).as_deref(), repository_name, "{path}");
        }
    }
}
