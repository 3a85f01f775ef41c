//! Choosing a way of reading.

use std::{fmt, str::FromStr};

use crate::{Direct, Error, Files, Source, mmap::Mapped, pread::Pread, workers::Workers};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceOptions {
    /// Whether reads bypass the page cache.
    pub direct: Direct,
    /// Reads in the drive's queue at once, for io_uring.
    pub depth: u32,
    /// Worker threads, for `pread` and `mmap`.
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
    // Maps go through the page cache by nature, so there is nothing to fall back from.
    let direct = if strategy == Strategy::Mmap { Direct::Off } else { options.direct };
    let files = files.reopen(direct)?;
    let mut fallbacks = files.refusals().to_vec();
    match strategy {
        Strategy::Mmap => {
            let mapped = Mapped::new(files.clone())?;
            Ok(Box::new(Workers::new(mapped, files, options.threads, fallbacks)))
        }
        Strategy::Pread => Ok(pread(files, options, fallbacks)),
        Strategy::Uring => uring(files, options.depth, fallbacks)
            .map_err(|reason| Error::Unavailable { strategy: "uring", reason }),
        Strategy::Auto => match uring(files.clone(), options.depth, fallbacks.clone()) {
            Ok(source) => Ok(source),
            Err(reason) => {
                fallbacks.push(format!("io_uring: {reason}; reading with worker threads"));
                Ok(pread(files, options, fallbacks))
            }
        },
    }
}

fn pread(files: Files, options: SourceOptions, fallbacks: Vec<String>) -> Box<dyn Source> {
    Box::new(Workers::new(Pread(files.clone()), files, options.threads, fallbacks))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (strategy, name) in NAMES {
            assert_eq!((strategy.to_string().as_str(), name.parse()), (name, Ok(strategy)));
        }
        assert!("aio".parse::<Strategy>().is_err());
    }
}
