//! The kernel's ring with its two queues: numbered reads go in, numbers and results come out.

use std::{
    io,
    os::fd::{AsRawFd, RawFd},
};

use io_uring::{
    IoUring, opcode,
    types::{Fd, Fixed},
};

use crate::{FileId, Files};

/// A ring that reads the files it was made for.
pub(super) struct Ring {
    ring: IoUring,
    descriptors: Vec<RawFd>,
    is_registered: bool,
    /// Reads that the kernel may still be writing the results of.
    outstanding: usize,
    /// Keeps the descriptors open.
    _files: Files,
}

/// One read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    /// Comes back with the result.
    pub number: u32,
    pub file: FileId,
    pub offset_bytes: u64,
    /// Where the bytes go.
    pub target: *mut u8,
    pub len: usize,
}

impl Ring {
    /// A ring with room for `depth` reads; and, if the files could not be registered with it, why.
    pub(super) fn new(files: Files, depth: u32) -> io::Result<(Ring, Option<io::Error>)> {
        // Not the modes that save interrupts: with them a completion shows only once the thread enters the kernel, and a
        // thread that computes between two looks does not.
        let ring = IoUring::builder().setup_clamp().build(depth)?;
        let descriptors: Vec<RawFd> =
            (0..files.count() as u32).map(|index| files.handle(FileId(index)).as_raw_fd()).collect();
        let refusal = match descriptors.is_empty() {
            true => None,
            false => ring.submitter().register_files(&descriptors).err(),
        };
        let is_registered = refusal.is_none();
        Ok((Ring { ring, descriptors, is_registered, outstanding: 0, _files: files }, refusal))
    }

    /// Reads that may be in the ring at once.
    pub(super) fn depth(&self) -> usize {
        self.ring.params().sq_entries() as usize
    }

    /// Reads that have been pushed and have not come back.
    pub(super) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Queues a read for the next [`Ring::submit`].
    ///
    /// # Safety
    /// - `read.target` points to `read.len` bytes that may be written;
    /// - nobody else touches them until the read's number has come out of [`Ring::next`], or ever if it never does.
    ///
    /// # Panics
    /// If more than [`Ring::depth`] reads are outstanding or the file is unknown.
    pub(super) unsafe fn push(&mut self, read: Read) {
        assert!(self.outstanding < self.depth(), "the ring is full");
        let index = read.file.0;
        let len = read.len as u32;
        let entry = match self.is_registered {
            true => opcode::Read::new(Fixed(index), read.target, len).offset(read.offset_bytes).build(),
            false => {
                let descriptor = Fd(self.descriptors[index as usize]);
                opcode::Read::new(descriptor, read.target, len).offset(read.offset_bytes).build()
            }
        };
        // SAFETY: the target outlives the read and is left alone (the caller's obligations); the descriptor is open as long
        // as the files, which `self` holds longer than the ring is waited for.
        let pushed = unsafe { self.ring.submission().push(&entry.user_data(u64::from(read.number))) };
        pushed.expect("as many entries as depth, and fewer are outstanding (asserted above)");
        self.outstanding += 1;
    }

    /// Hands queued reads to the kernel.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        if self.ring.submission().is_empty() {
            return Ok(());
        }
        self.ring.submit().map(drop)
    }

    /// Hands queued reads to the kernel and waits until one is done.
    pub(super) fn wait(&mut self) -> io::Result<()> {
        self.ring.submit_and_wait(1).map(drop)
    }

    /// The number of a read that is done, and the bytes read.
    pub(super) fn next(&mut self) -> Option<(u32, io::Result<usize>)> {
        let entry = self.ring.completion().next()?;
        self.outstanding -= 1;
        let result = match entry.result() {
            error if error < 0 => Err(io::Error::from_raw_os_error(-error)),
            count => Ok(count as usize),
        };
        Some((entry.user_data() as u32, result))
    }
}
