//! Writing files by hand, so that the tests do not rest on the crate's own writer.

#![allow(dead_code)]

use std::{fs, path::Path};

/// A safetensors file from the text of its header and its data.
pub fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    bytes
}

/// A safetensors file of f32 vectors of four zeros with these names.
pub fn vectors(names: &[&str]) -> Vec<u8> {
    let entry = |(at, name): (usize, &&str)| {
        format!(r#""{name}":{{"dtype":"F32","shape":[4],"data_offsets":[{},{}]}}"#, at * 16, at * 16 + 16)
    };
    let entries: Vec<String> = names.iter().enumerate().map(entry).collect();
    safetensors(&format!("{{{}}}", entries.join(",")), &vec![0; names.len() * 16])
}

/// Writes a file into a directory.
pub fn put(directory: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(directory.join(name), bytes).expect("the test's directory is writable");
}

/// A directory with a `config.json` and these files.
pub fn model(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a temporary directory");
    put(directory.path(), "config.json", r#"{"model_type": "toy"}"#);
    files.iter().for_each(|(name, bytes)| put(directory.path(), name, bytes));
    directory
}

/// A directory with one file `model.safetensors`.
pub fn single(bytes: Vec<u8>) -> tempfile::TempDir {
    model(&[("model.safetensors", bytes)])
}

/// An index of shards.
pub fn index(tensors: &[(&str, &str)]) -> Vec<u8> {
    let entries: Vec<String> =
        tensors.iter().map(|(tensor, file)| format!(r#""{tensor}":"{file}""#)).collect();
    format!(r#"{{"metadata":{{"total_size":1}},"weight_map":{{{}}}}}"#, entries.join(",")).into_bytes()
}

/// A GGUF file, field by field.
#[derive(Clone, Default)]
pub struct Gguf(pub Vec<u8>);

impl Gguf {
    pub fn new(version: u32, tensors: u64, entries: u64) -> Gguf {
        Gguf(b"GGUF".to_vec()).u32(version).u64(tensors).u64(entries)
    }

    pub fn u32(self, value: u32) -> Gguf {
        self.bytes(&value.to_le_bytes())
    }

    pub fn u64(self, value: u64) -> Gguf {
        self.bytes(&value.to_le_bytes())
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Gguf {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn text(self, text: &str) -> Gguf {
        self.u64(text.len() as u64).bytes(text.as_bytes())
    }

    /// Key and type of an entry.
    pub fn key(self, key: &str, kind: u32) -> Gguf {
        self.text(key).u32(kind)
    }

    /// A tensor with its axes innermost first.
    pub fn tensor(self, name: &str, axes: &[u64], kind: u32, offset: u64) -> Gguf {
        let head = self.text(name).u32(axes.len() as u32);
        axes.iter().fold(head, |file, &axis| file.u64(axis)).u32(kind).u64(offset)
    }

    /// Padding to 32 and `len` bytes of data.
    pub fn data(mut self, len: usize) -> Gguf {
        let start = self.0.len().next_multiple_of(32);
        self.0.resize(start + len, 0);
        self
    }
}
