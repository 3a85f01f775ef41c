//! `mxfp4`.

use quant::{
    MXFP4_LEVELS,
    mxfp4::{BYTES, CODES_AT, ELEMENTS},
    mxfp4_half_scale,
};

use super::{
    group::{add_group, sixteen},
    iq4::{levels, unsigned},
};
use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::Step,
};

/// 32 nibbles into a table and a power of two.
pub(crate) struct Mxfp4;

impl<L: Lanes> Step<L, BYTES, ELEMENTS> for Mxfp4 {
    const UNIT: f32 = BYTE_UNIT;
    type Scales = L::F;

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; BYTES]) -> Self::Scales {
        lanes.splat(mxfp4_half_scale(block[0]))
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
        const TABLE: [u8; 16] = unsigned(MXFP4_LEVELS);
        let codes = levels(lanes, &TABLE, sixteen(lanes, block, CODES_AT));
        add_group(lanes, codes, *scale, x, 0, sums);
    }
}
