//! Running a model for people: the plan, the engine that executes it, sampling, stops, statistics.
//!
//! The engine is synchronous and owned by one thread; a caller that wants to do something else meanwhile runs it on a
//! thread of its own. Nothing here reads arguments, variables or writes to a terminal.

#![forbid(unsafe_code)]

pub mod engine;
mod error;
pub mod generate;
pub mod memory;
pub mod options;
pub mod plan;
pub mod sampling;
pub mod score;
pub mod stats;
pub mod stops;

pub use engine::Session;
pub use error::Error;
pub use generate::{Answer, Event, Finish, Request};
pub use options::{Options, Progress};
pub use plan::Plan;
pub use sampling::Sampling;
pub use score::Scored;
pub use stats::Stats;
