//! `q5_k`: 256 columns in 176 bytes, 5.5 bits a weight; 8 groups of 32 columns.
//!
//! | bytes | what |
//! |---|---|
//! | 0..16 | d, dmin, scales and minima, as in [`crate::q4_k`] |
//! | 16..48 | fifth bits: bit g of byte j belongs to column 32 g + j |
//! | 48..176 | low four bits, arranged as in [`crate::q4_k`] |
//!
//! Layout: `block_q5_K` of ggml.

use crate::{blocks::decode_blocks, q4_k};

/// Columns of a block.
pub const ELEMENTS: usize = 256;
/// Columns that share a scale and a minimum.
pub const GROUP: usize = 32;
/// Where the fifth bits begin.
pub const HIGH_AT: usize = q4_k::CODES_AT;
/// Where the low four bits begin.
pub const CODES_AT: usize = HIGH_AT + ELEMENTS / 8;
/// Bytes of a block.
pub const BYTES: usize = CODES_AT + ELEMENTS / 2;
const _: () = assert!(HIGH_AT == 16 && CODES_AT == 48 && BYTES == 176);

/// The codes (0..32) in column order.
#[must_use]
pub fn codes(block: &[u8; BYTES]) -> [u8; ELEMENTS] {
    let low = q4_k::codes(&block[CODES_AT..]);
    let high = |column: usize| block[HIGH_AT + column % 32] >> (column / 32) & 1;
    std::array::from_fn(|column| low[column] | high(column) << 4)
}

/// value = (d · scale) · code − (dmin · minimum), a rounding after each operation.
pub(crate) fn decode(bytes: &[u8], out: &mut [f32]) {
    decode_blocks::<BYTES, ELEMENTS>(bytes, out, |block, out| q4_k::scale_codes(block, &codes(block), out));
}
