//! Products of a stored matrix with some tokens.
//!
//! ```text
//! for a tile of rows:                      weights come from memory once
//!     for a few tokens:                    which stay in the first cache
//!         for each row of the tile:
//!             for each step of the row:    16 to 256 columns: decoded in registers, once
//!                 for each token:          multiplied and added to its lanes
//! ```
//!
//! A single token takes several rows side by side instead, because one row's chain of dependent additions would leave the
//! processor idle. For each row and token the operations and their order are the same whatever is computed beside them.
//!
//! What makes it fast:
//! - Rows are short, so the hardware's guess of what comes next is wrong at the end of each. Every step asks for the lines that
//!   lie a whole number of row groups ahead, which doubles the speed of narrow formats.
//! - Codes are converted where they lie in their words and the power of two is taken off at the end of the row.
//! - A step of 256 columns is done in parts, rows taking turns: all of it at once would fill the processor's window with one
//!   row's chain.

use std::hint::black_box;

use quant::Matrix;

use crate::lanes::{LANES, Lanes, padded};

/// Rows that pass by before the next tokens get their turn: few enough to stay in the second cache.
const TILE_ROWS: usize = 32;

/// Bytes that memory moves at once.
const LINE_BYTES: usize = 64;
/// How far ahead of their use weights are asked for, at least: as much as memory gives while one request is on its way.
const AHEAD_BYTES: usize = 4096;

/// `y[t * y_stride + r] = dot(row r of w, x[t * x_stride..])`.
pub(crate) struct Job<'a> {
    pub w: &'a Matrix<'a>,
    /// Bytes of a row of `w`, and bytes of the scales beside it.
    pub row_bytes: usize,
    pub scale_bytes: usize,
    pub x: &'a [f32],
    pub x_stride: usize,
    pub y: &'a mut [f32],
    pub y_stride: usize,
    pub tokens: usize,
}

/// What scales a format keeps beside its weights.
pub(crate) enum Beside {
    Nothing,
    /// One for each row.
    OfRows,
    /// One for each group of columns.
    OfGroups,
}

/// A stored format as this loop sees it: `BYTES` bytes give `COLS` columns.
pub(crate) trait Step<L: Lanes, const BYTES: usize, const COLS: usize> {
    /// How much too large the lanes are when all steps are done; a power of two.
    const UNIT: f32 = 1.0;
    /// Which scales the sums are still to be multiplied by.
    const SCALES_BESIDE: Beside = Beside::Nothing;

    /// Parts that a step is done in. Rows side by side take turns after each part, so that a part should be short.
    const PARTS: usize = 1;

    /// What is computed once for a whole step.
    type Scales: Copy;

    fn scales(lanes: L, weights: &[u8; BYTES]) -> Self::Scales;

    /// Adds the products of the columns of part `part` to the lanes of each of `T` tokens.
    fn part<const T: usize>(
        lanes: L,
        weights: &[u8; BYTES],
        scales: &Self::Scales,
        part: usize,
        x: [&[f32; COLS]; T],
        sums: &mut [L::F; T],
    );

    /// The last `cols < COLS` columns of a row, whose bytes are `tail`, padded with weights of +0.
    #[inline(always)]
    fn pad(tail: &[u8], _cols: usize) -> [u8; BYTES] {
        let mut full = [0; BYTES];
        full[..tail.len()].copy_from_slice(tail);
        full
    }
}

/// One row of the matrix.
#[derive(Clone, Copy)]
struct Row<'a, const BYTES: usize> {
    steps: &'a [[u8; BYTES]],
    tail: &'a [u8],
    scales: &'a [[u8; 4]],
}

/// One token.
#[derive(Clone, Copy)]
struct Token<'a, const COLS: usize> {
    steps: &'a [[f32; COLS]],
    tail: &'a [f32],
}

impl<'a> Job<'a> {
    #[inline(always)]
    fn row<const BYTES: usize, const COLS: usize>(&self, r: usize) -> Row<'a, BYTES> {
        let bytes = &self.w.bytes[r * self.row_bytes..][..self.row_bytes];
        let scales = &self.w.scales[r * self.scale_bytes..][..self.scale_bytes];
        // The bytes of a tail can make up a whole step, in a format where columns share bytes.
        let (full, tail) = bytes.split_at(self.w.cols / COLS * BYTES);
        Row { steps: full.as_chunks().0, tail, scales: scales.as_chunks().0 }
    }

    #[inline(always)]
    fn token<const COLS: usize>(&self, t: usize) -> Token<'a, COLS> {
        let (steps, tail) = self.x[t * self.x_stride..][..self.w.cols].as_chunks();
        Token { steps, tail }
    }
}

/// The whole product, `ROWS` rows at a time for a single token.
#[inline(always)]
pub(crate) fn matmul<L, S, const BYTES: usize, const COLS: usize, const ROWS: usize>(
    lanes: L,
    job: &mut Job<'_>,
) where
    L: Lanes,
    S: Step<L, BYTES, COLS>,
{
    let rows = job.w.rows;
    for first in (0..rows).step_by(TILE_ROWS) {
        let end = rows.min(first + TILE_ROWS);
        let mut t = 0;
        while job.tokens - t >= 4 {
            for r in first..end {
                block::<L, S, BYTES, COLS, 1, 4>(lanes, job, r, t);
            }
            t += 4;
        }
        if job.tokens - t >= 2 {
            let mut r = first;
            while end - r >= 2 {
                block::<L, S, BYTES, COLS, 2, 2>(lanes, job, r, t);
                r += 2;
            }
            if r < end {
                block::<L, S, BYTES, COLS, 1, 2>(lanes, job, r, t);
            }
            t += 2;
        }
        if job.tokens > t {
            let mut r = first;
            while end - r >= ROWS {
                block::<L, S, BYTES, COLS, ROWS, 1>(lanes, job, r, t);
                r += ROWS;
            }
            for r in r..end {
                block::<L, S, BYTES, COLS, 1, 1>(lanes, job, r, t);
            }
        }
    }
}

/// The products of `R` rows from `first_row` with `T` tokens from `first_token`.
#[inline(always)]
fn block<L, S, const BYTES: usize, const COLS: usize, const R: usize, const T: usize>(
    lanes: L,
    job: &mut Job<'_>,
    first_row: usize,
    first_token: usize,
) where
    L: Lanes,
    S: Step<L, BYTES, COLS>,
{
    let steps = job.w.cols / COLS;
    let mut rows = [Row { steps: &[], tail: &[], scales: &[] }; R];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = job.row::<BYTES, COLS>(first_row + r);
        row.steps = &row.steps[..steps];
    }
    let mut tokens = [Token { steps: &[], tail: &[] }; T];
    for (t, token) in tokens.iter_mut().enumerate() {
        *token = job.token(first_token + t);
        token.steps = &token.steps[..steps];
    }

    let rows_bytes = R * job.row_bytes;
    let ahead = rows_bytes * (AHEAD_BYTES / rows_bytes.max(1) + 1);
    let mut sums = [[lanes.splat(0.0); T]; R];
    match S::SCALES_BESIDE {
        Beside::Nothing => {
            add_steps::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, 0..steps, ahead, &mut sums);
            add_tails::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, &mut sums);
        }
        Beside::OfRows => {
            // The row is one group, so what would be its partial sums are all there is to keep in registers.
            add_steps::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, 0..steps, ahead, &mut sums);
            add_tails::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, &mut sums);
            let partial = std::mem::replace(&mut sums, [[lanes.splat(0.0); T]; R]);
            fold::<L, BYTES, R, T>(lanes, &rows, 0, &partial, &mut sums);
        }
        Beside::OfGroups => {
            // A step is a group, and the tail is one.
            for group in 0..steps + usize::from(!tokens[0].tail.is_empty()) {
                let mut partial = [[lanes.splat(0.0); T]; R];
                if group < steps {
                    let step = group..group + 1;
                    add_steps::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, step, ahead, &mut partial);
                } else {
                    add_tails::<L, S, BYTES, COLS, R, T>(lanes, &rows, &tokens, &mut partial);
                }
                // Sums that wait for the next group shall wait in memory, or the partial sums would not have enough
                // registers.
                black_box(&mut sums);
                fold::<L, BYTES, R, T>(lanes, &rows, group, &partial, &mut sums);
                black_box(&mut sums);
            }
        }
    }
    for r in 0..R {
        for t in 0..T {
            job.y[(first_token + t) * job.y_stride + first_row + r] = lanes.sum(sums[r][t]) * (1.0 / S::UNIT);
        }
    }
}

/// `sums = fma(partial, scale, sums)` with the scale of group `group` of each row.
#[inline(always)]
fn fold<L: Lanes, const BYTES: usize, const R: usize, const T: usize>(
    lanes: L,
    rows: &[Row<'_, BYTES>; R],
    group: usize,
    partial: &[[L::F; T]; R],
    sums: &mut [[L::F; T]; R],
) {
    for r in 0..R {
        let scale = lanes.splat(f32::from_le_bytes(rows[r].scales[group]));
        for t in 0..T {
            sums[r][t] = lanes.fma(partial[r][t], scale, sums[r][t]);
        }
    }
}

#[inline(always)]
fn add_steps<L, S, const BYTES: usize, const COLS: usize, const R: usize, const T: usize>(
    lanes: L,
    rows: &[Row<'_, BYTES>; R],
    tokens: &[Token<'_, COLS>; T],
    steps: std::ops::Range<usize>,
    ahead_bytes: usize,
    sums: &mut [[L::F; T]; R],
) where
    L: Lanes,
    S: Step<L, BYTES, COLS>,
{
    for step in steps {
        let mut x = [&[0.0; COLS]; T];
        for t in 0..T {
            x[t] = &tokens[t].steps[step];
        }
        let mut weights = [&[0; BYTES]; R];
        for r in 0..R {
            weights[r] = &rows[r].steps[step];
            for line in (0..BYTES).step_by(LINE_BYTES) {
                lanes.prefetch(weights[r].as_ptr().wrapping_add(line + ahead_bytes));
            }
        }
        let mut scales = [S::scales(lanes, weights[0]); R];
        for r in 1..R {
            scales[r] = S::scales(lanes, weights[r]);
        }
        for part in 0..S::PARTS {
            for r in 0..R {
                S::part(lanes, weights[r], &scales[r], part, x, &mut sums[r]);
            }
        }
    }
}

/// The columns after the last whole step, if there are any.
#[inline(always)]
fn add_tails<L, S, const BYTES: usize, const COLS: usize, const R: usize, const T: usize>(
    lanes: L,
    rows: &[Row<'_, BYTES>; R],
    tokens: &[Token<'_, COLS>; T],
    sums: &mut [[L::F; T]; R],
) where
    L: Lanes,
    S: Step<L, BYTES, COLS>,
{
    let cols = tokens[0].tail.len();
    if cols == 0 {
        return;
    }
    let mut full = [[0.0; COLS]; T];
    for (full, token) in full.iter_mut().zip(tokens) {
        *full = padded(token.tail);
    }
    let mut x = [&[0.0; COLS]; T];
    for (x, full) in x.iter_mut().zip(&full) {
        *x = full;
    }
    for (row, sums) in rows.iter().zip(sums) {
        let weights = S::pad(row.tail, cols);
        let scales = S::scales(lanes, &weights);
        for part in 0..S::PARTS {
            S::part(lanes, &weights, &scales, part, x, sums);
        }
    }
}

/// The `i`th sixteen of some columns.
#[inline(always)]
pub(crate) fn chunk<const COLS: usize>(x: &[f32; COLS], i: usize) -> &[f32; LANES] {
    &x.as_chunks().0[i]
}
