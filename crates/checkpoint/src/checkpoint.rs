//! A whole checkpoint: its files, tensors and configuration, whichever format they are in.

use std::{
    io::{Read, Seek, SeekFrom},
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    Config, Error, FileIdx, GgufMetadata, Tensor, assemble::Assembly, fingerprint, gguf, open, regular,
};

/// The key under which the predecessor's converter names its weight format.
const STAMP: &str = "colibri.fmt";

/// The format of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Safetensors files with a `config.json`.
    Safetensors,
    /// GGUF files, which hold their own configuration.
    Gguf,
}

/// What one model on disk consists of. Holds no file open and no weight in memory.
#[derive(Debug)]
pub struct Checkpoint {
    kind: Kind,
    path: PathBuf,
    directory: PathBuf,
    assembly: Assembly,
    config: Config,
    gguf: Option<GgufMetadata>,
    notes: Vec<String>,
}

impl Checkpoint {
    /// Opens the checkpoint at `path`: a directory with safetensors files (one, or shards with or without an index), the
    /// cache directory of a Hugging Face repository or one of its snapshots, a directory with one GGUF model, a
    /// `.gguf` file (any part of a split one), or one `.safetensors` file beside its `config.json`.
    ///
    /// Reads headers and configuration; the data only by its size.
    ///
    /// # Errors
    /// Anything that could go wrong later because of what is on disk; see [`Error`].
    pub fn open(path: &Path) -> Result<Checkpoint, Error> {
        open::open(path)
    }

    pub(crate) fn assembled(
        kind: Kind,
        path: &Path,
        directory: &Path,
        assembly: Assembly,
        config: Config,
        gguf: Option<GgufMetadata>,
        notes: Vec<String>,
    ) -> Checkpoint {
        let (path, directory) = (path.to_path_buf(), directory.to_path_buf());
        Checkpoint { kind, path, directory, assembly, config, gguf, notes }
    }

    /// The format of the files.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What was opened, as the caller wrote it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that holds the files (of a Hugging Face cache: the snapshot).
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The files that hold tensors; [`FileIdx`] counts them.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.assembly.files
    }

    /// Size of one file; 0 for a file of another checkpoint.
    #[must_use]
    pub fn file_bytes(&self, file: FileIdx) -> u64 {
        self.assembly.file_bytes.get(file.index()).copied().unwrap_or(0)
    }

    /// The tensor with this name.
    #[must_use]
    pub fn tensor(&self, name: &str) -> Option<&Tensor> {
        self.assembly.by_name.get(name).map(|&at| &self.assembly.tensors[at])
    }

    /// All tensors, file by file, in the order of their headers.
    pub fn tensors(&self) -> impl ExactSizeIterator<Item = &Tensor> {
        self.assembly.tensors.iter()
    }

    /// `config.json`, or the metadata of the GGUF file as a flat object.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The metadata of the GGUF file with its long lists; none for safetensors.
    #[must_use]
    pub fn gguf(&self) -> Option<&GgufMetadata> {
        self.gguf.as_ref()
    }

    /// The JSON object in the file `name` beside the weights (`generation_config.json`, …); none when there is no such
    /// file, or the checkpoint is GGUF, which needs nothing beside it.
    ///
    /// # Errors
    /// The file cannot be read or is no JSON object.
    pub fn sidecar(&self, name: &str) -> Result<Option<Value>, Error> {
        let path = self.directory.join(name);
        if self.kind == Kind::Gguf || regular::is_absent(&path) {
            return Ok(None);
        }
        regular::json_object(&path).map(Some)
    }

    /// Format stamp `__metadata__["colibri.fmt"]` of a safetensors file.
    #[must_use]
    pub fn metadata_stamp(&self, file: FileIdx) -> Option<&str> {
        self.metadata(file, STAMP)
    }

    /// One entry of the `__metadata__` of a safetensors file.
    #[must_use]
    pub fn metadata(&self, file: FileIdx, key: &str) -> Option<&str> {
        self.assembly.metadata.get(file.index())?.get(key).map(String::as_str)
    }

    /// How messages name the stored type of `tensor`: the dtype, and for GGUF types without one, their number and name.
    #[must_use]
    pub fn type_name(&self, tensor: &Tensor) -> String {
        match self.gguf.as_ref().and_then(|gguf| gguf.type_number(&tensor.name)) {
            Some(number) => gguf::types::described(number),
            None => tensor.dtype.name().to_string(),
        }
    }

    /// What is unusual here but does no harm, one sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// 16 hexadecimal digits that follow from the names, types, shapes and sizes of all tensors.
    ///
    /// Independent of paths, times, and of how tensors are spread over files. Two trainings of one architecture share it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        fingerprint::of(&self.assembly.tensors)
    }

    /// The bytes of a small tensor (norms, routers, scales), by a plain buffered read.
    ///
    /// # Errors
    /// The file cannot be read or has become shorter.
    pub fn read(&self, tensor: &Tensor) -> Result<Vec<u8>, Error> {
        let Some(path) = self.assembly.files.get(tensor.file.index()) else {
            return Err(Error::Tensor {
                path: self.path.clone(),
                tensor: tensor.name.clone(),
                needed: format!("one of {} files", self.assembly.files.len()),
                found: format!("file {}", tensor.file.0),
            });
        };
        if tensor.len_bytes == 0 {
            return Ok(Vec::new());
        }
        let (mut file, file_bytes) = regular::open(path)?;
        let needed_bytes = tensor.offset_bytes.saturating_add(tensor.len_bytes);
        if needed_bytes > file_bytes {
            return Err(Error::Truncated { path: path.clone(), needed_bytes, found_bytes: file_bytes });
        }
        let refuse = |source| Error::Io { path: path.clone(), source };
        file.seek(SeekFrom::Start(tensor.offset_bytes)).map_err(refuse)?;
        let mut bytes = vec![0; tensor.len_bytes as usize];
        file.read_exact(&mut bytes).map_err(refuse)?;
        Ok(bytes)
    }
}
