//! `q6_k`.

use quant::q6_k::{BYTES, CODES_AT, D_AT, ELEMENTS, HIGH_AT, SCALES_AT};

use super::group::{add_group, half, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 six-bit codes in sixteen groups with scales.
pub(crate) struct Q6K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q6K {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(lanes: L, block: &[u8; BYTES], x: [&[f32; ELEMENTS]; T], sums: &mut [L::F; T]) {
        let d = lanes.mul(half(lanes, block, D_AT), lanes.splat(1.0 / BYTE_UNIT));
        let scales = scales(lanes, sixteen(lanes, block, SCALES_AT), d);
        for group in 0..16 {
            // Columns 16 g to 16 g + 15; a half has eight such groups.
            let (half, within) = (group / 8, group % 8);
            let pair = sixteen(lanes, block, CODES_AT + 64 * half + within % 4 * 16);
            let low = lanes.and(lanes.shift_right(pair, within as u32 / 4 * 4), lanes.splat_byte(15));
            let four = sixteen(lanes, block, HIGH_AT + 32 * half + within % 2 * 16);
            let high = lanes.and(lanes.shift_right(four, within as u32 / 2 * 2), lanes.splat_byte(3));
            let code = lanes.sub_bytes(lanes.or(low, lanes.shift_left(high, 4)), lanes.splat_byte(32));
            add_group(lanes, [lanes.codes(code)], lanes.splat(scales[group]), x, group, sums);
        }
    }
}
