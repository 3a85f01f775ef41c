//! `q5_0` and `q5_1`.

use quant::q5::{
    ELEMENTS, Q5_0_BYTES, Q5_0_HIGH_AT, Q5_0_NIBBLES_AT, Q5_0_OFFSET, Q5_1_BYTES, Q5_1_HIGH_AT, Q5_1_MIN_AT,
    Q5_1_NIBBLES_AT,
};

use super::group::{add_group, add_weights, half, piece, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 32 five-bit codes and a scale.
pub(crate) struct Q5_0;
/// 32 five-bit codes, a scale and a minimum.
pub(crate) struct Q5_1;

/// For each of sixteen bytes, which of two it takes its bit from, and which bit.
const BYTE_OF: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
const BIT_OF: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// Bit `l` of two bytes, in its place of byte `l`, and the places.
#[inline(always)]
fn spread<L: Lanes>(lanes: L, two: [u8; 2]) -> (L::Bytes, L::Bytes) {
    let places = lanes.bytes(&BIT_OF);
    (lanes.and(lanes.lookup(lanes.splat_pair(two), lanes.bytes(&BYTE_OF)), places), places)
}

/// The low and the high nibbles.
#[inline(always)]
fn nibbles<L: Lanes>(lanes: L, a: L::Bytes) -> [L::Bytes; 2] {
    [lanes.and(a, lanes.splat_byte(15)), lanes.shift_right(a, 4)]
}

impl<L: Lanes> Step<L, Q5_0_BYTES, ELEMENTS> for Q5_0 {
    const UNIT: f32 = BYTE_UNIT;
    type Scales = L::F;

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; Q5_0_BYTES]) -> Self::Scales {
        half(lanes, block, 0)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; Q5_0_BYTES],
        scale: &Self::Scales,
        _: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        // Taking the offset from a nibble sets all bits above it.
        let offset = lanes.splat_byte(Q5_0_OFFSET.wrapping_neg() as u8);
        let mut codes = [lanes.splat(0.0); 2];
        let nibbles = nibbles(lanes, sixteen(lanes, block, Q5_0_NIBBLES_AT));
        for c in 0..2 {
            let (high, _) = spread(lanes, *piece(block, Q5_0_HIGH_AT + 2 * c));
            let clear = lanes.equal(high, lanes.splat_byte(0));
            codes[c] = lanes.codes(lanes.or(nibbles[c], lanes.and(clear, offset)));
        }
        add_group(lanes, codes, *scale, x, 0, sums);
    }
}

impl<L: Lanes> Step<L, Q5_1_BYTES, ELEMENTS> for Q5_1 {
    type Scales = (L::F, L::F);

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; Q5_1_BYTES]) -> Self::Scales {
        let scale = lanes.mul(half(lanes, block, 0), lanes.splat(1.0 / BYTE_UNIT));
        (scale, half(lanes, block, Q5_1_MIN_AT))
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; Q5_1_BYTES],
        &(scale, min): &Self::Scales,
        _: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let nibbles = nibbles(lanes, sixteen(lanes, block, Q5_1_NIBBLES_AT));
        for c in 0..2 {
            let (high, places) = spread(lanes, *piece(block, Q5_1_HIGH_AT + 2 * c));
            let fifth = lanes.and(lanes.equal(high, places), lanes.splat_byte(16));
            let codes = lanes.codes(lanes.or(nibbles[c], fifth));
            add_weights(lanes, lanes.fma(codes, scale, min), x, c, sums);
        }
    }
}
