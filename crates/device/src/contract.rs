//! The operations and what each of them means.

pub use kernels::Activation;
use quant::Matrix;
use units::Span;

/// Keys visited together by [`Device::attention`]; blocks start at absolute positions that are multiples of this.
pub const KEY_BLOCK: usize = 64;
/// Most components that a value head may have, so that a partial result fits fixed scratch.
pub const HEAD_DIM_MAX: usize = 1024;

/// A machine with its own memory of f32 and the operations on it.
///
/// Every operand is a [`Span`] of that memory; only weight matrices come from outside. Rows lie one after another
/// (row-major), the innermost axis last in the shapes below.
///
/// A result never depends on how many tokens one call carries: splitting the tokens over several calls gives the same
/// bits. Operations on the CPU also give the same bits for every instruction set and number of threads. A GPU may differ
/// from [`crate::Reference`] within a bound that it states.
///
/// # Panics
/// Every operation asserts that its spans lie inside the memory, have the lengths that the shapes ask for, and do not
/// overlap unless its description says that they may. Such a mismatch is an error of the caller, never of a file.
pub trait Device: Send {
    /// What computes, as shown to users: `cpu avx2 × 8`.
    fn name(&self) -> String;

    /// Floats of memory.
    fn capacity(&self) -> usize;

    /// Copies `at` to the host; `out` has the same length.
    fn read(&self, at: Span, out: &mut [f32]);

    /// Copies `values` from the host to `at`, of the same length.
    fn write(&mut self, at: Span, values: &[f32]);

    /// The floats at `at`, for devices whose memory the host can see.
    fn view(&self, at: Span) -> &[f32];

    /// `dst = src`. The spans may overlap; the result is as if `src` had been read first.
    fn copy(&mut self, dst: Span, src: Span);

    /// `dst[t, r] = Σ_c w[r, c] · x[t, c]`: `dst` is `[tokens, rows]`, `x` is `[tokens, cols]`.
    fn matmul(&mut self, dst: Span, w: &Matrix<'_>, x: Span, tokens: usize);

    /// `dst[i] = w[ids[i]] · scale`: decoded rows of an embedding table; `dst` is `[ids, cols]`.
    ///
    /// # Panics
    /// If an id is not a row of `w`.
    fn embed(&mut self, dst: Span, w: &Matrix<'_>, ids: &[u32], scale: f32);

    /// `weight · (x · (1 / sqrt(mean(x²) + eps)))` over each row of `width` floats; `weight` is `[width]`.
    ///
    /// In this order: the sum of squares (canonical), divided by `width`, plus `eps`, IEEE square root, reciprocal by IEEE
    /// division; then each element times the reciprocal, rounded, times its weight. `dst` may be `x` itself.
    fn rms_norm(&mut self, dst: Span, x: Span, weight: Span, width: usize, eps: f32);

    /// `dst += x`. `x` may be `dst` itself.
    fn add(&mut self, dst: Span, x: Span);

    /// `dst *= factor`.
    fn scale(&mut self, dst: Span, factor: f32);

    /// `dst = min(max(dst, -bound), bound)`; a NaN stays one. `bound` is at least 0.
    fn clamp(&mut self, dst: Span, bound: f32);

    /// `dst = cap · tanh(dst / cap)`.
    fn softcap(&mut self, dst: Span, cap: f32);

    /// Rotates the leading `rotary` components of each head of `x` (`[positions, heads, head_dim]`) in place.
    ///
    /// `table` holds, for each position from 0 on, `rotary / 2` cosines and then as many sines (see [`crate::rope`]). Each
    /// pair `(a, b)` becomes `(a · cos − b · sin, b · cos + a · sin)`, every product and sum rounded on its own.
    #[allow(clippy::too_many_arguments)] // The shape of the heads and the rotation are seven independent facts.
    fn rope(
        &mut self,
        x: Span,
        table: Span,
        positions: &[u32],
        heads: usize,
        head_dim: usize,
        rotary: usize,
        style: RopeStyle,
    );

    /// Softmax attention of some queries over cached keys and values; see [`Attention`].
    fn attention(&mut self, job: &Attention<'_>);

    /// `dst = activation(gate) · up`, element by element. `dst` may be `gate` or `up` itself.
    fn glu(&mut self, dst: Span, gate: Span, up: Span, activation: Activation);

    /// `dst[i] = src[rows[i]]`: rows of `width` floats; `dst` is `[rows, width]`.
    fn gather(&mut self, dst: Span, src: Span, rows: &[u32], width: usize);

    /// `dst[rows[i]] = src[i]`, in the order of `rows`; other rows of `dst` stay. `src` is `[rows, width]`.
    fn scatter(&mut self, dst: Span, src: Span, rows: &[u32], width: usize);

    /// `dst[t] = Σ_j weights[t, j] · src[t, j]`: `src` is `[tokens, k, width]`, `weights` `[tokens, k]`, `dst`
    /// `[tokens, width]`. The terms are added in the order of `j`, each by one fused multiply-add, from 0.
    fn weighted_sum(&mut self, dst: Span, src: Span, weights: &[f32], k: usize, width: usize);
}

/// Which components of a head form the pairs that rotate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RopeStyle {
    /// `(i, i + rotary / 2)`.
    HalfSplit,
    /// `(2i, 2i + 1)`.
    Interleaved,
}

/// Softmax attention with grouped key and value heads.
///
/// Query head `h` reads key and value head `h / (heads / kv_heads)`. The query of token `t` at position
/// `p = positions[t]` sees keys `0..=p`, or with a window of `w` keys `p-w+1..=p`. A score is
/// `dot(q, k) · scale`, then `cap · tanh(score / cap)` where there is a soft cap.
///
/// Order: the visible keys are cut into blocks at absolute multiples of [`KEY_BLOCK`]. A block gives its maximum `m`, the
/// exponentials of its scores less `m`, their canonical sum `s`, and the values weighted by them, added in key order by
/// fused multiply-adds from 0. Blocks are merged in order of position: with `M = max(m, m')`, `a = exp(m − M)`,
/// `b = exp(m' − M)`, sums and values become `fma(new, b, old · a)`. At the end values are divided by the sum. A block
/// depends on nothing outside it, so blocks, heads and tokens may be computed anywhere in any order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attention<'a> {
    /// Result, `[tokens, heads * value_dim]`.
    pub dst: Span,
    /// Queries, `[tokens, heads * head_dim]`.
    pub q: Span,
    /// Cached keys, `[kv_capacity, kv_heads * head_dim]`; row `p` is position `p`.
    pub k: Span,
    /// Cached values, `[kv_capacity, kv_heads * value_dim]`.
    pub v: Span,
    /// Query heads; a multiple of `kv_heads`.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Components of a query or key head.
    pub head_dim: usize,
    /// Components of a value head; at most [`HEAD_DIM_MAX`].
    pub value_dim: usize,
    /// Position of each query, below `kv_capacity`; one for each token.
    pub positions: &'a [u32],
    /// Factor on the scores.
    pub scale: f32,
    /// How many of the latest keys are visible, at least 1; all of them when there is none.
    pub window: Option<u32>,
    /// Bound that scores approach smoothly.
    pub softcap: Option<f32>,
    /// Rows of the caches.
    pub kv_capacity: usize,
}

impl Attention<'_> {
    /// Keys that a query at `position` sees.
    #[must_use]
    pub fn visible(&self, position: u32) -> std::ops::Range<usize> {
        let end = position as usize + 1;
        self.window.map_or(0, |window| end.saturating_sub(window as usize))..end
    }

    /// The key and value head that query head `head` reads.
    #[must_use]
    pub fn kv_head(&self, head: usize) -> usize {
        head / (self.heads / self.kv_heads)
    }
}
