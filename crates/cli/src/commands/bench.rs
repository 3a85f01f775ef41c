//! `coli bench`: how fast, and how fast it could be.

use checkpoint::Checkpoint;
use serde_json::{Value, json};
use session::{Plan, Request, Sampling, Stats};
use units::{ByteSize, Rng};

use crate::{
    answer::{self, Given, Stream},
    bounds::{self, Bandwidth},
    call::Call,
    failure::Failure,
    model::Chosen,
    output,
};

/// Decides the tokens of the prompt.
const SEED: u64 = 1;

/// Measures prefill and decode on a prompt of random tokens, then memory and drive.
///
/// # Errors
/// The model cannot be opened, the prompt does not fit its context, or the bench was stopped.
pub fn bench(call: &Call<'_>) -> Result<(), Failure> {
    let count = |name: &str| call.matches.get_one::<usize>(name).copied().unwrap_or(1);
    let (prompt_tokens, decode_tokens) = (count("prompt-tokens"), count("decode-tokens"));
    let chosen = Chosen::of(call)?;
    let mut session = chosen.open()?;
    let mut rng = Rng::new(SEED);
    let mut prompt: Vec<u32> = (0..prompt_tokens).map(|_| rng.below(session.vocab() as u64) as u32).collect();
    let mut step = |prompt: &[u32], tokens: usize| -> Result<(Vec<u32>, Stats), Failure> {
        let request = Request {
            prompt: prompt.to_vec(),
            max_tokens: Some(tokens),
            sampling: Sampling::greedy(),
            ignore_end: true,
            stop: Vec::new(),
        };
        let Given { answer, signal } = answer::give(&mut session, &request, &call.signals, Stream::Silent)?;
        signal.map_or(Ok((answer.token_ids, answer.stats)), |signal| Err(Failure::Stopped { signal }))
    };
    let (first, prefill) = step(&prompt, 1)?;
    prompt.extend(first);
    // The last token of this prompt and all but the last of its answer: `decode_tokens` passes of one token.
    let (_, decode) = step(&prompt, decode_tokens)?;
    let plan = session.plan().clone();
    let storage = session.storage_name();
    // Measured after the model is gone, so that both together need not fit.
    drop(session);
    let files = Checkpoint::open(&chosen.path)?.files().to_vec();
    let machine = Machine {
        memory: bounds::memory(plan.threads),
        drive: bounds::drive(&files, chosen.options.storage, chosen.options.direct)?,
        storage,
    };
    let passes = prompt_tokens.div_ceil(plan.chunk_tokens);
    let report = Report {
        prefill: Part::new(&plan, &machine, &prefill, prefill.prefill_tokens_per_s, prompt_tokens, passes),
        decode: Part::new(&plan, &machine, &decode, decode.decode_tokens_per_s, decode_tokens, decode_tokens),
        plan,
        machine,
    };
    if call.is_on("json") { output::json(&report.json()) } else { output::rows(&report.rows()) }
}

struct Machine {
    memory: Bandwidth,
    drive: Bandwidth,
    storage: &'static str,
}

/// One half of the bench, per token.
#[derive(serde::Serialize)]
struct Part {
    tokens: usize,
    tokens_per_s: Option<f64>,
    bytes_touched_per_token: f64,
    bytes_missed_per_token: f64,
    memory_bound_tokens_per_s: f64,
    drive_bound_tokens_per_s: Option<f64>,
    /// The tighter of the two bounds.
    bound: &'static str,
    share_of_bound: Option<f64>,
    expert_hit_rate: Option<f64>,
}

impl Part {
    /// Figures of `tokens` tokens computed in `passes` passes, each of which reads all dense weights once.
    fn new(
        plan: &Plan,
        machine: &Machine,
        stats: &Stats,
        speed: Option<f64>,
        tokens: usize,
        passes: usize,
    ) -> Part {
        let per_token = |bytes: f64| bytes / tokens as f64;
        let expert_bytes =
            plan.experts.as_ref().map_or(0.0, |experts| experts.stored_bytes as f64 / experts.count as f64);
        let dense = plan.memory.dense_bytes as f64 * passes as f64;
        let touched = per_token(dense + stats.expert_requests as f64 * expert_bytes);
        let missed = per_token(stats.disk_read_bytes as f64);
        let memory_bound = machine.memory.bytes_per_s / touched;
        let drive_bound = (missed > 0.0).then(|| machine.drive.bytes_per_s / missed);
        let (bound, limit) = match drive_bound {
            Some(drive) if drive < memory_bound => ("drive", drive),
            _ => ("memory", memory_bound),
        };
        Part {
            tokens,
            tokens_per_s: speed,
            bytes_touched_per_token: touched,
            bytes_missed_per_token: missed,
            memory_bound_tokens_per_s: memory_bound,
            drive_bound_tokens_per_s: drive_bound,
            bound,
            share_of_bound: speed.map(|speed| speed / limit),
            expert_hit_rate: (stats.expert_requests > 0)
                .then(|| stats.expert_hits as f64 / stats.expert_requests as f64),
        }
    }

    fn row(&self) -> String {
        let drive =
            self.drive_bound_tokens_per_s.map_or_else(|| "none".to_string(), |bound| format!("{bound:.1}"));
        format!(
            "{:.2} tok/s, {:.1} % of the {} bound; memory bound {:.1} ({} a token), drive bound {drive} ({} a token)",
            self.tokens_per_s.unwrap_or(0.0),
            100.0 * self.share_of_bound.unwrap_or(0.0),
            self.bound,
            self.memory_bound_tokens_per_s,
            ByteSize(self.bytes_touched_per_token as u64),
            ByteSize(self.bytes_missed_per_token as u64),
        )
    }
}

struct Report {
    plan: Plan,
    prefill: Part,
    decode: Part,
    machine: Machine,
}

impl Report {
    fn json(&self) -> Value {
        json!({
            "model": self.plan.model,
            "numerics": self.plan.numerics,
            "kernels": self.plan.kernels,
            "threads": self.plan.threads,
            "storage": self.machine.storage,
            "ram_limit_bytes": self.plan.ceiling.bytes,
            "prefill": self.prefill,
            "decode": self.decode,
            "memory_read": self.machine.memory,
            "drive_read": self.machine.drive,
        })
    }

    fn rows(&self) -> Vec<(String, String)> {
        let bandwidth = |read: &Bandwidth| format!("{}/s", ByteSize(read.bytes_per_s as u64));
        let rows = [
            (
                "model",
                format!(
                    "{}, {} arithmetic, {} kernels, {} threads",
                    self.plan.model, self.plan.numerics, self.plan.kernels, self.plan.threads
                ),
            ),
            ("memory read", bandwidth(&self.machine.memory)),
            ("drive read", format!("{} by {}", bandwidth(&self.machine.drive), self.machine.storage)),
            ("prefill", self.prefill.row()),
            ("decode", self.decode.row()),
        ];
        rows.into_iter().map(|(word, value)| (word.to_string(), value)).collect()
    }
}
