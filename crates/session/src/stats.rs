//! What a generation cost.

use std::collections::BTreeMap;

/// Figures of one generation.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Stats {
    /// Prompt tokens that were computed (those kept from before are not).
    pub prefill_tokens: usize,
    /// Prompt tokens whose state was still there.
    pub reused_tokens: usize,
    /// Tokens produced after the first.
    pub decode_tokens: usize,
    /// Speed of the prompt; absent when nothing was computed.
    pub prefill_tokens_per_s: Option<f64>,
    /// Speed of the answer after its first token; absent for answers of one token.
    pub decode_tokens_per_s: Option<f64>,
    /// Seconds from the request to the first token.
    pub ttft_s: f64,
    /// Seconds of prefill.
    pub prefill_s: f64,
    /// Seconds of decoding after the first token.
    pub decode_s: f64,
    /// Experts asked for, counted once for each layer and pass.
    pub expert_requests: u64,
    /// Of these, found in memory.
    pub expert_hits: u64,
    /// Of these, read from the drive.
    pub expert_misses: u64,
    /// Bytes of expert reads, padding to whole pages included.
    pub disk_read_bytes: u64,
    /// The most memory that the process ever held.
    pub peak_rss_bytes: u64,
    /// The ceiling it was given.
    pub ram_limit_bytes: u64,
    /// Microseconds by phase.
    pub phases_us: BTreeMap<&'static str, u64>,
}
