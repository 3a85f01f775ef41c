//! Models split over several GGUF files: `NAME-00001-of-00003.gguf`, with `split.no` and `split.count` in each.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::header::{self, Header};
use crate::{
    AbsentFile, Error, FileIdx, regular,
    safetensors::directory::{Numbered, file_names},
};

const SUFFIX: &str = ".gguf";

/// One file of a model.
#[derive(Debug)]
pub struct Part {
    /// The file.
    pub path: PathBuf,
    /// Its number from 0 on and the number of files; none where the model is one file.
    place: Option<(u64, u64)>,
    /// Its header where that has been read: a vocabulary is long, so a model of one file is parsed once.
    header: Option<Header>,
}

/// The GGUF model in `directory`: its only file, or the first of its only series. Projectors of images are no models.
///
/// # Errors
/// There are several models.
pub fn only_model(directory: &Path) -> Result<Option<PathBuf>, Error> {
    let mut models: Vec<String> = Vec::new();
    for name in file_names(directory, SUFFIX)? {
        let series = |name: &str| Numbered::parse(name, SUFFIX).map(|part| part.name(1));
        let is_known = series(&name)
            .is_some_and(|first| models.iter().any(|model| series(model) == Some(first.clone())));
        if !name.starts_with("mmproj") && !is_known {
            models.push(name);
        }
    }
    match models.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(directory.join(only))),
        _ => Err(Error::NotACheckpoint {
            path: directory.to_path_buf(),
            needed: "one .gguf model, or the path of one",
            found: models.join(", "),
        }),
    }
}

/// The files of the model that `file` is a part of, in order. All of them exist.
///
/// # Errors
/// `file` cannot be used, its name does not fit its place in the series, or parts are absent (all of them are named).
pub fn parts(file: &Path) -> Result<Vec<Part>, Error> {
    let header = header::open(file, FileIdx(0))?;
    let count = header.values.get("split.count").and_then(Value::as_u64).unwrap_or(0);
    if count <= 1 {
        return Ok(vec![Part { path: file.to_path_buf(), place: None, header: Some(header) }]);
    }
    let directory = file.parent().unwrap_or(Path::new(""));
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let numbered = Numbered::parse(&name, SUFFIX).filter(|numbered| numbered.count as u64 == count);
    let numbered = numbered.ok_or_else(|| Error::Header {
        path: file.to_path_buf(),
        needed: format!("a file name with -00001-of-{count:05}, since `split.count` is {count}"),
        found: format!("`{name}`"),
    })?;
    let names: Vec<String> = (1..=numbered.count).map(|number| numbered.name(number)).collect();
    let absent: Vec<AbsentFile> = names
        .iter()
        .filter(|name| regular::is_absent(&directory.join(name)))
        .map(|name| AbsentFile { name: name.clone(), tensors: None })
        .collect();
    if !absent.is_empty() {
        return Err(Error::Absent {
            directory: directory.to_path_buf(),
            namer: "`split.count`".to_string(),
            files: absent,
            of: names.len(),
        });
    }
    let part = |(number, name): (usize, &String)| Part {
        path: directory.join(name),
        place: Some((number as u64, count)),
        header: None,
    };
    Ok(names.iter().enumerate().map(part).collect())
}

/// Reads the header of one part and checks that it stands where its name says.
///
/// # Errors
/// As [`header::open`]; or `split.no` or `split.count` disagree.
pub fn open_part(part: Part, file: FileIdx) -> Result<Header, Error> {
    let header = match part.header {
        Some(header) => header,
        None => header::open(&part.path, file)?,
    };
    let Some((number, count)) = part.place else { return Ok(header) };
    let get = |key| header.values.get(key).and_then(Value::as_u64);
    let found = (get("split.no"), get("split.count"));
    if found != (Some(number), Some(count)) {
        let shown =
            |value: Option<u64>| value.map_or_else(|| "nothing".to_string(), |value| value.to_string());
        return Err(Error::Header {
            path: part.path,
            needed: format!("`split.no` {number} and `split.count` {count}"),
            found: format!("{} and {}", shown(found.0), shown(found.1)),
        });
    }
    Ok(header)
}

/// Checks the number of tensors against what the first part promises.
///
/// # Errors
/// They differ.
pub fn check_total(file: &Path, values: &Map<String, Value>, found: usize) -> Result<(), Error> {
    match values.get("split.tensors.count").and_then(Value::as_u64) {
        Some(needed) if needed != found as u64 => Err(Error::Header {
            path: file.to_path_buf(),
            needed: format!("`split.tensors.count` {needed} tensors in all parts"),
            found: found.to_string(),
        }),
        _ => Ok(()),
    }
}
