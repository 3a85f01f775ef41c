//! `q2_k`: 256 columns in 84 bytes, 2.625 bits a weight; 16 groups of 16 columns.
//!
//! | bytes | what |
//! |---|---|
//! | 0..16 | byte g: scale of group g in the low, its minimum in the high nibble |
//! | 16..80 | codes of 2 bits |
//! | 80..82 | d, f16 |
//! | 82..84 | dmin, f16 |
//!
//! The codes are two runs of 32 bytes, one for each 128 columns; in a run, byte j holds columns j, j + 32, j + 64 and
//! j + 96 from its low to its high bits. Layout: `block_q2_K` of ggml.

use crate::blocks::{decode_blocks, f16_at};

/// Columns of a block.
pub const ELEMENTS: usize = 256;
/// Columns that share a scale and a minimum.
pub const GROUP: usize = 16;
/// Where the scales and minima begin.
pub const SCALES_AT: usize = 0;
/// Where the codes begin.
pub const CODES_AT: usize = SCALES_AT + ELEMENTS / GROUP;
/// Where d lies.
pub const D_AT: usize = CODES_AT + ELEMENTS / 4;
/// Where dmin lies.
pub const DMIN_AT: usize = D_AT + 2;
/// Bytes of a block.
pub const BYTES: usize = DMIN_AT + 2;
const _: () = assert!(CODES_AT == 16 && D_AT == 80 && BYTES == 84);

/// Scale and minimum (0..16) of `group` (0..16).
///
/// # Panics
/// If there is no such group.
#[must_use]
pub fn q2k_scale_min(block: &[u8; BYTES], group: usize) -> (u8, u8) {
    let byte = block[SCALES_AT..CODES_AT][group];
    (byte & 15, byte >> 4)
}

/// The 2-bit codes of 64 bytes in column order.
pub(crate) fn codes(bytes: &[u8]) -> [u8; ELEMENTS] {
    std::array::from_fn(|column| bytes[column / 128 * 32 + column % 32] >> (column % 128 / 32 * 2) & 3)
}

/// value = (d · scale) · code − (dmin · minimum), a rounding after each operation.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        let (d, dmin) = (f16_at(block, D_AT), f16_at(block, DMIN_AT));
        let codes = codes(&block[CODES_AT..D_AT]);
        let groups = out.chunks_exact_mut(GROUP).zip(codes.chunks_exact(GROUP));
        for (group, (out, codes)) in groups.enumerate() {
            let (scale, min) = q2k_scale_min(block, group);
            let (scale, min) = (d * f32::from(scale), dmin * f32::from(min));
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * f32::from(*code) - min;
            }
        }
    });
}
