//! From a path to a checkpoint: which format it is, which files belong to it, what they hold.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

use crate::{
    Config, Error,
    assemble::Assembly,
    checkpoint::{Checkpoint, Kind},
    gguf, hub, regular,
    safetensors::{directory, directory::Shards, header},
};

/// See [`Checkpoint::open`].
pub fn open(path: &Path) -> Result<Checkpoint, Error> {
    fs::symlink_metadata(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    if let Some(error) = regular::dangling(path) {
        return Err(error);
    }
    if !path.is_dir() {
        return if path.extension().is_some_and(|extension| extension == "safetensors") {
            let shards = Shards { files: vec![path.to_path_buf()], promised: Vec::new() };
            safetensors(path, parent(path), shards)
        } else {
            gguf(path, path)
        };
    }
    let directory = hub::snapshot(path)?.unwrap_or_else(|| path.to_path_buf());
    // Without a configuration the safetensors files that may lie here are no model, and a GGUF file needs none.
    if regular::is_absent(&directory.join("config.json"))
        && let Some(file) = gguf::split::only_model(&directory)?
    {
        return gguf(path, &file);
    }
    if let Some(shards) = directory::shards(&directory)? {
        return safetensors(path, &directory, shards);
    }
    match gguf::split::only_model(&directory)? {
        Some(file) => gguf(path, &file),
        None => Err(Error::NotACheckpoint {
            needed: "*.safetensors with a config.json, or one .gguf model",
            found: entries(&directory),
            path: directory,
        }),
    }
}

fn safetensors(path: &Path, directory: &Path, shards: Shards) -> Result<Checkpoint, Error> {
    let config_path = directory.join("config.json");
    let config = Config::new(config_path.display().to_string(), regular::json_object(&config_path)?);
    let mut assembly = Assembly::default();
    let mut notes = Vec::new();
    for (at, file) in shards.files.iter().enumerate() {
        let header = header::open(file, assembly.next_file())?;
        if header.unclaimed_bytes > 0 {
            notes.push(format!("{}: {} bytes belong to no tensor", file.display(), header.unclaimed_bytes));
        }
        assembly.add(file, header.file_bytes, header.tensors, header.metadata)?;
        if let Some(promised) = shards.promised.get(at) {
            assembly.check_promised(promised)?;
        }
    }
    Ok(Checkpoint::assembled(Kind::Safetensors, path, directory, assembly, config, None, notes))
}

fn gguf(path: &Path, file: &Path) -> Result<Checkpoint, Error> {
    let mut assembly = Assembly::default();
    let mut first = None;
    for part in gguf::split::parts(file)? {
        let path = part.path.clone();
        let header = gguf::split::open_part(part, assembly.next_file())?;
        assembly.add(&path, header.file_bytes, header.tensors, BTreeMap::new())?;
        match &mut first {
            None => first = Some((header.values, header.metadata)),
            Some((_, metadata)) => metadata.adopt_types(header.metadata),
        }
    }
    let (values, metadata) = first.unwrap_or_default();
    gguf::split::check_total(file, &values, assembly.tensors.len())?;
    let config = Config::new(file.display().to_string(), Value::Object(values));
    Ok(Checkpoint::assembled(Kind::Gguf, path, parent(file), assembly, config, Some(metadata), Vec::new()))
}

fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new(""))
}

/// What a directory holds, for a message: the first few names.
fn entries(directory: &Path) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = fs::read_dir(directory)
        .map(|entries| {
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
        })
        .unwrap_or_default();
    if names.is_empty() {
        return "nothing".to_string();
    }
    names.sort_unstable();
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let listed = names.join(", ");
    if more == 0 { listed } else { format!("{listed} and {more} more") }
}
