//! The contract on the CPU: the loops of `kernels` over one arena, spread over a pool of threads.
//!
//! Work is cut where the canonical order has no seam (rows of a product, tokens, heads), so the bits do not depend on the
//! cut. Nothing is allocated after construction.

mod attention;
mod cut;
mod elements;
mod matmul;
mod memory;
mod rows;
mod share;

use std::sync::Arc;

use kernels::{Pool, Table};
use quant::Matrix;
use units::Span;

use self::{memory::Memory, share::Share};
use crate::{
    contract::{Activation, Attention, Device, RopeStyle},
    shape,
};

/// A device on the host's processor.
pub struct Cpu {
    table: Table,
    pool: Arc<Pool>,
    memory: Memory,
    stage: Vec<f32>,
}

impl Cpu {
    /// Floats that a device of more than one thread holds beyond its arena: room for products of many tokens before they
    /// are put in order.
    pub const STAGE_FLOATS: usize = 1 << 20;

    /// A device with `floats` zeroed floats of memory, aligned to a cache line; pages never touched cost nothing.
    #[must_use]
    pub fn new(table: Table, pool: Arc<Pool>, floats: usize) -> Cpu {
        let stage = if pool.threads() > 1 { Cpu::STAGE_FLOATS } else { 0 };
        Cpu { table, pool, memory: Memory::new(floats), stage: vec![0.0; stage] }
    }
}

impl Device for Cpu {
    fn name(&self) -> String {
        format!("cpu {} × {}", self.table.name(), self.pool.threads())
    }

    fn capacity(&self) -> usize {
        self.memory.capacity()
    }

    fn read(&self, at: Span, out: &mut [f32]) {
        out.copy_from_slice(self.memory.view(at));
    }

    fn write(&mut self, at: Span, values: &[f32]) {
        self.memory.view_mut(at).copy_from_slice(values);
    }

    fn view(&self, at: Span) -> &[f32] {
        self.memory.view(at)
    }

    fn copy(&mut self, dst: Span, src: Span) {
        self.memory.copy(dst, src);
    }

    fn matmul(&mut self, dst: Span, w: &Matrix<'_>, x: Span, tokens: usize) {
        shape::matmul(dst, w, x, tokens);
        let share = Share::products(&self.pool, dst.len.saturating_mul(w.cols));
        let (dst, rest) = self.memory.around(dst);
        matmul::matmul(&self.table, share, &mut self.stage, dst, w, rest.view(x), tokens);
    }

    fn embed(&mut self, dst: Span, w: &Matrix<'_>, ids: &[u32], scale: f32) {
        shape::embed(dst, w, ids);
        let share = Share::elements(&self.pool, dst.len);
        matmul::embed(share, self.memory.view_mut(dst), w, ids, scale);
    }

    fn rms_norm(&mut self, dst: Span, x: Span, weight: Span, width: usize, eps: f32) {
        shape::rms_norm(dst, x, weight, width);
        self.memory.copy(dst, x);
        let share = Share::elements(&self.pool, dst.len);
        let (dst, rest) = self.memory.around(dst);
        rows::rms_norm(&self.table, share, dst, rest.view(weight), eps);
    }

    fn add(&mut self, dst: Span, x: Span) {
        shape::add(dst, x);
        let share = Share::elements(&self.pool, dst.len);
        if dst == x {
            // A sum of two equal floats is their double, rounded or overflowing alike.
            elements::scale(&self.table, share, self.memory.view_mut(dst), 2.0);
        } else {
            let (dst, rest) = self.memory.around(dst);
            elements::add(&self.table, share, dst, rest.view(x));
        }
    }

    fn scale(&mut self, dst: Span, factor: f32) {
        let share = Share::elements(&self.pool, dst.len);
        elements::scale(&self.table, share, self.memory.view_mut(dst), factor);
    }

    fn clamp(&mut self, dst: Span, bound: f32) {
        shape::bound(bound);
        let share = Share::elements(&self.pool, dst.len);
        elements::clamp(share, self.memory.view_mut(dst), bound);
    }

    fn softcap(&mut self, dst: Span, cap: f32) {
        let share = Share::elements(&self.pool, dst.len);
        elements::softcap(&self.table, share, self.memory.view_mut(dst), cap);
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
        let share = Share::elements(&self.pool, x.len);
        let (x, rest) = self.memory.around(x);
        rows::rope(share, x, rest.view(table), positions, &rows::Rotation { heads, head_dim, rotary, style });
    }

    fn attention(&mut self, job: &Attention<'_>) {
        shape::attention(job);
        let (dst, rest) = self.memory.around(job.dst);
        let sources = attention::Sources { q: rest.view(job.q), k: rest.view(job.k), v: rest.view(job.v) };
        attention::attention(&self.table, &self.pool, job, dst, &sources);
    }

    fn glu(&mut self, dst: Span, gate: Span, up: Span, activation: Activation) {
        shape::glu(dst, gate, up);
        let share = Share::elements(&self.pool, dst.len);
        let (table, out) = (&self.table, dst);
        let (dst, rest) = self.memory.around(dst);
        let source = |span: Span| (span != out).then(|| rest.view(span));
        elements::glu(table, share, dst, source(gate), source(up), activation);
    }

    fn gather(&mut self, dst: Span, src: Span, rows: &[u32], width: usize) {
        shape::picked_rows(src, dst, rows, width);
        let (dst, rest) = self.memory.around(dst);
        let src = rest.view(src);
        for (dst, &row) in dst.chunks_exact_mut(width).zip(rows) {
            dst.copy_from_slice(&src[row as usize * width..][..width]);
        }
    }

    fn scatter(&mut self, dst: Span, src: Span, rows: &[u32], width: usize) {
        shape::picked_rows(dst, src, rows, width);
        let (dst, rest) = self.memory.around(dst);
        for (src, &row) in rest.view(src).chunks_exact(width).zip(rows) {
            dst[row as usize * width..][..width].copy_from_slice(src);
        }
    }

    fn weighted_sum(&mut self, dst: Span, src: Span, weights: &[f32], k: usize, width: usize) {
        shape::weighted_sum(dst, src, weights, k, width);
        let share = Share::elements(&self.pool, src.len);
        let (dst, rest) = self.memory.around(dst);
        rows::weighted_sum(&self.table, share, dst, rest.view(src), weights, k, width);
    }
}
