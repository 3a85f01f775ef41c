//! The files of a checkpoint, opened for reading past the page cache where the file system allows it.

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use units::{Arena, limits::PAGE_BYTES};

use crate::{Error, Extent};

/// Whether reads bypass the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direct {
    /// Where the file system takes it.
    #[default]
    Auto,
    /// Yes; a file system that refuses is a fallback that is reported.
    On,
    /// No; read pages are dropped from the cache after use.
    Off,
}

/// The names of [`Direct`], as settings spell them.
const DIRECT_NAMES: [(Direct, &str); 3] = [(Direct::Auto, "auto"), (Direct::On, "on"), (Direct::Off, "off")];

impl fmt::Display for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = DIRECT_NAMES.iter().find(|(direct, _)| direct == self).map_or("auto", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Direct {
    type Err = String;

    fn from_str(text: &str) -> Result<Direct, String> {
        let found = DIRECT_NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(direct, _)| *direct).ok_or_else(|| format!("`{text}` is not auto, on or off"))
    }
}

/// One open file.
#[derive(Debug)]
struct Opened {
    path: PathBuf,
    buffered: File,
    direct: Option<File>,
    len_bytes: u64,
}

/// Open files, addressed by [`crate::FileId`]. Clones share them.
#[derive(Clone, Debug)]
pub struct Files {
    opened: Arc<Vec<Opened>>,
    refusals: Arc<Vec<String>>,
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
        let mut refusals = Vec::new();
        let mut opened = Vec::with_capacity(paths.len());
        for path in paths {
            let refuse = |source| Error::Open { file: path.clone(), source };
            let buffered = File::open(path).map_err(refuse)?;
            let len_bytes = buffered.metadata().map_err(refuse)?.len();
            let direct = match direct {
                Direct::Off => None,
                Direct::Auto | Direct::On => match open_direct(path, len_bytes) {
                    Ok(file) => Some(file),
                    Err(reason) => {
                        refusals.push(format!(
                            "direct reads of {}: {reason}; reading through the page cache",
                            path.display()
                        ));
                        None
                    }
                },
            };
            advise_random(&buffered);
            opened.push(Opened { path: path.clone(), buffered, direct, len_bytes });
        }
        Ok(Files { opened: Arc::new(opened), refusals: Arc::new(refusals) })
    }

    /// Files that could not be opened for direct reads, with the reason.
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
    pub fn path(&self, file: crate::FileId) -> &Path {
        &self.opened[file.0 as usize].path
    }

    /// Bytes of a file when it was opened.
    #[must_use]
    pub fn len_bytes(&self, file: crate::FileId) -> u64 {
        self.opened[file.0 as usize].len_bytes
    }

    /// The handle that goes through the page cache.
    #[must_use]
    pub fn buffered(&self, file: crate::FileId) -> &File {
        &self.opened[file.0 as usize].buffered
    }

    /// The handle that bypasses it, if there is one.
    #[must_use]
    pub fn direct(&self, file: crate::FileId) -> Option<&File> {
        self.opened[file.0 as usize].direct.as_ref()
    }

    /// The read that fetches `extent`: the handle, the file offset, the length, and where it lands in the block. Direct
    /// reads cover whole pages, buffered ones just the extent.
    #[must_use]
    pub fn read_of(&self, extent: &Extent) -> (&File, u64, usize, usize) {
        match self.direct(extent.file) {
            Some(file) => {
                let (begin, len, at) = extent.pages();
                (file, begin, len, at)
            }
            None => (
                self.buffered(extent.file),
                extent.offset_bytes,
                extent.len_bytes as usize,
                extent.at as usize,
            ),
        }
    }

    /// The error for a read of `extent` that failed at `offset_bytes`.
    #[must_use]
    pub fn failed(&self, extent: &Extent, offset_bytes: u64, source: io::Error) -> Error {
        Error::Read { file: self.path(extent.file).to_path_buf(), offset_bytes, source }
    }

    /// The error for a file that ended at `found` inside `extent`.
    #[must_use]
    pub fn ended(&self, extent: &Extent, found: u64) -> Error {
        Error::Ended { file: self.path(extent.file).to_path_buf(), needed: extent.end(), found }
    }

    /// Whether a read that returned `count` bytes, `done` in all, has met the end of the file before the wanted bytes: it
    /// returned none, or a direct read stopped inside a page, which happens nowhere else.
    pub(crate) fn is_end(&self, extent: &Extent, count: usize, done: usize) -> bool {
        let (begin, ..) = extent.pages();
        let stopped_in_page = self.direct(extent.file).is_some() && !done.is_multiple_of(PAGE_BYTES);
        count == 0 || (stopped_in_page && begin + (done as u64) < extent.end())
    }

    /// Drops what a buffered read of `extent` has left in the page cache.
    pub fn forget(&self, extent: &Extent) {
        if self.direct(extent.file).is_none() {
            forget_pages(self.buffered(extent.file), extent.offset_bytes, u64::from(extent.len_bytes));
        }
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

/// Opens `path` for direct reads and tries one.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path, len_bytes: u64) -> Result<File, String> {
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    let flag = rustix::fs::OFlags::DIRECT.bits() as i32;
    let file = File::options().read(true).custom_flags(flag).open(path).map_err(|error| error.to_string())?;
    if len_bytes > 0 {
        let mut block = Arena::new(PAGE_BYTES).cut(PAGE_BYTES).ok_or("no memory for a page")?;
        file.read_at(&mut block, 0).map_err(|error| error.to_string())?;
    }
    Ok(file)
}

/// Other systems read through their cache here.
#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path, _: u64) -> Result<File, String> {
    let _ = Arena::new(PAGE_BYTES);
    Err("not written for this system".to_string())
}

#[cfg(target_os = "linux")]
fn advise_random(file: &File) {
    // Advice may be refused by any file system; nothing depends on it but speed.
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
}

#[cfg(not(target_os = "linux"))]
fn advise_random(_: &File) {}

#[cfg(target_os = "linux")]
pub(crate) fn forget_pages(file: &File, offset: u64, len: u64) {
    // Whole pages around the range: a page that is half read would stay otherwise.
    let page = PAGE_BYTES as u64;
    let begin = offset / page * page;
    let end = (offset + len).next_multiple_of(page);
    let _ = rustix::fs::fadvise(
        file,
        begin,
        std::num::NonZeroU64::new(end - begin),
        rustix::fs::Advice::DontNeed,
    );
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn forget_pages(_: &File, _: u64, _: u64) {}

/// `read_at` on every system.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

/// `read_at` on every system.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}
