//! Everything decided before the first token, and the arithmetic that decided it.
//!
//! A plan measures with the same walk that a session loads with ([`layers::build::Builder`]), so what it says is what is
//! allocated.

use checkpoint::Checkpoint;
use kernels::Table;
use layers::{
    Description,
    build::{Builder, Placed},
    footprint::{Footprint, Shape},
    moe::{catalogue::LayerExperts, choice::Choices},
    stack::Stack,
};
use units::ByteSize;

use crate::{Error, Options, memory, memory::Ceiling};

/// Context when none is asked for, if the model has so much.
const CONTEXT_DEFAULT: usize = 4096;
/// A default context is not cut below this to make a model fit.
const CONTEXT_LEAST: usize = 256;
/// A default context is cut down to this, but not below, when its state would crowd out the expert cache.
const CONTEXT_ROOMY: usize = 1024;
/// The state of a default context may take this share of what is left after the weights.
const STATE_SHARE: u64 = 4;
/// Tokens of a prefill pass, the most first; the first that leaves room for the cache is taken.
const CHUNKS: [usize; 8] = [512, 256, 128, 64, 32, 16, 8, 4];
/// Scratch of a pass may take this share of what is left after weights and state.
const SCRATCH_SHARE: u64 = 4;
/// What the process grows by after planning: thread stacks, read buffers, tables, code not touched yet.
const GROWTH_BYTES: u64 = 6_000_000;

/// What a session will be.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Plan {
    /// Name of the model: that of its folder or file.
    pub model: String,
    /// Its family.
    pub family: &'static str,
    /// Layers.
    pub layers: usize,
    /// Positions of a sequence.
    pub context: usize,
    /// Positions the model was trained for.
    pub context_max: usize,
    /// Most tokens of a pass.
    pub chunk_tokens: usize,
    /// Threads that compute.
    pub threads: usize,
    /// Kernel table.
    pub kernels: &'static str,
    /// Way of reading, as asked for; the session says what it became.
    pub storage: String,
    /// Which arithmetic.
    pub numerics: &'static str,
    /// The most memory to use.
    pub ceiling: Ceiling,
    /// Bytes by purpose.
    pub memory: Memory,
    /// The experts, if the model has any.
    pub experts: Option<Experts>,
}

/// Bytes of the plan by purpose; they add up to `total_bytes`.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Memory {
    /// The program itself: code, tokenizer, tables, threads.
    pub program_bytes: u64,
    /// Weights that every token uses.
    pub dense_bytes: u64,
    /// Norm weights and position tables.
    pub constant_bytes: u64,
    /// Keys and values of the whole context.
    pub state_bytes: u64,
    /// Activations of a pass.
    pub scratch_bytes: u64,
    /// Experts kept in memory.
    pub cache_bytes: u64,
    /// All of it.
    pub total_bytes: u64,
}

/// What the plan says of experts.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Experts {
    /// Routed experts of all layers.
    pub count: usize,
    /// Experts that a token visits, over all layers.
    pub active: usize,
    /// Bytes of all experts as stored.
    pub stored_bytes: u64,
    /// Bytes of the experts that a token visits.
    pub active_bytes: u64,
    /// Bytes of a place in the cache.
    pub slot_bytes: u64,
    /// Places in the cache.
    pub slots: usize,
    /// Stored formats of gate, up and down in the first layer that has experts.
    pub formats: [String; 3],
}

/// A plan with what it was made from, for a session to execute.
pub(crate) struct Drawn {
    pub plan: Plan,
    pub description: Description,
    pub shape: Shape,
    pub table: Table,
    pub budget_bytes: u64,
}

impl Plan {
    /// Plans a session on `checkpoint`; reads headers and a few small tensors, no weights.
    ///
    /// # Errors
    /// The model is not known or not whole, an option is out of range, or it does not fit; then the error holds the sum.
    pub fn new(checkpoint: &Checkpoint, options: &Options) -> Result<Plan, Error> {
        Ok(draw(checkpoint, options)?.plan)
    }

    /// The plan as lines of a word and its value.
    #[must_use]
    pub fn lines(&self) -> Vec<(String, String)> {
        let size = |bytes: u64| ByteSize(bytes).to_string();
        let mut lines = vec![
            ("model", format!("{} ({}, {} layers)", self.model, self.family, self.layers)),
            (
                "context",
                format!(
                    "{} of {} tokens, prefill in passes of {}",
                    self.context, self.context_max, self.chunk_tokens
                ),
            ),
            (
                "compute",
                format!("{} threads, {} kernels, {} arithmetic", self.threads, self.kernels, self.numerics),
            ),
            ("storage", self.storage.clone()),
            ("ceiling", format!("{} ({})", size(self.ceiling.bytes), self.ceiling.from)),
            ("program", size(self.memory.program_bytes)),
            ("dense weights", size(self.memory.dense_bytes)),
            ("constants", size(self.memory.constant_bytes)),
            ("state", size(self.memory.state_bytes)),
            ("scratch", size(self.memory.scratch_bytes)),
        ];
        if let Some(experts) = &self.experts {
            let share = 100.0 * experts.slots as f64 / experts.count as f64;
            lines.push((
                "expert cache",
                format!(
                    "{} = {} of {} experts ({share:.0} %), {} each",
                    size(self.memory.cache_bytes),
                    experts.slots,
                    experts.count,
                    size(experts.slot_bytes)
                ),
            ));
            lines.push((
                "experts on disk",
                format!(
                    "{} as {}, of which a token visits {} = {}",
                    size(experts.stored_bytes),
                    experts.formats.join("/"),
                    experts.active,
                    size(experts.active_bytes)
                ),
            ));
        }
        lines.push(("total", size(self.memory.total_bytes)));
        lines.into_iter().map(|(word, value)| (word.to_string(), value)).collect()
    }
}

/// Makes the plan.
pub(crate) fn draw(checkpoint: &Checkpoint, options: &Options) -> Result<Drawn, Error> {
    let description = models::describe(checkpoint)?;
    let ceiling = Ceiling::find(options.ram)?;
    let table = table(options.kernels.as_deref())?;
    let threads = options.threads.unwrap_or_else(available_threads).max(1);
    let program_bytes = memory::resident_bytes() + GROWTH_BYTES;
    let mut sizes = Sizes::candidates(&description, options)?;
    let mut refusal = None;
    while let Some(shape) = sizes.next() {
        let measured = Measured::new(checkpoint, &description, shape)?;
        match measured.fit(ceiling.bytes, program_bytes, options, sizes.may_refuse()) {
            Ok(memory) => {
                let plan = measured.plan(checkpoint, &description, &ceiling, memory, table, threads, options);
                return Ok(Drawn { budget_bytes: plan.memory.cache_bytes, plan, shape, table, description });
            }
            Err(short) => refusal = Some(short),
        }
    }
    let Short { needed, arithmetic } = refusal.unwrap_or_default();
    Err(Error::DoesNotFit { needed, ceiling: ceiling.bytes, from: ceiling.from, arithmetic })
}

fn table(wished: Option<&str>) -> Result<Table, Error> {
    let Some(name) = wished else { return Ok(Table::detect()) };
    Table::named(name).ok_or_else(|| Error::Kernels {
        found: name.to_string(),
        known: Table::all().iter().map(|table| table.name()).collect::<Vec<_>>().join(", "),
    })
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The shapes to try, the most wanted first.
struct Sizes {
    shapes: Vec<Shape>,
    next: usize,
}

impl Sizes {
    fn candidates(description: &Description, options: &Options) -> Result<Sizes, Error> {
        let most = description.context;
        let contexts = match options.context {
            Some(found) if found == 0 || found > most => return Err(Error::Context { found, most }),
            Some(found) => vec![found],
            None => {
                let first = CONTEXT_DEFAULT.min(most);
                let halves = std::iter::successors(Some(first), |context| Some(context / 2));
                halves.take_while(|context| *context == first || *context >= CONTEXT_LEAST).collect()
            }
        };
        let chunks = match options.prefill_chunk {
            Some(tokens) => vec![tokens.max(1)],
            None => CHUNKS.to_vec(),
        };
        let shape =
            |context: usize, tokens: usize| Shape { tokens: tokens.min(context), context, logit_rows: 1 };
        let mut shapes: Vec<Shape> = contexts
            .iter()
            .flat_map(|context| chunks.iter().map(move |tokens| shape(*context, *tokens)))
            .collect();
        shapes.dedup();
        Ok(Sizes { shapes, next: 0 })
    }

    fn next(&mut self) -> Option<Shape> {
        self.next += 1;
        self.shapes.get(self.next - 1).copied()
    }

    /// What the last shape may be refused for, because something smaller comes after it.
    fn may_refuse(&self) -> Refusable {
        let current = self.shapes[self.next - 1];
        let next = self.shapes.get(self.next);
        Refusable {
            scratch: next.is_some_and(|next| next.context == current.context),
            state: current.context / 2 >= CONTEXT_ROOMY
                && self.shapes.iter().any(|shape| shape.context < current.context),
        }
    }
}

/// Whether a shape that fits may be refused all the same, because a part of it crowds out the cache.
#[derive(Clone, Copy)]
struct Refusable {
    scratch: bool,
    state: bool,
}

/// A walk over the description under one shape.
struct Measured {
    shape: Shape,
    footprint: Footprint,
    choice_bytes: u64,
    experts: Option<ExpertSizes>,
}

struct ExpertSizes {
    count: usize,
    active: usize,
    active_max: usize,
    slot_bytes: u64,
    stored_bytes: u64,
    active_bytes: u64,
    formats: [String; 3],
}

/// A model that does not fit.
#[derive(Default)]
struct Short {
    needed: u64,
    arithmetic: String,
}

impl Measured {
    fn new(checkpoint: &Checkpoint, description: &Description, shape: Shape) -> Result<Measured, Error> {
        let mut builder = Builder::new(checkpoint, description, shape, None)?;
        let stack = Stack::build(&mut builder)?;
        let Placed { footprint, .. } = builder.finish();
        let widest = description
            .indexed()
            .filter_map(|(layer, _)| description.moe(layer))
            .map(|moe| moe.experts)
            .max();
        Ok(Measured {
            shape,
            footprint,
            choice_bytes: Choices::bytes(shape.tokens, description.active_max(), widest.unwrap_or(0)),
            experts: ExpertSizes::of(&stack, description),
        })
    }

    /// Cuts the ceiling up, or says what is missing; refuses what crowds out the cache, as far as it may.
    fn fit(
        &self,
        ceiling: u64,
        program_bytes: u64,
        options: &Options,
        may: Refusable,
    ) -> Result<Memory, Short> {
        let Footprint { dense_bytes, constant_bytes, state_bytes, scratch_bytes } = self.footprint;
        let scratch_bytes = scratch_bytes + self.choice_bytes;
        let fixed = program_bytes + dense_bytes + constant_bytes + state_bytes + scratch_bytes;
        let least = self.experts.as_ref().map_or(0, |experts| experts.active_max as u64 * experts.slot_bytes);
        if fixed + least > ceiling {
            let size = |bytes: u64| ByteSize(bytes);
            let arithmetic = format!(
                "program {} + dense weights {} + constants {} + state of {} tokens {} + scratch of {} tokens {} + experts of one layer {}",
                size(program_bytes),
                size(dense_bytes),
                size(constant_bytes),
                self.shape.context,
                size(state_bytes),
                self.shape.tokens,
                size(scratch_bytes),
                size(least),
            );
            return Err(Short { needed: fixed + least, arithmetic });
        }
        let room = ceiling - (fixed - scratch_bytes - state_bytes);
        let crowds = |is_refusable: bool, bytes: u64, share: u64| is_refusable && bytes * share > room;
        let all = self.experts.as_ref().map_or(0, |experts| experts.count as u64 * experts.slot_bytes);
        if fixed + all > ceiling
            && (crowds(may.scratch, scratch_bytes, SCRATCH_SHARE)
                || crowds(may.state, state_bytes, STATE_SHARE))
        {
            return Err(Short::default());
        }
        let cache_bytes = self.experts.as_ref().map_or(0, |experts| {
            let afford = (ceiling - fixed) / experts.slot_bytes;
            let wished = options.cache_experts.map_or(u64::MAX, |slots| slots.max(experts.active_max) as u64);
            afford.min(wished).min(experts.count as u64) * experts.slot_bytes
        });
        Ok(Memory {
            program_bytes,
            dense_bytes,
            constant_bytes,
            state_bytes,
            scratch_bytes,
            cache_bytes,
            total_bytes: fixed + cache_bytes,
        })
    }

    #[allow(clippy::too_many_arguments)] // One call: the plan is the sum of everything known at this point.
    fn plan(
        self,
        checkpoint: &Checkpoint,
        description: &Description,
        ceiling: &Ceiling,
        memory: Memory,
        table: Table,
        threads: usize,
        options: &Options,
    ) -> Plan {
        let experts = self.experts.map(|experts| Experts {
            count: experts.count,
            active: experts.active,
            stored_bytes: experts.stored_bytes,
            active_bytes: experts.active_bytes,
            slot_bytes: experts.slot_bytes,
            slots: (memory.cache_bytes / experts.slot_bytes) as usize,
            formats: experts.formats,
        });
        Plan {
            model: model_name(checkpoint),
            family: description.family,
            layers: description.layers.len(),
            context: self.shape.context,
            context_max: description.context,
            chunk_tokens: self.shape.tokens,
            threads,
            kernels: table.name(),
            storage: options.storage.to_string(),
            numerics: "exact",
            ceiling: ceiling.clone(),
            memory,
            experts,
        }
    }
}

impl ExpertSizes {
    fn of(stack: &Stack, description: &Description) -> Option<ExpertSizes> {
        let layers: Vec<(usize, usize, &LayerExperts)> = stack
            .mixtures()
            .filter_map(|(layer, loaded)| {
                description.moe(layer).map(|moe| (moe.experts, moe.active, loaded.experts()))
            })
            .collect();
        let first = layers.first()?.2;
        Some(ExpertSizes {
            count: layers.iter().map(|(experts, ..)| experts).sum(),
            active: layers.iter().map(|(_, active, _)| active).sum(),
            active_max: description.active_max(),
            slot_bytes: layers.iter().map(|(.., experts)| experts.block_bytes() as u64).max()?,
            stored_bytes: layers
                .iter()
                .map(|(count, _, experts)| *count as u64 * experts.expert_bytes())
                .sum(),
            active_bytes: layers
                .iter()
                .map(|(_, active, experts)| *active as u64 * experts.expert_bytes())
                .sum(),
            formats: first.formats().map(|format| format.name().to_string()),
        })
    }
}

/// The last part of the checkpoint's path, without `.gguf`.
fn model_name(checkpoint: &Checkpoint) -> String {
    let path = checkpoint.path().canonicalize().unwrap_or_else(|_| checkpoint.path().to_path_buf());
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    name.strip_suffix(".gguf").map(str::to_string).unwrap_or(name)
}
