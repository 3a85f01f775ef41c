//! Nibbles with scales beside them, one for a row or a group.

use quant::int4::OFFSET;

use crate::{
    lanes::{Lanes, NIBBLE_UNIT},
    matmul::{Step, chunk},
};

/// 32 columns a step; the columns of a byte are neighbours, the even one in the low nibble.
pub(crate) struct Int4;

/// Turns stored nibbles into two's complement, and the other way round.
const FLIP: u8 = OFFSET as u8 * 0x11;

impl<L: Lanes> Step<L, 16, 32> for Int4 {
    const UNIT: f32 = NIBBLE_UNIT;
    const SCALES_BESIDE: bool = true;
    type Scales = ();

    #[inline(always)]
    fn scales(_: L, _: &[u8; 16]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; 16],
        _: &(),
        _: usize,
        x: [&[f32; 32]; T],
        sums: &mut [L::F; T],
    ) {
        let (first, last) = lanes.paired_nibbles(lanes.xor(lanes.bytes(weights), lanes.splat_byte(FLIP)));
        for t in 0..T {
            let sum = lanes.fma(first, lanes.load(chunk(x[t], 0)), sums[t]);
            sums[t] = lanes.fma(last, lanes.load(chunk(x[t], 1)), sum);
        }
    }

    #[inline(always)]
    fn pad(tail: &[u8], cols: usize) -> [u8; 16] {
        let mut full = [FLIP; 16];
        full[..tail.len()].copy_from_slice(tail);
        if !cols.is_multiple_of(2) {
            // The high nibble of the last byte means nothing.
            let last = &mut full[cols / 2];
            *last = *last & 0x0F | FLIP & 0xF0;
        }
        full
    }
}
