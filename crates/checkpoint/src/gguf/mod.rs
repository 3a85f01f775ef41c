//! The GGUF format, versions 2 and 3 (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>), little-endian:
//! counts, metadata, tensor descriptions, padding, data.

pub(crate) mod header;
mod metadata;
mod reader;
pub(crate) mod split;
pub(crate) mod types;
mod value;

pub use metadata::GgufMetadata;
