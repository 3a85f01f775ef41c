//! `q4_k`: 256 columns in 144 bytes, 4.5 bits a weight; 8 groups of 32 columns.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | d, f16 |
//! | 2..4 | dmin, f16 |
//! | 4..16 | scales and minima of 6 bits |
//! | 16..144 | codes of 4 bits |
//!
//! With p = bytes 4..16: for g < 4 the scale is the low six bits of p\[g\] and the minimum those of p\[g + 4\]; for
//! g ≥ 4 the low four bits are the low (scale) or high (minimum) nibble of p\[g + 4\], and the high two bits are the
//! top two of p\[g − 4\] (scale) or p\[g\] (minimum).
//!
//! The codes are four runs of 32 bytes, one for each 64 columns; in a run, byte j holds column j in its low and column
//! j + 32 in its high nibble. Layout: `block_q4_K` and `get_scale_min_k4` of ggml.

use crate::blocks::{decode_blocks, f16_at};

/// Columns of a block.
pub const ELEMENTS: usize = 256;
/// Columns that share a scale and a minimum.
pub const GROUP: usize = 32;
/// Where d lies.
pub const D_AT: usize = 0;
/// Where dmin lies.
pub const DMIN_AT: usize = 2;
/// Where the packed scales and minima begin.
pub const SCALES_AT: usize = 4;
/// Bytes of the packed scales and minima.
pub const SCALES_BYTES: usize = 12;
/// Where the codes begin.
pub const CODES_AT: usize = SCALES_AT + SCALES_BYTES;
/// Bytes of a block.
pub const BYTES: usize = CODES_AT + ELEMENTS / 2;
const _: () = assert!(CODES_AT == 16 && BYTES == 144);

/// Scale and minimum (0..64) of `group` (0..8). `block` is a whole `q4_k` or `q5_k` block, or at least its first 16
/// bytes, which both formats share.
///
/// # Panics
/// If there is no such group or `block` is shorter.
#[must_use]
pub fn q4k_scale_min(block: &[u8], group: usize) -> (u8, u8) {
    assert!(group < ELEMENTS / GROUP, "a block has 8 groups");
    let packed = &block[SCALES_AT..CODES_AT];
    if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let low = packed[group + 4];
        (low & 15 | packed[group - 4] >> 6 << 4, low >> 4 | packed[group] >> 6 << 4)
    }
}

/// The 4-bit codes of 128 bytes in column order.
pub(crate) fn codes(bytes: &[u8]) -> [u8; ELEMENTS] {
    std::array::from_fn(|column| bytes[column / 64 * 32 + column % 32] >> (column % 64 / 32 * 4) & 15)
}

/// value = (d · scale) · code − (dmin · minimum), a rounding after each operation. Shared with `q5_k`.
pub(crate) fn scale_codes(block: &[u8], codes: &[u8; ELEMENTS], out: &mut [f32; ELEMENTS]) {
    let (d, dmin) = (f16_at(block, D_AT), f16_at(block, DMIN_AT));
    let groups = out.chunks_exact_mut(GROUP).zip(codes.chunks_exact(GROUP));
    for (group, (out, codes)) in groups.enumerate() {
        let (scale, min) = q4k_scale_min(block, group);
        let (scale, min) = (d * f32::from(scale), dmin * f32::from(min));
        for (out, code) in out.iter_mut().zip(codes) {
            *out = scale * f32::from(*code) - min;
        }
    }
}

pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        scale_codes(block, &codes(&block[CODES_AT..]), out);
    });
}
