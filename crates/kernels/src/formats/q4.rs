//! `q4_0` and `q4_1`.

use quant::q4::{
    ELEMENTS, Q4_0_BYTES, Q4_0_NIBBLES_AT, Q4_0_OFFSET, Q4_1_BYTES, Q4_1_MIN_AT, Q4_1_NIBBLES_AT,
};

use super::group::{add_group, add_minimum, half, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes, NIBBLE_UNIT},
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

    #[inline(always)]
    fn step<const T: usize>(
        lanes: L,
        block: &[u8; Q4_0_BYTES],
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let nibbles = lanes.xor(sixteen(lanes, block, Q4_0_NIBBLES_AT), lanes.splat_byte(FLIP));
        let (low, high) = lanes.signed_nibbles(nibbles);
        add_group(lanes, [low, high], half(lanes, block, 0), x, 0, sums);
    }
}

impl<L: Lanes> Step<L, Q4_1_BYTES, ELEMENTS> for Q4_1 {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(
        lanes: L,
        block: &[u8; Q4_1_BYTES],
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let (low, high) = lanes.nibbles(sixteen(lanes, block, Q4_1_NIBBLES_AT));
        add_group(lanes, [low, high], half(lanes, block, 0), x, 0, sums);
        add_minimum::<L, ELEMENTS, T, 2>(lanes, BYTE_UNIT, half(lanes, block, Q4_1_MIN_AT), x, 0, sums);
    }
}
