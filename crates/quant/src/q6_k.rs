//! `q6_k`: 256 columns in 210 bytes, 6.5625 bits a weight; 16 groups of 16 columns.
//!
//! | bytes | what |
//! |---|---|
//! | 0..128 | low four bits |
//! | 128..192 | high two bits |
//! | 192..208 | scales, i8 |
//! | 208..210 | d, f16 |
//!
//! Each half of 128 columns has 64 bytes of low and 32 bytes of high bits: low byte j (0..64) holds column j in its low
//! and column j + 64 in its high nibble; high byte j (0..32) holds columns j, j + 32, j + 64 and j + 96 from its low to
//! its high bits. Codes are stored + 32. Layout: `block_q6_K` of ggml.

use crate::{
    blocks::{decode_blocks, f16_at},
    q2_k,
};

/// Columns of a block.
pub const ELEMENTS: usize = 256;
/// Columns that share a scale.
pub const GROUP: usize = 16;
/// Where the low four bits begin.
pub const CODES_AT: usize = 0;
/// Where the high two bits begin.
pub const HIGH_AT: usize = CODES_AT + ELEMENTS / 2;
/// Where the scales begin, a signed byte each.
pub const SCALES_AT: usize = HIGH_AT + ELEMENTS / 4;
/// Where d lies.
pub const D_AT: usize = SCALES_AT + ELEMENTS / GROUP;
/// Bytes of a block.
pub const BYTES: usize = D_AT + 2;
const _: () = assert!(HIGH_AT == 128 && SCALES_AT == 192 && D_AT == 208 && BYTES == 210);

/// The codes (-32..32) in column order.
#[must_use]
pub fn codes(block: &[u8; BYTES]) -> [i8; ELEMENTS] {
    let high = q2_k::codes(&block[HIGH_AT..SCALES_AT]);
    let low = |column: usize| block[column / 128 * 64 + column % 64] >> (column % 128 / 64 * 4) & 15;
    std::array::from_fn(|column| (low(column) | high[column] << 4) as i8 - 32)
}

/// value = (d · scale) · code, a rounding after each operation.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        let d = f16_at(block, D_AT);
        let codes = codes(block);
        let groups = out.chunks_exact_mut(GROUP).zip(codes.chunks_exact(GROUP));
        for (scale, (out, codes)) in block[SCALES_AT..D_AT].iter().zip(groups) {
            let scale = d * f32::from(*scale as i8);
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * f32::from(*code);
            }
        }
    });
}
