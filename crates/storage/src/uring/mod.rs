//! Reading with io_uring: many reads in the drive's queue, no threads, polled by whoever needs the bytes.
//!
//! An extent is cut into pieces, so that one large read fills the drive's queue by itself. Requests wait in two queues,
//! demanded before predicted; pieces go to the ring while it has room, predicted ones only into a part of it, so that a
//! demanded read finds the drive nearly free. The ring is owned by one thread at a time, so nothing is locked.

mod active;
mod broken;
mod ring;

use std::{collections::VecDeque, io};

use active::{Active, Piece};
use broken::{failure, is_passing, refuse};
use ring::{Read, Ring};

use crate::{
    Completion, Files, Priority, Request, Source, Wait,
    files::Returned,
    queue::{Queue, REQUESTS},
};

/// One place in so many of the ring is for predicted reads, at least one.
const PREDICTED_SHARE: usize = 4;
/// How often the kernel may say that it has no room just now before the ring counts as broken.
const REFUSALS_MAX: u32 = 10_000;

/// A ring over open files.
pub(crate) struct Uring {
    ring: Ring,
    files: Files,
    fallbacks: Vec<String>,
    queue: Queue,
    /// Requests that have pieces in the ring or yet to be sent.
    active: Vec<Option<Active>>,
    vacant: Vec<usize>,
    /// By priority, the request whose pieces are being sent.
    sending: [Option<usize>; 2],
    /// Pieces in the ring, by the number that the kernel returns.
    pieces: Vec<Option<Piece>>,
    vacant_pieces: Vec<u32>,
    predicted_in_ring: usize,
    done: VecDeque<Completion>,
    in_flight: usize,
    read_bytes: u64,
    refusals: u32,
    /// Why the ring cannot be used any more.
    broken: Option<io::Error>,
}

impl Uring {
    pub(crate) fn new(files: Files, depth: u32, mut fallbacks: Vec<String>) -> io::Result<Uring> {
        let (ring, refusal) = Ring::new(files.clone(), depth.clamp(1, 1024))?;
        if let Some(reason) = refusal {
            fallbacks
                .push(format!("registering files with io_uring: {reason}; looking them up at each read"));
        }
        let depth = ring.depth();
        // A request is active while it is being sent, one of each priority at most, or has a piece in the ring.
        let places = depth + 2;
        Ok(Uring {
            ring,
            files,
            fallbacks,
            queue: Queue::new(),
            active: (0..places).map(|_| None).collect(),
            vacant: (0..places).rev().collect(),
            sending: [None; 2],
            pieces: vec![None; depth],
            vacant_pieces: (0..depth as u32).rev().collect(),
            predicted_in_ring: 0,
            done: VecDeque::with_capacity(REQUESTS),
            in_flight: 0,
            read_bytes: 0,
            refusals: 0,
            broken: None,
        })
    }

    /// Takes what is done and sends what there is room for.
    fn step(&mut self) {
        while let Some((number, result)) = self.ring.next() {
            self.returned(number, result);
        }
        if self.broken.is_some() {
            return;
        }
        while !self.vacant_pieces.is_empty()
            && let Some(piece) = self.next_piece()
        {
            self.send(piece);
        }
        let submitted = self.ring.submit();
        self.check(submitted);
    }

    /// The next piece to send: of a demanded request, else of a predicted one if its share of the ring has room.
    fn next_piece(&mut self) -> Option<Piece> {
        let share = (self.pieces.len() / PREDICTED_SHARE).max(1);
        self.piece_of(Priority::Demand).or_else(|| {
            (self.predicted_in_ring < share).then(|| self.piece_of(Priority::Predicted)).flatten()
        })
    }

    fn piece_of(&mut self, priority: Priority) -> Option<Piece> {
        loop {
            let owner = match self.sending[priority as usize] {
                Some(owner) => owner,
                None => self.activate(priority)?,
            };
            let active = self.active[owner].as_mut().expect("a request that is being sent is active");
            if let Some(piece) = active.next_piece(&self.files, owner) {
                return Some(piece);
            }
            self.sending[priority as usize] = None;
            self.settle(owner);
        }
    }

    /// Makes the next waiting request the one that is being sent.
    fn activate(&mut self, priority: Priority) -> Option<usize> {
        let request = self.queue.pop(priority)?;
        let owner = self.vacant.pop().expect("more places than requests can be active");
        self.active[owner] = Some(Active::new(request));
        self.sending[priority as usize] = Some(owner);
        Some(owner)
    }

    /// Puts a piece into the ring, which has room for it.
    fn send(&mut self, piece: Piece) {
        let active = self.active[piece.owner].as_mut().expect("a piece belongs to an active request");
        let (target, offset_bytes) = active.send(&self.files, &piece);
        let number = self.vacant_pieces.pop().expect("the caller saw a vacant number");
        let file = active.request().extents[piece.extent].file;
        let len = self.files.asked(file, piece.len);
        self.pieces[number as usize] = Some(piece);
        self.predicted_in_ring += usize::from(piece.priority == Priority::Predicted);
        // SAFETY: `Active::send` gave a target inside the block of the request, with room for the whole piece. The block is
        // owned by `self.active`; it is looked at again only once no piece is pending (`settle`, `Active::complete`), and
        // freed only then: `drop` waits for the ring, and leaks the blocks if it cannot.
        unsafe { self.ring.push(Read { number, file, offset_bytes, target, len }) }
    }

    /// Takes a piece back from the ring.
    fn returned(&mut self, number: u32, result: io::Result<usize>) {
        let Some(piece) = self.pieces[number as usize].take() else { return };
        self.vacant_pieces.push(number);
        self.predicted_in_ring -= usize::from(piece.priority == Priority::Predicted);
        let Some(active) = self.active[piece.owner].as_mut() else { return };
        active.returned();
        let extent = active.request().extents[piece.extent];
        let offset = self.files.reading(&extent).begin + piece.from as u64;
        let result = self.files.mishap().map_or(result, Err);
        let rest = match result.map(|count| (count, self.files.judge(&extent, offset, piece.len, count))) {
            Ok((count, Returned::All)) => {
                active.got(count);
                None
            }
            Ok((_, Returned::Part(kept))) => {
                active.got(kept);
                Some(Piece { from: piece.from + kept, len: piece.len - kept, ..piece })
            }
            Ok((_, Returned::Ended(at))) => {
                active.fail(self.files.ended(&extent, at));
                None
            }
            Err(error) if is_passing(&error) => Some(piece),
            Err(error) => {
                active.fail(self.files.failed(extent.file, offset, error));
                None
            }
        };
        match rest {
            Some(rest) if !active.has_failed() && self.broken.is_none() => self.send(rest),
            _ => self.settle(piece.owner),
        }
    }

    /// Completes a request of which nothing is left to send or to come back.
    fn settle(&mut self, owner: usize) {
        if self.sending.contains(&Some(owner)) {
            return;
        }
        if let Some(active) = self.active[owner].take_if(|active| active.is_settled()) {
            self.vacant.push(owner);
            self.done.push_back(active.complete(&self.files));
        }
    }

    /// Judges what the kernel said to a submission.
    fn check(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) => self.refusals = 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if is_passing(&error) && self.refusals < REFUSALS_MAX => {
                self.refusals += 1;
                std::thread::yield_now();
            }
            Err(error) => self.break_down(error),
        }
    }

    /// Fails everything: the ring does not work any more.
    fn break_down(&mut self, error: io::Error) {
        self.sending = [None; 2];
        for active in self.active.iter_mut().filter_map(Option::take) {
            let failed = failure(&self.files, active.request(), &error);
            self.done.push_back(active.give_up(failed));
        }
        while let Some(request) = self.queue.pop_any() {
            self.done.push_back(refuse(&self.files, request, &error));
        }
        self.broken = Some(error);
    }
}

impl Source for Uring {
    fn submit(&mut self, request: Request) {
        self.files.check(&request.extents, request.block.len());
        self.in_flight += 1;
        match &self.broken {
            Some(error) if !request.extents.is_empty() => {
                self.done.push_back(refuse(&self.files, request, error));
            }
            _ if request.extents.is_empty() => {
                let (token, block) = (request.token, request.block);
                self.done.push_back(Completion { token, block, result: Ok(0) });
            }
            _ => {
                self.queue.push(request);
                self.step();
            }
        }
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        self.step();
        while self.done.is_empty() && wait == Wait::Yes && self.in_flight > 0 {
            let waited = self.ring.wait();
            self.check(waited);
            self.step();
        }
        let completion = self.done.pop_front()?;
        self.in_flight -= 1;
        self.read_bytes += completion.result.as_ref().copied().unwrap_or(0);
        Some(completion)
    }

    fn promote(&mut self, token: u64) {
        let predicted = &mut self.sending[Priority::Predicted as usize];
        if let Some(owner) = *predicted
            && let Some(active) = self.active[owner].as_mut()
            && active.request().token == token
            && self.sending[Priority::Demand as usize].is_none()
        {
            active.promote();
            self.sending = [Some(owner), None];
        } else {
            self.queue.promote(token);
        }
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
        while self.ring.outstanding() > 0 {
            while self.ring.next().is_some() {}
            if self.ring.outstanding() == 0 {
                break;
            }
            let waited = self.ring.wait();
            self.check(waited);
            if self.broken.is_some() {
                // `break_down` has leaked the blocks of pieces that will not come back.
                return;
            }
        }
    }
}
