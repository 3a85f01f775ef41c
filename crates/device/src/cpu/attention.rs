//! Softmax attention in blocks of keys, split over tokens and heads.
//!
//! A unit of work is a run of rows of `dst`, a row being one token's head. Within a unit the rows that read the same key
//! and value head go through the blocks together, so a block is fetched once for all of them:
//!
//! ```text
//! for each block of 64 keys:
//!     for each row that sees some of them:
//!         scores = dot(query, key) · scale for the keys seen     64 floats on the stack
//!         largest, exponentials, their sum
//!         partial = Σ exponential · value                        a head's values on the stack
//!         merge into (largest, sum, dst)
//! ```

use std::ops::Range;

use kernels::{Pool, Table, math};

use super::share::Share;
use crate::contract::{Attention, HEAD_DIM_MAX, KEY_BLOCK};

/// Rows that go through the blocks together.
const ROWS: usize = 16;

/// What is read.
pub(super) struct Sources<'a> {
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
}

/// One token's head on its way through the blocks; its values so far are in `dst`.
#[derive(Clone, Default)]
struct Row {
    /// Number of the row in its unit.
    at: usize,
    /// Number of the row in the whole result.
    query: usize,
    /// Keys that it sees.
    keys: Range<usize>,
    /// Largest score so far; nothing before the first block.
    largest: Option<f32>,
    /// Sum of exponentials so far, relative to `largest`.
    sum: f32,
}

/// Room for one block's work on one row.
struct Scratch {
    scores: [f32; KEY_BLOCK],
    partial: [f32; HEAD_DIM_MAX],
}

/// The rows of `dst` that read one key and value head.
struct Pass<'a> {
    table: &'a Table,
    job: &'a Attention<'a>,
    sources: &'a Sources<'a>,
    kv_head: usize,
}

/// All rows of `dst`, `[tokens, heads * value_dim]`.
pub(super) fn attention(
    table: &Table,
    pool: &Pool,
    job: &Attention<'_>,
    dst: &mut [f32],
    sources: &Sources<'_>,
) {
    if dst.is_empty() {
        return;
    }
    let keys: usize = job.positions.iter().map(|&position| job.visible(position).len()).sum();
    let share = Share::products(pool, keys.saturating_mul(job.heads * (job.head_dim + job.value_dim)));
    let rows = unit_rows(job, pool.threads());
    share.run(dst, rows * job.value_dim, |i, part| {
        let mut scratch = Scratch { scores: [0.0; KEY_BLOCK], partial: [0.0; HEAD_DIM_MAX] };
        for kv_head in 0..job.kv_heads {
            Pass { table, job, sources, kv_head }.unit(i * rows, part, &mut scratch);
        }
    });
}

/// Rows of a unit. With many tokens, all heads of a few of them; with few tokens, some heads of one that share a key head.
fn unit_rows(job: &Attention<'_>, threads: usize) -> usize {
    let group = job.heads / job.kv_heads;
    let tokens = (ROWS / group).max(1);
    if job.positions.len() >= 4 * threads * tokens {
        return tokens * job.heads;
    }
    (1..=ROWS.min(group)).rev().find(|run| group.is_multiple_of(*run)).unwrap_or(1)
}

impl Pass<'_> {
    /// The pass's rows among those of a unit, whose first row has number `first` in the whole result.
    fn unit(&self, first: usize, dst: &mut [f32], scratch: &mut Scratch) {
        let job = self.job;
        let mut rows: [Row; ROWS] = Default::default();
        let mut count = 0;
        for at in 0..dst.len() / job.value_dim {
            let query = first + at;
            if job.kv_head(query % job.heads) != self.kv_head {
                continue;
            }
            let keys = job.visible(job.positions[query / job.heads]);
            rows[count] = Row { at, query, keys, ..Row::default() };
            count += 1;
            if count == ROWS {
                self.together(&mut rows, dst, scratch);
                count = 0;
            }
        }
        self.together(&mut rows[..count], dst, scratch);
    }

    /// Takes `rows` through all blocks that any of them sees.
    fn together(&self, rows: &mut [Row], dst: &mut [f32], scratch: &mut Scratch) {
        let width = self.job.value_dim;
        let first = rows.iter().map(|row| row.keys.start).min().unwrap_or(0) / KEY_BLOCK;
        let end = rows.iter().map(|row| row.keys.end).max().unwrap_or(0).div_ceil(KEY_BLOCK);
        for block in first..end {
            for row in &mut *rows {
                let start = row.keys.start.max(block * KEY_BLOCK);
                let end = row.keys.end.min((block + 1) * KEY_BLOCK);
                if start < end {
                    self.visit(start..end, row, &mut dst[row.at * width..][..width], scratch);
                }
            }
        }
        for row in rows {
            dst[row.at * width..][..width].iter_mut().for_each(|value| *value /= row.sum);
        }
    }

    /// Computes what one block gives to one row and merges it into `values`.
    fn visit(&self, keys: Range<usize>, row: &mut Row, values: &mut [f32], scratch: &mut Scratch) {
        let (table, job) = (self.table, self.job);
        let scores = &mut scratch.scores[..keys.len()];
        let query = &self.sources.q[row.query * job.head_dim..][..job.head_dim];
        let stride = job.kv_heads * job.head_dim;
        table.dots(scores, self.cached(self.sources.k, keys.start, job.head_dim), stride, query);
        table.scale(scores, job.scale);
        if let Some(cap) = job.softcap {
            table.softcap(scores, cap);
        }
        let largest = table.max(scores);
        let sum = table.exp_sum(scores, largest);
        let partial = &mut scratch.partial[..job.value_dim];
        partial.fill(0.0);
        let stride = job.kv_heads * job.value_dim;
        table.add_rows(partial, scores, self.cached(self.sources.v, keys.start, job.value_dim), stride);
        self.merge(row, values, largest, sum, partial);
    }

    /// A cache from the pass's head at position `key` on; `dim` is the dimension of a head.
    fn cached<'c>(&self, cache: &'c [f32], key: usize, dim: usize) -> &'c [f32] {
        &cache[(key * self.job.kv_heads + self.kv_head) * dim..]
    }

    /// Adds a block's largest score, sum and values to those of the blocks before it.
    fn merge(&self, row: &mut Row, values: &mut [f32], largest: f32, sum: f32, partial: &[f32]) {
        let Some(before) = row.largest else {
            (row.largest, row.sum) = (Some(largest), sum);
            return values.copy_from_slice(partial);
        };
        let after = before.max(largest);
        let (old, new) = (math::exp(before - after), math::exp(largest - after));
        row.largest = Some(after);
        row.sum = sum.mul_add(new, row.sum * old);
        self.table.scale(values, old);
        self.table.axpy(values, new, partial);
    }
}
