//! Opening files that others wrote: links, pointers and things that are no files are told apart before a byte is used.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::Path,
};

use serde_json::Value;
use units::limits::HEADER_BYTES_MAX;

use crate::Error;

/// First words of a Git LFS pointer (git-lfs `docs/spec.md`).
const LFS_HEAD: &[u8] = b"version https://git-lfs";
/// A pointer is smaller than this, by its specification.
const LFS_BYTES_MAX: u64 = 1024;

/// Opens `path` and tells its size.
///
/// # Errors
/// It is absent, a dangling link, no regular file (opening a pipe would wait for ever), unreadable, or an LFS pointer.
pub fn open(path: &Path) -> Result<(File, u64), Error> {
    let refuse = |source| Error::Io { path: path.to_path_buf(), source };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(source) => return Err(dangling(path).unwrap_or_else(|| refuse(source))),
    };
    if !metadata.is_file() {
        return Err(refuse(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")));
    }
    let file = File::open(path).map_err(refuse)?;
    if metadata.len() < LFS_BYTES_MAX {
        let mut text = Vec::new();
        (&file).take(LFS_BYTES_MAX).read_to_end(&mut text).map_err(refuse)?;
        refuse_pointer(path, &text)?;
        return Ok((File::open(path).map_err(refuse)?, metadata.len()));
    }
    Ok((file, metadata.len()))
}

/// The error for a link whose target is gone; `None` when `path` is no such thing.
pub fn dangling(path: &Path) -> Option<Error> {
    let target = fs::read_link(path).ok()?;
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Some(Error::Dangling { link: path.to_path_buf(), target })
        }
        _ => None,
    }
}

/// Whether nothing at all has this name; a dangling link is there.
pub fn is_absent(path: &Path) -> bool {
    matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn refuse_pointer(path: &Path, text: &[u8]) -> Result<(), Error> {
    if !text.starts_with(LFS_HEAD) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(text);
    let size_bytes = text.lines().find_map(|line| line.strip_prefix("size ")?.trim().parse().ok());
    Err(Error::LfsPointer { path: path.to_path_buf(), size_bytes })
}

/// The JSON object in `path`.
///
/// # Errors
/// As [`open`]; or it is larger than a configuration may be, no JSON, or no object.
pub fn json_object(path: &Path) -> Result<Value, Error> {
    let (file, size_bytes) = open(path)?;
    if size_bytes > HEADER_BYTES_MAX {
        return Err(Error::Header {
            path: path.to_path_buf(),
            needed: format!("at most {HEADER_BYTES_MAX} bytes of JSON"),
            found: size_bytes.to_string(),
        });
    }
    let mut text = Vec::with_capacity(size_bytes as usize);
    file.take(HEADER_BYTES_MAX)
        .read_to_end(&mut text)
        .map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    parse_object(path, &text)
}

/// As [`json_object`], for bytes already read. A byte order mark is skipped.
pub fn parse_object(path: &Path, text: &[u8]) -> Result<Value, Error> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let value: Value = serde_json::from_slice(text).map_err(|error| json_error(path, &error))?;
    if value.is_object() {
        return Ok(value);
    }
    Err(Error::Json {
        path: path.to_path_buf(),
        line: 1,
        column: 1,
        reason: "needed a JSON object".to_string(),
    })
}

/// A parser's complaint, with the file.
pub fn json_error(path: &Path, error: &serde_json::Error) -> Error {
    let full = error.to_string();
    // The position is given apart; the parser repeats it at the end of its text.
    let reason = full.rsplit_once(" at line ").map_or(full.as_str(), |(reason, _)| reason).to_string();
    Error::Json { path: path.to_path_buf(), line: error.line(), column: error.column(), reason }
}
