//! A range of floats inside a device's memory.

use std::ops::Range;

/// `len` consecutive f32 values from `start` on, in the memory of one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First element.
    pub start: usize,
    /// Number of elements.
    pub len: usize,
}

impl Span {
    /// The elements as an index range.
    #[must_use]
    pub fn range(self) -> Range<usize> {
        self.start..self.start + self.len
    }

    /// The part from element `from` with `len` elements.
    ///
    /// # Panics
    /// If the part does not lie inside this span.
    #[must_use]
    pub fn part(self, from: usize, len: usize) -> Span {
        assert!(
            from.checked_add(len).is_some_and(|end| end <= self.len),
            "part {from}+{len} of {}",
            self.len
        );
        Span { start: self.start + from, len }
    }

    /// The first `len` elements.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn first(self, len: usize) -> Span {
        self.part(0, len)
    }
}
