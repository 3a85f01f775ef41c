//! Elementary functions with the same bits on every machine: fixed polynomials instead of the system's library.
//!
//! The f32 functions are one lane of the very code that the vector loops use. The f64 ones are for tables and sampling.

pub(crate) mod curves;
mod wide;

pub use wide::{exp_f64, ln_f64, pow_f64, sin_cos_f64};

use crate::lanes::Scalar;

/// `e^x`, within 1 unit in the last place (1.5 in the subnormal range); 0 from -104 down, infinity from 89 up.
#[must_use]
pub fn exp(x: f32) -> f32 {
    curves::exp(Scalar, x)
}

/// `1 / (1 + e^-x)`.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    curves::sigmoid(Scalar, x)
}

/// `x / (1 + e^-x)`.
#[must_use]
pub fn silu(x: f32) -> f32 {
    curves::silu(Scalar, x)
}

/// `x / 2 · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 x³)))`, computed as `x / (1 + e^-2z)` with `z` the argument of the
/// hyperbolic tangent, which loses nothing for negative `x`.
#[must_use]
pub fn gelu_tanh(x: f32) -> f32 {
    curves::gelu_tanh(Scalar, x)
}

/// The hyperbolic tangent, within 2 units in the last place.
#[must_use]
pub fn tanh(x: f32) -> f32 {
    curves::tanh(Scalar, x)
}

/// The natural logarithm, rounded from f64: -infinity for 0, NaN below.
#[must_use]
pub fn ln(x: f32) -> f32 {
    ln_f64(f64::from(x)) as f32
}

#[cfg(test)]
mod tests;
