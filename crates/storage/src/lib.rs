//! How bytes arrive: extents of files in, filled blocks out.
//!
//! A [`Source`] reads asynchronously into [`units::Block`]s that it owns until the read is done, so nobody can look at
//! bytes that are still being written. Every way of reading shares one geometry ([`place`]), passes one suite
//! ([`suite`]), and gives the same bytes. This crate has no idea what an expert is.

mod error;
mod extent;
mod files;
mod whole;
mod source;
mod pread;
mod mmap;
#[cfg(target_os = "linux")]
mod uring;
mod open;
pub mod faults;
pub mod suite;

pub use error::Error;
pub use extent::{Extent, FileId, Placed, place};
pub use files::{Direct, Files};
pub use open::{SourceOptions, Strategy, open_source};
pub use source::{Completion, Priority, Request, Source, Wait};
pub use whole::read_range;
