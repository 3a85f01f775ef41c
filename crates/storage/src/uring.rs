//! Reading with io_uring: many reads in the drive's queue, no threads, polled by whoever needs the bytes.
//!
//! An extent is cut into pieces of at most [`PIECE_BYTES`], so that one large read fills the drive's queue by itself.
//! Requests wait in two queues, demanded before predicted; pieces go to the ring while it has room. The ring is owned by
//! one thread, so submitting and reaping need no lock.

use std::{collections::VecDeque, io, os::fd::AsRawFd};

use io_uring::{IoUring, opcode, types::Fd};

use crate::{Completion, Error, Extent, Files, Priority, Request, Source, Wait};

/// Most bytes of one read; a whole number of pages.
const PIECE_BYTES: usize = 1 << 20;
/// Requests that room is made for at the start.
const REQUESTS: usize = 256;

/// A ring over open files.
pub(crate) struct Uring {
    ring: IoUring,
    depth: usize,
    files: Files,
    fallbacks: Vec<String>,
    /// Requests that have pieces in the ring or yet to be sent; vacant places are reused.
    active: Vec<Option<Active>>,
    vacant: Vec<usize>,
    demanded: VecDeque<Request>,
    predicted: VecDeque<Request>,
    done: VecDeque<Completion>,
    /// Places of `active` with pieces to send, in order.
    sending: VecDeque<usize>,
    /// Pieces in the ring, by the number that the kernel returns.
    pieces: Vec<Piece>,
    vacant_pieces: Vec<u32>,
    in_flight: usize,
    read_bytes: u64,
}

/// A request on its way.
struct Active {
    request: Request,
    /// The extent to send next, and how much of it is sent.
    extent: usize,
    sent: usize,
    pending: usize,
    read: u64,
    error: Option<Error>,
}

/// A part of an extent in the ring.
#[derive(Clone, Copy)]
struct Piece {
    owner: usize,
    extent: usize,
    /// Bytes from the beginning of the extent's read.
    from: usize,
    len: usize,
}

impl Uring {
    pub(crate) fn new(files: Files, depth: u32, fallbacks: Vec<String>) -> io::Result<Uring> {
        let depth = depth.clamp(1, 1024);
        let ring = IoUring::builder().setup_clamp().build(depth)?;
        let vacant = Piece { owner: 0, extent: 0, from: 0, len: 0 };
        Ok(Uring {
            ring,
            depth: depth as usize,
            files,
            fallbacks,
            active: (0..REQUESTS).map(|_| None).collect(),
            vacant: (0..REQUESTS).rev().collect(),
            demanded: VecDeque::with_capacity(REQUESTS),
            predicted: VecDeque::with_capacity(REQUESTS),
            done: VecDeque::with_capacity(REQUESTS),
            sending: VecDeque::with_capacity(REQUESTS),
            pieces: vec![vacant; depth as usize],
            vacant_pieces: (0..depth).rev().collect(),
            in_flight: 0,
            read_bytes: 0,
        })
    }

    /// Pieces in the ring.
    fn in_ring(&self) -> usize {
        self.depth - self.vacant_pieces.len()
    }

    /// Sends pieces while the ring has room and there is something to send.
    fn send(&mut self) -> io::Result<()> {
        let mut queued = false;
        while !self.vacant_pieces.is_empty() {
            if self.sending.is_empty() && !self.activate() {
                break;
            }
            let Some(&owner) = self.sending.front() else { break };
            match self.next_piece(owner) {
                Some(piece) => {
                    self.push(piece)?;
                    queued = true;
                }
                None => {
                    self.sending.pop_front();
                    self.settle(owner);
                }
            }
        }
        if queued {
            self.ring.submit()?;
        }
        Ok(())
    }

    /// Makes the next waiting request active.
    fn activate(&mut self) -> bool {
        let Some(&place) = self.vacant.last() else { return false };
        let Some(request) = self.demanded.pop_front().or_else(|| self.predicted.pop_front()) else {
            return false;
        };
        self.vacant.pop();
        self.active[place] = Some(Active { request, extent: 0, sent: 0, pending: 0, read: 0, error: None });
        self.sending.push_back(place);
        true
    }

    /// The next piece of a request that has one to send.
    fn next_piece(&mut self, owner: usize) -> Option<Piece> {
        let active = self.active[owner].as_mut()?;
        if active.error.is_some() {
            return None;
        }
        let extent = active.request.extents.get(active.extent)?;
        let (_, _, total, _) = self.files.read_of(extent);
        let piece = Piece {
            owner,
            extent: active.extent,
            from: active.sent,
            len: PIECE_BYTES.min(total - active.sent),
        };
        active.sent += piece.len;
        if active.sent == total {
            active.extent += 1;
            active.sent = 0;
        }
        active.pending += 1;
        Some(piece)
    }

    /// Puts one read into the ring.
    fn push(&mut self, piece: Piece) -> io::Result<()> {
        let Some(active) = self.active[piece.owner].as_mut() else { return Ok(()) };
        let (file, begin, _, at) = self.files.read_of(&active.request.extents[piece.extent]);
        let target = &mut active.request.block[at + piece.from..at + piece.from + piece.len];
        let number = self.vacant_pieces.pop().ok_or_else(|| io::Error::other("the ring is full"))?;
        let read = opcode::Read::new(Fd(file.as_raw_fd()), target.as_mut_ptr(), piece.len as u32)
            .offset(begin + piece.from as u64)
            .build()
            .user_data(u64::from(number));
        self.pieces[number as usize] = piece;
        // SAFETY: the target lies inside the block of an active request. The block is owned by `active` and is neither moved
        // out nor dropped before the kernel has returned this piece: `settle` waits for `pending` to be 0, and `drop` waits
        // for the ring to be empty. The file descriptor lives as long as `files`.
        let pushed = unsafe { self.ring.submission().push(&read) };
        pushed.map_err(|_| io::Error::other("the submission queue is full"))
    }

    /// Takes what the kernel has finished.
    fn collect(&mut self) {
        loop {
            let next = self.ring.completion().next();
            let Some(entry) = next else { return };
            let number = entry.user_data() as u32;
            let piece = self.pieces[number as usize];
            self.vacant_pieces.push(number);
            self.returned(piece, entry.result());
        }
    }

    fn returned(&mut self, piece: Piece, result: i32) {
        let Some(active) = self.active[piece.owner].as_mut() else { return };
        active.pending -= 1;
        let extent = active.request.extents[piece.extent];
        let outcome = judge(&self.files, &extent, piece, result);
        match outcome {
            Outcome::Done(bytes) => active.read += bytes,
            Outcome::Again { bytes, rest } if active.error.is_none() => {
                active.read += bytes;
                active.pending += 1;
                if let Err(error) = self.push(rest) {
                    self.fail(rest, error);
                }
            }
            Outcome::Again { .. } => {}
            Outcome::Failed(error) => {
                active.error.get_or_insert(error);
            }
        }
        self.settle(piece.owner);
    }

    /// Notes that a piece could not be put into the ring.
    fn fail(&mut self, piece: Piece, error: io::Error) {
        if let Some(active) = self.active[piece.owner].as_mut() {
            active.pending -= 1;
            let extent = active.request.extents[piece.extent];
            active.error.get_or_insert(self.files.failed(&extent, extent.offset_bytes, error));
        }
    }

    /// Completes a request of which nothing is left to send or to come back.
    fn settle(&mut self, owner: usize) {
        let is_settled = self.active[owner].as_ref().is_some_and(|active| {
            active.pending == 0 && (active.error.is_some() || active.extent == active.request.extents.len())
        });
        if !is_settled {
            return;
        }
        let Some(active) = self.active[owner].take() else { return };
        self.vacant.push(owner);
        self.sending.retain(|place| *place != owner);
        for extent in active.request.extents.iter() {
            self.files.forget(extent);
        }
        let result = active.error.map_or(Ok(active.read), Err);
        self.done.push_back(Completion { token: active.request.token, block: active.request.block, result });
    }

    /// Fails everything that is not in the ring: the ring itself does not work.
    fn give_up(&mut self, error: &io::Error) {
        while let Some(owner) = self.sending.pop_front() {
            if let Some(active) = self.active[owner].as_mut() {
                let extent = active.request.extents[active.extent.min(active.request.extents.len() - 1)];
                let again = io::Error::new(error.kind(), error.to_string());
                active.error.get_or_insert(self.files.failed(&extent, extent.offset_bytes, again));
            }
            self.settle(owner);
        }
    }

    fn step(&mut self) {
        self.collect();
        if let Err(error) = self.send() {
            self.give_up(&error);
        }
    }
}

/// What a returned piece means.
enum Outcome {
    Done(u64),
    Again { bytes: u64, rest: Piece },
    Failed(Error),
}

/// Judges a piece by what the kernel returned: a count of bytes, or an error number below 0.
fn judge(files: &Files, extent: &Extent, piece: Piece, result: i32) -> Outcome {
    let (_, begin, _, _) = files.read_of(extent);
    let at = begin + piece.from as u64;
    if result < 0 {
        let error = io::Error::from_raw_os_error(-result);
        return match error.kind() {
            io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {
                Outcome::Again { bytes: 0, rest: piece }
            }
            _ => Outcome::Failed(files.failed(extent, at, error)),
        };
    }
    let count = result as usize;
    // Beyond the wanted bytes a direct read may meet the end of the file; that is no fault.
    if count == piece.len || at + count as u64 >= extent.end() {
        return Outcome::Done(count as u64);
    }
    if files.is_end(extent, count, piece.from + count) {
        return Outcome::Failed(files.ended(extent, at + count as u64));
    }
    let rest = Piece { from: piece.from + count, len: piece.len - count, ..piece };
    Outcome::Again { bytes: count as u64, rest }
}

impl Source for Uring {
    fn submit(&mut self, request: Request) {
        self.files.check(&request.extents, request.block.len());
        self.in_flight += 1;
        if request.extents.is_empty() {
            self.done.push_back(Completion { token: request.token, block: request.block, result: Ok(0) });
            return;
        }
        match request.priority {
            Priority::Demand => self.demanded.push_back(request),
            Priority::Predicted => self.predicted.push_back(request),
        }
        self.step();
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        self.step();
        while self.done.is_empty() && wait == Wait::Yes && self.in_flight > 0 {
            if self.in_ring() > 0
                && let Err(error) = self.ring.submit_and_wait(1)
                && error.kind() != io::ErrorKind::Interrupted
            {
                self.give_up(&error);
            }
            self.step();
        }
        let completion = self.done.pop_front()?;
        self.in_flight -= 1;
        self.read_bytes += completion.result.as_ref().copied().unwrap_or(0);
        Some(completion)
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn name(&self) -> &'static str {
        "uring"
    }

    fn fallbacks(&self) -> &[String] {
        &self.fallbacks
    }

    fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

impl Drop for Uring {
    fn drop(&mut self) {
        // The kernel still writes into blocks of pieces in the ring; they must all be back before the blocks go.
        self.sending.clear();
        while self.in_ring() > 0 {
            if self.ring.submit_and_wait(1).is_err_and(|error| error.kind() != io::ErrorKind::Interrupted) {
                // A ring that cannot be waited for may still write: its blocks are leaked rather than freed.
                self.active.drain(..).for_each(std::mem::forget);
                return;
            }
            while let Some(entry) = self.ring.completion().next() {
                self.vacant_pieces.push(entry.user_data() as u32);
            }
        }
    }
}
