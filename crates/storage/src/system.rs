//! What systems do in unlike ways: positioned reads and advice about the page cache.

use std::{fs::File, io};

// Advice may be refused by any file system, and some systems know none; nothing depends on it but speed and memory.

#[cfg(target_os = "linux")]
pub(crate) fn advise_random(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise_random(_: &File) {}

#[cfg(target_os = "linux")]
pub(crate) fn advise_unneeded(file: &File, begin: u64, len: u64) {
    let len = std::num::NonZeroU64::new(len);
    if len.is_some() {
        let _ = rustix::fs::fadvise(file, begin, len, rustix::fs::Advice::DontNeed);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn advise_unneeded(_: &File, _: u64, _: u64) {}

/// Reads at an offset without moving a cursor, on every system.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, offset)
}

/// Reads at an offset, on every system.
#[cfg(windows)]
pub(crate) fn read_at(file: &File, out: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, offset)
}
