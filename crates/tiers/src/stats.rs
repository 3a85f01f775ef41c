//! What the store did.

/// Counters since the store was opened or last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Experts asked for.
    pub requests: u64,
    /// Of these, in memory already.
    pub hits: u64,
    /// Of these, read, or still on their way by a prediction.
    pub misses: u64,
    /// Bytes that the drive delivered, padding to whole pages included.
    pub read_bytes: u64,
    /// Microseconds spent waiting with nothing to compute.
    pub wait_us: u64,
    /// Reads begun because of a prediction.
    pub predicted: u64,
    /// Of these, asked for later, before or after they had arrived.
    pub predicted_used: u64,
    /// Reads that failed, predicted ones included.
    pub failed: u64,
}
