//! One number an element: f32, f16, bf16 and int8.

use crate::{
    lanes::{BYTE_UNIT, Lanes},
    matmul::{Beside, Step},
};

/// IEEE binary32, sixteen a step.
pub(crate) struct F32;
/// IEEE binary16, sixteen a step.
pub(crate) struct F16;
/// bfloat16, sixteen a step.
pub(crate) struct Bf16;
/// Signed bytes with a scale for the row, sixteen a step.
pub(crate) struct Int8Row;

#[inline(always)]
fn add<L: Lanes, const T: usize>(lanes: L, weights: L::F, x: [&[f32; 16]; T], sums: &mut [L::F; T]) {
    for t in 0..T {
        sums[t] = lanes.fma(weights, lanes.load(x[t]), sums[t]);
    }
}

impl<L: Lanes> Step<L, 64, 16> for F32 {
    type Scales = ();
    #[inline(always)]
    fn scales(_: L, _: &[u8; 64]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; 64],
        _: &(),
        _: usize,
        x: [&[f32; 16]; T],
        sums: &mut [L::F; T],
    ) {
        add(lanes, lanes.load_f32(weights), x, sums);
    }
}

impl<L: Lanes> Step<L, 32, 16> for F16 {
    type Scales = ();
    #[inline(always)]
    fn scales(_: L, _: &[u8; 32]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; 32],
        _: &(),
        _: usize,
        x: [&[f32; 16]; T],
        sums: &mut [L::F; T],
    ) {
        add(lanes, lanes.load_f16(weights), x, sums);
    }
}

impl<L: Lanes> Step<L, 32, 16> for Bf16 {
    type Scales = ();
    #[inline(always)]
    fn scales(_: L, _: &[u8; 32]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; 32],
        _: &(),
        _: usize,
        x: [&[f32; 16]; T],
        sums: &mut [L::F; T],
    ) {
        add(lanes, lanes.load_bf16(weights), x, sums);
    }
}

impl<L: Lanes> Step<L, 16, 16> for Int8Row {
    const UNIT: f32 = BYTE_UNIT;
    const SCALES_BESIDE: Beside = Beside::OfRows;
    type Scales = ();

    #[inline(always)]
    fn scales(_: L, _: &[u8; 16]) {}

    #[inline(always)]
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; 16],
        _: &(),
        _: usize,
        x: [&[f32; 16]; T],
        sums: &mut [L::F; T],
    ) {
        add(lanes, lanes.codes(lanes.bytes(weights)), x, sums);
    }
}
