//! Loops over slices of f32, for any lanes.

use crate::{
    lanes::{LANES, Lanes, padded},
    math::curves,
    table::Activation,
};

/// Replaces every element of `y` by a function of itself and its neighbours in `others`, which are as long as `y`.
///
/// The tail goes through a padded copy, so the function sees whole vectors only.
#[inline(always)]
fn each<L: Lanes, const N: usize>(
    lanes: L,
    y: &mut [f32],
    others: [&[f32]; N],
    f: impl Fn(L, L::F, [L::F; N]) -> L::F,
) {
    let (full, tail) = y.as_chunks_mut::<LANES>();
    let mut inputs = [lanes.splat(0.0); N];
    for (i, y) in full.iter_mut().enumerate() {
        for (input, other) in inputs.iter_mut().zip(others) {
            *input = lanes.load(&other.as_chunks().0[i]);
        }
        lanes.store(f(lanes, lanes.load(y), inputs), y);
    }
    if !tail.is_empty() {
        for (input, other) in inputs.iter_mut().zip(others) {
            *input = lanes.load(&padded(other.as_chunks::<LANES>().1));
        }
        let mut last = padded(tail);
        lanes.store(f(lanes, lanes.load(&last), inputs), &mut last);
        tail.copy_from_slice(&last[..tail.len()]);
    }
}

/// Folds the vectors of `a`, the last one padded with -0, into lanes that start at 0.
#[inline(always)]
fn fold<L: Lanes>(lanes: L, a: &[f32], f: impl Fn(L, L::F, L::F) -> L::F) -> L::F {
    let (full, tail) = a.as_chunks::<LANES>();
    let mut sums = lanes.splat(0.0);
    for a in full {
        sums = f(lanes, sums, lanes.load(a));
    }
    if tail.is_empty() { sums } else { f(lanes, sums, lanes.load(&padded(tail))) }
}

#[inline(always)]
pub(crate) fn sum<L: Lanes>(lanes: L, a: &[f32]) -> f32 {
    lanes.sum(fold(
        lanes,
        a,
        #[inline(always)]
        |lanes, sums, a| lanes.add(sums, a),
    ))
}

#[inline(always)]
pub(crate) fn sum_squares<L: Lanes>(lanes: L, a: &[f32]) -> f32 {
    // (-0)² is +0, which leaves every lane as it is because lanes start at +0 and squares are never negative.
    lanes.sum(fold(
        lanes,
        a,
        #[inline(always)]
        |lanes, sums, a| lanes.fma(a, a, sums),
    ))
}

#[inline(always)]
pub(crate) fn max<L: Lanes>(lanes: L, a: &[f32]) -> f32 {
    let (full, tail) = a.as_chunks::<LANES>();
    let mut largest = lanes.splat(f32::NEG_INFINITY);
    for a in full {
        largest = lanes.max(lanes.load(a), largest);
    }
    if !tail.is_empty() {
        let mut last = [f32::NEG_INFINITY; LANES];
        last[..tail.len()].copy_from_slice(tail);
        largest = lanes.max(lanes.load(&last), largest);
    }
    lanes.largest(largest)
}

/// The products of `x` with `R` rows, each as long as `x`.
#[inline(always)]
fn products<L: Lanes, const R: usize>(lanes: L, rows: [&[f32]; R], x: &[f32]) -> [f32; R] {
    let (full, tail) = x.as_chunks::<LANES>();
    let mut sums = [lanes.splat(0.0); R];
    for (i, x) in full.iter().enumerate() {
        let x = lanes.load(x);
        for (sum, row) in sums.iter_mut().zip(rows) {
            *sum = lanes.fma(lanes.load(&row.as_chunks().0[i]), x, *sum);
        }
    }
    if !tail.is_empty() {
        let x = lanes.load(&padded(tail));
        for (sum, row) in sums.iter_mut().zip(rows) {
            // The padding of the row is +0 here, so that the products are -0.
            let mut last = [0.0; LANES];
            last[..tail.len()].copy_from_slice(row.as_chunks::<LANES>().1);
            *sum = lanes.fma(lanes.load(&last), x, *sum);
        }
    }
    let mut out = [0.0; R];
    for (out, sum) in out.iter_mut().zip(sums) {
        *out = lanes.sum(sum);
    }
    out
}

#[inline(always)]
pub(crate) fn dot<L: Lanes>(lanes: L, a: &[f32], b: &[f32]) -> f32 {
    products(lanes, [a], b)[0]
}

/// `out[i] = dot(rows[i * stride..][..x.len()], x)`.
#[inline(always)]
pub(crate) fn dots<L: Lanes>(lanes: L, out: &mut [f32], rows: &[f32], stride: usize, x: &[f32]) {
    let row = |i: usize| &rows[i * stride..][..x.len()];
    let (fours, rest) = out.as_chunks_mut::<4>();
    for (i, out) in fours.iter_mut().enumerate() {
        *out = products(lanes, [row(4 * i), row(4 * i + 1), row(4 * i + 2), row(4 * i + 3)], x);
    }
    let first = fours.len() * 4;
    for (i, out) in rest.iter_mut().enumerate() {
        *out = products(lanes, [row(first + i)], x)[0];
    }
}

#[inline(always)]
pub(crate) fn axpy<L: Lanes>(lanes: L, y: &mut [f32], a: f32, x: &[f32]) {
    each(
        lanes,
        y,
        [x],
        #[inline(always)]
        |lanes, y, [x]| lanes.fma(lanes.splat(a), x, y),
    );
}

/// `y += Σ_i weights[i] · rows[i * stride..][..y.len()]`, in the order of `i`.
///
/// Vectors of `y` stay in registers while all rows pass by, which changes no operation on any element.
#[inline(always)]
pub(crate) fn add_rows<L: Lanes>(lanes: L, y: &mut [f32], weights: &[f32], rows: &[f32], stride: usize) {
    /// Vectors of `y` that are carried together.
    const TOGETHER: usize = 4;
    let width = y.len();
    let (blocks, rest) = y.as_chunks_mut::<{ TOGETHER * LANES }>();
    for (b, block) in blocks.iter_mut().enumerate() {
        let block = block.as_chunks_mut::<LANES>().0;
        let mut sums = [lanes.splat(0.0); TOGETHER];
        for (sum, y) in sums.iter_mut().zip(&*block) {
            *sum = lanes.load(y);
        }
        for (i, weight) in weights.iter().enumerate() {
            let row = rows[i * stride + b * TOGETHER * LANES..][..TOGETHER * LANES].as_chunks().0;
            for (sum, x) in sums.iter_mut().zip(row) {
                *sum = lanes.fma(lanes.splat(*weight), lanes.load(x), *sum);
            }
        }
        for (sum, y) in sums.iter().zip(block) {
            lanes.store(*sum, y);
        }
    }
    let first = width - rest.len();
    for (i, weight) in weights.iter().enumerate() {
        axpy(lanes, rest, *weight, &rows[i * stride + first..][..rest.len()]);
    }
}

#[inline(always)]
pub(crate) fn scale<L: Lanes>(lanes: L, y: &mut [f32], factor: f32) {
    each(
        lanes,
        y,
        [],
        #[inline(always)]
        |lanes, y, []| lanes.mul(y, lanes.splat(factor)),
    );
}

#[inline(always)]
pub(crate) fn add<L: Lanes>(lanes: L, y: &mut [f32], x: &[f32]) {
    each(
        lanes,
        y,
        [x],
        #[inline(always)]
        |lanes, y, [x]| lanes.add(y, x),
    );
}

#[inline(always)]
pub(crate) fn mul<L: Lanes>(lanes: L, y: &mut [f32], x: &[f32]) {
    each(
        lanes,
        y,
        [x],
        #[inline(always)]
        |lanes, y, [x]| lanes.mul(y, x),
    );
}

/// `y = (y · factor) · weight`.
#[inline(always)]
pub(crate) fn normalise<L: Lanes>(lanes: L, y: &mut [f32], factor: f32, weight: &[f32]) {
    each(
        lanes,
        y,
        [weight],
        #[inline(always)]
        |lanes, y, [weight]| lanes.mul(lanes.mul(y, lanes.splat(factor)), weight),
    );
}

/// `y = exp(y - max)`; returns the canonical sum of the results.
#[inline(always)]
pub(crate) fn exp_sum<L: Lanes>(lanes: L, y: &mut [f32], max: f32) -> f32 {
    each(
        lanes,
        y,
        [],
        #[inline(always)]
        |lanes, y, []| curves::exp(lanes, lanes.sub(y, lanes.splat(max))),
    );
    sum(lanes, y)
}

/// `y = cap · tanh(y / cap)`.
#[inline(always)]
pub(crate) fn softcap<L: Lanes>(lanes: L, y: &mut [f32], cap: f32) {
    each(
        lanes,
        y,
        [],
        #[inline(always)]
        |lanes, y, []| {
            let cap = lanes.splat(cap);
            lanes.mul(cap, curves::tanh(lanes, lanes.div(y, cap)))
        },
    );
}

/// `out = activation(gate) · up`.
#[inline(always)]
pub(crate) fn glu<L: Lanes>(lanes: L, out: &mut [f32], gate: &[f32], up: &[f32], activation: Activation) {
    match activation {
        Activation::Silu => each(
            lanes,
            out,
            [gate, up],
            #[inline(always)]
            |lanes, _, [gate, up]| lanes.mul(curves::silu(lanes, gate), up),
        ),
        Activation::GeluTanh => each(
            lanes,
            out,
            [gate, up],
            #[inline(always)]
            |lanes, _, [gate, up]| lanes.mul(curves::gelu_tanh(lanes, gate), up),
        ),
    }
}
