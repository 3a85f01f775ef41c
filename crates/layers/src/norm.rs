//! Root-mean-square normalisation as a description and as a loaded weight.

use device::Device;
use units::Span;

/// `w · x / sqrt(mean x² + eps)` over the last axis (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmsNorm {
    /// Added to the mean of squares.
    pub eps: f32,
    /// How the stored weight enters.
    pub weight: NormWeight,
}

/// What is stored for a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NormWeight {
    /// The factor itself.
    Factor,
    /// The factor less one.
    OnePlus,
}

impl RmsNorm {
    /// A norm whose stored weight is the factor itself.
    #[must_use]
    pub fn new(eps: f32) -> RmsNorm {
        RmsNorm { eps, weight: NormWeight::Factor }
    }

    /// A norm whose stored weight is the factor less one.
    #[must_use]
    pub fn one_plus(eps: f32) -> RmsNorm {
        RmsNorm { eps, weight: NormWeight::OnePlus }
    }

    /// Turns stored weights into factors, in place.
    pub fn factors(self, stored: &mut [f32]) {
        if self.weight == NormWeight::OnePlus {
            stored.iter_mut().for_each(|weight| *weight += 1.0);
        }
    }
}

/// A norm whose factors lie in device memory.
#[derive(Clone, Copy, Debug)]
pub struct LoadedNorm {
    /// The factors, `[width]`.
    pub factors: Span,
    /// Added to the mean of squares.
    pub eps: f32,
}

impl LoadedNorm {
    /// Normalises each row of `width` values from `x` into `dst`; the two may be the same span.
    pub fn forward(self, device: &mut dyn Device, dst: Span, x: Span) {
        device.rms_norm(dst, x, self.factors, self.factors.len, self.eps);
    }
}
