//! `q8_0`.

use quant::q8_0::{BYTES, CODES_AT, ELEMENTS};

use super::group::{add_group, half, sixteen};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 32 signed bytes and a scale.
pub(crate) struct Q8_0;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Q8_0 {
    const UNIT: f32 = BYTE_UNIT;
    type Scales = L::F;

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        half(lanes, block, 0)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; BYTES],
        scale: &Self::Scales,
        _: usize,
        x: [&[f32; ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let first = lanes.codes(sixteen(lanes, block, CODES_AT));
        let last = lanes.codes(sixteen(lanes, block, CODES_AT + 16));
        add_group(lanes, [first, last], *scale, x, 0, sums);
    }
}
