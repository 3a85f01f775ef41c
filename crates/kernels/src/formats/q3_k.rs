//! `q3_k`.

use quant::q3_k::{BYTES, CODES_AT, D_AT, ELEMENTS, HIGH_AT, SCALES_AT};

use super::group::{add_weights, bits, for_each_constant, half, piece, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, LANES, Lanes},
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
    const PARTS: usize = 2;
    type Scales = [f32; LANES];

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        let packed = lanes.sub_bytes(lanes.bytes(&packed_scales(block)), lanes.splat_byte(32));
        scales(lanes, packed, half(lanes, block, D_AT), BYTE_UNIT)
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
        let at = CODES_AT + 32 * part;
        let fours = [sixteen(lanes, block, at), sixteen(lanes, block, at + 16)];
        let mut eights = [sixteen(lanes, block, HIGH_AT), sixteen(lanes, block, HIGH_AT + 16)];
        for eight in &mut eights {
            // A part has four of the third bits.
            *eight = lanes.shift_right(*eight, 4 * part as u32);
        }
        for_each_constant!(PAIR in [0, 1, 2, 3] {
            for side in 0..2 {
                let group = 8 * part + 2 * PAIR + side;
                let third = bits(lanes, eights[side], PAIR as u32, 2, 4);
                let stored = lanes.or(bits(lanes, fours[side], 2 * PAIR as u32, 0, 3), third);
                let codes = lanes.codes(lanes.sub_bytes(stored, lanes.splat_byte(4)));
                add_weights(lanes, lanes.mul(codes, lanes.splat(scales[group])), x, group, sums);
            }
        });
    }
}
