//! Exponential and its relatives, for any number of lanes.
//!
//! Every step is one IEEE operation, so lanes and scalars agree to the bit.

use crate::lanes::Real;

/// Below this the exponential rounds to 0, being less than half of the least subnormal.
const EXP_MIN: f32 = -104.0;
/// Above this it is infinite.
const EXP_MAX: f32 = 89.0;
/// Adding and subtracting this rounds to a whole number, ties to even, below 2^22.
const ROUND: f32 = 12_582_912.0; // 1.5 · 2^23
/// `ln 2` in two parts; products of the first with whole numbers below 2^9 are exact.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// `(e^r - 1 - r) / r²` on `|r| <= ln 2 / 2`, highest power first (Cephes, expf.c).
const EXP: [f32; 6] = [1.987_569_2e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
/// `(tanh x - x) / x³` in powers of `x²` on `|x| < 0.625`, highest power first (Cephes, tanhf.c).
const TANH: [f32; 5] = [-5.704_988_7e-3, 2.063_908_9e-2, -5.373_971_6e-2, 1.333_144_2e-1, -3.333_328_2e-1];
/// Below this the polynomial serves, above it the exponential.
const TANH_SMALL: f32 = 0.625;
const SQRT_2_OVER_PI: f32 = 0.797_884_6;
const GELU_CUBE: f32 = 0.044_715;

/// Horner's rule, highest power first.
#[inline(always)]
fn polynomial<R: Real, const N: usize>(r: R, coefficients: [f32; N], x: R::F) -> R::F {
    let mut sum = r.splat(coefficients[0]);
    for coefficient in &coefficients[1..] {
        sum = r.fma(sum, x, r.splat(*coefficient));
    }
    sum
}

/// `e^x = 2^n · e^rest` with `n = round(x / ln 2)`.
///
/// `2^n` is applied in two halves, each a normal number, so that subnormal results round once and large ones overflow.
#[inline(always)]
pub(crate) fn exp<R: Real>(r: R, x: R::F) -> R::F {
    // A NaN in the second place of `max` and `min` stays.
    let x = r.min(r.splat(EXP_MAX), r.max(r.splat(EXP_MIN), x));
    let round = r.splat(ROUND);
    let n = r.sub(r.fma(x, r.splat(std::f32::consts::LOG2_E), round), round);
    let rest = r.fma(n, r.splat(-LN2_HIGH), x);
    let rest = r.fma(n, r.splat(-LN2_LOW), rest);
    let tail = r.fma(polynomial(r, EXP, rest), r.mul(rest, rest), rest);
    let power = r.add(tail, r.splat(1.0));
    let half = r.sub(r.fma(n, r.splat(0.5), round), round);
    r.mul(r.mul(power, r.pow2(half)), r.pow2(r.sub(n, half)))
}

/// `1 + e^-x`.
#[inline(always)]
fn logistic_divisor<R: Real>(r: R, x: R::F) -> R::F {
    r.add(r.splat(1.0), exp(r, r.sub(r.splat(0.0), x)))
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn sigmoid<R: Real>(r: R, x: R::F) -> R::F {
    r.div(r.splat(1.0), logistic_divisor(r, x))
}

/// `x / (1 + e^-x)`.
#[inline(always)]
pub(crate) fn silu<R: Real>(r: R, x: R::F) -> R::F {
    r.div(x, logistic_divisor(r, x))
}

/// See [`crate::math::gelu_tanh`].
#[inline(always)]
pub(crate) fn gelu_tanh<R: Real>(r: R, x: R::F) -> R::F {
    let cubic = r.fma(r.splat(GELU_CUBE), r.mul(x, x), r.splat(1.0));
    let twice = r.mul(r.mul(x, r.splat(2.0 * SQRT_2_OVER_PI)), cubic);
    r.div(x, logistic_divisor(r, twice))
}

/// `1 - 2 / (e^2|x| + 1)` with the sign of `x`, or a polynomial near 0.
#[inline(always)]
pub(crate) fn tanh<R: Real>(r: R, x: R::F) -> R::F {
    let size = r.copy_sign(x, r.splat(0.0));
    let power = exp(r, r.add(size, size));
    let large = r.sub(r.splat(1.0), r.div(r.splat(2.0), r.add(power, r.splat(1.0))));
    let square = r.mul(size, size);
    let small = r.fma(r.mul(polynomial(r, TANH, square), square), size, size);
    r.copy_sign(r.less(size, r.splat(TANH_SMALL), small, large), x)
}
