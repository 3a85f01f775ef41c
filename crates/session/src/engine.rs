//! The engine: a loaded model, the state of one sequence, and the passes that move it forward.

use std::{path::Path, sync::Arc};

use checkpoint::{Checkpoint, Tensor};
use device::{Cpu, Device};
use kernels::Pool;
use layers::{
    build::{Builder, Placed},
    moe::choice::Choices,
    stack::{self, Run, Stack},
    taps::Taps,
};
use storage::Files;
use telemetry::Phases;
use text::Text;
use tiers::{Catalogue, Store};
use units::Span;

use crate::{
    Error, Event, Options, Plan, Progress, Stats, memory,
    plan::{self, Drawn},
    sampling::Sampler,
};

/// A model that is ready to answer.
pub struct Session {
    plan: Plan,
    text: Result<Text, text::Error>,
    end_tokens: Vec<u32>,
    stack: Stack,
    device: Cpu,
    store: Option<Store>,
    choices: Choices,
    phases: Phases,
    vocab: usize,
    ids: Vec<u32>,
    positions: Vec<u32>,
    logits: Vec<f32>,
}

impl Session {
    /// Opens the checkpoint at `path`, plans, and loads everything but the experts.
    ///
    /// # Errors
    /// As [`Plan::new`], or a file cannot be read.
    pub fn open(
        path: &Path,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Session, Error> {
        let checkpoint = Checkpoint::open(path)?;
        let text = Text::open(&checkpoint);
        let end_tokens = text::end_tokens(&checkpoint, text.as_ref().ok())?;
        let drawn = plan::draw(&checkpoint, options)?;
        let mut loader = Loader {
            files: Files::open(checkpoint.files())?,
            progress,
            done: 0,
            total: drawn.plan.memory.dense_bytes,
        };
        let mut fill = |tensor: &Tensor, out: &mut [u8]| loader.fill(tensor, out);
        let mut builder = Builder::new(&checkpoint, &drawn.description, drawn.shape, Some(&mut fill))?;
        let stack = Stack::build(&mut builder)?;
        let placed = builder.finish();
        let store = store(&checkpoint, &stack, &drawn, options)?;
        let device = device(&drawn, &placed);
        let shape = drawn.shape;
        Ok(Session {
            choices: stack::choices(&drawn.description, drawn.table, shape.tokens),
            phases: Phases::default(),
            vocab: drawn.description.vocab,
            ids: Vec::with_capacity(shape.context),
            positions: Vec::with_capacity(shape.tokens),
            logits: vec![0.0; drawn.description.vocab],
            plan: drawn.plan,
            text,
            end_tokens,
            stack,
            device,
            store,
        })
    }

    /// What was decided.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The tokenizer and chat template.
    ///
    /// # Errors
    /// Why there are none.
    pub fn text(&self) -> Result<&Text, &text::Error> {
        self.text.as_ref()
    }

    /// The tokens that end an answer.
    #[must_use]
    pub fn end_tokens(&self) -> &[u32] {
        &self.end_tokens
    }

    /// Size of the vocabulary.
    #[must_use]
    pub fn vocab(&self) -> usize {
        self.vocab
    }

    /// The tokens whose state is held, first to last.
    #[must_use]
    pub fn processed(&self) -> &[u32] {
        &self.ids
    }

    /// Ways of reading that were wanted and could not be had, with the reason.
    #[must_use]
    pub fn fallbacks(&self) -> Vec<String> {
        self.store.as_ref().map(|store| store.fallbacks().to_vec()).unwrap_or_default()
    }

    /// The way experts are read.
    #[must_use]
    pub fn storage_name(&self) -> &'static str {
        self.store.as_ref().map_or("none", Store::source_name)
    }

    /// Forgets the sequence.
    pub fn reset(&mut self) {
        self.ids.clear();
    }

    /// Forgets all but the first `tokens` tokens of the sequence.
    pub fn truncate(&mut self, tokens: usize) {
        self.ids.truncate(tokens);
    }

    /// Runs `ids` after what is held, in one pass; the state then holds them too.
    ///
    /// # Errors
    /// An expert cannot be read; the state is then as before.
    ///
    /// # Panics
    /// If `ids` is empty, longer than a pass, or does not fit the context.
    pub fn forward(&mut self, ids: &[u32], taps: Option<&mut dyn Taps>) -> Result<(), Error> {
        let first = self.ids.len();
        assert!(
            first + ids.len() <= self.plan.context,
            "{} + {} tokens of {}",
            first,
            ids.len(),
            self.plan.context
        );
        self.positions.clear();
        self.positions.extend((first..first + ids.len()).map(|position| position as u32));
        let mut run = Run {
            device: &mut self.device,
            experts: self.store.as_mut(),
            choices: &mut self.choices,
            phases: &mut self.phases,
        };
        self.stack.forward(&mut run, ids, &self.positions, taps)?;
        self.ids.extend_from_slice(ids);
        Ok(())
    }

    /// The logits after token `row` of the last pass, `[vocab]`.
    pub fn logits_of(&mut self, row: usize) -> &[f32] {
        let span = self.logits_span(row);
        self.device.view(span)
    }

    fn logits_span(&mut self, row: usize) -> Span {
        let mut run = Run {
            device: &mut self.device,
            experts: self.store.as_mut(),
            choices: &mut self.choices,
            phases: &mut self.phases,
        };
        self.stack.logits(&mut run, row, 1)
    }

    /// Computes the logits after token `row` of the last pass and keeps them for [`Session::sample`].
    pub(crate) fn keep_logits(&mut self, row: usize) {
        let span = self.logits_span(row);
        self.device.read(span, &mut self.logits);
    }

    /// Draws the next token from the kept logits.
    pub(crate) fn sample(&mut self, sampler: &mut Sampler) -> u32 {
        let start = self.phases.start();
        let id = sampler.next(&self.logits);
        self.phases.stop(telemetry::Phase::Sample, start);
        id
    }

    /// Computes `prompt` as far as it is not held already, and keeps the logits after it. Returns whether it was cancelled.
    pub(crate) fn prefill(
        &mut self,
        prompt: &[u32],
        cancelled: &dyn Fn() -> bool,
        on_event: &mut dyn FnMut(Event),
    ) -> Result<bool, Error> {
        let reused = self.reusable(prompt);
        self.truncate(reused);
        let total = prompt.len() - reused;
        let mut last = 0;
        for part in prompt[reused..].chunks(self.plan.chunk_tokens) {
            if cancelled() {
                return Ok(true);
            }
            self.forward(part, None)?;
            last = part.len() - 1;
            on_event(Event::Prefill { done: self.ids.len() - reused, total });
        }
        self.keep_logits(last);
        Ok(false)
    }

    /// Tokens at the beginning of `prompt` whose state is held; at least one is left to compute.
    #[must_use]
    pub(crate) fn reusable(&self, prompt: &[u32]) -> usize {
        let common = self.ids.iter().zip(prompt).take_while(|(held, wanted)| held == wanted).count();
        common.min(prompt.len().saturating_sub(1))
    }

    /// Refuses what cannot be a text of this model.
    pub(crate) fn check(&self, ids: &[u32]) -> Result<(), Error> {
        if ids.is_empty() {
            return Err(Error::EmptyPrompt);
        }
        if let Some(position) = ids.iter().position(|id| *id as usize >= self.vocab) {
            return Err(Error::Token { found: ids[position], position, vocab: self.vocab });
        }
        let context = self.plan.context;
        if ids.len() > context {
            return Err(Error::ContextFull { found: ids.len(), most: context, context });
        }
        Ok(())
    }

    pub(crate) fn clear_counters(&mut self) {
        self.phases.clear();
        if let Some(store) = &mut self.store {
            store.clear_stats();
        }
    }

    pub(crate) fn fill_counters(&self, stats: &mut Stats, wall_us: u64) {
        if let Some(store) = &self.store {
            let counted = store.stats();
            stats.expert_requests = counted.requests;
            stats.expert_hits = counted.hits;
            stats.expert_misses = counted.misses;
            stats.disk_read_bytes = counted.read_bytes;
        }
        stats.peak_rss_bytes = memory::peak_resident_bytes();
        stats.ram_limit_bytes = self.plan.ceiling.bytes;
        stats.phases_us = self.phases.report(wall_us);
    }
}

fn device(drawn: &Drawn, placed: &Placed) -> Cpu {
    let pool = Arc::new(Pool::new(drawn.plan.threads));
    let mut device = Cpu::new(drawn.table, pool, placed.floats);
    for (span, values) in &placed.constants {
        device.write(*span, values);
    }
    device
}

fn store(
    checkpoint: &Checkpoint,
    stack: &Stack,
    drawn: &Drawn,
    options: &Options,
) -> Result<Option<Store>, Error> {
    if drawn.plan.experts.is_none() {
        return Ok(None);
    }
    let mut catalogue = Catalogue::default();
    for (layer, moe) in stack.mixtures() {
        catalogue.add(layer, moe.experts().extents(), moe.experts().block_bytes());
    }
    let files = Files::open(checkpoint.files())?;
    let source = storage::open_source(
        files,
        options.storage,
        storage::SourceOptions { direct: options.direct, ..Default::default() },
    )?;
    Ok(Some(Store::new(source, catalogue, drawn.budget_bytes)?))
}

/// Reads dense weights and tells how far it has come.
struct Loader<'a> {
    files: Files,
    progress: &'a mut dyn FnMut(Progress),
    done: u64,
    total: u64,
}

impl Loader<'_> {
    fn fill(&mut self, tensor: &Tensor, out: &mut [u8]) -> Result<(), layers::Error> {
        storage::read_range(&self.files, storage::FileId(tensor.file.0), tensor.offset_bytes, out)?;
        self.done += out.len() as u64;
        (self.progress)(Progress { what: "dense weights", done_bytes: self.done, total_bytes: self.total });
        Ok(())
    }
}
