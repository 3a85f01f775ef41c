//! `coli convert`: a checkpoint in another format, shard by shard.
//!
//! Each shard is written under another name and renamed when it is whole, then listed as done in a small state file; so a
//! conversion may end at any moment, by a signal or a power cut, and goes on with the first shard that is not listed. Memory is
//! bounded by a few rows and the scales of one tensor. The source is opened for reading only.

mod rows;
mod rules;
mod shard;
mod sidecars;
mod state;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use checkpoint::{Checkpoint, Kind};
use quant::Format;
use units::ByteSize;

use crate::{call::Call, failure::Failure, output, progress::Bar};
use rules::Target;
use shard::Shard;
use state::State;

/// Converts a checkpoint.
///
/// # Errors
/// The source cannot be converted, or the destination holds something else.
pub fn convert(call: &Call<'_>) -> Result<(), Failure> {
    let path = |name: &str| call.matches.get_one::<PathBuf>(name).cloned().unwrap_or_default();
    let (from, to) = (path("source"), path("destination"));
    let target = target(call);
    let source = Checkpoint::open(&from)?;
    if source.kind() == Kind::Gguf {
        return Err(Failure::refused(
            format!(
                "{}: needed a safetensors checkpoint; found GGUF, which is not converted yet",
                from.display()
            ),
            "a .gguf file runs as it is: coli chat FILE.gguf",
        ));
    }
    refuse_inside(&source, &to)?;
    let mut state = State::find(&to, &source, target)?;
    let shards = Shard::all(&source, target)?;
    if state.is_complete {
        output::note(&format!("{}: already complete", to.display()));
        return Ok(());
    }
    fs::create_dir_all(&to).map_err(|error| Failure::io(&to, error))?;
    state.save(&to)?;
    write(&shards, &to, &mut state)?;
    finish(&source, &shards, &to)?;
    state.is_complete = true;
    state.save(&to)?;
    let read = shards.iter().map(Shard::source_bytes).sum();
    output::line(&format!(
        "{}: {} from {}, {}",
        to.display(),
        written(&shards),
        ByteSize(read),
        target.format
    ))
}

fn target(call: &Call<'_>) -> Target {
    let format = |name: &str| call.matches.get_one::<String>(name).and_then(|name| Format::from_name(name));
    let weights = format("format").unwrap_or(Format::Int8Row);
    let default = match weights {
        Format::Int4Row | Format::Int4Group { .. } => Format::Int8Row,
        other => other,
    };
    Target { format: weights, io_format: format("io-format").unwrap_or(default) }
}

fn write(shards: &[Shard<'_>], to: &Path, state: &mut State) -> Result<(), Failure> {
    let total = shards.iter().map(Shard::source_bytes).sum();
    let mut done = 0;
    let mut bar = Bar::bytes();
    for (index, shard) in shards.iter().enumerate() {
        if state.shards_done.contains(&shard.name) && to.join(&shard.name).is_file() {
            done += shard.source_bytes();
            continue;
        }
        shard.write(to, &mut |bytes| {
            done += bytes;
            bar.show(&shard.name, done, total);
        })?;
        state.shards_done.insert(shard.name.clone());
        state.save(to)?;
        if !output::is_watched() {
            output::note(&format!("{}: shard {} of {}", shard.name, index + 1, shards.len()));
        }
    }
    bar.clear();
    Ok(())
}

/// What makes a checkpoint of the shards.
fn finish(source: &Checkpoint, shards: &[Shard<'_>], to: &Path) -> Result<(), Failure> {
    if shards.len() > 1 {
        let mut weight_map = BTreeMap::new();
        for shard in shards {
            weight_map.extend(shard.declared().into_iter().map(|tensor| (tensor.name, shard.name.clone())));
        }
        let total = shards.iter().map(Shard::destination_bytes).sum();
        sidecars::index(to, &weight_map, total)?;
    }
    sidecars::copy(source.directory(), to)
}

fn written(shards: &[Shard<'_>]) -> ByteSize {
    ByteSize(shards.iter().map(Shard::destination_bytes).sum())
}

/// Refuses a destination that is the source or lies in it.
fn refuse_inside(source: &Checkpoint, to: &Path) -> Result<(), Failure> {
    let real = |path: &Path| path.canonicalize().map_err(|error| Failure::io(path, error));
    let to_real = real_folder(to).map_err(|error| Failure::io(to, error))?;
    for folder in [source.directory().to_path_buf(), folder_of(source.path())] {
        if to_real.starts_with(real(&folder)?) {
            return Err(Failure::refused(
                format!(
                    "{}: needed a folder outside of the source; found it in {}",
                    to.display(),
                    folder.display()
                ),
                "choose another destination; the source is never written to",
            ));
        }
    }
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    let parent = || path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() { path.to_path_buf() } else { parent().to_path_buf() }
}

/// The path without links, also where its last parts do not exist yet.
fn real_folder(path: &Path) -> std::io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut absent = Vec::new();
    for ancestor in absolute.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return Ok(absent.iter().rev().fold(real, |path, part| path.join(part)));
        }
        absent.extend(ancestor.file_name());
    }
    Ok(absolute)
}
