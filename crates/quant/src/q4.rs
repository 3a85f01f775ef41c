//! `q4_0` and `q4_1`: 32 columns of 4 bits.
//!
//! | `q4_0` | `q4_1` | what |
//! |---|---|---|
//! | 0..2 | 0..2 | d, f16 |
//! | | 2..4 | m, f16 |
//! | 2..18 | 4..20 | 16 bytes: byte j holds column j in its low and column j + 16 in its high nibble |
//!
//! Layout and rounding: `block_q4_0`, `block_q4_1` and `quantize_row_q4_0_ref` of ggml.

use crate::{
    blocks::{decode_blocks, f16_at},
    floats::f32_to_f16,
};

/// Columns of a block.
pub const ELEMENTS: usize = 32;
/// Where the nibbles of a `q4_0` block begin.
pub const Q4_0_NIBBLES_AT: usize = 2;
/// Bytes of a `q4_0` block.
pub const Q4_0_BYTES: usize = Q4_0_NIBBLES_AT + ELEMENTS / 2;
/// Where the minimum of a `q4_1` block lies.
pub const Q4_1_MIN_AT: usize = 2;
/// Where the nibbles of a `q4_1` block begin.
pub const Q4_1_NIBBLES_AT: usize = 4;
/// Bytes of a `q4_1` block.
pub const Q4_1_BYTES: usize = Q4_1_NIBBLES_AT + ELEMENTS / 2;
/// What a `q4_0` code is stored with on top.
pub const Q4_0_OFFSET: i8 = 8;
const _: () = assert!(Q4_0_BYTES == 18 && Q4_1_BYTES == 20);

/// Beyond this the scale would be an infinite f16.
pub(crate) const Q4_0_MAGNITUDE_MAX: f32 = 65504.0 * 8.0;

/// The 32 nibbles of 16 bytes in column order: low nibbles first.
pub(crate) fn nibbles(bytes: &[u8]) -> [u8; ELEMENTS] {
    std::array::from_fn(|column| bytes[column % 16] >> (column / 16 * 4) & 15)
}

/// value = d · (nibble − 8), one rounding.
pub(crate) fn decode_q4_0(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<Q4_0_BYTES, ELEMENTS>(bytes, out, |block, out| {
        let scale = f16_at(block, 0);
        let nibbles = nibbles(&block[Q4_0_NIBBLES_AT..]);
        *out = nibbles.map(|nibble| scale * f32::from(nibble as i8 - Q4_0_OFFSET));
    });
}

/// value = d · nibble + m, two roundings.
pub(crate) fn decode_q4_1(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<Q4_1_BYTES, ELEMENTS>(bytes, out, |block, out| {
        let (scale, min) = (f16_at(block, 0), f16_at(block, Q4_1_MIN_AT));
        let nibbles = nibbles(&block[Q4_1_NIBBLES_AT..]);
        *out = nibbles.map(|nibble| scale * f32::from(nibble) + min);
    });
}

/// The value of largest magnitude (the first of equals) becomes code −8: d = that / −8, nibble = x · (1 / d) + 8.5 cut
/// to an integer and kept below 16, with d in f32; d is then stored as f16. All as in the reference.
pub(crate) fn encode_q4_0(x: &[f32], bytes: &mut Vec<u8>) {
    for x in x.as_chunks::<ELEMENTS>().0 {
        let largest =
            x.iter().fold(0f32, |largest, value| if value.abs() > largest.abs() { *value } else { largest });
        let scale = largest / -8.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        let nibble = |value: f32| ((value * inverse + 8.5) as u8).min(15);
        bytes.extend(f32_to_f16(scale).to_le_bytes());
        bytes.extend((0..16).map(|j| nibble(x[j]) | nibble(x[j + 16]) << 4));
    }
}
