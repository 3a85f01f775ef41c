//! Where every float of a session lies: spans handed out once, so that what is planned is what is allocated.

use units::Span;

/// Spans start at multiples of this many floats: one cache line.
const ALIGN_FLOATS: usize = 16;

/// Hands out disjoint spans of one device memory, front to back.
#[derive(Clone, Debug, Default)]
pub struct Planner {
    used: usize,
}

impl Planner {
    /// The next `floats` floats.
    pub fn take(&mut self, floats: usize) -> Span {
        let span = Span { start: self.used, len: floats };
        self.used += floats.next_multiple_of(ALIGN_FLOATS);
        span
    }

    /// Floats handed out so far, alignment included.
    #[must_use]
    pub fn floats(&self) -> usize {
        self.used
    }
}

/// How large a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Most tokens of one forward pass.
    pub tokens: usize,
    /// Positions that the state can hold.
    pub context: usize,
    /// Most rows of logits computed at once.
    pub logit_rows: usize,
}

/// Bytes of a model under a [`Shape`], by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Weights that every token uses, in their stored form.
    pub dense_bytes: u64,
    /// Norm weights and position tables.
    pub constant_bytes: u64,
    /// Keys and values of the whole context.
    pub state_bytes: u64,
    /// Activations of one forward pass.
    pub scratch_bytes: u64,
}

impl Footprint {
    /// All of it.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.dense_bytes + self.constant_bytes + self.state_bytes + self.scratch_bytes
    }
}
