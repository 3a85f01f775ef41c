//! Which expert lives where: a store of expert blocks in memory, filled from a [`storage::Source`] under one byte budget.
//!
//! Three verbs: *request* all experts of a layer at once, *overlap* computing what is here with reading the rest, *take*
//! each as it becomes ready. A [`Lease`] is the only way to touch an expert's bytes. What comes out never depends on what
//! was resident; only how long it took does. This crate does not know what is inside a block.

#![forbid(unsafe_code)]

mod catalogue;
mod error;
mod lease;
pub mod policy;
mod slots;
mod stats;
mod store;

pub use catalogue::{Catalogue, Class};
pub use error::Error;
pub use lease::Lease;
pub use stats::Stats;
pub use store::Store;
