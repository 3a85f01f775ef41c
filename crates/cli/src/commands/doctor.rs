//! `coli doctor`: what works, what does not, what works in another way than it was meant to.

use checkpoint::Checkpoint;
use serde_json::{Value, json};
use session::Plan;
use settings::{Origin, TABLE};
use text::Text;
use units::ByteSize;

use crate::{
    bounds,
    call::Call,
    failure::{Failure, one_line},
    model::Chosen,
    output,
};

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Pass,
    Warn,
    Fail,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Warn => "warn",
            Status::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
struct Check {
    name: &'static str,
    status: Status,
    detail: String,
}

impl Check {
    fn new(name: &'static str, status: Status, detail: impl Into<String>) -> Check {
        Check { name, status, detail: detail.into() }
    }

    fn of<E: std::error::Error>(name: &'static str, result: Result<String, E>, otherwise: Status) -> Check {
        match result {
            Ok(detail) => Check::new(name, Status::Pass, detail),
            Err(error) => Check::new(name, otherwise, one_line(&error)),
        }
    }
}

/// Checks settings, files, description, plan, text and drive. Reads headers and a sample of the weights, writes nothing.
///
/// # Errors
/// A check fails, or the checks cannot be made at all.
pub fn doctor(call: &Call<'_>) -> Result<(), Failure> {
    if call.is_on("deep") {
        return Err(Failure::refused(
            "a deep check is not available yet",
            "without --deep, every header is checked",
        ));
    }
    let chosen = Chosen::of(call)?;
    let mut checks = vec![settings(call)];
    match Checkpoint::open(&chosen.path) {
        Ok(checkpoint) => checks.extend(model(&checkpoint, &chosen)),
        Err(error) => checks.push(Check::new("files", Status::Fail, one_line(&error))),
    }
    report(call, &checks)?;
    let failed = checks.iter().filter(|check| check.status == Status::Fail).count();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::refused(
        format!("{failed} of {} checks failed", checks.len()),
        "the failed checks say what was needed and found",
    ))
}

fn report(call: &Call<'_>, checks: &[Check]) -> Result<(), Failure> {
    if call.is_on("json") {
        let row = |check: &Check| json!({"check": check.name, "status": check.status.name(), "detail": check.detail});
        return output::json(&json!({"checks": checks.iter().map(row).collect::<Vec<Value>>()}));
    }
    let row = |check: &Check| (format!("{} {}", check.status.name(), check.name), check.detail.clone());
    output::rows(&checks.iter().map(row).collect::<Vec<_>>())
}

fn settings(call: &Call<'_>) -> Check {
    let stated = TABLE.iter().filter(|setting| call.settings.origin(setting.name) != &Origin::Default);
    let words: Vec<String> = stated
        .map(|setting| format!("{} from {}", setting.name, call.settings.origin(setting.name)))
        .collect();
    let detail = if words.is_empty() { "all defaults".to_string() } else { words.join(", ") };
    Check::new("settings", Status::Pass, detail)
}

fn model(checkpoint: &Checkpoint, chosen: &Chosen) -> Vec<Check> {
    let bytes: u64 = checkpoint.tensors().map(|tensor| tensor.len_bytes).sum();
    let files = format!(
        "{} with {} tensors, {}",
        checkpoint.files().len(),
        checkpoint.tensors().len(),
        ByteSize(bytes)
    );
    let mut checks = vec![Check::new("files", Status::Pass, files)];
    checks.extend(checkpoint.notes().iter().map(|note| Check::new("files", Status::Warn, note)));
    checks.push(Check::of(
        "family",
        models::describe(checkpoint).map(|model| model.family.to_string()),
        Status::Fail,
    ));
    checks.push(Check::of(
        "plan",
        Plan::new(checkpoint, &chosen.options).map(|plan| summary(&plan)),
        Status::Fail,
    ));
    checks.extend(text(checkpoint));
    checks.extend(drive(checkpoint, chosen));
    checks
}

fn summary(plan: &Plan) -> String {
    format!(
        "{} of {} planned, context {}",
        ByteSize(plan.memory.total_bytes),
        ByteSize(plan.ceiling.bytes),
        plan.context
    )
}

/// Without a tokenizer or template a model still answers ids, so neither is fatal.
fn text(checkpoint: &Checkpoint) -> Vec<Check> {
    let text = match Text::open(checkpoint) {
        Ok(text) => text,
        Err(error) => return vec![Check::new("tokenizer", Status::Warn, one_line(&error))],
    };
    let tokens = format!("{} tokens", text.tokenizer().vocab_size());
    vec![
        Check::new("tokenizer", Status::Pass, tokens),
        Check::of("chat template", text.template().map(|_| "usable".to_string()), Status::Warn),
    ]
}

fn drive(checkpoint: &Checkpoint, chosen: &Chosen) -> Vec<Check> {
    let options = storage::SourceOptions { direct: chosen.options.direct, ..Default::default() };
    let opened = storage::Files::open(checkpoint.files())
        .and_then(|files| storage::open_source(files, chosen.options.storage, options));
    let source = match opened {
        Ok(source) => source,
        Err(error) => return vec![Check::new("storage", Status::Fail, one_line(&error))],
    };
    let mut checks = vec![Check::new("storage", Status::Pass, source.name())];
    checks.extend(source.fallbacks().iter().map(|fallback| Check::new("storage", Status::Warn, fallback)));
    let measured = bounds::drive(checkpoint.files(), chosen.options.storage, chosen.options.direct);
    checks.push(Check::of(
        "drive",
        measured.map(|read| format!("{}/s", ByteSize(read.bytes_per_s as u64))),
        Status::Fail,
    ));
    checks
}
