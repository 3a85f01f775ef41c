//! How bytes arrive: extents of files in, filled blocks out.
//!
//! A [`Source`] reads asynchronously into [`units::Block`]s that it owns until the read is done, so nobody can look at
//! bytes that are still being written. Every way of reading shares one geometry ([`place`]), passes one suite
//! ([`suite`]), and gives the same bytes. This crate has no idea what an expert is.

mod error;
mod extent;
pub mod faults;
mod files;
mod mmap;
mod open;
mod pread;
mod source;
pub mod suite;
#[cfg(target_os = "linux")]
mod uring;
mod whole;

pub use error::Error;
pub use extent::{Extent, FileId, Placed, place};
pub use files::{Direct, Files};
pub use open::{SourceOptions, Strategy, open_source};
pub use source::{Completion, Priority, Request, Source, Wait};
pub use whole::read_range;
