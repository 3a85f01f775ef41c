//! `iq4_nl` and `iq4_xs`.

use quant::{
    IQ4_LEVELS,
    iq4::{NL_BYTES, NL_CODES_AT, NL_ELEMENTS, XS_BYTES, XS_CODES_AT, XS_ELEMENTS},
    iq4xs_scale,
};

use super::group::{add_group, half, scales, sixteen};
use crate::{
    lanes::{BYTE_UNIT, LANES, Lanes},
    matmul::Step,
};

/// 32 nibbles into a table and a scale.
pub(crate) struct Iq4Nl;
/// 256 nibbles into a table in eight groups.
pub(crate) struct Iq4Xs;

const TABLE: [u8; 16] = unsigned(IQ4_LEVELS);

/// The bytes of signed numbers.
pub(super) const fn unsigned(signed: [i8; 16]) -> [u8; 16] {
    let mut bytes = [0; 16];
    let mut i = 0;
    while i < 16 {
        bytes[i] = signed[i] as u8;
        i += 1;
    }
    bytes
}

/// What the low and the high nibbles stand for.
#[inline(always)]
pub(super) fn levels<L: Lanes>(lanes: L, table: &[u8; 16], nibbles: L::Bytes) -> [L::F; 2] {
    let table = lanes.bytes(table);
    let low = lanes.lookup(table, lanes.and(nibbles, lanes.splat_byte(15)));
    [lanes.codes(low), lanes.codes(lanes.lookup(table, lanes.shift_right(nibbles, 4)))]
}

impl<L: Lanes> Step<L, NL_BYTES, NL_ELEMENTS> for Iq4Nl {
    const UNIT: f32 = BYTE_UNIT;
    type Scales = L::F;

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; NL_BYTES]) -> Self::Scales {
        half(lanes, block, 0)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; NL_BYTES],
        scale: &Self::Scales,
        _: usize,
        x: [&[f32; NL_ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let codes = levels(lanes, &TABLE, sixteen(lanes, block, NL_CODES_AT));
        add_group(lanes, codes, *scale, x, 0, sums);
    }
}

impl<L: Lanes> Step<L, XS_BYTES, XS_ELEMENTS> for Iq4Xs {
    const UNIT: f32 = BYTE_UNIT;
    const PARTS: usize = 8;
    type Scales = [f32; LANES];

    #[inline(always)]
    fn scales(lanes: L, block: &[u8; XS_BYTES]) -> Self::Scales {
        let mut packed = [0; 16];
        for (group, packed) in packed[..8].iter_mut().enumerate() {
            *packed = iq4xs_scale(block, group) as u8;
        }
        scales(lanes, lanes.bytes(&packed), half(lanes, block, 0), 1.0)
    }

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        block: &[u8; XS_BYTES],
        scales: &Self::Scales,
        group: usize,
        x: [&[f32; XS_ELEMENTS]; T],
        sums: &mut [L::F; T],
    ) {
        let codes = levels(lanes, &TABLE, sixteen(lanes, block, XS_CODES_AT + 16 * group));
        add_group(lanes, codes, lanes.splat(scales[group]), x, 2 * group, sums);
    }
}
