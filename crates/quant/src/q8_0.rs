//! `q8_0`: 32 columns in 34 bytes, 8.5 bits a weight.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | d, f16 |
//! | 2..34 | codes, i8, in column order |
//!
//! Layout and rounding: `block_q8_0` and `quantize_row_q8_0_ref` of ggml (`ggml-common.h`, `ggml-quants.c`).

use crate::{
    blocks::{decode_blocks, f16_at},
    floats::f32_to_f16,
    int8_row::absmax,
};

/// Columns of a block.
pub const ELEMENTS: usize = 32;
/// Where the codes begin.
pub const CODES_AT: usize = 2;
/// Bytes of a block.
pub const BYTES: usize = CODES_AT + ELEMENTS;
const _: () = assert!(BYTES == 34);

/// Beyond this the scale would be an infinite f16 (65520 rounds up, and half a unit is lost to the division).
pub(crate) const MAGNITUDE_MAX: f32 = 65504.0 * 127.0;

/// value = d · code, one rounding.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        let scale = f16_at(block, 0);
        for (out, byte) in out.iter_mut().zip(&block[CODES_AT..]) {
            *out = scale * f32::from(*byte as i8);
        }
    });
}

/// d = absmax / 127, code = x · (1 / d) rounded to nearest, ties away from zero, with d in f32; d is then stored as
/// f16. Multiplying by the reciprocal and the ties are those of the reference, so files are equal to its files.
pub(crate) fn encode(x: &[f32], bytes: &mut Vec<u8>) {
    for x in x.as_chunks::<ELEMENTS>().0 {
        let scale = absmax(x) / 127.0;
        let inverse = if scale == 0.0 { 0.0 } else { 1.0 / scale };
        bytes.extend(f32_to_f16(scale).to_le_bytes());
        bytes.extend(x.iter().map(|value| (value * inverse).round() as i8 as u8));
    }
}
