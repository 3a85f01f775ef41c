//! Walking a row block by block.

use crate::floats::f16_to_f32;

/// Calls `decode` with each block of `BYTES` bytes and the `ELEMENTS` values that it becomes.
pub(crate) fn decode_blocks<const BYTES: usize, const ELEMENTS: usize>(
    bytes: &[u8],
    out: &mut [f32],
    decode: impl Fn(&[u8; BYTES], &mut [f32; ELEMENTS]),
) {
    let (blocks, outs) = (bytes.as_chunks::<BYTES>().0, out.as_chunks_mut::<ELEMENTS>().0);
    for (block, out) in blocks.iter().zip(outs) {
        decode(block, out);
    }
}

/// The f16 at byte `at` of a block.
pub(crate) fn f16_at(block: &[u8], at: usize) -> f32 {
    f16_to_f32(u16::from_le_bytes([block[at], block[at + 1]]))
}
