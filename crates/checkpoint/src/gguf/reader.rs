//! Reading the primitives of a GGUF header from a stream, never past the end of the file nor past the cap on headers.

use std::{io::Read, path::Path};

use units::limits::HEADER_BYTES_MAX;

use crate::Error;

/// A position in the header of one file.
pub struct Reader<'a, R> {
    stream: R,
    path: &'a Path,
    file_bytes: u64,
    used_bytes: u64,
}

impl<'a, R: Read> Reader<'a, R> {
    /// At the start of a file of `file_bytes` bytes; `path` is only for messages.
    pub fn new(stream: R, path: &'a Path, file_bytes: u64) -> Self {
        Reader { stream, path, file_bytes, used_bytes: 0 }
    }

    /// The error for this header.
    pub fn error(&self, needed: impl Into<String>, found: impl Into<String>) -> Error {
        Error::Header { path: self.path.to_path_buf(), needed: needed.into(), found: found.into() }
    }

    /// Bytes read so far.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Fails unless `count` things of at least `least_bytes` each can still follow.
    pub fn expect_room(&self, count: u64, least_bytes: u64) -> Result<(), Error> {
        let needed_bytes = count.saturating_mul(least_bytes).saturating_add(self.used_bytes);
        if needed_bytes > self.file_bytes {
            let (path, found_bytes) = (self.path.to_path_buf(), self.file_bytes);
            return Err(Error::Truncated { path, needed_bytes, found_bytes });
        }
        if needed_bytes > HEADER_BYTES_MAX {
            return Err(
                self.error(format!("at most {HEADER_BYTES_MAX} bytes of header"), needed_bytes.to_string())
            );
        }
        Ok(())
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.expect_room(bytes.len() as u64, 1)?;
        self.stream
            .read_exact(bytes)
            .map_err(|source| Error::Io { path: self.path.to_path_buf(), source })?;
        self.used_bytes += bytes.len() as u64;
        Ok(())
    }

    /// A 32-bit number.
    pub fn u32(&mut self) -> Result<u32, Error> {
        self.array().map(u32::from_le_bytes)
    }

    /// A 64-bit number.
    pub fn u64(&mut self) -> Result<u64, Error> {
        self.array().map(u64::from_le_bytes)
    }

    /// A string; `what` names it in a message.
    pub fn string(&mut self, what: &str) -> Result<String, Error> {
        let len = self.u64()?;
        self.expect_room(len, 1)?;
        let mut bytes = vec![0; len as usize];
        self.fill(&mut bytes)?;
        String::from_utf8(bytes).map_err(|error| {
            let bad = error.utf8_error().valid_up_to();
            self.error(format!("UTF-8 in {what}"), format!("a broken character at byte {bad} of {len}"))
        })
    }
}
