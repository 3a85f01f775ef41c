//! What every operation asks of its operands, asserted: a backend calls these first and may then trust its arguments.

use quant::Matrix;
use units::Span;

use crate::contract::{Attention, HEAD_DIM_MAX};

/// Asserts that `span` lies inside a memory of `capacity` floats.
pub fn inside(span: Span, capacity: usize) {
    let end = span.start.checked_add(span.len);
    assert!(end.is_some_and(|end| end <= capacity), "{span:?} leaves a memory of {capacity} floats");
}

/// Asserts that `span` holds the product of `axes` floats.
pub fn holds(what: &str, span: Span, axes: &[usize]) {
    let needed = axes.iter().try_fold(1usize, |product, &axis| product.checked_mul(axis));
    assert!(needed == Some(span.len), "{what} has {} floats, its shape {axes:?} needs {needed:?}", span.len);
}

/// Asserts that two spans share no float.
pub fn disjoint(a: Span, b: Span) {
    let apart = a.len == 0 || b.len == 0 || a.range().end <= b.start || b.range().end <= a.start;
    assert!(apart, "{a:?} and {b:?} overlap");
}

/// Asserts that two spans are the same or share no float.
pub fn same_or_disjoint(a: Span, b: Span) {
    if a != b {
        disjoint(a, b);
    }
}

/// Asserts that each of `rows` is below `count`.
pub fn rows_below(what: &str, rows: &[u32], count: usize) {
    if let Some(row) = rows.iter().find(|&&row| row as usize >= count) {
        panic!("{what} {row} of {count}");
    }
}

/// Requirements of [`crate::Device::matmul`].
pub fn matmul(dst: Span, w: &Matrix<'_>, x: Span, tokens: usize) {
    holds("dst", dst, &[tokens, w.rows]);
    holds("x", x, &[tokens, w.cols]);
    disjoint(dst, x);
}

/// Requirements of [`crate::Device::embed`].
pub fn embed(dst: Span, w: &Matrix<'_>, ids: &[u32]) {
    holds("dst", dst, &[ids.len(), w.cols]);
    rows_below("id", ids, w.rows);
}

/// Requirements of [`crate::Device::rms_norm`]; returns the number of rows.
pub fn rms_norm(dst: Span, x: Span, weight: Span, width: usize) -> usize {
    assert!(width > 0 && x.len.is_multiple_of(width), "x has {} floats, not rows of {width}", x.len);
    holds("dst", dst, &[x.len]);
    holds("weight", weight, &[width]);
    same_or_disjoint(dst, x);
    disjoint(dst, weight);
    x.len / width
}

/// Requirements of [`crate::Device::add`].
pub fn add(dst: Span, x: Span) {
    holds("x", x, &[dst.len]);
    same_or_disjoint(dst, x);
}

/// Requirements of [`crate::Device::clamp`].
pub fn bound(bound: f32) {
    assert!(bound >= 0.0, "a bound of {bound}");
}

/// Requirements of [`crate::Device::rope`].
pub fn rope(x: Span, table: Span, positions: &[u32], heads: usize, head_dim: usize, rotary: usize) {
    holds("x", x, &[positions.len(), heads, head_dim]);
    assert!(rotary.is_multiple_of(2) && rotary <= head_dim, "{rotary} rotated components of {head_dim}");
    disjoint(x, table);
    if rotary > 0 {
        assert!(table.len.is_multiple_of(rotary), "a table of {} floats, not rows of {rotary}", table.len);
        rows_below("position", positions, table.len / rotary);
    }
}

/// Requirements of [`crate::Device::attention`].
pub fn attention(job: &Attention<'_>) {
    let Attention { heads, kv_heads, head_dim, value_dim, positions, kv_capacity, .. } = *job;
    assert!(kv_heads > 0 && heads.is_multiple_of(kv_heads), "{heads} heads over {kv_heads} key heads");
    assert!(value_dim <= HEAD_DIM_MAX, "value heads of {value_dim}, at most {HEAD_DIM_MAX}");
    assert!(job.window != Some(0), "a window of no keys");
    holds("q", job.q, &[positions.len(), heads, head_dim]);
    holds("dst", job.dst, &[positions.len(), heads, value_dim]);
    holds("k", job.k, &[kv_capacity, kv_heads, head_dim]);
    holds("v", job.v, &[kv_capacity, kv_heads, value_dim]);
    rows_below("position", positions, kv_capacity);
    for other in [job.q, job.k, job.v] {
        disjoint(job.dst, other);
    }
}

/// Requirements of [`crate::Device::glu`].
pub fn glu(dst: Span, gate: Span, up: Span) {
    holds("gate", gate, &[dst.len]);
    holds("up", up, &[dst.len]);
    same_or_disjoint(dst, gate);
    same_or_disjoint(dst, up);
}

/// Requirements of [`crate::Device::gather`] (`many` = `src`, `few` = `dst`) and [`crate::Device::scatter`] (the reverse).
pub fn picked_rows(many: Span, few: Span, rows: &[u32], width: usize) {
    assert!(width > 0 && many.len.is_multiple_of(width), "{} floats, not rows of {width}", many.len);
    holds("the picked rows", few, &[rows.len(), width]);
    rows_below("row", rows, many.len / width);
    disjoint(many, few);
}

/// Requirements of [`crate::Device::weighted_sum`]; returns the number of tokens.
pub fn weighted_sum(dst: Span, src: Span, weights: &[f32], k: usize, width: usize) -> usize {
    assert!(k > 0 && weights.len().is_multiple_of(k), "{} weights, not rows of {k}", weights.len());
    let tokens = weights.len() / k;
    holds("src", src, &[tokens, k, width]);
    holds("dst", dst, &[tokens, width]);
    disjoint(dst, src);
    tokens
}
