//! `q4_k`, and the scales that it shares with `q5_k`.

use quant::q4_k::{BYTES, CODES_AT, D_AT, DMIN_AT, ELEMENTS, SCALES_AT};

use super::group::{add_group, add_minimum, half, piece, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 256 nibbles in eight groups with scales and minima.
pub(crate) struct Q4K;

/// Scales (the first eight) and minima (the last eight), a byte each.
#[inline(always)]
fn packed_scales<const N: usize>(block: &[u8; N]) -> [u8; 16] {
    let [a, b, c] = [0, 4, 8].map(|at| u32::from_le_bytes(*piece(block, SCALES_AT + at)));
    let (six, four, two) = (0x3F3F_3F3F, 0x0F0F_0F0F, 0x0303_0303);
    let words = [a & six, c & four | (a >> 6 & two) << 4, b & six, c >> 4 & four | (b >> 6 & two) << 4];
    let mut bytes = [0; 16];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

/// Scales and negated minima of a block whose first sixteen bytes are laid out as those of `q4_k`.
#[inline(always)]
pub(super) fn scales_and_minima<L: Lanes, const N: usize>(lanes: L, block: &[u8; N]) -> ([f32; 8], [f32; 8]) {
    let packed = lanes.bytes(&packed_scales(block));
    let d = lanes.mul(half(lanes, block, D_AT), lanes.splat(1.0 / BYTE_UNIT));
    let d_min = lanes.mul(half(lanes, block, DMIN_AT), lanes.splat(-1.0 / BYTE_UNIT));
    let (scales, minima) = (scales(lanes, packed, d), scales(lanes, packed, d_min));
    (scales.as_chunks().0[0], minima.as_chunks().0[1])
}

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q4K {
    const UNIT: f32 = BYTE_UNIT;

    #[inline(always)]
    fn step<const T: usize>(lanes: L, block: &[u8; BYTES], x: [&[f32; ELEMENTS]; T], sums: &mut [L::F; T]) {
        let (scales, minima) = scales_and_minima(lanes, block);
        for run in 0..4 {
            let (low_first, high_first) = lanes.nibbles(sixteen(lanes, block, CODES_AT + 32 * run));
            let (low_last, high_last) = lanes.nibbles(sixteen(lanes, block, CODES_AT + 32 * run + 16));
            let (low, high) = (2 * run, 2 * run + 1);
            add_group(lanes, [low_first, low_last], lanes.splat(scales[low]), x, 2 * low, sums);
            add_minimum::<L, ELEMENTS, T, 2>(lanes, BYTE_UNIT, lanes.splat(minima[low]), x, 2 * low, sums);
            add_group(lanes, [high_first, high_last], lanes.splat(scales[high]), x, 2 * high, sums);
            add_minimum::<L, ELEMENTS, T, 2>(lanes, BYTE_UNIT, lanes.splat(minima[high]), x, 2 * high, sums);
        }
    }
}
