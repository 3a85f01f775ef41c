//! Softmax attention over all visible keys at once.

use super::{elements::cap_softly, matrix::dot};
use crate::contract::Attention;

/// `[tokens, heads * value_dim]`.
pub(super) fn attention(job: &Attention<'_>, q: &[f32], k: &[f32], v: &[f32]) -> Vec<f32> {
    let mut result = Vec::with_capacity(job.dst.len);
    for (t, &position) in job.positions.iter().enumerate() {
        for h in 0..job.heads {
            let query = &q[(t * job.heads + h) * job.head_dim..][..job.head_dim];
            result.extend(head(job, query, k, v, position, job.kv_head(h)));
        }
    }
    result
}

/// The values seen by one query head, weighted by the softmax of its scores.
fn head(job: &Attention<'_>, query: &[f32], k: &[f32], v: &[f32], position: u32, kv_head: usize) -> Vec<f32> {
    let row = |key: usize, dim: usize| {
        (key * job.kv_heads + kv_head) * dim..(key * job.kv_heads + kv_head + 1) * dim
    };
    let mut scores = Vec::new();
    for key in job.visible(position) {
        let score = dot(query, &k[row(key, job.head_dim)]) * f64::from(job.scale);
        scores.push(job.softcap.map_or(score, |cap| cap_softly(score, cap)));
    }
    let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = scores.iter().map(|score| (score - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mut sum = vec![0.0f64; job.value_dim];
    for (weight, key) in weights.iter().zip(job.visible(position)) {
        let value = &v[row(key, job.value_dim)];
        sum.iter_mut().zip(value).for_each(|(sum, &value)| *sum += weight / total * f64::from(value));
    }
    sum.into_iter().map(|value| value as f32).collect()
}
