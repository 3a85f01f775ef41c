//! A gated linear unit: `down · (act(gate · x) ⊙ (up · x))` (Shazeer, "GLU Variants Improve Transformer", 2020).

use device::Activation;
use telemetry::Phase;
use units::{LayerIdx, Span};

use crate::{build::Builder, error::Error, names::Role, stack::Step, weight::Weight};

/// What the unit is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glu {
    /// Width between the projections.
    pub inner: usize,
    /// Applied to the gate.
    pub activation: Activation,
}

/// The unit with its weights.
#[derive(Debug)]
pub struct LoadedGlu {
    gate: Weight,
    up: Weight,
    down: Weight,
    activation: Activation,
}

impl Glu {
    /// Binds the unit's weights: gate and up `[inner, hidden]`, down `[hidden, inner]`.
    ///
    /// # Errors
    /// A tensor is absent, misshapen or unreadable.
    pub fn build(&self, builder: &mut Builder<'_>, layer: LayerIdx) -> Result<LoadedGlu, Error> {
        let hidden = builder.hidden();
        Ok(LoadedGlu {
            gate: builder.matrix(Role::Gate, layer, self.inner, hidden)?,
            up: builder.matrix(Role::Up, layer, self.inner, hidden)?,
            down: builder.matrix(Role::Down, layer, hidden, self.inner)?,
            activation: self.activation,
        })
    }

    /// Floats of scratch for each token.
    #[must_use]
    pub fn scratch_floats(&self) -> usize {
        2 * self.inner
    }
}

impl LoadedGlu {
    /// Writes the unit's output for `x` (`[tokens, hidden]`) to `dst` (same shape).
    pub fn forward(&self, step: &mut Step<'_>, dst: Span, x: Span) {
        let start = step.phases.start();
        let tokens = step.tokens;
        let wide = tokens * self.gate.rows();
        let gate = step.scratch.wide.part(0, wide);
        let up = step.scratch.wide.part(wide, wide);
        step.device.matmul(gate, &self.gate.matrix(), x, tokens);
        step.device.matmul(up, &self.up.matrix(), x, tokens);
        step.device.glu(gate, gate, up, self.activation);
        step.device.matmul(dst, &self.down.matrix(), gate, tokens);
        step.phases.stop(Phase::DenseFfn, start);
    }
}
