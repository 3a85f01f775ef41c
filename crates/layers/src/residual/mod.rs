//! How sublayers read from and write to the residual stream: `collapse` gives a sublayer its input, `expand` adds its output.

use device::Device;
use units::Span;

use crate::norm::{LoadedNorm, RmsNorm};

/// The residual schemes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Residual {
    /// One stream; a norm before each sublayer.
    Plain {
        /// The norm before both sublayers (each has its own weights).
        norm: RmsNorm,
    },
    /// One stream; a norm before and another after each sublayer.
    Sandwich {
        /// The norm before and after both sublayers (each has its own weights).
        norm: RmsNorm,
    },
}

impl Residual {
    /// The norm that stands before each sublayer.
    #[must_use]
    pub fn norm(self) -> RmsNorm {
        match self {
            Residual::Plain { norm } | Residual::Sandwich { norm } => norm,
        }
    }

    /// Whether a norm stands after each sublayer too.
    #[must_use]
    pub fn has_post_norm(self) -> bool {
        matches!(self, Residual::Sandwich { .. })
    }
}

/// The loaded norms around one sublayer.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Before the sublayer.
    pub before: LoadedNorm,
    /// After it, where the scheme has one.
    pub after: Option<LoadedNorm>,
}

impl Around {
    /// Reads the sublayer's input from the stream `x` (`[tokens, hidden]`) into `dst`.
    pub fn collapse(self, device: &mut dyn Device, dst: Span, x: Span) {
        self.before.forward(device, dst, x);
    }

    /// Adds the sublayer's output `out` to the stream `x`; `out` is overwritten where a norm follows.
    pub fn expand(self, device: &mut dyn Device, x: Span, out: Span) {
        if let Some(after) = self.after {
            after.forward(device, out, out);
        }
        device.add(x, out);
    }
}
