//! The contract of every way of reading.

use std::sync::Arc;

use units::Block;

use crate::{Error, Extent};

/// How urgent a read is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Someone waits for it.
    Demand,
    /// Someone may want it.
    Predicted,
}

/// Whether to wait for a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Return at once.
    No,
    /// Wait until one read is done, if any is in flight.
    Yes,
}

/// Extents to be read into a block.
#[derive(Debug)]
pub struct Request {
    /// Returned with the completion.
    pub token: u64,
    /// What to read and where to put it.
    pub extents: Arc<[Extent]>,
    /// Where to put it; owned by the source until completion.
    pub block: Block,
    /// How urgent it is.
    pub priority: Priority,
}

/// A finished request.
#[derive(Debug)]
pub struct Completion {
    /// The request's.
    pub token: u64,
    /// The request's, filled unless `result` is an error.
    pub block: Block,
    /// Bytes read from the files, whole pages where reads are direct; or why not.
    pub result: Result<u64, Error>,
}

/// A way of reading.
///
/// Requests complete in any order. A demanded request overtakes predicted ones that have not begun. Once a source is open,
/// submitting and reaping allocate nothing as long as no more than some 250 requests are in flight and none fails. Dropping
/// a source waits for the reads in flight, because their blocks are being written.
pub trait Source: Send {
    /// Queues a request.
    ///
    /// # Panics
    /// If an extent does not lie inside its block with the whole pages around it, or names no file.
    fn submit(&mut self, request: Request);

    /// A finished request; with [`Wait::Yes`] none only if nothing is in flight.
    fn reap(&mut self, wait: Wait) -> Option<Completion>;

    /// Makes the predicted request with this token a demanded one, if it has not begun. A hint: it may come too late.
    fn promote(&mut self, token: u64);

    /// Requests submitted and not yet reaped.
    fn in_flight(&self) -> usize;

    /// The name that users know.
    fn name(&self) -> &'static str;

    /// What was wanted and could not be had, with the reason.
    fn fallbacks(&self) -> &[String];

    /// Bytes read so far.
    fn read_bytes(&self) -> u64;
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn submit(&mut self, request: Request) {
        (**self).submit(request);
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        (**self).reap(wait)
    }

    fn promote(&mut self, token: u64) {
        (**self).promote(token);
    }

    fn in_flight(&self) -> usize {
        (**self).in_flight()
    }

    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn fallbacks(&self) -> &[String] {
        (**self).fallbacks()
    }

    fn read_bytes(&self) -> u64 {
        (**self).read_bytes()
    }
}
