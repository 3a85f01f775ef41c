//! `int8-row`: a signed byte a column, one f32 scale a row in a tensor beside it (`name.qs`).

use crate::floats::f32_at;

/// Columns and bytes of a "block".
pub const BLOCK: (usize, usize) = (1, 1);
/// The largest code that is written.
pub const CODE_MAX: f32 = 127.0;

/// value = scale · code, one rounding.
pub(crate) fn decode(bytes: &[u8], scales: &[u8], out: &mut [f32]) {
    let scale = f32_at(scales, 0);
    for (out, byte) in out.iter_mut().zip(bytes) {
        *out = scale * f32::from(*byte as i8);
    }
}

/// scale = absmax / 127, code = x / scale rounded to nearest even and kept within ±127.
pub(crate) fn encode(x: &[f32], bytes: &mut Vec<u8>, scales: &mut Vec<u8>) {
    let scale = absmax(x) / CODE_MAX;
    scales.extend(scale.to_le_bytes());
    bytes.extend(x.iter().map(|value| code(*value, scale, -CODE_MAX, CODE_MAX) as u8));
}

pub(crate) fn absmax(x: &[f32]) -> f32 {
    x.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// The nearest code, ties to even; 0 when the scale is 0 (a row of zeros, or of values too small to have one).
pub(crate) fn code(value: f32, scale: f32, min: f32, max: f32) -> i8 {
    if scale == 0.0 { 0 } else { (value / scale).round_ties_even().clamp(min, max) as i8 }
}
