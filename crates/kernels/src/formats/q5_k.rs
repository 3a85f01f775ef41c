//! `q5_k`.

use quant::q5_k::{BYTES, CODES_AT, ELEMENTS, HIGH_AT};

use super::{
    group::{add_weights, bits, for_each_constant, sixteen},
    q4_k::scales_and_minima,
};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 five-bit codes in eight groups with scales and minima.
pub(crate) struct Q5K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q5K {
    const PARTS: usize = 4;
    /// Scales and negated minima of the groups.
    type Scales = ([f32; 8], [f32; 8]);

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        scales_and_minima(lanes, block, (BYTE_UNIT, BYTE_UNIT))
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
        let pairs = [sixteen(lanes, block, at), sixteen(lanes, block, at + 16)];
        let mut eights = [sixteen(lanes, block, HIGH_AT), sixteen(lanes, block, HIGH_AT + 16)];
        for eight in &mut eights {
            // A part has two of the fifth bits.
            *eight = lanes.shift_right(*eight, 2 * part as u32);
        }
        for_each_constant!(NIBBLE in [0, 1] {
            let group = 2 * part + NIBBLE;
            let (scale, min) = (lanes.splat(scales[group]), lanes.splat(minima[group]));
            for side in 0..2 {
                let low = bits(lanes, pairs[side], 4 * NIBBLE as u32, 0, 15);
                let codes = lanes.codes(lanes.or(low, bits(lanes, eights[side], NIBBLE as u32, 4, 16)));
                add_weights(lanes, lanes.fma(codes, scale, min), x, 2 * group + side, sums);
            }
        });
    }
}
