//! Functions of rows: norm, rotation, weighted sum; split over rows.

use kernels::Table;

use super::share::Share;
use crate::contract::RopeStyle;

/// Normalises each row of `x`, as wide as `weight`, in place.
pub(super) fn rms_norm(table: &Table, share: Share<'_>, x: &mut [f32], weight: &[f32], eps: f32) {
    let width = weight.len();
    share.rows(x, width, |_, part| {
        for row in part.chunks_exact_mut(width) {
            let mean = table.sum_squares(row) / width as f32;
            let inverse = 1.0 / (mean + eps).sqrt();
            table.normalise(row, inverse, weight);
        }
    });
}

/// The shape of heads and of what turns in them.
#[derive(Clone, Copy)]
pub(super) struct Rotation {
    pub heads: usize,
    pub head_dim: usize,
    pub rotary: usize,
    pub style: RopeStyle,
}

/// Rotates the leading components of every head in place.
pub(super) fn rope(share: Share<'_>, x: &mut [f32], table: &[f32], positions: &[u32], rotation: &Rotation) {
    let Rotation { heads, head_dim, rotary, style } = *rotation;
    let width = heads * head_dim;
    if rotary == 0 || width == 0 {
        return;
    }
    share.rows(x, width, |first, part| {
        for (token, &position) in part.chunks_exact_mut(width).zip(&positions[first..]) {
            let (cos, sin) = table[position as usize * rotary..][..rotary].split_at(rotary / 2);
            for head in token.chunks_exact_mut(head_dim) {
                let turning = &mut head[..rotary];
                match style {
                    RopeStyle::HalfSplit => half_split(turning, cos, sin),
                    RopeStyle::Interleaved => interleaved(turning, cos, sin),
                }
            }
        }
    });
}

fn half_split(head: &mut [f32], cos: &[f32], sin: &[f32]) {
    let (first, second) = head.split_at_mut(cos.len());
    for (((a, b), cos), sin) in first.iter_mut().zip(second).zip(cos).zip(sin) {
        (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
    }
}

fn interleaved(head: &mut [f32], cos: &[f32], sin: &[f32]) {
    for ((pair, cos), sin) in head.chunks_exact_mut(2).zip(cos).zip(sin) {
        let (a, b) = (pair[0], pair[1]);
        pair.copy_from_slice(&[a * cos - b * sin, b * cos + a * sin]);
    }
}

/// `dst[t] = Σ_j weights[t, j] · src[t, j]`, in the order of `j`.
pub(super) fn weighted_sum(
    table: &Table,
    share: Share<'_>,
    dst: &mut [f32],
    src: &[f32],
    weights: &[f32],
    k: usize,
    width: usize,
) {
    if width == 0 {
        return;
    }
    share.rows(dst, width, |first, part| {
        for (t, dst) in part.chunks_exact_mut(width).enumerate() {
            let token = first + t;
            dst.fill(0.0);
            table.add_rows(dst, &weights[token * k..][..k], &src[token * k * width..], width);
        }
    });
}
