//! `q3_k`.

use quant::q3_k::{BYTES, CODES_AT, D_AT, ELEMENTS, HIGH_AT, SCALES_AT};

use super::group::{add_group, half, piece, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 three-bit codes in sixteen groups with scales.
pub(crate) struct Q3K;

/// The scales of all groups, stored + 32, a byte each.
#[inline(always)]
fn packed_scales(block: &[u8; BYTES]) -> [u8; 16] {
    let low = u64::from_le_bytes(*piece(block, SCALES_AT));
    let high = u128::from(u32::from_le_bytes(*piece(block, SCALES_AT + 8)));
    let low = u128::from(low) | u128::from(low >> 4) << 64;
    let high = high | high >> 2 << 32 | high >> 4 << 64 | high >> 6 << 96;
    (low & u128::from_ne_bytes([15; 16]) | (high & u128::from_ne_bytes([3; 16])) << 4).to_le_bytes()
}

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q3K {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(lanes: L, block: &[u8; BYTES], x: [&[f32; ELEMENTS]; T], sums: &mut [L::F; T]) {
        let d = lanes.mul(half(lanes, block, D_AT), lanes.splat(1.0 / BYTE_UNIT));
        let packed = lanes.sub_bytes(lanes.bytes(&packed_scales(block)), lanes.splat_byte(32));
        let scales = scales(lanes, packed, d);
        // Taking 4 from two bits sets all bits above them.
        let offset = lanes.splat_byte(4u8.wrapping_neg());
        for group in 0..16 {
            let (half, shift, part) = (group / 8, group % 8 / 2, group % 2);
            let four = sixteen(lanes, block, CODES_AT + 32 * half + 16 * part);
            let low = lanes.and(lanes.shift_right(four, 2 * shift as u32), lanes.splat_byte(3));
            let high =
                lanes.and(sixteen(lanes, block, HIGH_AT + 16 * part), lanes.splat_byte(1 << (group / 2)));
            let clear = lanes.equal(high, lanes.splat_byte(0));
            let code = lanes.or(low, lanes.and(clear, offset));
            add_group(lanes, [lanes.codes(code)], lanes.splat(scales[group]), x, group, sums);
        }
    }
}
