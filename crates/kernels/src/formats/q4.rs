//! `q4_0` and `q4_1`.

use quant::q4::{
    ELEMENTS, Q4_0_BYTES, Q4_0_NIBBLES_AT, Q4_0_OFFSET, Q4_1_BYTES, Q4_1_MIN_AT, Q4_1_NIBBLES_AT,
};

use super::group::{add_group, add_weights, half, sixteen};
use crate::{
    lanes::{Lanes, NIBBLE_UNIT, NIBBLE_UNITS},
    matmul::Step,
};

/// 32 nibbles and a scale.
pub(crate) struct Q4_0;
/// 32 nibbles, a scale and a minimum.
pub(crate) struct Q4_1;

/// Turns stored nibbles into two's complement.
const FLIP: u8 = Q4_0_OFFSET as u8 * 0x11;

impl<L: Lanes> Step<L, Q4_0_BYTES, ELEMENTS> for Q4_0 {
    const UNIT: f32 = NIBBLE_UNIT;
    type Scales = L::F;

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; Q4_0_BYTES]) -> Self::Scales {
        half(lanes, block, 0)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; Q4_0_BYTES],
        scale: &Self::Scales,
        _: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let nibbles = lanes.xor(sixteen(lanes, block, Q4_0_NIBBLES_AT), lanes.splat_byte(FLIP));
        let (low, high) = lanes.signed_nibbles(nibbles);
        add_group(lanes, [low, high], *scale, x, 0, sums);
    }
}

impl<L: Lanes> Step<L, Q4_1_BYTES, ELEMENTS> for Q4_1 {
    type Scales = (L::F, L::F);

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; Q4_1_BYTES]) -> Self::Scales {
        (half(lanes, block, 0), half(lanes, block, Q4_1_MIN_AT))
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; Q4_1_BYTES],
        &(scale, min): &Self::Scales,
        _: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let (low, high) = lanes.nibbles(sixteen(lanes, block, Q4_1_NIBBLES_AT));
        let low_scale = lanes.mul(scale, lanes.splat(1.0 / NIBBLE_UNITS.0));
        let high_scale = lanes.mul(scale, lanes.splat(1.0 / NIBBLE_UNITS.1));
        add_weights(lanes, lanes.fma(low, low_scale, min), x, 0, sums);
        add_weights(lanes, lanes.fma(high, high_scale, min), x, 1, sums);
    }
}
