//! The blocks that models are made of, and the forward pass over them.
//!
//! A block is a spec (plain data), the tensors it needs, its state, and a forward function over [`device::Device`]
//! operations. A [`Description`] lists blocks; [`stack::Stack`] is a description with its weights bound and its memory
//! laid out. Nothing here knows a family's name, a file layout or an instruction set.

#![forbid(unsafe_code)]

pub mod bind;
pub mod build;
pub mod description;
pub mod embed;
mod error;
pub mod ffn;
pub mod footprint;
pub mod head;
pub mod mixer;
pub mod moe;
pub mod names;
pub mod norm;
pub mod residual;
pub mod rope;
pub mod stack;
pub mod taps;
pub mod weight;

pub use description::{Description, Ffn, Layer, Mixer};
pub use error::Error;
