//! Mixture of experts: a router chooses a few gated linear units for every token, and their outputs are added in the
//! router's order, whatever the order in which the experts arrive (Shazeer et al., "Outrageously Large Neural
//! Networks", 2017).
//!
//! The pass is expert-major: all tokens that chose an expert are computed while it is at hand, so an expert is read at
//! most once for each pass, however many tokens want it.

pub mod catalogue;
pub mod choice;
pub mod router;

use device::Activation;
use telemetry::Phase;
use tiers::Lease;
use units::{LayerIdx, Span};

use crate::{build::Builder, error::Error, names::Role, stack::Step, weight::Weight};
use catalogue::LayerExperts;
use router::Router;

/// What the mixture is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moe {
    /// Routed experts.
    pub experts: usize,
    /// Experts chosen for each token.
    pub active: usize,
    /// Width inside an expert.
    pub inner: usize,
    /// Applied to an expert's gate.
    pub activation: Activation,
    /// How experts are chosen and weighted.
    pub router: Router,
}

/// The mixture with its resident weights and the addresses of its experts.
#[derive(Debug)]
pub struct LoadedMoe {
    spec: Moe,
    layer: LayerIdx,
    router: Weight,
    experts: LayerExperts,
}

/// Device memory that the mixtures of all layers share.
#[derive(Clone, Copy, Debug)]
pub struct MoeScratch {
    /// Router logits, `[tokens, experts]`.
    pub logits: Span,
    /// Inputs of one expert, `[tokens, hidden]`.
    pub input: Span,
    /// Output of one expert, `[tokens, hidden]`.
    pub output: Span,
    /// Outputs by token and rank, `[tokens * active, hidden]`.
    pub ranked: Span,
}

impl Moe {
    /// Binds the router `[experts, hidden]` and finds the experts on disk.
    ///
    /// # Errors
    /// A tensor is absent, misshapen or undecodable.
    pub fn build(&self, builder: &mut Builder<'_>, layer: LayerIdx) -> Result<LoadedMoe, Error> {
        let hidden = builder.hidden();
        let router = builder.matrix(Role::Router, layer, self.experts, hidden)?;
        let experts = LayerExperts::bind(builder.binder(), layer, self)?;
        Ok(LoadedMoe { spec: *self, layer, router, experts })
    }

    /// Floats of the shared wide scratch for each token: gate and up of one expert.
    #[must_use]
    pub fn scratch_floats(&self) -> usize {
        2 * self.inner
    }
}

impl LoadedMoe {
    /// Where this layer's experts lie on disk.
    #[must_use]
    pub fn experts(&self) -> &LayerExperts {
        &self.experts
    }

    /// Writes the mixture's output for `x` (`[tokens, hidden]`) to `dst` (same shape).
    ///
    /// # Errors
    /// An expert could not be read.
    pub fn forward(&self, step: &mut Step<'_>, dst: Span, x: Span) -> Result<(), Error> {
        self.route(step, x);
        let experts = step.experts.as_deref_mut().expect("a model with a mixture has a store");
        experts.request(self.layer, step.choices.experts())?;
        loop {
            let start = step.phases.start();
            let lease = step.experts.as_deref_mut().map_or(Ok(None), |experts| experts.take())?;
            step.phases.stop(Phase::WaitStorage, start);
            let Some(lease) = lease else { break };
            self.expert(step, &lease, x);
        }
        let start = step.phases.start();
        let width = x.len / step.tokens;
        let ranked = step.moe().ranked.first(step.tokens * self.spec.active * width);
        step.device.weighted_sum(dst, ranked, step.choices.weights(), self.spec.active, width);
        step.phases.stop(Phase::Experts, start);
        Ok(())
    }

    fn route(&self, step: &mut Step<'_>, x: Span) {
        let start = step.phases.start();
        let logits = step.moe().logits.first(step.tokens * self.spec.experts);
        step.device.matmul(logits, &self.router.matrix(), x, step.tokens);
        step.choices.choose(&self.spec, step.device.view(logits));
        step.phases.stop(Phase::Router, start);
    }

    /// Runs one expert over the tokens that chose it.
    fn expert(&self, step: &mut Step<'_>, lease: &Lease, x: Span) {
        let start = step.phases.start();
        let expert = lease.key().expert;
        let width = x.len / step.tokens;
        let (tokens, ranks) = step.choices.of(expert);
        let count = tokens.len();
        let scratch = step.moe();
        let (input, output) = (scratch.input.first(count * width), scratch.output.first(count * width));
        let gate = step.scratch.wide.part(0, count * self.spec.inner);
        let up = step.scratch.wide.part(count * self.spec.inner, count * self.spec.inner);
        let weights = self.experts.matrices(expert, lease);
        step.device.gather(input, x, tokens, width);
        step.device.matmul(gate, &weights.gate, input, count);
        step.device.matmul(up, &weights.up, input, count);
        step.device.glu(gate, gate, up, self.spec.activation);
        step.device.matmul(output, &weights.down, gate, count);
        step.device.scatter(scratch.ranked, output, ranks, width);
        step.phases.stop(Phase::Experts, start);
    }
}
