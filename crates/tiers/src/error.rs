//! Why an expert cannot be had.

use units::ExpertKey;

/// What the store refuses or fails at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The budget does not hold a single expert.
    #[error("the expert cache has {found} bytes, one expert needs {needed}")]
    Budget {
        /// Bytes of one block.
        needed: u64,
        /// Bytes that were given.
        found: u64,
    },
    /// An expert could not be read.
    #[error("{key}: {source}")]
    Read {
        /// Which expert.
        key: ExpertKey,
        /// What the drive said, with file and offset.
        source: storage::Error,
    },
    /// An expert that the catalogue does not have.
    #[error("{key} was requested, the model does not have it")]
    Unknown {
        /// What was asked for.
        key: ExpertKey,
    },
    /// Every slot that could hold the next expert is out on a lease, so nothing more can be read.
    #[error("all {slots} slots for {key} are leased; a lease must end before it can be read")]
    AllLeased {
        /// Which expert comes next.
        key: ExpertKey,
        /// Slots that could hold it.
        slots: usize,
    },
}
