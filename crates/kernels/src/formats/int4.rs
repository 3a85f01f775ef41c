//! Nibbles with scales beside them, one for a row or a group.

use quant::int4::OFFSET;

use super::group::sixteen;
use crate::{
    lanes::{Lanes, NIBBLE_UNIT},
    matmul::{Beside, Step, chunk},
};

/// Nibbles with a scale for the row, 32 columns a step; the columns of a byte are neighbours, the even one in the low nibble.
pub(crate) struct Int4Row;
/// The same with a scale for every group of columns, a group a step.
pub(crate) struct Int4Group;

/// Turns stored nibbles into two's complement, and the other way round.
const FLIP: u8 = OFFSET as u8 * 0x11;

/// Adds all columns, 32 of them from 16 bytes at a time.
#[inline(always)]
fn add<L: Lanes, const BYTES: usize, const COLS: usize, const T: usize>(
    lanes: L,
    weights: &[u8; BYTES],
    x: [&[f32; COLS]; T],
    sums: &mut [L::F; T],
) {
    for i in 0..BYTES / 16 {
        let nibbles = lanes.xor(sixteen(lanes, weights, 16 * i), lanes.splat_byte(FLIP));
        let (first, last) = lanes.paired_nibbles(nibbles);
        for t in 0..T {
            let sum = lanes.fma(first, lanes.load(chunk(x[t], 2 * i)), sums[t]);
            sums[t] = lanes.fma(last, lanes.load(chunk(x[t], 2 * i + 1)), sum);
        }
    }
}

fn pad<const BYTES: usize>(tail: &[u8], cols: usize) -> [u8; BYTES] {
    let mut full = [FLIP; BYTES];
    full[..tail.len()].copy_from_slice(tail);
    if !cols.is_multiple_of(2) {
        // The high nibble of the last byte means nothing.
        let last = &mut full[cols / 2];
        *last = *last & 0x0F | FLIP & 0xF0;
    }
    full
}

impl<L: Lanes> Step<L, 16, 32> for Int4Row {
    const UNIT: f32 = NIBBLE_UNIT;
    const SCALES_BESIDE: Beside = Beside::OfRows;
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
        add(lanes, weights, x, sums);
    }

    #[inline(always)]
    fn pad(tail: &[u8], cols: usize) -> [u8; 16] {
        pad(tail, cols)
    }
}

impl<L: Lanes, const BYTES: usize, const COLS: usize> Step<L, BYTES, COLS> for Int4Group {
    const UNIT: f32 = NIBBLE_UNIT;
    const SCALES_BESIDE: Beside = Beside::OfGroups;
    type Scales = ();

    #[inline(always)]
    fn scales(_: L, _: &[u8; BYTES]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; BYTES],
        _: &(),
        _: usize,
        x: [&[f32; COLS]; T],
        sums: &mut [L::F; T],
    ) {
        add(lanes, weights, x, sums);
    }

    #[inline(always)]
    fn pad(tail: &[u8], cols: usize) -> [u8; BYTES] {
        pad(tail, cols)
    }
}
