//! Where the time of a step goes: phases, their names and their sums.
//!
//! Names and units are one list, read by statistics, metrics and benches alike. Nothing here prints or knows what the
//! phases do.

#![forbid(unsafe_code)]

mod phase;

pub use phase::{Phase, Phases, Start, UNACCOUNTED};
