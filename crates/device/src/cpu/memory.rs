//! The arena: one run of floats, borrowed in parts.

use units::Span;

use crate::shape;

/// Alignment of the first float: a cache line, and the width of the widest vector.
const ALIGN_BYTES: usize = 64;

/// Zeroed floats whose first one is aligned.
pub(super) struct Memory {
    floats: Vec<f32>,
    base: usize,
    capacity: usize,
}

/// Everything but the span that is being written.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    before: &'a [f32],
    after: &'a [f32],
    after_start: usize,
}

impl Memory {
    pub(super) fn new(capacity: usize) -> Memory {
        let slack = ALIGN_BYTES / size_of::<f32>();
        let floats = vec![0.0; capacity + slack];
        // `align_offset` may decline; then the arena is merely slower.
        let base = floats.as_ptr().align_offset(ALIGN_BYTES).min(slack);
        Memory { floats, base, capacity }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    fn all(&self) -> &[f32] {
        &self.floats[self.base..][..self.capacity]
    }

    fn all_mut(&mut self) -> &mut [f32] {
        &mut self.floats[self.base..][..self.capacity]
    }

    pub(super) fn view(&self, at: Span) -> &[f32] {
        shape::inside(at, self.capacity);
        &self.all()[at.range()]
    }

    pub(super) fn view_mut(&mut self, at: Span) -> &mut [f32] {
        shape::inside(at, self.capacity);
        &mut self.all_mut()[at.range()]
    }

    pub(super) fn copy(&mut self, dst: Span, src: Span) {
        shape::inside(dst, self.capacity);
        shape::inside(src, self.capacity);
        shape::holds("src", src, &[dst.len]);
        if dst != src {
            self.all_mut().copy_within(src.range(), dst.start);
        }
    }

    /// The floats at `at` to write, and all others to read at the same time.
    pub(super) fn around(&mut self, at: Span) -> (&mut [f32], Rest<'_>) {
        shape::inside(at, self.capacity);
        let (before, from) = self.all_mut().split_at_mut(at.start);
        let (middle, after) = from.split_at_mut(at.len);
        (middle, Rest { before, after, after_start: at.range().end })
    }
}

impl<'a> Rest<'a> {
    /// The floats at `at`, an address of the whole memory.
    ///
    /// # Panics
    /// If a float of them is being written.
    pub(super) fn view(self, at: Span) -> &'a [f32] {
        if at.start >= self.after_start {
            shape::inside(at, self.after_start + self.after.len());
            &self.after[at.start - self.after_start..][..at.len]
        } else {
            shape::inside(at, self.before.len());
            &self.before[at.range()]
        }
    }
}
