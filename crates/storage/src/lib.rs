//! How bytes arrive: extents of files in, filled blocks out.
//!
//! A [`Source`] reads asynchronously into [`units::Block`]s that it owns until the read is done, so nobody can look at
//! bytes that are still being written. Every way of reading shares one geometry ([`place`]), passes one suite
//! ([`suite`]), and gives the same bytes. This crate has no idea what an expert is.

mod direct;
mod error;
mod extent;
pub mod faults;
mod files;
mod measure;
mod mishaps;
mod mmap;
mod open;
mod pread;
mod queue;
mod source;
pub mod suite;
mod system;
mod throttle;
#[cfg(target_os = "linux")]
mod uring;
mod whole;
mod workers;

pub use direct::Direct;
pub use error::Error;
pub use extent::{Extent, FileId, Placed, place};
pub use files::Files;
pub use measure::{Bandwidth, measure};
pub use mishaps::Mishaps;
pub use open::{SourceOptions, Strategy, open_source};
pub use source::{Completion, Priority, Request, Source, Wait};
pub use throttle::{Clock, Throttle, Wall};
pub use whole::{Whole, read_all, read_range};
