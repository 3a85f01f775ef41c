//! Builds a stack from a description: binds every tensor, hands out every span, and either measures or loads.
//!
//! One walk serves both: a plan measures with it and a session loads with it, so the two cannot disagree.

use checkpoint::{Checkpoint, Tensor};
use units::{Arena, ExpertIdx, LayerIdx, Span};

use crate::{
    bind::Binder,
    description::Description,
    error::Error,
    footprint::{Footprint, Planner, Shape},
    names::Role,
    norm::{LoadedNorm, RmsNorm},
    rope::{Rope, RopeFactors},
    weight::{Stored, Weight},
};

/// Fills a buffer with the bytes of a tensor.
pub type Fill<'a> = dyn FnMut(&Tensor, &mut [u8]) -> Result<(), Error> + 'a;

/// The state of one walk over a description.
pub struct Builder<'a> {
    binder: Binder<'a>,
    shape: Shape,
    planner: Planner,
    footprint: Footprint,
    constants: Vec<(Span, Vec<f32>)>,
    ropes: Vec<(Rope, Span)>,
    fill: Option<&'a mut Fill<'a>>,
}

impl<'a> Builder<'a> {
    /// A walk that loads with `fill`, or only measures when there is none.
    ///
    /// # Errors
    /// A file's format stamp cannot be read.
    pub fn new(
        checkpoint: &'a Checkpoint,
        description: &'a Description,
        shape: Shape,
        fill: Option<&'a mut Fill<'a>>,
    ) -> Result<Builder<'a>, Error> {
        Ok(Builder {
            binder: Binder::new(checkpoint, description)?,
            shape,
            planner: Planner::default(),
            footprint: Footprint::default(),
            constants: Vec::new(),
            ropes: Vec::new(),
            fill,
        })
    }

    /// Finds tensors without loading them.
    #[must_use]
    pub fn binder(&self) -> &Binder<'a> {
        &self.binder
    }

    /// The description being built.
    #[must_use]
    pub fn description(&self) -> &'a Description {
        self.binder.description
    }

    /// Width of the residual stream.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.binder.description.hidden
    }

    /// How large the session is.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// A resident matrix `[rows, cols]`.
    ///
    /// # Errors
    /// It is absent, misshapen, undecodable or unreadable.
    pub fn matrix(&mut self, role: Role, layer: LayerIdx, rows: usize, cols: usize) -> Result<Weight, Error> {
        let stored = self.binder.matrix(role, layer, ExpertIdx(0), rows, cols)?;
        self.resident(&stored)
    }

    fn resident(&mut self, stored: &Stored) -> Result<Weight, Error> {
        let mut arena = None;
        if let Some(fill) = self.fill.as_deref_mut() {
            let bytes = stored.buffer_bytes();
            let mut block = Arena::new(bytes).cut(bytes).expect("an arena holds what it was made for");
            fill(&stored.tensor, &mut block[..stored.tensor.len_bytes as usize])?;
            if let Some(scales) = &stored.scales {
                fill(scales, &mut block[stored.scales_at()..bytes])?;
            }
            arena = Some(block);
        }
        self.footprint.dense_bytes +=
            stored.buffer_bytes().next_multiple_of(units::limits::PAGE_BYTES) as u64;
        Ok(Weight::new(stored, arena))
    }

    /// A norm over `width` values whose weights must be there.
    ///
    /// # Errors
    /// As [`Builder::matrix`].
    pub fn norm(
        &mut self,
        role: Role,
        layer: LayerIdx,
        norm: RmsNorm,
        width: usize,
    ) -> Result<LoadedNorm, Error> {
        self.binder.need(role, layer, ExpertIdx(0))?;
        let mut values = self.binder.vector(role, layer, width)?.unwrap_or_default();
        norm.factors(&mut values);
        Ok(LoadedNorm { factors: self.constant(values), eps: norm.eps })
    }

    /// Places values that every forward pass reads and none writes.
    pub fn constant(&mut self, values: Vec<f32>) -> Span {
        let before = self.planner.floats();
        let span = self.planner.take(values.len());
        self.footprint.constant_bytes += bytes(self.planner.floats() - before);
        self.constants.push((span, values));
        span
    }

    /// Room that keeps its values between forward passes.
    pub fn state(&mut self, floats: usize) -> Span {
        let before = self.planner.floats();
        let span = self.planner.take(floats);
        self.footprint.state_bytes += bytes(self.planner.floats() - before);
        span
    }

    /// Room that every forward pass overwrites.
    pub fn scratch(&mut self, floats: usize) -> Span {
        let before = self.planner.floats();
        let span = self.planner.take(floats);
        self.footprint.scratch_bytes += bytes(self.planner.floats() - before);
        span
    }

    /// The position table of `rope`, `[context, rotary]`; layers with equal ropes share one.
    ///
    /// # Errors
    /// Its per-frequency divisors are misshapen or unreadable.
    pub fn rope(&mut self, rope: &Rope, layer: LayerIdx) -> Result<Span, Error> {
        if let Some((_, span)) = self.ropes.iter().find(|(known, _)| known == rope) {
            return Ok(*span);
        }
        let divisors = match rope.factors {
            RopeFactors::FromFile => self.binder.vector(Role::RopeFactors, layer, rope.rotary / 2)?,
            RopeFactors::None => None,
        };
        let table = rope.table(self.shape.context, divisors.as_deref());
        let span = self.constant(table);
        self.ropes.push((rope.clone(), span));
        Ok(span)
    }

    /// Everything that the walk has placed.
    #[must_use]
    pub fn finish(self) -> Placed {
        Placed { floats: self.planner.floats(), footprint: self.footprint, constants: self.constants }
    }
}

/// The outcome of a walk.
#[derive(Debug)]
pub struct Placed {
    /// Floats of device memory.
    pub floats: usize,
    /// Bytes by purpose.
    pub footprint: Footprint,
    /// Values to write to device memory before the first pass.
    pub constants: Vec<(Span, Vec<f32>)>,
}

fn bytes(floats: usize) -> u64 {
    (floats * size_of::<f32>()) as u64
}
