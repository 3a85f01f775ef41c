//! The blocks that models are made of, and the forward pass over them.
//!
//! A block is a spec (plain data), the tensors it needs, its state, and a forward function over [`device::Device`]
//! operations. A [`Description`] lists blocks; [`stack::Stack`] is a description with its weights bound and its memory
//! laid out. Nothing here knows a family's name, a file layout or an instruction set.

#![forbid(unsafe_code)]

pub mod description;
pub mod names;
pub mod norm;
pub mod rope;
pub mod embed;
pub mod head;
pub mod residual;
pub mod mixer;
pub mod ffn;
pub mod moe;
pub mod footprint;
pub mod weight;
pub mod bind;
pub mod build;
pub mod stack;
pub mod taps;
mod error;

pub use description::{Description, Ffn, Layer, Mixer};
pub use error::Error;
