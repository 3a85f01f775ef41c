//! Softmax attention in blocks of keys, split over tokens and heads.
//!
//! A unit of work is some heads of some tokens, a row being one token's head. The rows of a unit go through the blocks of
//! keys together, so what is fetched of a block serves all of them:
//!
//! ```text
//! for each block of 64 keys:
//!     for each row that sees some of them, those of one key head next to each other:
//!         scores = dot(query, key) · scale for the keys seen     64 floats on the stack
//!         largest, exponentials, their sum
//!         partial = Σ exponential · value                        a head's values on the stack
//!         merge into (largest, sum, dst)
//! ```

use std::ops::Range;

use kernels::{Pool, Table, math};

use super::{cut::Cut, share::Share};
use crate::contract::{Attention, HEAD_DIM_MAX, KEY_BLOCK};

/// Rows that go through the blocks together.
pub(super) const ROWS: usize = 64;

/// What is read.
pub(super) struct Sources<'a> {
    pub q: &'a [f32],
    pub k: &'a [f32],
    pub v: &'a [f32],
}

/// One token's head on its way through the blocks; its values so far are in `dst`.
#[derive(Clone)]
struct Row {
    /// Number of the row in its unit.
    at: usize,
    /// Number of the row in the whole result.
    query: usize,
    /// Key and value head that it reads.
    kv_head: usize,
    /// Keys that it sees.
    keys: Range<usize>,
    /// Largest score so far; nothing before the first block.
    largest: Option<f32>,
    /// Sum of exponentials so far, relative to `largest`.
    sum: f32,
}

impl Row {
    const NONE: Row = Row { at: 0, query: 0, kv_head: 0, keys: 0..0, largest: None, sum: 0.0 };
}

/// Room for one block's work on one row.
struct Scratch {
    scores: [f32; KEY_BLOCK],
    partial: [f32; HEAD_DIM_MAX],
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
    let cut = Cut::new(job, pool.threads());
    let work = Work { table, job, sources };
    share.run(dst, cut.rows() * job.value_dim, |number, part| {
        let mut scratch = Scratch { scores: [0.0; KEY_BLOCK], partial: [0.0; HEAD_DIM_MAX] };
        work.unit(cut, number * cut.rows(), part, &mut scratch);
    });
}

/// What all units of an attention have in common.
struct Work<'a> {
    table: &'a Table,
    job: &'a Attention<'a>,
    sources: &'a Sources<'a>,
}

impl Work<'_> {
    /// The rows of one unit, whose first has number `first` in the whole result.
    fn unit(&self, cut: Cut, first: usize, dst: &mut [f32], scratch: &mut Scratch) {
        let job = self.job;
        let count = dst.len() / job.value_dim;
        let mut rows = [Row::NONE; ROWS];
        for start in (0..count).step_by(ROWS) {
            let together = &mut rows[..ROWS.min(count - start)];
            for (i, row) in together.iter_mut().enumerate() {
                let at = cut.by_kv_head(start + i, count);
                let query = first + at;
                let keys = job.visible(job.positions[query / job.heads]);
                *row = Row { at, query, kv_head: job.kv_head(query % job.heads), keys, ..Row::NONE };
            }
            self.together(together, dst, scratch);
        }
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
        let Work { table, job, sources } = *self;
        let cached = |dim: usize| (keys.start * job.kv_heads + row.kv_head) * dim;
        let scores = &mut scratch.scores[..keys.len()];
        let query = &sources.q[row.query * job.head_dim..][..job.head_dim];
        table.dots(scores, &sources.k[cached(job.head_dim)..], job.kv_heads * job.head_dim, query);
        table.scale(scores, job.scale);
        if let Some(cap) = job.softcap {
            table.softcap(scores, cap);
        }
        let largest = table.max(scores);
        let sum = table.exp_sum(scores, largest);
        let partial = &mut scratch.partial[..job.value_dim];
        partial.fill(0.0);
        table.add_rows(partial, scores, &sources.v[cached(job.value_dim)..], job.kv_heads * job.value_dim);
        self.merge(row, values, largest, sum, partial);
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
