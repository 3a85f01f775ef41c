//! Fuzz targets: plain functions that take any bytes and must return. A seeded loop runs them in the tests; a fuzzer may.

use std::path::Path;

use crate::{Config, FileIdx, gguf, regular, safetensors};

/// Reads `bytes` as a safetensors file.
pub fn safetensors(bytes: &[u8]) {
    let mut stream = bytes;
    let file_bytes = bytes.len() as u64;
    if let Ok(header) = safetensors::header::read(Path::new("fuzz"), &mut stream, file_bytes, FileIdx(0)) {
        assert!(header.tensors.iter().all(|tensor| tensor.offset_bytes + tensor.len_bytes <= file_bytes));
    }
}

/// Reads `bytes` as a GGUF file.
pub fn gguf(bytes: &[u8]) {
    let file_bytes = bytes.len() as u64;
    if let Ok(header) = gguf::header::read(Path::new("fuzz"), bytes, file_bytes, FileIdx(0)) {
        assert!(header.tensors.iter().all(|tensor| tensor.offset_bytes + tensor.len_bytes <= file_bytes));
    }
}

/// Reads `bytes` as an index of shards.
pub fn index(bytes: &[u8]) {
    if let Ok(value) = regular::parse_object(Path::new("fuzz"), bytes) {
        let _ = safetensors::directory::files_of(Path::new("fuzz"), value);
    }
}

/// Reads `bytes` as a configuration and asks for every field in every way.
pub fn config(bytes: &[u8]) {
    if let Ok(value) = regular::parse_object(Path::new("fuzz"), bytes) {
        ask(&Config::new("fuzz", value));
    }
}

fn ask(config: &Config) {
    let keys = config.value().as_object().into_iter().flat_map(|object| object.keys());
    for key in keys {
        let _ = (config.usize(key), config.f64(key), config.bool_or(key, true), config.str(key));
        let _ = (config.usize_list(key), config.bool_list(key), config.str_list(key), config.f64_list(key));
        if let Ok(Some(inner)) = config.object(key) {
            ask(&inner);
        }
    }
}
