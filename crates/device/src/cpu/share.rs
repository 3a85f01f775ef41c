//! Cutting a result into pieces that threads take one after another.

use std::sync::{Mutex, PoisonError};

use kernels::Pool;

/// Multiply-adds below which handing work to other threads costs more than it saves: a few tens of microseconds on one
/// core.
const PRODUCTS_MIN: usize = 1 << 18;
/// The same for elements of functions that move each element through memory.
const ELEMENTS_MIN: usize = 1 << 15;
/// Pieces for each thread, so that a thread that was held up does not hold up the others.
const PIECES_PER_THREAD: usize = 4;

/// How a piece of work is spread: over the pool, or not at all when it is small.
#[derive(Clone, Copy)]
pub(super) struct Share<'a> {
    pool: &'a Pool,
    parallel: bool,
}

impl<'a> Share<'a> {
    /// For work of `count` multiply-adds.
    pub(super) fn products(pool: &'a Pool, count: usize) -> Share<'a> {
        Share { pool, parallel: pool.threads() > 1 && count >= PRODUCTS_MIN }
    }

    /// For work on `count` elements.
    pub(super) fn elements(pool: &'a Pool, count: usize) -> Share<'a> {
        Share { pool, parallel: pool.threads() > 1 && count >= ELEMENTS_MIN }
    }

    /// Whether more than one thread will work.
    pub(super) fn is_parallel(self) -> bool {
        self.parallel
    }

    /// A size for pieces of `count` equal items, a multiple of `step`.
    pub(super) fn piece(self, count: usize, step: usize) -> usize {
        if !self.parallel {
            return count.max(1);
        }
        count.div_ceil(self.pool.threads() * PIECES_PER_THREAD).next_multiple_of(step).max(1)
    }

    /// Calls `work` with every run of `piece` floats of `dst` (the last may be shorter) and its number, each once, on
    /// whichever thread is free.
    pub(super) fn run(self, dst: &mut [f32], piece: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
        let pieces = dst.len().div_ceil(piece.max(1));
        let each = dst.chunks_mut(piece.max(1)).enumerate();
        if !self.parallel || pieces < 2 {
            return each.for_each(|(i, part)| work(i, part));
        }
        let left = Mutex::new(each);
        // A poisoned lock means that another thread panicked in `work`, which the pool reports; the list is sound.
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        self.pool.run(self.pool.threads().min(pieces), &|_| {
            while let Some((i, part)) = next() {
                work(i, part);
            }
        });
    }

    /// As [`Share::run`] for rows of `width` floats; `work` gets the number of its first row.
    pub(super) fn rows(self, dst: &mut [f32], width: usize, work: impl Fn(usize, &mut [f32]) + Sync) {
        let count = dst.len() / width.max(1);
        let piece = self.piece(count, 1);
        self.run(dst, piece * width, |i, part| work(i * piece, part));
    }
}
