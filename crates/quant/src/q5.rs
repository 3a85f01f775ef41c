//! `q5_0` and `q5_1`: 32 columns of 5 bits.
//!
//! | `q5_0` | `q5_1` | what |
//! |---|---|---|
//! | 0..2 | 0..2 | d, f16 |
//! | | 2..4 | m, f16 |
//! | 2..6 | 4..8 | u32: bit c is the fifth bit of column c |
//! | 6..22 | 8..24 | 16 bytes: byte j holds the low four bits of column j in its low and of column j + 16 in its high nibble |
//!
//! Layout: `block_q5_0` and `block_q5_1` of ggml.

use crate::{
    blocks::{decode_blocks, f16_at},
    q4::nibbles,
};

/// Columns of a block.
pub const ELEMENTS: usize = 32;
/// Where the fifth bits of a `q5_0` block begin.
pub const Q5_0_HIGH_AT: usize = 2;
/// Where the nibbles of a `q5_0` block begin.
pub const Q5_0_NIBBLES_AT: usize = Q5_0_HIGH_AT + 4;
/// Bytes of a `q5_0` block.
pub const Q5_0_BYTES: usize = Q5_0_NIBBLES_AT + ELEMENTS / 2;
/// Where the minimum of a `q5_1` block lies.
pub const Q5_1_MIN_AT: usize = 2;
/// Where the fifth bits of a `q5_1` block begin.
pub const Q5_1_HIGH_AT: usize = 4;
/// Where the nibbles of a `q5_1` block begin.
pub const Q5_1_NIBBLES_AT: usize = Q5_1_HIGH_AT + 4;
/// Bytes of a `q5_1` block.
pub const Q5_1_BYTES: usize = Q5_1_NIBBLES_AT + ELEMENTS / 2;
/// What a `q5_0` code is stored with on top.
pub const Q5_0_OFFSET: i8 = 16;
const _: () = assert!(Q5_0_BYTES == 22 && Q5_1_BYTES == 24);

/// The 32 codes (0..32) whose fifth bits begin at `high_at`, the nibbles right behind them.
fn codes(block: &[u8], high_at: usize) -> [u8; ELEMENTS] {
    let high = &block[high_at..high_at + 4];
    let nibbles = nibbles(&block[high_at + 4..]);
    std::array::from_fn(|column| nibbles[column] | (high[column / 8] >> (column % 8) & 1) << 4)
}

/// value = d · (code − 16), one rounding.
pub(crate) fn decode_q5_0(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<Q5_0_BYTES, ELEMENTS>(bytes, out, |block, out| {
        let scale = f16_at(block, 0);
        *out = codes(block, Q5_0_HIGH_AT).map(|code| scale * f32::from(code as i8 - Q5_0_OFFSET));
    });
}

/// value = d · code + m, two roundings.
pub(crate) fn decode_q5_1(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<Q5_1_BYTES, ELEMENTS>(bytes, out, |block, out| {
        let (scale, min) = (f16_at(block, 0), f16_at(block, Q5_1_MIN_AT));
        *out = codes(block, Q5_1_HIGH_AT).map(|code| scale * f32::from(code) + min);
    });
}
