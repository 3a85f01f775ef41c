//! What a caller decides about a session. Nothing here changes an answer; most of it changes speed and memory.

use storage::{Direct, Strategy};

/// Choices for a session; the default of each is decided by the plan from the machine and the model.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Ceiling for everything the process holds, in bytes.
    pub ram: Option<u64>,
    /// Positions that a sequence may have.
    pub context: Option<usize>,
    /// Threads that compute.
    pub threads: Option<usize>,
    /// Kernel table by name.
    pub kernels: Option<String>,
    /// How experts are read.
    pub storage: Strategy,
    /// Whether reads bypass the page cache.
    pub direct: Direct,
    /// Most tokens of one forward pass.
    pub prefill_chunk: Option<usize>,
    /// Experts kept in memory, over all layers; the budget decides when absent.
    pub cache_experts: Option<usize>,
}

/// How far a long task has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is going on.
    pub what: &'static str,
    /// Bytes done.
    pub done_bytes: u64,
    /// Bytes to do.
    pub total_bytes: u64,
}
