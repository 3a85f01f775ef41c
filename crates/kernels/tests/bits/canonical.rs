//! Every format on every instruction set, for many shapes and splits, gives the bits of the canonical order.

use kernels::Table;
use quant::{Format, Matrix};

use crate::naive;

/// Widths for a format: whole blocks, and odd ones and tails where they are legal.
fn widths(format: Format) -> &'static [usize] {
    match format.block_elements() {
        1 | 2 => &[0, 1, 7, 16, 31, 32, 33, 63, 64, 65, 96, 127, 144, 250, 512, 1031],
        32 => &[0, 32, 64, 96, 480],
        _ => &[0, 256, 512, 768],
    }
}

struct Case {
    format: Format,
    rows: usize,
    cols: usize,
    bytes: Vec<u8>,
    scales: Vec<u8>,
}

impl Case {
    fn new(format: Format, rows: usize, cols: usize) -> Case {
        let (bytes, scales) = naive::random_rows(format, rows, cols, (rows * 10_000 + cols) as u64);
        Case { format, rows, cols, bytes, scales }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix::new(self.format, self.rows, self.cols, &self.bytes, &self.scales).expect("lengths fit")
    }
}

#[test]
fn products_have_the_canonical_bits() {
    const TOKENS: usize = 9;
    for &format in Format::ALL {
        for &cols in widths(format) {
            let case = Case::new(format, 11, cols);
            let w = case.matrix();
            let x = naive::random_floats(TOKENS * cols, 5);
            let token = |t: usize| &x[t * cols..(t + 1) * cols];
            let expected: Vec<Vec<f32>> = (0..w.rows)
                .map(|r| {
                    let (bytes, scales) = w.row(r);
                    let groups = naive::groups(format, cols, bytes, scales);
                    (0..TOKENS).map(|t| naive::dot(&groups, token(t))).collect()
                })
                .collect();
            for table in Table::all() {
                for tokens in [1, 2, 3, 4, 5, 9] {
                    for (first, end) in [(0, 11), (0, 1), (3, 5), (1, 8), (4, 4)] {
                        let count = end - first;
                        let stride = count + 2;
                        let mut y = vec![-7.0; tokens * stride];
                        table.matmul(&mut y, stride, &w.rows(first..end), &x, cols, tokens);
                        for (i, y) in y.iter().enumerate() {
                            let (t, r) = (i / stride, i % stride);
                            let expected = if r < count { expected[first + r][t] } else { -7.0 };
                            assert_eq!(
                                y.to_bits(),
                                expected.to_bits(),
                                "{format} on {}: {cols} columns, row {r} of {first}..{end}, token {t} of {tokens}: {y} for {expected}",
                                table.name,
                            );
                        }
                    }
                }
            }
        }
    }
}

/// The canonical sum is close to the exact one of the values that `quant` decodes.
#[test]
fn products_are_near_those_of_decoded_rows() {
    for &format in Format::ALL {
        let case = Case::new(format, 5, 512);
        let w = case.matrix();
        let x = naive::random_floats(512, 6);
        let mut y = [0.0; 5];
        Table::detect().matmul(&mut y, 5, &w, &x, 512, 1);
        let mut row = [0.0; 512];
        for (r, y) in y.into_iter().enumerate() {
            w.decode_row(r, &mut row);
            let terms = || row.iter().zip(&x).map(|(w, x)| f64::from(*w) * f64::from(*x));
            let (exact, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
            let error = (f64::from(y) - exact).abs() / size;
            assert!(error < 4e-7, "{format}: {y} for {exact}, off by {error:e} of the terms");
        }
    }
}

/// Activations far from 1 do not fall out of the range that the codes' unit leaves.
#[test]
fn large_and_small_activations_keep_the_bits() {
    for &format in Format::ALL {
        let case = Case::new(format, 2, 256);
        let w = case.matrix();
        let (bytes, scales) = w.row(0);
        let groups = naive::groups(format, 256, bytes, scales);
        for factor in [1e20f32, 1e-20, 1e-38, 1e-43] {
            let x: Vec<f32> = naive::random_floats(256, 8).iter().map(|x| x * factor).collect();
            let expected = naive::dot(&groups, &x);
            for table in Table::all() {
                let mut y = [0.0];
                table.matmul(&mut y, 1, &w.rows(0..1), &x, 256, 1);
                // Below the normal range the unit keeps bits that the plain order loses; they must not differ by more.
                let lost = if expected.abs() < 1e-30 { 300.0 * f32::from_bits(1) } else { 0.0 };
                assert!(
                    (y[0] - expected).abs() <= lost,
                    "{format} on {}, {factor:e}: {} for {expected}",
                    table.name,
                    y[0]
                );
            }
        }
    }
}
