//! What the formats have in common: groups of columns that share a scale, and pieces of blocks.

use crate::{
    lanes::{LANES, Lanes},
    matmul::chunk,
};

/// Adds a group of `16 · C` columns, the first of them sixteens number `first`:
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

/// Adds the minimum of the same group: `sums = fma(Σ x · unit, min, sums)`, where `unit` is how much too large the sums are.
///
/// The sum of `x` does not depend on the row, so the compiler computes it once for rows side by side.
#[inline(always)]
pub(crate) fn add_minimum<L: Lanes, const COLS: usize, const T: usize, const C: usize>(
    lanes: L,
    unit: f32,
    min: L::F,
    x: [&[f32; COLS]; T],
    first: usize,
    sums: &mut [L::F; T],
) {
    for t in 0..T {
        let mut total = lanes.load(chunk(x[t], first));
        for c in 1..C {
            total = lanes.add(total, lanes.load(chunk(x[t], first + c)));
        }
        sums[t] = lanes.fma(lanes.mul(total, lanes.splat(unit)), min, sums[t]);
    }
}

/// `factor · code` for sixteen signed bytes, rounded once each; `factor` is too small by the unit of [`Lanes::codes`].
#[inline(always)]
pub(crate) fn scales<L: Lanes>(lanes: L, codes: L::Bytes, factor: L::F) -> [f32; LANES] {
    let mut out = [0.0; LANES];
    lanes.store(lanes.mul(lanes.codes(codes), factor), &mut out);
    out
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
