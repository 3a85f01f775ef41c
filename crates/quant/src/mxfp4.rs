//! `mxfp4` as GGUF stores it: 32 columns in 17 bytes, 4.25 bits a weight.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | e: the scale is 2^(e − 127) |
//! | 1..17 | byte j holds column j in its low and column j + 16 in its high nibble, each an e2m1 float |
//!
//! The levels are kept doubled, as integers, and the scale halved; the product is the same. The OCP specification calls
//! e = 255 a NaN; ggml computes 2^128 with it, and so do we, since here its files are what the bytes mean. Layout and
//! levels: `block_mxfp4`, `kvalues_mxfp4` and `GGML_E8M0_TO_FP32_HALF` of ggml; OCP Microscaling Formats 1.0, section 5.3.

use crate::{blocks::decode_blocks, q4::nibbles};

/// Twice the value of each e2m1 code. Code 8, negative zero, is a plain zero.
pub const MXFP4_LEVELS: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Columns of a block.
pub const ELEMENTS: usize = 32;
/// Where the codes begin.
pub const CODES_AT: usize = 1;
/// Bytes of a block.
pub const BYTES: usize = CODES_AT + ELEMENTS / 2;
const _: () = assert!(BYTES == 17);

/// Half of the scale that `exponent` stands for: 2^(exponent − 128), subnormal for 0 and 1.
#[must_use]
pub fn mxfp4_half_scale(exponent: u8) -> f32 {
    f32::from_bits(match exponent {
        0 | 1 => 0x0020_0000 << exponent,
        _ => (u32::from(exponent) - 1) << 23,
    })
}

/// value = half scale · doubled level, one rounding (exact unless it overflows).
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| {
        let scale = mxfp4_half_scale(block[0]);
        *out = nibbles(&block[CODES_AT..]).map(|code| scale * f32::from(MXFP4_LEVELS[usize::from(code)]));
    });
}
