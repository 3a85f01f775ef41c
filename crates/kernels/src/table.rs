//! The functions of one instruction set, chosen once.

use quant::{Format, Matrix};

use crate::{dispatch, matmul::Job};

/// The function on the gate of a gated linear unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// `x · sigmoid(x)`.
    Silu,
    /// `x / 2 · (1 + tanh(sqrt(2 / pi) · (x + 0.044715 x³)))`.
    GeluTanh,
}

/// A product with a matrix of one format; the CPU must have the table's instructions.
pub(crate) type Matmul = unsafe fn(&mut Job<'_>);

/// Loops for one instruction set. All tables give the same bits.
///
/// A table is made only where the CPU has its instructions, which is what the functions it points to ask for.
#[derive(Clone, Copy)]
pub struct Table {
    /// The instruction set: `plain`, `avx2`, `avx512` or `neon`.
    pub name: &'static str,
    pub(crate) matmul: fn(Format) -> Matmul,
    pub(crate) dot: unsafe fn(&[f32], &[f32]) -> f32,
    pub(crate) dots: unsafe fn(&mut [f32], &[f32], usize, &[f32]),
    pub(crate) sum: unsafe fn(&[f32]) -> f32,
    pub(crate) sum_squares: unsafe fn(&[f32]) -> f32,
    pub(crate) max: unsafe fn(&[f32]) -> f32,
    pub(crate) axpy: unsafe fn(&mut [f32], f32, &[f32]),
    pub(crate) add_rows: unsafe fn(&mut [f32], &[f32], &[f32], usize),
    pub(crate) scale: unsafe fn(&mut [f32], f32),
    pub(crate) add: unsafe fn(&mut [f32], &[f32]),
    pub(crate) mul: unsafe fn(&mut [f32], &[f32]),
    pub(crate) normalise: unsafe fn(&mut [f32], f32, &[f32]),
    pub(crate) exp_sum: unsafe fn(&mut [f32], f32) -> f32,
    pub(crate) softcap: unsafe fn(&mut [f32], f32),
    pub(crate) glu: unsafe fn(&mut [f32], &[f32], &[f32], Activation),
}

/// Calls a function of the table.
macro_rules! call {
    ($function:expr, $($arg:expr),*) => {
        // SAFETY: a table is made only where the CPU has its instructions, and the functions ask for nothing else.
        unsafe { ($function)($($arg),*) }
    };
}

impl Table {
    /// The fastest table that this CPU can run.
    #[must_use]
    pub fn detect() -> Table {
        dispatch::tables().next_back().expect("the plain table runs everywhere")
    }

    /// All tables that this CPU can run, the fastest last.
    #[must_use]
    pub fn all() -> Vec<Table> {
        dispatch::tables().collect()
    }

    /// The table with this name, if this CPU can run it.
    #[must_use]
    pub fn named(name: &str) -> Option<Table> {
        dispatch::tables().find(|table| table.name == name)
    }

    /// The instruction set: `plain`, `avx2`, `avx512` or `neon`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// `y[t * y_stride + r] = Σ_c w[r, c] · x[t * x_stride + c]` for `tokens` tokens, on the calling thread.
    ///
    /// The bits of a result do not depend on the other rows and tokens of the call. Other floats of `y` stay.
    ///
    /// # Panics
    /// If `y` or `x` ends before the last row or column of the last token, or a stride is less than the width.
    pub fn matmul(
        &self,
        y: &mut [f32],
        y_stride: usize,
        w: &Matrix<'_>,
        x: &[f32],
        x_stride: usize,
        tokens: usize,
    ) {
        if tokens == 0 || w.rows == 0 {
            return;
        }
        let needed = |stride: usize, width: usize| {
            assert!(tokens == 1 || stride >= width, "a stride of {stride} for a width of {width}");
            (tokens - 1)
                .checked_mul(stride)
                .and_then(|before| before.checked_add(width))
                .expect("sizes fit memory")
        };
        assert!(y.len() >= needed(y_stride, w.rows), "{} floats for {tokens} results of {}", y.len(), w.rows);
        assert!(x.len() >= needed(x_stride, w.cols), "{} floats for {tokens} inputs of {}", x.len(), w.cols);
        let function = (self.matmul)(w.format);
        let (row_bytes, scale_bytes) = (w.bytes.len() / w.rows, w.scales.len() / w.rows);
        call!(function, &mut Job { w, row_bytes, scale_bytes, x, x_stride, y, y_stride, tokens });
    }

    /// `Σ_i a[i] · b[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    #[must_use]
    pub fn dot(&self, a: &[f32], b: &[f32]) -> f32 {
        same_length(a, b);
        call!(self.dot, a, b)
    }

    /// `out[i] = dot(rows[i * stride..][..x.len()], x)`, such as the scores of one query.
    ///
    /// # Panics
    /// If `rows` ends before the last row.
    pub fn dots(&self, out: &mut [f32], rows: &[f32], stride: usize, x: &[f32]) {
        has_rows(rows, out.len(), stride, x.len());
        call!(self.dots, out, rows, stride, x);
    }

    /// `Σ_i a[i]`.
    #[must_use]
    pub fn sum(&self, a: &[f32]) -> f32 {
        call!(self.sum, a)
    }

    /// `Σ_i a[i]²`.
    #[must_use]
    pub fn sum_squares(&self, a: &[f32]) -> f32 {
        call!(self.sum_squares, a)
    }

    /// The largest element; NaN is passed over; -infinity where there is none.
    #[must_use]
    pub fn max(&self, a: &[f32]) -> f32 {
        call!(self.max, a)
    }

    /// `y[i] = fma(a, x[i], y[i])`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn axpy(&self, y: &mut [f32], a: f32, x: &[f32]) {
        same_length(y, x);
        call!(self.axpy, y, a, x);
    }

    /// [`Table::axpy`] for each weight in turn: `y += weights[i] · rows[i * stride..][..y.len()]`, such as the values that
    /// attention adds up.
    ///
    /// # Panics
    /// If `rows` ends before the last row.
    pub fn add_rows(&self, y: &mut [f32], weights: &[f32], rows: &[f32], stride: usize) {
        has_rows(rows, weights.len(), stride, y.len());
        call!(self.add_rows, y, weights, rows, stride);
    }

    /// `y[i] *= factor`.
    pub fn scale(&self, y: &mut [f32], factor: f32) {
        call!(self.scale, y, factor);
    }

    /// `y[i] += x[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add(&self, y: &mut [f32], x: &[f32]) {
        same_length(y, x);
        call!(self.add, y, x);
    }

    /// `y[i] *= x[i]`.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mul(&self, y: &mut [f32], x: &[f32]) {
        same_length(y, x);
        call!(self.mul, y, x);
    }

    /// `y[i] = (y[i] · factor) · weight[i]`, rounded after each product: what a norm does with the factor it found.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn normalise(&self, y: &mut [f32], factor: f32, weight: &[f32]) {
        same_length(y, weight);
        call!(self.normalise, y, factor, weight);
    }

    /// `y[i] = exp(y[i] - max)` as [`crate::math::exp`]; returns the canonical sum of the results.
    pub fn exp_sum(&self, y: &mut [f32], max: f32) -> f32 {
        call!(self.exp_sum, y, max)
    }

    /// `y[i] = cap · tanh(y[i] / cap)` with [`crate::math::tanh`].
    pub fn softcap(&self, y: &mut [f32], cap: f32) {
        call!(self.softcap, y, cap);
    }

    /// `out[i] = activation(gate[i]) · up[i]` with [`crate::math::silu`] or [`crate::math::gelu_tanh`].
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn glu(&self, out: &mut [f32], gate: &[f32], up: &[f32], activation: Activation) {
        same_length(out, gate);
        same_length(out, up);
        call!(self.glu, out, gate, up, activation);
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Table").field(&self.name).finish()
    }
}

fn same_length(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len(), "operands of different lengths");
}

fn has_rows(rows: &[f32], count: usize, stride: usize, width: usize) {
    let end = count.checked_sub(1).map(|last| last.checked_mul(stride).and_then(|at| at.checked_add(width)));
    assert!(
        end.is_none_or(|end| end.is_some_and(|end| end <= rows.len())),
        "{count} rows of {width} every {stride}"
    );
}
