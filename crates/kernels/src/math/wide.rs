//! f64 functions for rotary tables, probabilities and sampling.
//!
//! Coefficients and reductions are those of fdlibm (Sun Microsystems, 1993; `e_log.c`, `e_exp.c`, `k_sin.c`, `k_cos.c`);
//! every step is one IEEE operation.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E};

/// `ln 2` in two parts; products of the first with whole numbers below 2^20 are exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Adding and subtracting this rounds to a whole number, ties to even, below 2^51.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// Horner's rule, highest power first.
fn polynomial<const N: usize>(coefficients: [f64; N], x: f64) -> f64 {
    coefficients[1..].iter().fold(coefficients[0], |sum, coefficient| sum.mul_add(x, *coefficient))
}

/// `2^n` for `n` in `-1022..=1023`.
fn pow2(n: i64) -> f64 {
    f64::from_bits(((n + 1023) as u64) << 52)
}

/// `e^x`, within 1 unit in the last place.
#[must_use]
pub fn exp_f64(x: f64) -> f64 {
    /// `x (e^x + 1) / (e^x - 1) - 2` in powers of `x²`, from the square on.
    const P: [f64; 5] = [
        4.138_136_797_057_238_5e-8,
        -1.653_390_220_546_525_2e-6,
        6.613_756_321_437_934e-5,
        -2.777_777_777_701_559_3e-3,
        1.666_666_666_666_660_2e-1,
    ];
    if x.is_nan() {
        return x;
    }
    let x = x.clamp(-746.0, 710.0);
    let n = x.mul_add(LOG2_E, ROUND) - ROUND;
    let high = n.mul_add(-LN2_HIGH, x);
    let low = n * LN2_LOW;
    let rest = high - low;
    let square = rest * rest;
    let c = rest - square * polynomial(P, square);
    let power = 1.0 - ((low - rest * c / (2.0 - c)) - high);
    let half = (n * 0.5).floor();
    power * pow2(half as i64) * pow2((n - half) as i64)
}

/// A positive number as `m · 2^n` with `m` in `[sqrt(1/2), sqrt(2))`.
fn split(x: f64) -> (f64, f64) {
    const TWO_54: f64 = (1u64 << 54) as f64;
    let (x, shift) = if x < f64::MIN_POSITIVE { (x * TWO_54, -54) } else { (x, 0) };
    let exponent = (x.to_bits() >> 52) as i64 - 1023;
    let m = f64::from_bits(x.to_bits() & ((1 << 52) - 1) | 1023 << 52);
    let (m, exponent) = if m >= std::f64::consts::SQRT_2 { (m * 0.5, exponent + 1) } else { (m, exponent) };
    (m, (exponent + shift) as f64)
}

/// `ln x` as an unevaluated sum, accurate to about 2^-60 of it; `x` is positive and finite.
///
/// With `s = (m - 1) / (m + 1)`, `ln m = 2 s + s³ · q(s²)`. The first term is carried in two parts; the second is at most
/// one hundredth of it, so that its rounding does not matter.
fn ln_parts(x: f64) -> (f64, f64) {
    /// `(ln((1 + s) / (1 - s)) - 2 s) / s³` in powers of `s²`.
    const Q: [f64; 7] = [
        1.479_819_860_511_658_6e-1,
        1.531_383_769_920_937_3e-1,
        1.818_357_216_161_805e-1,
        2.222_219_843_214_978_4e-1,
        2.857_142_874_366_239e-1,
        3.999_999_999_940_942e-1,
        6.666_666_666_666_735e-1,
    ];
    let (m, n) = split(x);
    let (above, below) = (m - 1.0, m + 1.0);
    // What rounding took from `m + 1`, then what it took from the quotient.
    let lost = m - (below - 1.0);
    let s = above / below;
    let s_low = (s.mul_add(-below, above) - s * lost) / below;
    let square = s * s;
    let cubic = s * square * polynomial(Q, square);
    let high = n * LN2_HIGH;
    let (sum, rest) = add(high, 2.0 * s);
    add(sum, rest + (2.0f64.mul_add(s_low, n * LN2_LOW) + cubic))
}

/// `a + b` and what rounding took from it.
fn add(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let b_seen = sum - a;
    (sum, (a - (sum - b_seen)) + (b - b_seen))
}

/// The natural logarithm, within 1 unit in the last place; -infinity for 0, NaN below.
#[must_use]
pub fn ln_f64(x: f64) -> f64 {
    match x {
        0.0 => f64::NEG_INFINITY,
        x if x > 0.0 && x < f64::INFINITY => ln_parts(x).0,
        f64::INFINITY => x,
        _ => f64::NAN,
    }
}

/// `x^y` for `x` at least 0, within a few units in the last place; NaN for a negative `x`.
#[must_use]
pub fn pow_f64(x: f64, y: f64) -> f64 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if !(x > 0.0 && x < f64::INFINITY && y.is_finite()) {
        return exp_f64(y * ln_f64(x));
    }
    let (high, low) = ln_parts(x);
    let product = y * high;
    if product.abs() > 800.0 {
        return exp_f64(product);
    }
    let rest = y.mul_add(high, -product) + y * low;
    let power = exp_f64(product);
    power.mul_add(rest, power)
}

/// Sine and cosine of `x` radians, within 1 unit in the last place for `|x|` up to `2^27`; NaN for infinities.
///
/// `x` less a multiple of `pi / 2` is exact in the first step (a fused multiply-add with 53 bits of `pi / 2`), the second
/// is carried in two parts, the third is beyond what can be seen.
#[must_use]
pub fn sin_cos_f64(x: f64) -> (f64, f64) {
    const HALF_PI: [f64; 3] =
        [1.570_796_326_794_896_6, 6.123_233_995_736_766e-17, -1.497_384_904_859_183_4e-33];
    let n = x.mul_add(FRAC_2_PI, ROUND) - ROUND;
    let first = n.mul_add(-HALF_PI[0], x);
    let second = n * HALF_PI[1];
    let second_low = n.mul_add(HALF_PI[1], -second);
    let (rest, lost) = add(first, -second);
    let low = lost - n.mul_add(HALF_PI[2], second_low);
    let (sin, cos) = (sin_near_0(rest, low), cos_near_0(rest, low));
    match n as i64 & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The sine of `x + low` for `|x| <= pi / 4` and a far smaller `low`.
fn sin_near_0(x: f64, low: f64) -> f64 {
    const S: [f64; 6] = [
        1.589_690_995_211_55e-10,
        -2.505_076_025_340_686_3e-8,
        2.755_731_370_707_006_8e-6,
        -1.984_126_982_985_795e-4,
        8.333_333_333_322_489e-3,
        -1.666_666_666_666_663_2e-1,
    ];
    let z = x * x;
    let cube = z * x;
    // x + low - x²/2 · low + x³ · (S1 + …)
    let r = polynomial([S[0], S[1], S[2], S[3], S[4]], z);
    x - ((z * (0.5 * low - cube * r) - low) - cube * S[5])
}

/// The cosine of `x + low` for `|x| <= pi / 4` and a far smaller `low`.
fn cos_near_0(x: f64, low: f64) -> f64 {
    const C: [f64; 6] = [
        -1.135_964_755_778_819_5e-11,
        2.087_572_321_298_175e-9,
        -2.755_731_435_139_066_3e-7,
        2.480_158_728_947_673e-5,
        -1.388_888_888_887_411e-3,
        4.166_666_666_666_660_2e-2,
    ];
    let z = x * x;
    let r = z * polynomial(C, z);
    let half = 0.5 * z;
    let near = 1.0 - half;
    near + (((1.0 - near) - half) + (z * r - x * low))
}

/// `ln 2` and its parts agree.
const _: () = assert!(LN2_HIGH + LN2_LOW == LN_2);
