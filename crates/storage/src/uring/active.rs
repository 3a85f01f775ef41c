//! A request on its way: cut into pieces, whose results it collects.

use std::ptr::NonNull;

use units::{Arena, Block};

use crate::{Completion, Error, Files, Priority, Request};

/// Most bytes of one read, a whole number of pages: several keep a drive's queue full, and a demanded read never waits long
/// behind a predicted one.
const PIECE_BYTES: usize = 1 << 20;

/// A request of which pieces are in the ring or yet to be sent.
pub(super) struct Active {
    request: Request,
    /// The first byte of the block. Taken once, before the first piece is sent, because the block itself may not be looked
    /// at while the kernel writes into it.
    base: NonNull<u8>,
    /// The extent to send next, and how much of it is sent.
    extent: usize,
    sent: usize,
    /// Pieces in the ring.
    pending: usize,
    read: u64,
    error: Option<Error>,
}

// SAFETY: `base` points into the request's block, which is `Send` itself and goes wherever `base` goes.
unsafe impl Send for Active {}

/// A part of an extent in the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Whose it is.
    pub owner: usize,
    /// Which of its extents.
    pub extent: usize,
    /// Bytes from the beginning of the extent's read.
    pub from: usize,
    /// Bytes that are wanted.
    pub len: usize,
    pub priority: Priority,
}

impl Active {
    pub(super) fn new(mut request: Request) -> Active {
        let base = NonNull::from(&mut *request.block).cast();
        Active { request, base, extent: 0, sent: 0, pending: 0, read: 0, error: None }
    }

    pub(super) fn request(&self) -> &Request {
        &self.request
    }

    /// Makes a predicted request a demanded one.
    pub(super) fn promote(&mut self) {
        self.request.priority = Priority::Demand;
    }

    /// The next piece to send. None once all are sent or one has failed.
    pub(super) fn next_piece(&mut self, files: &Files, owner: usize) -> Option<Piece> {
        while self.error.is_none() && self.extent < self.request.extents.len() {
            let extent = &self.request.extents[self.extent];
            let total = if extent.len_bytes > 0 { files.reading(extent).len } else { 0 };
            if self.sent == total {
                (self.extent, self.sent) = (self.extent + 1, 0);
                continue;
            }
            let len = PIECE_BYTES.min(total - self.sent);
            let priority = self.request.priority;
            let piece = Piece { owner, extent: self.extent, from: self.sent, len, priority };
            self.sent += len;
            return Some(piece);
        }
        None
    }

    /// Where a piece goes, and the file offset it comes from. The piece counts as pending from now on.
    pub(super) fn send(&mut self, files: &Files, piece: &Piece) -> (*mut u8, u64) {
        let reading = files.reading(&self.request.extents[piece.extent]);
        assert!(piece.from + piece.len <= reading.len, "a piece is a part of its extent");
        assert!(reading.at + reading.len <= self.request.block.len(), "checked when the request came");
        self.pending += 1;
        // SAFETY: `base` is the first byte of the block, and the sum is inside it (asserted above).
        let target = unsafe { self.base.add(reading.at + piece.from) };
        (target.as_ptr(), reading.begin + piece.from as u64)
    }

    /// A piece is back.
    pub(super) fn returned(&mut self) {
        self.pending -= 1;
    }

    pub(super) fn got(&mut self, bytes: usize) {
        self.read += bytes as u64;
    }

    /// Notes an error; the first one counts.
    pub(super) fn fail(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some()
    }

    /// Whether no piece is in the ring and none will be.
    pub(super) fn is_settled(&self) -> bool {
        self.pending == 0 && (self.has_failed() || self.extent == self.request.extents.len())
    }

    /// The completion of a settled request.
    pub(super) fn complete(self, files: &Files) -> Completion {
        assert!(self.pending == 0, "the kernel has returned every piece");
        self.request.extents.iter().for_each(|extent| files.forget(extent));
        let result = self.error.map_or(Ok(self.read), Err);
        Completion { token: self.request.token, block: self.request.block, result }
    }

    /// The completion of a request whose pieces will never come back. The kernel may still write into the block, so it is
    /// leaked and a new one takes its place.
    pub(super) fn give_up(self, error: Error) -> Completion {
        let (token, len) = (self.request.token, self.request.block.len());
        if self.pending == 0 {
            return Completion { token, block: self.request.block, result: Err(error) };
        }
        std::mem::forget(self);
        Completion { token, block: replacement(len), result: Err(error) }
    }
}

fn replacement(len: usize) -> Block {
    Arena::new(len).cut(len).expect("an arena holds what it was made for")
}
