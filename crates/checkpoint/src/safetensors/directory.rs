//! Which safetensors files a directory's checkpoint consists of, and what an index says must be in them.
//!
//! Precedence: `model.safetensors`, unless the index names it as one of several; then the index; then every
//! `*.safetensors` file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use crate::{AbsentFile, Error, regular};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
const SUFFIX: &str = ".safetensors";

/// The files of one checkpoint.
#[derive(Debug)]
pub struct Shards {
    /// Paths, in the order of their names. All of them exist.
    pub files: Vec<PathBuf>,
    /// Where there is an index: the tensors it promises for each file.
    pub promised: Vec<Vec<String>>,
}

/// The safetensors files of `directory`; none when there are none.
///
/// # Errors
/// The index cannot be used, or files are absent (all of them are named).
pub fn shards(directory: &Path) -> Result<Option<Shards>, Error> {
    let single = directory.join(SINGLE);
    let has_single = !regular::is_absent(&single);
    if let Some(index) = index_of(directory)? {
        let weight_map = files_of(&index, regular::json_object(&index)?)?;
        if !has_single || weight_map.contains_key(SINGLE) {
            return indexed(directory, &index, weight_map).map(Some);
        }
    }
    if has_single {
        return Ok(Some(Shards { files: vec![single], promised: Vec::new() }));
    }
    let names = file_names(directory, SUFFIX)?;
    if names.is_empty() {
        return Ok(None);
    }
    refuse_holes(directory, &names)?;
    Ok(Some(Shards { files: names.iter().map(|name| directory.join(name)).collect(), promised: Vec::new() }))
}

/// Names of the visible files of `directory` that end in `suffix`, sorted.
pub fn file_names(directory: &Path, suffix: &str) -> Result<Vec<String>, Error> {
    let refuse = |source| Error::Io { path: directory.to_path_buf(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).map_err(refuse)? {
        let name = entry.map_err(refuse)?.file_name().to_string_lossy().into_owned();
        if name.ends_with(suffix) && !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// The index: the one with the usual name, else the only one.
fn index_of(directory: &Path) -> Result<Option<PathBuf>, Error> {
    let usual = directory.join(INDEX);
    if !regular::is_absent(&usual) {
        return Ok(Some(usual));
    }
    let names = file_names(directory, ".safetensors.index.json")?;
    Ok(match names.as_slice() {
        [only] => Some(directory.join(only)),
        _ => None,
    })
}

/// The tensors of each file that an index names; `index` is only for messages.
pub fn files_of(index: &Path, mut value: Value) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let refuse = |field: &str, needed: &str, found: String| Error::Field {
        origin: index.display().to_string(),
        field: field.to_string(),
        needed: needed.to_string(),
        found,
    };
    let Some(Value::Object(weight_map)) = value.get_mut("weight_map").map(Value::take) else {
        return Err(refuse("weight_map", "an object of tensor and file names", "none".to_string()));
    };
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (tensor, file) in weight_map {
        let field = || format!("weight_map.{tensor}");
        let Value::String(file) = file else {
            return Err(refuse(&field(), "a file name", file.to_string()));
        };
        if !stays_inside(&file) {
            return Err(refuse(&field(), "a file inside the directory", format!("`{file}`")));
        }
        files.entry(file).or_default().push(tensor);
    }
    if files.is_empty() {
        return Err(refuse("weight_map", "at least one tensor", "none".to_string()));
    }
    Ok(files)
}

fn stays_inside(name: &str) -> bool {
    !name.is_empty() && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

fn indexed(
    directory: &Path,
    index: &Path,
    weight_map: BTreeMap<String, Vec<String>>,
) -> Result<Shards, Error> {
    let absent: Vec<AbsentFile> = weight_map
        .iter()
        .filter(|(name, _)| regular::is_absent(&directory.join(name)))
        .map(|(name, tensors)| AbsentFile { name: name.clone(), tensors: Some(tensors.len()) })
        .collect();
    if !absent.is_empty() {
        let namer = index.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(Error::Absent {
            directory: directory.to_path_buf(),
            namer,
            files: absent,
            of: weight_map.len(),
        });
    }
    let (files, promised) =
        weight_map.into_iter().map(|(name, tensors)| (directory.join(name), tensors)).unzip();
    Ok(Shards { files, promised })
}

/// Without an index only the names can tell that a shard is absent: `…-00001-of-00003.safetensors`.
fn refuse_holes(directory: &Path, names: &[String]) -> Result<(), Error> {
    let mut absent = Vec::new();
    let mut total = 0;
    for (at, name) in names.iter().enumerate() {
        let Some(numbered) = Numbered::parse(name, SUFFIX) else { continue };
        // One series may stand beside another; each is looked at once, from its first file that is there.
        if names[..at]
            .iter()
            .any(|earlier| Numbered::parse(earlier, SUFFIX).is_some_and(|e| e.same_series(&numbered)))
        {
            continue;
        }
        total += numbered.count;
        let whole = (1..=numbered.count).map(|number| numbered.name(number));
        absent.extend(
            whole.filter(|name| !names.contains(name)).map(|name| AbsentFile { name, tensors: None }),
        );
    }
    if absent.is_empty() {
        return Ok(());
    }
    let namer = "the numbering".to_string();
    Err(Error::Absent { directory: directory.to_path_buf(), namer, files: absent, of: total })
}

/// A name with a place in a series: `PREFIX-00001-of-00003SUFFIX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered<'a> {
    /// All before the number.
    pub prefix: &'a str,
    /// All after the count.
    pub suffix: &'a str,
    /// Digits of the number and of the count.
    pub digits: usize,
    /// The number, from 1 on.
    pub number: usize,
    /// Files of the series.
    pub count: usize,
}

impl<'a> Numbered<'a> {
    /// Most files of one series; the published ones have a few hundred.
    pub const COUNT_MAX: usize = 9_999;

    /// Takes `name` apart; none when it is not of this form.
    pub fn parse(name: &'a str, suffix: &'a str) -> Option<Numbered<'a>> {
        let stem = name.strip_suffix(suffix)?;
        let (stem, count) = stem.rsplit_once("-of-")?;
        let (prefix, number) = stem.rsplit_once('-')?;
        let read =
            |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
        let (number, of): (usize, usize) = (read(number)?, read(count)?);
        let fits = count.len() == stem.len() - prefix.len() - 1
            && (1..=of).contains(&number)
            && of <= Self::COUNT_MAX;
        fits.then_some(Numbered { prefix, suffix, digits: count.len(), number, count: of })
    }

    /// The name of file `number` of the same series.
    pub fn name(&self, number: usize) -> String {
        let Numbered { prefix, suffix, digits, count, .. } = self;
        format!("{prefix}-{number:0digits$}-of-{count:0digits$}{suffix}")
    }

    fn same_series(&self, other: &Numbered) -> bool {
        (self.prefix, self.digits, self.count) == (other.prefix, other.digits, other.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_taken_apart_and_made() {
        let name = "model-00002-of-00003.safetensors";
        let numbered = Numbered::parse(name, SUFFIX).expect("it is numbered");
        assert_eq!((numbered.prefix, numbered.number, numbered.count), ("model", 2, 3));
        assert_eq!(numbered.name(2), name);
        for other in
            ["model.safetensors", "m-1-of-.safetensors", "m-4-of-3.safetensors", "m-+1-of-03.safetensors"]
        {
            assert_eq!(Numbered::parse(other, SUFFIX), None, "{other}");
        }
    }

    #[test]
    fn an_index_cannot_lead_outside() {
        for (name, inside) in
            [("a", true), ("a/b", true), ("../a", false), ("/a", false), ("", false), ("a/../b", false)]
        {
            assert_eq!(stays_inside(name), inside, "{name}");
        }
    }
}
