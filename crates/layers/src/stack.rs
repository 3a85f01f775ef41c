//! The forward pass: embedding, layers, head, for a run of tokens of one sequence.

use device::Device;
use kernels::Table;
use telemetry::{Phase, Phases};
use tiers::Store;
use units::{LayerIdx, Span};

use crate::{
    build::Builder,
    description::{Description, Ffn, Layer, Mixer},
    error::Error,
    ffn::glu::LoadedGlu,
    head::HeadWeights,
    mixer::gqa::LoadedGqa,
    moe::{LoadedMoe, MoeScratch, choice::Choices},
    names::Role,
    norm::LoadedNorm,
    residual::Around,
    taps::Taps,
    weight::Weight,
};

/// Layer index under which tensors outside the layers are looked up.
const NO_LAYER: LayerIdx = LayerIdx(0);

/// A model whose tensors are bound and whose memory is laid out.
#[derive(Debug)]
pub struct Stack {
    embed: Weight,
    embed_scale: f32,
    layers: Vec<LoadedLayer>,
    final_norm: LoadedNorm,
    head: Option<Weight>,
    softcap: Option<f32>,
    scratch: Scratch,
}

#[derive(Debug)]
struct LoadedLayer {
    mixer: LoadedMixer,
    around_mixer: Around,
    ffn: LoadedFfn,
    around_ffn: Around,
}

#[derive(Debug)]
enum LoadedMixer {
    Gqa(LoadedGqa),
}

#[derive(Debug)]
enum LoadedFfn {
    Dense(LoadedGlu),
    Moe(LoadedMoe),
}

/// Device memory that every forward pass overwrites.
#[derive(Clone, Copy, Debug)]
pub struct Scratch {
    /// The residual stream, `[tokens, hidden]`.
    pub stream: Span,
    /// A sublayer's input, `[tokens, hidden]`.
    pub input: Span,
    /// A sublayer's output, `[tokens, hidden]`.
    pub output: Span,
    /// The inside of whichever block is running.
    pub wide: Span,
    /// Logits, `[logit_rows, vocab]`.
    pub logits: Span,
    /// What the mixtures need, if there are any.
    pub moe: Option<MoeScratch>,
}

/// What a block needs to run once.
pub struct Step<'a> {
    /// Where the numbers are.
    pub device: &'a mut dyn Device,
    /// Where the experts are; absent for a dense model.
    pub experts: Option<&'a mut Store>,
    /// The router's choices, refilled by each mixture.
    pub choices: &'a mut Choices,
    /// Where the time goes.
    pub phases: &'a mut Phases,
    /// Shared memory.
    pub scratch: &'a Scratch,
    /// Tokens of this pass.
    pub tokens: usize,
    /// Their positions, consecutive.
    pub positions: &'a [u32],
}

impl Step<'_> {
    /// What mixtures work in.
    ///
    /// # Panics
    /// If the model has no mixture.
    #[must_use]
    pub fn moe(&self) -> MoeScratch {
        self.scratch.moe.expect("a stack with a mixture plans its scratch")
    }
}

/// Everything that a pass changes.
pub struct Run<'a> {
    /// Where the numbers are.
    pub device: &'a mut dyn Device,
    /// Where the experts are; absent for a dense model.
    pub experts: Option<&'a mut Store>,
    /// Room for the router's choices.
    pub choices: &'a mut Choices,
    /// Where the time goes.
    pub phases: &'a mut Phases,
}

impl Stack {
    /// Walks the description: binds and (if the builder loads) reads every tensor, and lays out all memory.
    ///
    /// # Errors
    /// A tensor is absent, misshapen, undecodable or unreadable.
    pub fn build(builder: &mut Builder<'_>) -> Result<Stack, Error> {
        let description = builder.description();
        let (hidden, vocab) = (description.hidden, description.vocab);
        let embed = builder.matrix(Role::Embed, NO_LAYER, vocab, hidden)?;
        let mut layers = Vec::with_capacity(description.layers.len());
        for (index, layer) in description.indexed() {
            layers.push(LoadedLayer::build(builder, index, layer)?);
        }
        let final_norm = builder.norm(Role::FinalNorm, NO_LAYER, description.final_norm, hidden)?;
        let head = Self::head(builder, description)?;
        let scratch = Scratch::plan(builder, description);
        Ok(Stack {
            embed,
            embed_scale: description.embed.scale,
            layers,
            final_norm,
            head,
            softcap: description.head.softcap,
            scratch,
        })
    }

    fn head(builder: &mut Builder<'_>, description: &Description) -> Result<Option<Weight>, Error> {
        let own = match description.head.weights {
            HeadWeights::Tied => false,
            HeadWeights::Own => true,
            HeadWeights::OwnIfPresent => {
                builder.binder().find(Role::Head, NO_LAYER, units::ExpertIdx(0)).is_some()
            }
        };
        if !own {
            return Ok(None);
        }
        builder.matrix(Role::Head, NO_LAYER, description.vocab, description.hidden).map(Some)
    }

    /// Where the experts of each layer with a mixture lie on disk.
    pub fn mixtures(&self) -> impl Iterator<Item = (LayerIdx, &LoadedMoe)> {
        self.layers.iter().enumerate().filter_map(|(index, layer)| match &layer.ffn {
            LoadedFfn::Moe(moe) => Some((LayerIdx(index as u32), moe)),
            LoadedFfn::Dense(_) => None,
        })
    }

    /// Runs `ids` at the consecutive `positions` through all layers; their keys and values are kept, and the final hidden
    /// states stay in the stream for [`Stack::logits`].
    ///
    /// The result for a token depends on the tokens before it alone, not on how they were cut into passes.
    ///
    /// # Errors
    /// An expert could not be read. The state of the positions of this pass is then undefined.
    ///
    /// # Panics
    /// If `ids` is empty, longer than the planned tokens of a pass, or not as long as `positions`.
    pub fn forward(
        &self,
        run: &mut Run<'_>,
        ids: &[u32],
        positions: &[u32],
        mut taps: Option<&mut dyn Taps>,
    ) -> Result<(), Error> {
        assert!(
            !ids.is_empty() && ids.len() == positions.len(),
            "{} ids at {} positions",
            ids.len(),
            positions.len()
        );
        let tokens = ids.len();
        let hidden = self.embed.cols();
        let stream = self.scratch.stream.first(tokens * hidden);
        let start = run.phases.start();
        run.device.embed(stream, &self.embed.matrix(), ids, self.embed_scale);
        run.phases.stop(Phase::Embed, start);
        let mut step = Step {
            device: run.device,
            experts: run.experts.as_deref_mut(),
            choices: run.choices,
            phases: run.phases,
            scratch: &self.scratch,
            tokens,
            positions,
        };
        for (index, layer) in self.layers.iter().enumerate() {
            layer.forward(&mut step, stream)?;
            if let Some(taps) = taps.as_deref_mut() {
                taps.residual(LayerIdx(index as u32), step.device.view(stream));
            }
        }
        Ok(())
    }

    /// The logits after tokens `first..first + rows` of the last pass, `[rows, vocab]`, as a span of device memory.
    ///
    /// # Panics
    /// If more rows are asked for than were planned.
    pub fn logits(&self, run: &mut Run<'_>, first: usize, rows: usize) -> Span {
        let start = run.phases.start();
        let (hidden, vocab) = (self.embed.cols(), self.embed.rows());
        let stream = self.scratch.stream.part(first * hidden, rows * hidden);
        let normed = self.scratch.input.first(rows * hidden);
        let logits = self.scratch.logits.first(rows * vocab);
        self.final_norm.forward(run.device, normed, stream);
        let head = self.head.as_ref().unwrap_or(&self.embed);
        run.device.matmul(logits, &head.matrix(), normed, rows);
        if let Some(cap) = self.softcap {
            run.device.softcap(logits, cap);
        }
        run.phases.stop(Phase::Head, start);
        logits
    }
}

impl LoadedLayer {
    fn build(builder: &mut Builder<'_>, index: LayerIdx, layer: &Layer) -> Result<LoadedLayer, Error> {
        let norm = layer.residual.norm();
        let hidden = builder.hidden();
        let around = |builder: &mut Builder<'_>, before, after| -> Result<Around, Error> {
            let before = builder.norm(before, index, norm, hidden)?;
            let after = match layer.residual.has_post_norm() {
                true => Some(builder.norm(after, index, norm, hidden)?),
                false => None,
            };
            Ok(Around { before, after })
        };
        let around_mixer = around(builder, Role::MixerNorm, Role::MixerPostNorm)?;
        let around_ffn = around(builder, Role::FfnNorm, Role::FfnPostNorm)?;
        let mixer = match &layer.mixer {
            Mixer::Gqa(gqa) => LoadedMixer::Gqa(gqa.build(builder, index)?),
        };
        let ffn = match &layer.ffn {
            Ffn::Dense(glu) => LoadedFfn::Dense(glu.build(builder, index)?),
            Ffn::Moe(moe) => LoadedFfn::Moe(moe.build(builder, index)?),
        };
        Ok(LoadedLayer { mixer, around_mixer, ffn, around_ffn })
    }

    fn forward(&self, step: &mut Step<'_>, stream: Span) -> Result<(), Error> {
        let (input, output) = (step.scratch.input.first(stream.len), step.scratch.output.first(stream.len));
        step.around(Phase::Norm, |device| self.around_mixer.collapse(device, input, stream));
        match &self.mixer {
            LoadedMixer::Gqa(gqa) => gqa.forward(step, output, input),
        }
        step.around(Phase::Norm, |device| self.around_mixer.expand(device, stream, output));
        step.around(Phase::Norm, |device| self.around_ffn.collapse(device, input, stream));
        match &self.ffn {
            LoadedFfn::Dense(glu) => glu.forward(step, output, input),
            LoadedFfn::Moe(moe) => moe.forward(step, output, input)?,
        }
        step.around(Phase::Norm, |device| self.around_ffn.expand(device, stream, output));
        Ok(())
    }
}

impl Step<'_> {
    fn around(&mut self, phase: Phase, work: impl FnOnce(&mut dyn Device)) {
        let start = self.phases.start();
        work(self.device);
        self.phases.stop(phase, start);
    }
}

impl Scratch {
    fn plan(builder: &mut Builder<'_>, description: &Description) -> Scratch {
        let shape = builder.shape();
        let (tokens, hidden) = (shape.tokens, description.hidden);
        let wide = description.layers.iter().map(Layer::scratch_floats).max().unwrap_or(0);
        let mixtures = || description.indexed().filter_map(|(layer, _)| description.moe(layer));
        let experts = mixtures().map(|moe| moe.experts).max();
        let active = description.active_max();
        Scratch {
            stream: builder.scratch(tokens * hidden),
            input: builder.scratch(tokens.max(shape.logit_rows) * hidden),
            output: builder.scratch(tokens * hidden),
            wide: builder.scratch(tokens * wide),
            logits: builder.scratch(shape.logit_rows * description.vocab),
            moe: experts.map(|experts| MoeScratch {
                logits: builder.scratch(tokens * experts),
                input: builder.scratch(tokens * hidden),
                output: builder.scratch(tokens * hidden),
                ranked: builder.scratch(tokens * active * hidden),
            }),
        }
    }
}

impl Layer {
    /// Floats of shared scratch for each token: the mixer and the feed-forward part take turns.
    #[must_use]
    pub fn scratch_floats(&self) -> usize {
        let mixer = match &self.mixer {
            Mixer::Gqa(gqa) => gqa.scratch_floats(),
        };
        let ffn = match &self.ffn {
            Ffn::Dense(glu) => glu.scratch_floats(),
            Ffn::Moe(moe) => moe.scratch_floats(),
        };
        mixer.max(ffn)
    }
}

/// Room for the router's choices of any layer of `description`.
#[must_use]
pub fn choices(description: &Description, table: Table, tokens: usize) -> Choices {
    let experts =
        description.indexed().filter_map(|(layer, _)| description.moe(layer)).map(|moe| moe.experts).max();
    Choices::new(table, tokens, description.active_max(), experts.unwrap_or(0))
}
