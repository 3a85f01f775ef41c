//! `q3_k`: 256 columns in 110 bytes, 3.4375 bits a weight; 16 groups of 16 columns.
//!
//! | bytes | what |
//! |---|---|
//! | 0..32 | third bits: bit i of byte j belongs to column 32 i + j; a bit that is **clear** takes 4 off the code |
//! | 32..96 | low two bits, arranged as in [`crate::q2_k`] |
//! | 96..108 | scales of 6 bits, stored + 32 |
//! | 108..110 | d, f16 |
//!
//! Scale g: its low four bits are a nibble of byte `96 + g % 8` (low for g < 8, else high), its high two bits are pair
//! `g / 4` of byte `104 + g % 4`. Layout: `block_q3_K` of ggml.

use crate::{
    blocks::{decode_blocks, f16_at},
    q2_k,
};

/// Columns of a block.
pub const ELEMENTS: usize = 256;
/// Columns that share a scale.
pub const GROUP: usize = 16;
/// Where the third bits begin.
pub const HIGH_AT: usize = 0;
/// Where the low two bits begin.
pub const CODES_AT: usize = HIGH_AT + ELEMENTS / 8;
/// Where the packed scales begin.
pub const SCALES_AT: usize = CODES_AT + ELEMENTS / 4;
/// Where d lies.
pub const D_AT: usize = SCALES_AT + 12;
/// Bytes of a block.
pub const BYTES: usize = D_AT + 2;
const _: () = assert!(CODES_AT == 32 && SCALES_AT == 96 && D_AT == 108 && BYTES == 110);

/// The scale (-32..32) of `group` (0..16).
///
/// # Panics
/// If there is no such group.
#[must_use]
pub fn q3k_scale(block: &[u8; BYTES], group: usize) -> i8 {
    assert!(group < ELEMENTS / GROUP, "a block has 16 groups");
    let packed = &block[SCALES_AT..D_AT];
    let low = packed[group % 8] >> (group / 8 * 4) & 15;
    let high = packed[8 + group % 4] >> (group / 4 * 2) & 3;
    (low | high << 4) as i8 - 32
}

/// The codes (-4..4) in column order.
#[must_use]
pub fn codes(block: &[u8; BYTES]) -> [i8; ELEMENTS] {
    let low = q2_k::codes(&block[CODES_AT..SCALES_AT]);
    let high = |column: usize| block[HIGH_AT + column % 32] >> (column / 32) & 1;
    std::array::from_fn(|column| (low[column] | high(column) << 2) as i8 - 4)
}

/// value = (d · scale) · code, a rounding after each operation.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        let d = f16_at(block, D_AT);
        let codes = codes(block);
        let groups = out.chunks_exact_mut(GROUP).zip(codes.chunks_exact(GROUP));
        for (group, (out, codes)) in groups.enumerate() {
            let scale = d * f32::from(q3k_scale(block, group));
            for (out, code) in out.iter_mut().zip(codes) {
                *out = scale * f32::from(*code);
            }
        }
    });
}
