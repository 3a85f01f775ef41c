//! `q2_k`.

use quant::q2_k::{BYTES, CODES_AT, D_AT, DMIN_AT, ELEMENTS, SCALES_AT};

use super::group::{add_group, add_minimum, half, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 two-bit codes in sixteen groups with scales and minima.
pub(crate) struct Q2K;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q2K {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(lanes: L, block: &[u8; BYTES], x: [&[f32; ELEMENTS]; T], sums: &mut [L::F; T]) {
        let packed = sixteen(lanes, block, SCALES_AT);
        let d = lanes.mul(half(lanes, block, D_AT), lanes.splat(1.0 / BYTE_UNIT));
        let d_min = lanes.mul(half(lanes, block, DMIN_AT), lanes.splat(-1.0 / BYTE_UNIT));
        let mins = scales(lanes, lanes.shift_right(packed, 4), d_min);
        let scales = scales(lanes, lanes.and(packed, lanes.splat_byte(15)), d);
        for group in 0..16 {
            let (half, shift, part) = (group / 8, group % 8 / 2, group % 2);
            let four = sixteen(lanes, block, CODES_AT + 32 * half + 16 * part);
            let code = lanes.and(lanes.shift_right(four, 2 * shift as u32), lanes.splat_byte(3));
            add_group(lanes, [lanes.codes(code)], lanes.splat(scales[group]), x, group, sums);
            add_minimum::<L, ELEMENTS, T, 1>(lanes, BYTE_UNIT, lanes.splat(mins[group]), x, group, sums);
        }
    }
}
