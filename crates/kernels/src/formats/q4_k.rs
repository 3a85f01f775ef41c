//! `q4_k`, and the scales that it shares with `q5_k`.

use quant::q4_k::{BYTES, CODES_AT, D_AT, DMIN_AT, ELEMENTS, SCALES_AT};

use super::group::{add_weights, half, piece, scales, sixteen};
use crate::{
    lanes::{Lanes, NIBBLE_UNITS},
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

/// Scales and negated minima of a block whose first sixteen bytes are laid out as those of `q4_k`. Scales are too small by
/// the units of the two groups of a run.
#[inline(always)]
pub(super) fn scales_and_minima<L: Lanes, const N: usize>(
    lanes: L,
    block: &[u8; N],
    units: (f32, f32),
) -> ([f32; 8], [f32; 8]) {
    let packed = lanes.bytes(&packed_scales(block));
    let minima = scales(lanes, packed, half(lanes, block, DMIN_AT), -1.0);
    let mut scales = scales(lanes, packed, half(lanes, block, D_AT), units.0);
    if units.0 != units.1 {
        let (even, odd) = (1.0, units.0 / units.1);
        let ratios = [even, odd, even, odd, even, odd, even, odd, even, odd, even, odd, even, odd, even, odd];
        lanes.store(lanes.mul(lanes.load(&scales), lanes.load(&ratios)), &mut scales);
    }
    (scales.as_chunks().0[0], minima.as_chunks().0[1])
}

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q4K {
    const PARTS: usize = 4;
    /// Scales and negated minima of the groups.
    type Scales = ([f32; 8], [f32; 8]);

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        scales_and_minima(lanes, block, NIBBLE_UNITS)
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
        let (first, first_high) = lanes.nibbles(sixteen(lanes, block, CODES_AT + 32 * part));
        let (last, last_high) = lanes.nibbles(sixteen(lanes, block, CODES_AT + 32 * part + 16));
        let (scale, min) = (lanes.splat(scales[2 * part]), lanes.splat(minima[2 * part]));
        add_weights(lanes, lanes.fma(first, scale, min), x, 4 * part, sums);
        add_weights(lanes, lanes.fma(last, scale, min), x, 4 * part + 1, sums);
        let (scale, min) = (lanes.splat(scales[2 * part + 1]), lanes.splat(minima[2 * part + 1]));
        add_weights(lanes, lanes.fma(first_high, scale, min), x, 4 * part + 2, sums);
        add_weights(lanes, lanes.fma(last_high, scale, min), x, 4 * part + 3, sums);
    }
}
