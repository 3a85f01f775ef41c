//! The files of a checkpoint, opened for reading past the page cache where the file system allows it, and the rules that
//! every read of them obeys.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use units::limits::PAGE_BYTES;

use crate::{
    Direct, Error, Extent, FileId,
    direct::open_direct,
    mishaps::{Dice, Mishaps},
    system::{advise_random, advise_unneeded},
};

/// One open file.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    buffered: File,
    direct: Option<File>,
    len_bytes: u64,
}

/// Open files, addressed by [`FileId`]. Clones share them.
#[derive(Clone, Debug)]
pub struct Files {
    opened: Arc<[Opened]>,
    refusals: Arc<[String]>,
    dice: Option<Arc<Dice>>,
}

/// The read that fetches an extent. Direct reads cover whole pages, buffered ones just the extent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading<'a> {
    /// The handle to read from.
    pub file: &'a File,
    /// Where the read begins in the file.
    pub begin: u64,
    /// How long it is.
    pub len: usize,
    /// Where it lands in the block.
    pub at: usize,
}

/// What the bytes that a read returned mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returned {
    /// All that was wanted has come.
    All,
    /// So many bytes can be kept; the rest must be asked for again.
    Part(usize),
    /// The file ends at this byte, before the wanted bytes do.
    Ended(u64),
}

impl Files {
    /// Opens `paths` with [`Direct::Auto`].
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn open(paths: &[PathBuf]) -> Result<Files, Error> {
        Files::open_with(paths, Direct::Auto)
    }

    /// Opens `paths`. A file system may accept direct reads when a file is opened and refuse the read itself, so each file
    /// is tried with a real one; refusals are kept in [`Files::refusals`].
    ///
    /// # Errors
    /// A file cannot be opened.
    pub fn open_with(paths: &[PathBuf], direct: Direct) -> Result<Files, Error> {
        let mut refused: Vec<(String, &Path, usize)> = Vec::new();
        let mut opened = Vec::with_capacity(paths.len());
        for path in paths {
            let refuse = |source| Error::Open { file: path.clone(), source };
            let buffered = File::open(path).map_err(refuse)?;
            let len_bytes = buffered.metadata().map_err(refuse)?.len();
            let direct = if direct == Direct::Off { Ok(None) } else { open_direct(path).map(Some) };
            let direct = direct.unwrap_or_else(|reason| {
                match refused.iter_mut().find(|(known, ..)| *known == reason) {
                    Some((.., count)) => *count += 1,
                    None => refused.push((reason, path, 1)),
                }
                None
            });
            advise_random(&buffered);
            opened.push(Opened { path: path.clone(), buffered, direct, len_bytes });
        }
        let refusals = refused.iter().map(|(reason, path, count)| refusal(reason, path, *count)).collect();
        Ok(Files { opened: opened.into(), refusals, dice: None })
    }

    /// The same files, with their handles opened anew.
    ///
    /// # Errors
    /// A file cannot be opened.
    pub(crate) fn reopen(&self, direct: Direct) -> Result<Files, Error> {
        let paths: Vec<PathBuf> = self.opened.iter().map(|file| file.path.clone()).collect();
        Ok(Files { dice: self.dice.clone(), ..Files::open_with(&paths, direct)? })
    }

    /// The same files on a drive that misbehaves: for tests.
    #[must_use]
    pub fn with_mishaps(self, mishaps: Mishaps) -> Files {
        Files { dice: Some(Arc::new(Dice::new(mishaps))), ..self }
    }

    /// Why direct reads of some files could not be had; a line for each reason.
    #[must_use]
    pub fn refusals(&self) -> &[String] {
        &self.refusals
    }

    /// How many files there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.opened.len()
    }

    /// The path of a file.
    #[must_use]
    pub fn path(&self, file: FileId) -> &Path {
        &self.opened[file.0 as usize].path
    }

    /// Bytes of a file when it was opened.
    #[must_use]
    pub fn len_bytes(&self, file: FileId) -> u64 {
        self.opened[file.0 as usize].len_bytes
    }

    /// The handle that goes through the page cache.
    pub(crate) fn buffered(&self, file: FileId) -> &File {
        &self.opened[file.0 as usize].buffered
    }

    /// Whether reads of the file bypass the page cache.
    #[must_use]
    pub fn is_direct(&self, file: FileId) -> bool {
        self.opened[file.0 as usize].direct.is_some()
    }

    /// The handle that reads use.
    pub(crate) fn handle(&self, file: FileId) -> &File {
        let opened = &self.opened[file.0 as usize];
        opened.direct.as_ref().unwrap_or(&opened.buffered)
    }

    /// The read that fetches `extent`.
    pub(crate) fn reading(&self, extent: &Extent) -> Reading<'_> {
        let file = self.handle(extent.file);
        if self.is_direct(extent.file) {
            let (begin, len, at) = extent.pages();
            Reading { file, begin, len, at }
        } else {
            let (len, at) = (extent.len_bytes as usize, extent.at as usize);
            Reading { file, begin: extent.offset_bytes, len, at }
        }
    }

    /// Judges a read for `extent` that wanted `wanted` bytes from byte `from` of the file and got `count`.
    ///
    /// A direct read stops inside a page only at the end of the file, or where a file system counts bytes its own way.
    /// Going on from the last whole page serves both: at the end of the file the second read stops in its first page.
    pub(crate) fn judge(&self, extent: &Extent, from: u64, wanted: usize, count: usize) -> Returned {
        let reached = from + count as u64;
        if count >= wanted || reached >= extent.end() {
            return Returned::All;
        }
        let kept = if self.is_direct(extent.file) { count / PAGE_BYTES * PAGE_BYTES } else { count };
        if kept == 0 { Returned::Ended(reached) } else { Returned::Part(kept) }
    }

    /// How many of `wanted` bytes to ask for: all of them, unless a mishap wants the read to fall short.
    pub(crate) fn asked(&self, file: FileId, wanted: usize) -> usize {
        let grain = if self.is_direct(file) { PAGE_BYTES } else { 1 };
        self.dice.as_ref().map_or(wanted, |dice| dice.asked(wanted, grain))
    }

    /// An error in place of the next read, if a mishap wants one.
    pub(crate) fn mishap(&self) -> Option<io::Error> {
        self.dice.as_ref().and_then(|dice| dice.error())
    }

    /// The error for a read of `file` that failed at `offset_bytes`.
    pub(crate) fn failed(&self, file: FileId, offset_bytes: u64, source: io::Error) -> Error {
        Error::Read { file: self.path(file).to_path_buf(), offset_bytes, source }
    }

    /// The error for a file that ended at `found` inside `extent`.
    pub(crate) fn ended(&self, extent: &Extent, found: u64) -> Error {
        Error::Ended { file: self.path(extent.file).to_path_buf(), needed: extent.end(), found }
    }

    /// Drops what a buffered read of `extent` has left in the page cache.
    pub(crate) fn forget(&self, extent: &Extent) {
        if !self.is_direct(extent.file) {
            self.forget_pages(extent);
        }
    }

    /// Drops the pages of `extent` from the page cache; a page that it covers in part goes whole.
    pub(crate) fn forget_pages(&self, extent: &Extent) {
        let (begin, len, _) = extent.pages();
        advise_unneeded(self.buffered(extent.file), begin, len as u64);
    }

    /// Asserts what [`crate::Source::submit`] asks of its extents.
    pub(crate) fn check(&self, extents: &[Extent], block_bytes: usize) {
        for extent in extents {
            let (_, len, at) = extent.pages();
            assert!((extent.file.0 as usize) < self.count(), "file {} of {}", extent.file.0, self.count());
            assert!(
                extent.at as usize % PAGE_BYTES == extent.offset_bytes as usize % PAGE_BYTES
                    && at + len <= block_bytes,
                "{extent:?} does not lie in a block of {block_bytes} bytes"
            );
        }
    }
}

fn refusal(reason: &str, first: &Path, count: usize) -> String {
    let others = match count {
        1 => String::new(),
        _ => format!(" and {} more", count - 1),
    };
    format!("direct reads of {}{others}: {reason}; reading through the page cache", first.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_returns_are_judged() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = folder.path().join("part");
        std::fs::write(&name, vec![0u8; 20_000]).expect("a file");
        let files = Files::open_with(std::slice::from_ref(&name), Direct::Off).expect("an open file");
        let extent = Extent { file: FileId(0), offset_bytes: 5000, len_bytes: 10_000, at: 5000 - 4096 };
        for (from, wanted, count, expected) in [
            (5000, 10_000, 10_000, Returned::All),
            (5000, 10_000, 1, Returned::Part(1)),
            (9000, 6000, 0, Returned::Ended(9000)),
        ] {
            assert_eq!(files.judge(&extent, from, wanted, count), expected, "buffered: {count} at {from}");
        }
        let files = Files::open(&[name]).expect("an open file");
        if !files.is_direct(FileId(0)) {
            return; // the file system has no direct reads to judge
        }
        for (from, wanted, count, expected) in [
            (4096, 12_288, 10_904, Returned::All), // beyond the wanted bytes nothing is missed
            (4096, 12_288, 8192, Returned::Part(8192)),
            (4096, 12_288, 9000, Returned::Part(8192)), // again from the page that it stopped in
            (12_288, 4096, 808, Returned::Ended(13_096)),
            (12_288, 4096, 0, Returned::Ended(12_288)),
        ] {
            assert_eq!(files.judge(&extent, from, wanted, count), expected, "direct: {count} at {from}");
        }
    }

    #[test]
    fn refusals_with_one_reason_are_one_line() {
        let path = Path::new("model/part-1");
        assert_eq!(
            refusal("Invalid argument", path, 3),
            "direct reads of model/part-1 and 2 more: Invalid argument; reading through the page cache"
        );
        assert!(!refusal("Invalid argument", path, 1).contains("more"));
    }
}
