//! Functions of rows: norm, rotation, weighted sum.

use super::matrix::dot;
use crate::contract::RopeStyle;

/// `weight · x / sqrt(mean(x²) + eps)` over rows as wide as `weight`.
pub(super) fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let mut result = Vec::with_capacity(x.len());
    for row in x.chunks_exact(weight.len()) {
        let root = (dot(row, row) / row.len() as f64 + f64::from(eps)).sqrt();
        result.extend(row.iter().zip(weight).map(|(&x, &w)| (f64::from(x) / root * f64::from(w)) as f32));
    }
    result
}

/// Rotates pairs of the leading `rotary` components of each head in place.
pub(super) fn rope(
    x: &mut [f32],
    table: &[f32],
    positions: &[u32],
    heads: usize,
    head_dim: usize,
    rotary: usize,
    style: RopeStyle,
) {
    let half = rotary / 2;
    for (t, &position) in positions.iter().enumerate() {
        let angles = &table[position as usize * rotary..][..rotary];
        for h in 0..heads {
            let head = &mut x[(t * heads + h) * head_dim..][..head_dim];
            for i in 0..half {
                let (first, second) = match style {
                    RopeStyle::HalfSplit => (i, i + half),
                    RopeStyle::Interleaved => (2 * i, 2 * i + 1),
                };
                let (a, b) = (f64::from(head[first]), f64::from(head[second]));
                let (cos, sin) = (f64::from(angles[i]), f64::from(angles[half + i]));
                head[first] = (a * cos - b * sin) as f32;
                head[second] = (b * cos + a * sin) as f32;
            }
        }
    }
}

/// `[tokens, width]`: the weighted sum of each token's `k` rows.
pub(super) fn weighted_sum(src: &[f32], weights: &[f32], k: usize, width: usize) -> Vec<f32> {
    let mut result = Vec::with_capacity(weights.len() / k * width);
    for (t, weights) in weights.chunks_exact(k).enumerate() {
        let rows = &src[t * k * width..(t + 1) * k * width];
        for i in 0..width {
            let term = |(j, &weight): (usize, &f32)| f64::from(weight) * f64::from(rows[j * width + i]);
            result.push(weights.iter().enumerate().map(term).sum::<f64>() as f32);
        }
    }
    result
}
