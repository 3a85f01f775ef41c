//! Products with a stored matrix, split over its rows.
//!
//! Every thread takes some rows of the matrix and streams their bytes once for all tokens. With several tokens the results
//! of one part of the rows are scattered over `dst` (`[tokens, rows]`), so a part writes them side by side into the stage
//! (`[part][tokens, rows of the part]`), and they are put in order afterwards: two moves of a float for `cols`
//! multiply-adds.

use kernels::Table;
use quant::Matrix;

use super::share::Share;

/// Rows of a part are a multiple of this, so that kernels that take several rows at once seldom meet a remainder.
const ROW_STEP: usize = 8;

/// `dst[t, r] = Σ_c w[r, c] · x[t, c]`.
pub(super) fn matmul(
    table: &Table,
    share: Share<'_>,
    stage: &mut [f32],
    dst: &mut [f32],
    w: &Matrix<'_>,
    x: &[f32],
    tokens: usize,
) {
    let (rows, cols) = (w.rows, w.cols);
    if dst.is_empty() {
        return;
    }
    if !share.is_parallel() {
        return table.matmul(dst, rows, w, x, cols, tokens);
    }
    let most = (stage.len() / rows).max(1);
    for (dst, x) in dst.chunks_mut(most * rows).zip(x.chunks(most * cols)) {
        match dst.len() / rows {
            1 => one(table, share, dst, w, x),
            tokens => several(table, share, &mut stage[..tokens * rows], dst, w, x),
        }
    }
}

/// One token: a part's results are a run of `dst`.
fn one(table: &Table, share: Share<'_>, dst: &mut [f32], w: &Matrix<'_>, x: &[f32]) {
    let part_rows = share.piece(w.rows, ROW_STEP);
    share.run(dst, part_rows, |i, part| {
        let first = i * part_rows;
        table.matmul(part, part.len(), &w.rows(first..first + part.len()), x, w.cols, 1);
    });
}

/// Several tokens, by way of the stage.
fn several(table: &Table, share: Share<'_>, stage: &mut [f32], dst: &mut [f32], w: &Matrix<'_>, x: &[f32]) {
    let tokens = dst.len() / w.rows;
    let part_rows = share.piece(w.rows, ROW_STEP);
    share.run(stage, part_rows * tokens, |i, part| {
        let (first, count) = (i * part_rows, part.len() / tokens);
        table.matmul(part, count, &w.rows(first..first + count), x, w.cols, tokens);
    });
    let stage = &*stage;
    share.rows(dst, w.rows, |first_token, part| {
        for (t, dst) in part.chunks_exact_mut(w.rows).enumerate() {
            for (dst, stage) in dst.chunks_mut(part_rows).zip(stage.chunks(part_rows * tokens)) {
                dst.copy_from_slice(&stage[(first_token + t) * dst.len()..][..dst.len()]);
            }
        }
    });
}

/// Decoded rows of `w`, scaled.
pub(super) fn embed(share: Share<'_>, dst: &mut [f32], w: &Matrix<'_>, ids: &[u32], scale: f32) {
    share.rows(dst, w.cols, |first, part| {
        for (dst, &id) in part.chunks_exact_mut(w.cols).zip(&ids[first..]) {
            w.decode_row(id as usize, dst);
            dst.iter_mut().for_each(|value| *value *= scale);
        }
    });
}
