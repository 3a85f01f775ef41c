//! The compute contract: about twenty operations on one arena of f32, said once and done by every backend.
//!
//! [`Device`] is the contract; [`Reference`] is its meaning in plain loops; [`Cpu`] is the same in the canonical order of
//! `kernels`, spread over threads; [`conformance`] is the list of cases that each of them must pass. [`rope`] computes the
//! tables that [`Device::rope`] reads.
//!
//! This crate does not know what a model, a layer or an expert is, nor where weights come from: a matrix is bytes and a
//! format, everything else is floats addressed by [`units::Span`].
#![forbid(unsafe_code)]

mod contract;
mod cpu;
mod reference;

pub mod conformance;
pub mod rope;
pub mod shape;

pub use contract::{Activation, Attention, Device, HEAD_DIM_MAX, KEY_BLOCK, RopeStyle};
pub use cpu::Cpu;
pub use reference::Reference;
pub use rope::{RopeScaling, rope_table};
