//! Giving one answer: streamed as it comes, stopped by a signal, followed by a line of figures.

use std::{
    sync::atomic::Ordering,
    time::{SystemTime, UNIX_EPOCH},
};

use session::{Answer, Event, Request, Sampling, Session, Stats};
use settings::Settings;
use units::ByteSize;

use crate::{failure::Failure, output, progress::Bar, signals::Signals};

/// Where the text goes while it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// To standard output.
    Shown,
    /// Nowhere.
    Silent,
}

/// An answer, and the signal that cut it short if one did.
#[derive(Debug)]
pub struct Given {
    /// The answer.
    pub answer: Answer,
    /// The signal.
    pub signal: Option<u8>,
}

/// Answers `request`.
///
/// # Errors
/// As [`Session::generate`], or standard output is closed.
pub fn give(
    session: &mut Session,
    request: &Request,
    signals: &Signals,
    stream: Stream,
) -> Result<Given, Failure> {
    let mut bar = Bar::tokens();
    let mut failure = None;
    signals.begin();
    let answer = session.generate(request, signals.cancel(), &mut |event| match event {
        Event::Prefill { done, total } => bar.show("prompt", done as u64, total as u64),
        Event::Token { text, .. } | Event::Tail { text } => {
            bar.clear();
            if stream == Stream::Shown && failure.is_none() && !text.is_empty() {
                failure = output::answer(&text).err();
                // Nobody reads on, so nobody needs the rest.
                if failure.is_some() {
                    signals.cancel().store(true, Ordering::Relaxed);
                }
            }
        }
    });
    bar.clear();
    let signal = signals.end();
    match failure {
        Some(failure) => Err(failure),
        None => Ok(Given { answer: answer?, signal }),
    }
}

/// The request that `settings` make of a prompt.
pub fn request(settings: &Settings, prompt: Vec<u32>) -> Request {
    Request {
        prompt,
        max_tokens: settings.max_tokens,
        sampling: Sampling {
            temperature: settings.temperature,
            top_k: settings.top_k,
            top_p: settings.top_p,
            min_p: settings.min_p,
            seed: settings.seed.unwrap_or_else(clock),
        },
        ignore_end: false,
        stop: settings.stop.clone(),
    }
}

/// A seed that nobody chose.
fn clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The figures of an answer in one line.
pub fn figures(answer: &Answer) -> String {
    let stats = &answer.stats;
    let mut parts = vec![format!("{} tokens", answer.token_ids.len())];
    if let Some(speed) = stats.decode_tokens_per_s {
        parts.push(format!("{speed:.1} tok/s"));
    }
    if stats.expert_requests > 0 {
        parts.push(format!("{:.0} % of {} experts in memory", hit_percent(stats), stats.expert_requests));
    }
    parts.push(format!("{} read", ByteSize(stats.disk_read_bytes)));
    parts.push(format!("{} resident", ByteSize(stats.peak_rss_bytes)));
    parts.join(", ")
}

/// The figures of an answer, one a row.
pub fn rows(stats: &Stats) -> Vec<(String, String)> {
    let speed =
        |speed: Option<f64>| speed.map_or_else(|| "-".to_string(), |speed| format!("{speed:.2} tok/s"));
    let mut rows = vec![
        (
            "prompt",
            format!(
                "{} tokens, {} more were held; {}",
                stats.prefill_tokens,
                stats.reused_tokens,
                speed(stats.prefill_tokens_per_s)
            ),
        ),
        ("first token", format!("after {:.3} s", stats.ttft_s)),
        ("answer", speed(stats.decode_tokens_per_s)),
        (
            "experts",
            format!(
                "{} asked for, {} in memory ({:.1} %), {} read",
                stats.expert_requests,
                stats.expert_hits,
                hit_percent(stats),
                stats.expert_misses
            ),
        ),
        ("drive", format!("{} read", ByteSize(stats.disk_read_bytes))),
        (
            "memory",
            format!(
                "{} at most, ceiling {}",
                ByteSize(stats.peak_rss_bytes),
                ByteSize(stats.ram_limit_bytes)
            ),
        ),
    ];
    let phases: Vec<String> = stats
        .phases_us
        .iter()
        .filter(|(_, us)| **us > 0)
        .map(|(phase, us)| format!("{phase} {:.1} ms", *us as f64 / 1e3))
        .collect();
    rows.push(("time", phases.join(", ")));
    rows.into_iter().map(|(word, value)| (word.to_string(), value)).collect()
}

fn hit_percent(stats: &Stats) -> f64 {
    match stats.expert_requests {
        0 => 0.0,
        requests => 100.0 * stats.expert_hits as f64 / requests as f64,
    }
}
