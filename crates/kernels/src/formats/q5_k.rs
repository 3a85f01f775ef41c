//! `q5_k`.

use quant::q5_k::{BYTES, CODES_AT, ELEMENTS, HIGH_AT};

use super::{
    group::{add_group, add_minimum, sixteen},
    q4_k::scales_and_minima,
};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 five-bit codes in eight groups with scales and minima.
pub(crate) struct Q5K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q5K {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(lanes: L, block: &[u8; BYTES], x: [&[f32; ELEMENTS]; T], sums: &mut [L::F; T]) {
        let (scales, minima) = scales_and_minima(lanes, block);
        for group in 0..8 {
            let place = lanes.splat_byte(1 << group);
            let mut codes = [lanes.splat(0.0); 2];
            for part in 0..2 {
                let pair = sixteen(lanes, block, CODES_AT + group / 2 * 32 + part * 16);
                let low = lanes.and(lanes.shift_right(pair, group as u32 % 2 * 4), lanes.splat_byte(15));
                let high = lanes.and(sixteen(lanes, block, HIGH_AT + part * 16), place);
                let fifth = lanes.and(lanes.equal(high, place), lanes.splat_byte(16));
                codes[part] = lanes.codes(lanes.or(low, fifth));
            }
            add_group(lanes, codes, lanes.splat(scales[group]), x, 2 * group, sums);
            add_minimum::<L, ELEMENTS, T, 2>(
                lanes,
                BYTE_UNIT,
                lanes.splat(minima[group]),
                x,
                2 * group,
                sums,
            );
        }
    }
}
