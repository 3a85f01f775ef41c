//! What is on disk: safetensors (one file, shards, snapshot directories), GGUF (one file, split), `config.json`.
//!
//! [`Checkpoint::open`] reads headers and configuration, never weights, and hands out [`Tensor`]s: name, element type,
//! shape, file, offset, length. Everything is checked at this door: counts and sizes are capped before memory is asked
//! for, arithmetic is checked, every tensor lies inside its file, no two overlap, no name occurs twice. Whoever holds
//! a [`Tensor`] need not ask again.
//!
//! This crate does not know what the bytes of a tensor mean (`quant` does), which tensors a model needs (`layers`
//! does), or what the fields of a configuration are for (`models` does). Opening writes nothing, so a read-only
//! directory will do.
#![forbid(unsafe_code)]

mod checkpoint;
mod open;

mod hub;
mod regular;

mod gguf;
mod safetensors;

mod assemble;
mod config;
mod fingerprint;
mod tensor;

mod error;
pub mod fuzz;

pub use checkpoint::{Checkpoint, Kind};
pub use config::Config;
pub use error::{AbsentFile, Error};
pub use gguf::GgufMetadata;
pub use safetensors::{Declared, SafetensorsWriter};
pub use tensor::{FileIdx, Tensor};
