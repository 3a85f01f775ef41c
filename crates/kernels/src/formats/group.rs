//! What the formats have in common: sums over groups of columns, and pieces of blocks.

use crate::{
    lanes::{BYTE_UNIT, LANES, Lanes},
    matmul::chunk,
};

/// Adds a group of `16 · C` columns that share a scale, the first of them sixteens number `first`:
/// `sums = fma(Σ codes · x, scale, sums)` for each token.
#[inline(always)]
pub(crate) fn add_group<L: Lanes, const COLS: usize, const T: usize, const C: usize>(
    lanes: L,
    codes: [L::F; C],
    scale: L::F,
    x: [&[f32; COLS]; T],
    first: usize,
    sums: &mut [L::F; T],
) {
    for t in 0..T {
        let mut partial = lanes.splat(0.0);
        for c in 0..C {
            partial = lanes.fma(codes[c], lanes.load(chunk(x[t], first + c)), partial);
        }
        sums[t] = lanes.fma(partial, scale, sums[t]);
    }
}

/// Adds sixteen columns, sixteens number `at`: `sums = fma(weights, x, sums)` for each token.
#[inline(always)]
pub(crate) fn add_weights<L: Lanes, const COLS: usize, const T: usize>(
    lanes: L,
    weights: L::F,
    x: [&[f32; COLS]; T],
    at: usize,
    sums: &mut [L::F; T],
) {
    for t in 0..T {
        sums[t] = lanes.fma(weights, lanes.load(chunk(x[t], at)), sums[t]);
    }
}

/// `factor · code` for sixteen signed bytes, rounded once each; `unit` is the power of two by which the result shall be too
/// small.
#[inline(always)]
pub(crate) fn scales<L: Lanes>(lanes: L, codes: L::Bytes, factor: L::F, unit: f32) -> [f32; LANES] {
    let factor = lanes.mul(factor, lanes.splat(1.0 / BYTE_UNIT / unit));
    let mut out = [0.0; LANES];
    lanes.store(lanes.mul(lanes.codes(codes), factor), &mut out);
    out
}

/// Bit `from` of each byte and those above it, moved to bit `to`, where `mask` shows which of them are meant.
#[inline(always)]
pub(crate) fn bits<L: Lanes>(lanes: L, a: L::Bytes, from: u32, to: u32, mask: u8) -> L::Bytes {
    let moved = if from > to { lanes.shift_right(a, from - to) } else { lanes.shift_left(a, to - from) };
    lanes.and(moved, lanes.splat_byte(mask))
}

/// Bytes `at..at + N` of a block.
#[inline(always)]
pub(crate) fn piece<const BYTES: usize, const N: usize>(block: &[u8; BYTES], at: usize) -> &[u8; N] {
    block[at..].first_chunk().expect("offsets are those of the format")
}

/// The sixteen bytes of a block from `at` on, as a vector.
#[inline(always)]
pub(crate) fn sixteen<L: Lanes, const BYTES: usize>(lanes: L, block: &[u8; BYTES], at: usize) -> L::Bytes {
    lanes.bytes(piece(block, at))
}

/// The f16 at `at` in all lanes.
#[inline(always)]
pub(crate) fn half<L: Lanes, const BYTES: usize>(lanes: L, block: &[u8; BYTES], at: usize) -> L::F {
    lanes.splat_f16(*piece(block, at))
}

/// Repeats a block of code for each of some constants, so that shifts by them are immediate.
macro_rules! for_each_constant {
    ($name:ident in [$($value:literal),*] $body:block) => {
        $({
            const $name: usize = $value;
            $body
        })*
    };
}
pub(crate) use for_each_constant;
