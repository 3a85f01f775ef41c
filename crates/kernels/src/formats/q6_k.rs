//! `q6_k`.

use quant::q6_k::{BYTES, CODES_AT, D_AT, ELEMENTS, HIGH_AT, SCALES_AT};

use super::group::{add_weights, bits, for_each_constant, half, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, LANES, Lanes},
    matmul::Step,
};

/// 256 six-bit codes in sixteen groups with scales.
pub(crate) struct Q6K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q6K {
    const PARTS: usize = 2;
    type Scales = [f32; LANES];

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        scales(lanes, sixteen(lanes, block, SCALES_AT), half(lanes, block, D_AT), BYTE_UNIT)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; BYTES],
        scales: &Self::Scales,
        part: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let at = HIGH_AT + 32 * part;
        let fours = [sixteen(lanes, block, at), sixteen(lanes, block, at + 16)];
        for_each_constant!(PAIR in [0, 1, 2, 3] {
            for side in 0..2 {
                let group = 8 * part + 2 * PAIR + side;
                let pair = sixteen(lanes, block, CODES_AT + 64 * part + PAIR % 2 * 32 + side * 16);
                let low = bits(lanes, pair, PAIR as u32 / 2 * 4, 0, 15);
                let stored = lanes.or(low, bits(lanes, fours[side], 2 * PAIR as u32, 4, 0x30));
                let codes = lanes.codes(lanes.sub_bytes(stored, lanes.splat_byte(32)));
                add_weights(lanes, lanes.mul(codes, lanes.splat(scales[group])), x, group, sums);
            }
        });
    }
}
