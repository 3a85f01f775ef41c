//! Products with a stored matrix.

use quant::Matrix;

/// `[tokens, rows]`: every product of a decoded row with a token, summed in f64.
pub(super) fn matmul(w: &Matrix<'_>, x: &[f32], tokens: usize) -> Vec<f32> {
    let mut result = vec![0.0; tokens * w.rows];
    let mut row = vec![0.0; w.cols];
    for r in 0..w.rows {
        w.decode_row(r, &mut row);
        for t in 0..tokens {
            let token = &x[t * w.cols..(t + 1) * w.cols];
            result[t * w.rows + r] = dot(&row, token) as f32;
        }
    }
    result
}

/// `[ids, cols]`: decoded rows, scaled.
pub(super) fn embed(w: &Matrix<'_>, ids: &[u32], scale: f32) -> Vec<f32> {
    let mut result = vec![0.0; ids.len() * w.cols];
    for (i, &id) in ids.iter().enumerate() {
        let row = &mut result[i * w.cols..(i + 1) * w.cols];
        w.decode_row(id as usize, row);
        row.iter_mut().for_each(|value| *value *= scale);
    }
    result
}

/// The sum of products in f64.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}
