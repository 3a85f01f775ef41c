//! The safetensors format (<https://github.com/huggingface/safetensors>, format description of version 0.8): eight bytes
//! of header length, a JSON header, the data.

pub(crate) mod directory;
pub(crate) mod element;
pub(crate) mod header;
mod writer;

pub use writer::{Declared, SafetensorsWriter};
