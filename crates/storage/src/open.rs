//! Choosing a way of reading.

use std::{fmt, str::FromStr};

use crate::{Direct, Error, Files, Source, mmap::Mapped, pread::Pread};

/// The ways of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// io_uring if the kernel grants it, else worker threads; the choice is reported when it is the second.
    #[default]
    Auto,
    /// io_uring.
    Uring,
    /// Worker threads.
    Pread,
    /// Memory maps.
    Mmap,
}

/// The names of [`Strategy`], as settings spell them.
const NAMES: [(Strategy, &str); 4] = [
    (Strategy::Auto, "auto"),
    (Strategy::Uring, "uring"),
    (Strategy::Pread, "pread"),
    (Strategy::Mmap, "mmap"),
];

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(strategy, _)| strategy == self).map_or("auto", |(_, name)| name))
    }
}

impl FromStr for Strategy {
    type Err = String;

    fn from_str(text: &str) -> Result<Strategy, String> {
        let found = NAMES.iter().find(|(_, name)| *name == text);
        found
            .map(|(strategy, _)| *strategy)
            .ok_or_else(|| format!("`{text}` is not auto, uring, pread or mmap"))
    }
}

/// How a source reads.
#[derive(Clone, Copy, Debug)]
pub struct SourceOptions {
    /// Whether reads bypass the page cache.
    pub direct: Direct,
    /// Reads in the drive's queue at once, for io_uring.
    pub depth: u32,
    /// Worker threads, for `pread`.
    pub threads: usize,
}

impl Default for SourceOptions {
    fn default() -> SourceOptions {
        SourceOptions { direct: Direct::Auto, depth: 32, threads: 4 }
    }
}

/// Opens a source over the files of `files`, with their handles opened anew as `options` say.
///
/// # Errors
/// A file cannot be opened, or a strategy that was asked for by name cannot be had.
pub fn open_source(
    files: Files,
    strategy: Strategy,
    options: SourceOptions,
) -> Result<Box<dyn Source>, Error> {
    let paths: Vec<_> =
        (0..files.count() as u32).map(|index| files.path(crate::FileId(index)).to_path_buf()).collect();
    let files = Files::open_with(&paths, options.direct)?;
    let mut fallbacks = files.refusals().to_vec();
    match strategy {
        Strategy::Mmap => Ok(Box::new(Mapped::new(files, Vec::new())?)),
        Strategy::Pread => Ok(Box::new(Pread::new(files, options.threads, fallbacks))),
        Strategy::Uring => uring(files, options.depth, fallbacks)
            .map_err(|reason| Error::Unavailable { strategy: "uring", reason }),
        Strategy::Auto => match uring(files.clone(), options.depth, fallbacks.clone()) {
            Ok(source) => Ok(source),
            Err(reason) => {
                fallbacks.push(format!("io_uring: {reason}; reading with worker threads"));
                Ok(Box::new(Pread::new(files, options.threads, fallbacks)))
            }
        },
    }
}

#[cfg(target_os = "linux")]
fn uring(files: Files, depth: u32, fallbacks: Vec<String>) -> Result<Box<dyn Source>, String> {
    let ring = crate::uring::Uring::new(files, depth, fallbacks).map_err(|error| error.to_string())?;
    Ok(Box::new(ring))
}

#[cfg(not(target_os = "linux"))]
fn uring(_: Files, _: u32, _: Vec<String>) -> Result<Box<dyn Source>, String> {
    Err("this system has no io_uring".to_string())
}
