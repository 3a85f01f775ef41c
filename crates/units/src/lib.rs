//! The words everything else is said in: indices, element types, byte sizes, aligned memory, limits, a seeded generator.
//!
//! This crate knows nothing of models, files or threads. It is one of the few that may use `unsafe` (aligned memory).

pub mod bytes;
pub mod dtype;
pub mod index;
pub mod limits;
pub mod memory;
pub mod rng;
pub mod span;

pub use bytes::ByteSize;
pub use dtype::Dtype;
pub use index::{ExpertIdx, ExpertKey, LayerIdx, TokenId};
pub use memory::{Arena, Block};
pub use rng::Rng;
pub use span::Span;
