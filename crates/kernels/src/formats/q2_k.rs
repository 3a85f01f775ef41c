//! `q2_k`.

use quant::q2_k::{BYTES, CODES_AT, D_AT, DMIN_AT, ELEMENTS, SCALES_AT};

use super::group::{add_weights, bits, for_each_constant, half, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, LANES, Lanes},
    matmul::Step,
};

/// 256 two-bit codes in sixteen groups with scales and minima.
pub(crate) struct Q2K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q2K {
    const PARTS: usize = 2;
    /// Scales and negated minima of the groups.
    type Scales = ([f32; LANES], [f32; LANES]);

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        let packed = sixteen(lanes, block, SCALES_AT);
        let minima = scales(lanes, bits(lanes, packed, 4, 0, 15), half(lanes, block, DMIN_AT), -1.0);
        (scales(lanes, bits(lanes, packed, 0, 0, 15), half(lanes, block, D_AT), BYTE_UNIT), minima)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; BYTES],
        (scales, minima): &Self::Scales,
        part: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let at = CODES_AT + 32 * part;
        let fours = [sixteen(lanes, block, at), sixteen(lanes, block, at + 16)];
        for_each_constant!(PAIR in [0, 1, 2, 3] {
            for side in 0..2 {
                let group = 8 * part + 2 * PAIR + side;
                let codes = lanes.codes(bits(lanes, fours[side], 2 * PAIR as u32, 0, 3));
                let weights = lanes.fma(codes, lanes.splat(scales[group]), lanes.splat(minima[group]));
                add_weights(lanes, weights, x, group, sums);
            }
        });
    }
}
