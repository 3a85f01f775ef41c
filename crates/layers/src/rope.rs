//! Rotary positions as a description, and the tables they become.

use device::{RopeScaling, RopeStyle};

/// Rotation of pairs of a head's leading components by an angle that grows with the position
/// (Su et al., "RoFormer", 2021).
#[derive(Clone, Debug, PartialEq)]
pub struct Rope {
    /// Base of the geometric frequencies.
    pub theta: f64,
    /// Leading components of a head that are rotated; even.
    pub rotary: usize,
    /// Which components form a pair.
    pub style: RopeStyle,
    /// How frequencies are stretched for contexts longer than those of the first training.
    pub scaling: RopeScaling,
    /// Whether the file may carry per-frequency divisors of its own.
    pub factors: RopeFactors,
}

/// Where per-frequency divisors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RopeFactors {
    /// There are none.
    None,
    /// A tensor, if the file has it.
    FromFile,
}

impl Rope {
    /// Cosines and sines of the positions `0..context`, `[context, rotary]`, with the file's own `divisors` if it has any.
    #[must_use]
    pub fn table(&self, context: usize, divisors: Option<&[f32]>) -> Vec<f32> {
        device::rope_table(self.theta, self.rotary, &self.scaling, divisors, context)
    }
}
