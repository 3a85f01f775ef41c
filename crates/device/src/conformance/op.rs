//! Operations as data, so that a case can be printed, repeated and cut into parts.

use std::ops::Range;

use quant::{Format, Matrix};
use units::Span;

use crate::contract::{Activation, Attention, Device, RopeStyle};

/// A matrix that owns its bytes.
#[derive(Clone, Debug)]
pub struct Weights {
    /// What the bytes mean.
    pub format: Format,
    /// Output width.
    pub rows: usize,
    /// Input width.
    pub cols: usize,
    /// The stored weights.
    pub bytes: Vec<u8>,
    /// The scales beside them.
    pub scales: Vec<u8>,
}

impl Weights {
    /// A matrix of f32, `[rows, cols]`.
    #[must_use]
    pub fn f32(rows: usize, cols: usize, values: &[f32]) -> Weights {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        Weights { format: Format::F32, rows, cols, bytes, scales: Vec::new() }
    }

    /// The matrix over these bytes.
    ///
    /// # Panics
    /// If the bytes do not fit the shape.
    #[must_use]
    pub fn matrix(&self) -> Matrix<'_> {
        Matrix::new(self.format, self.rows, self.cols, &self.bytes, &self.scales)
            .expect("cases are well formed")
    }
}

/// One call of a device's method, with the method's own names.
#[allow(missing_docs)] // The fields are those of the methods of `Device`, where they are explained.
#[derive(Clone, Debug)]
pub enum Op {
    /// [`Device::copy`].
    Copy { dst: Span, src: Span },
    /// [`Device::matmul`].
    Matmul { dst: Span, w: Weights, x: Span, tokens: usize },
    /// [`Device::embed`].
    Embed { dst: Span, w: Weights, ids: Vec<u32>, scale: f32 },
    /// [`Device::rms_norm`].
    RmsNorm { dst: Span, x: Span, weight: Span, width: usize, eps: f32 },
    /// [`Device::add`].
    Add { dst: Span, x: Span },
    /// [`Device::scale`].
    Scale { dst: Span, factor: f32 },
    /// [`Device::clamp`].
    Clamp { dst: Span, bound: f32 },
    /// [`Device::softcap`].
    Softcap { dst: Span, cap: f32 },
    /// [`Device::rope`].
    Rope {
        x: Span,
        table: Span,
        positions: Vec<u32>,
        heads: usize,
        head_dim: usize,
        rotary: usize,
        style: RopeStyle,
    },
    /// [`Device::attention`]; `positions` stand in for those of `job`.
    Attention { job: Attention<'static>, positions: Vec<u32> },
    /// [`Device::glu`].
    Glu { dst: Span, gate: Span, up: Span, activation: Activation },
    /// [`Device::gather`].
    Gather { dst: Span, src: Span, rows: Vec<u32>, width: usize },
    /// [`Device::scatter`].
    Scatter { dst: Span, src: Span, rows: Vec<u32>, width: usize },
    /// [`Device::weighted_sum`].
    WeightedSum { dst: Span, src: Span, weights: Vec<f32>, k: usize, width: usize },
}

impl Op {
    /// Does it.
    pub fn apply(&self, device: &mut dyn Device) {
        match self {
            Op::Copy { dst, src } => device.copy(*dst, *src),
            Op::Matmul { dst, w, x, tokens } => device.matmul(*dst, &w.matrix(), *x, *tokens),
            Op::Embed { dst, w, ids, scale } => device.embed(*dst, &w.matrix(), ids, *scale),
            Op::RmsNorm { dst, x, weight, width, eps } => device.rms_norm(*dst, *x, *weight, *width, *eps),
            Op::Add { dst, x } => device.add(*dst, *x),
            Op::Scale { dst, factor } => device.scale(*dst, *factor),
            Op::Clamp { dst, bound } => device.clamp(*dst, *bound),
            Op::Softcap { dst, cap } => device.softcap(*dst, *cap),
            Op::Rope { x, table, positions, heads, head_dim, rotary, style } => {
                device.rope(*x, *table, positions, *heads, *head_dim, *rotary, *style);
            }
            Op::Attention { job, positions } => device.attention(&Attention { positions, ..*job }),
            Op::Glu { dst, gate, up, activation } => device.glu(*dst, *gate, *up, *activation),
            Op::Gather { dst, src, rows, width } => device.gather(*dst, *src, rows, *width),
            Op::Scatter { dst, src, rows, width } => device.scatter(*dst, *src, rows, *width),
            Op::WeightedSum { dst, src, weights, k, width } => {
                device.weighted_sum(*dst, *src, weights, *k, *width);
            }
        }
    }

    /// How many parts the operation may be cut into: tokens, rows or elements; 1 where it cannot be cut.
    #[must_use]
    pub fn tokens(&self) -> usize {
        match self {
            Op::Copy { .. } => 1,
            Op::Matmul { tokens, .. } => *tokens,
            Op::Embed { ids, .. } => ids.len(),
            Op::RmsNorm { x, width, .. } => x.len / width,
            Op::Add { dst, .. } | Op::Scale { dst, .. } | Op::Clamp { dst, .. } => dst.len,
            Op::Softcap { dst, .. } | Op::Glu { dst, .. } => dst.len,
            Op::Rope { positions, .. } | Op::Attention { positions, .. } => positions.len(),
            Op::Gather { rows, .. } | Op::Scatter { rows, .. } => rows.len(),
            Op::WeightedSum { weights, k, .. } => weights.len() / k,
        }
    }

    /// The operation on only some of its tokens; all parts one after another do the same as the whole.
    ///
    /// # Panics
    /// If `tokens` are not among those that the operation has.
    #[must_use]
    pub fn part(&self, tokens: Range<usize>) -> Op {
        let all = self.tokens();
        let cut = |span: Span| span.part(span.len / all * tokens.start, span.len / all * tokens.len());
        let mut part = self.clone();
        match &mut part {
            Op::Copy { .. } => {}
            Op::Matmul { dst, x, tokens: count, .. } => {
                (*dst, *x, *count) = (cut(*dst), cut(*x), tokens.len());
            }
            Op::Embed { dst, ids, .. } => (*dst, *ids) = (cut(*dst), ids[tokens].to_vec()),
            Op::RmsNorm { dst, x, .. } | Op::Add { dst, x } => (*dst, *x) = (cut(*dst), cut(*x)),
            Op::Scale { dst, .. } | Op::Clamp { dst, .. } | Op::Softcap { dst, .. } => *dst = cut(*dst),
            Op::Rope { x, positions, .. } => (*x, *positions) = (cut(*x), positions[tokens].to_vec()),
            Op::Attention { job, positions } => {
                (job.dst, job.q, *positions) = (cut(job.dst), cut(job.q), positions[tokens].to_vec());
            }
            Op::Glu { dst, gate, up, .. } => (*dst, *gate, *up) = (cut(*dst), cut(*gate), cut(*up)),
            Op::Gather { dst, rows, .. } => (*dst, *rows) = (cut(*dst), rows[tokens].to_vec()),
            Op::Scatter { src, rows, .. } => (*src, *rows) = (cut(*src), rows[tokens].to_vec()),
            Op::WeightedSum { dst, src, weights, k, .. } => {
                (*dst, *src) = (cut(*dst), cut(*src));
                *weights = weights[tokens.start * *k..tokens.end * *k].to_vec();
            }
        }
        part
    }
}
