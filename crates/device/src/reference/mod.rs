//! The meaning of every operation, in plain loops: sums in f64, functions from the standard library, one rounding to f32
//! at the end. Slow on purpose; it is what the others are compared with.

mod attention;
mod elements;
mod matrix;
mod rows;

use quant::Matrix;
use units::Span;

use crate::{
    contract::{Activation, Attention, Device, RopeStyle},
    shape,
};

/// A device that computes what the contract says and nothing faster.
#[derive(Clone, Debug)]
pub struct Reference {
    memory: Vec<f32>,
}

impl Reference {
    /// A device with `floats` zeroed floats of memory.
    #[must_use]
    pub fn new(floats: usize) -> Reference {
        Reference { memory: vec![0.0; floats] }
    }

    fn mutable(&mut self, at: Span) -> &mut [f32] {
        shape::inside(at, self.memory.len());
        &mut self.memory[at.range()]
    }
}

impl Device for Reference {
    fn name(&self) -> String {
        "reference".to_string()
    }

    fn capacity(&self) -> usize {
        self.memory.len()
    }

    fn read(&self, at: Span, out: &mut [f32]) {
        out.copy_from_slice(self.view(at));
    }

    fn write(&mut self, at: Span, values: &[f32]) {
        self.mutable(at).copy_from_slice(values);
    }

    fn view(&self, at: Span) -> &[f32] {
        shape::inside(at, self.memory.len());
        &self.memory[at.range()]
    }

    fn copy(&mut self, dst: Span, src: Span) {
        let values = self.view(src).to_vec();
        self.write(dst, &values);
    }

    fn matmul(&mut self, dst: Span, w: &Matrix<'_>, x: Span, tokens: usize) {
        shape::matmul(dst, w, x, tokens);
        let result = matrix::matmul(w, self.view(x), tokens);
        self.write(dst, &result);
    }

    fn embed(&mut self, dst: Span, w: &Matrix<'_>, ids: &[u32], scale: f32) {
        shape::embed(dst, w, ids);
        let result = matrix::embed(w, ids, scale);
        self.write(dst, &result);
    }

    fn rms_norm(&mut self, dst: Span, x: Span, weight: Span, width: usize, eps: f32) {
        shape::rms_norm(dst, x, weight, width);
        let result = rows::rms_norm(self.view(x), self.view(weight), eps);
        self.write(dst, &result);
    }

    fn add(&mut self, dst: Span, x: Span) {
        shape::add(dst, x);
        let x = self.view(x).to_vec();
        elements::add(self.mutable(dst), &x);
    }

    fn scale(&mut self, dst: Span, factor: f32) {
        elements::scale(self.mutable(dst), factor);
    }

    fn clamp(&mut self, dst: Span, bound: f32) {
        shape::bound(bound);
        elements::clamp(self.mutable(dst), bound);
    }

    fn softcap(&mut self, dst: Span, cap: f32) {
        elements::softcap(self.mutable(dst), cap);
    }

    fn rope(
        &mut self,
        x: Span,
        table: Span,
        positions: &[u32],
        heads: usize,
        head_dim: usize,
        rotary: usize,
        style: RopeStyle,
    ) {
        shape::rope(x, table, positions, heads, head_dim, rotary);
        let table = self.view(table).to_vec();
        rows::rope(self.mutable(x), &table, positions, heads, head_dim, rotary, style);
    }

    fn attention(&mut self, job: &Attention<'_>) {
        shape::attention(job);
        let result = attention::attention(job, self.view(job.q), self.view(job.k), self.view(job.v));
        self.write(job.dst, &result);
    }

    fn glu(&mut self, dst: Span, gate: Span, up: Span, activation: Activation) {
        shape::glu(dst, gate, up);
        let result = elements::glu(self.view(gate), self.view(up), activation);
        self.write(dst, &result);
    }

    fn gather(&mut self, dst: Span, src: Span, rows: &[u32], width: usize) {
        shape::picked_rows(src, dst, rows, width);
        for (i, &row) in rows.iter().enumerate() {
            self.copy(dst.part(i * width, width), src.part(row as usize * width, width));
        }
    }

    fn scatter(&mut self, dst: Span, src: Span, rows: &[u32], width: usize) {
        shape::picked_rows(dst, src, rows, width);
        for (i, &row) in rows.iter().enumerate() {
            self.copy(dst.part(row as usize * width, width), src.part(i * width, width));
        }
    }

    fn weighted_sum(&mut self, dst: Span, src: Span, weights: &[f32], k: usize, width: usize) {
        shape::weighted_sum(dst, src, weights, k, width);
        let result = rows::weighted_sum(self.view(src), weights, k, width);
        self.write(dst, &result);
    }
}
