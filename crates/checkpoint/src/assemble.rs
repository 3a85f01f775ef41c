//! From the headers of all files to one set of tensors: no name twice, everything promised is there.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::{Path, PathBuf},
};

use units::limits::TENSORS_MAX;

use crate::{Error, FileIdx, Tensor};

/// The files of a checkpoint and what is in them.
#[derive(Debug, Default)]
pub struct Assembly {
    /// Files in the order they were added.
    pub files: Vec<PathBuf>,
    /// Their sizes.
    pub file_bytes: Vec<u64>,
    /// Their `__metadata__`.
    pub metadata: Vec<BTreeMap<String, String>>,
    /// All tensors.
    pub tensors: Vec<Tensor>,
    /// Position of each tensor by its name.
    pub by_name: HashMap<String, usize>,
}

impl Assembly {
    /// The index that the next file gets.
    ///
    /// # Panics
    /// After 2^32 files, which no directory listing or series can name.
    pub fn next_file(&self) -> FileIdx {
        FileIdx(u32::try_from(self.files.len()).expect("both an index and a series hold far fewer files"))
    }

    /// Adds a file with its tensors.
    pub fn add(
        &mut self,
        path: &Path,
        file_bytes: u64,
        tensors: Vec<Tensor>,
        metadata: BTreeMap<String, String>,
    ) -> Result<(), Error> {
        if self.tensors.len() + tensors.len() > TENSORS_MAX {
            return Err(Error::Header {
                path: path.to_path_buf(),
                needed: format!("at most {TENSORS_MAX} tensors in all files"),
                found: (self.tensors.len() + tensors.len()).to_string(),
            });
        }
        self.files.push(path.to_path_buf());
        self.file_bytes.push(file_bytes);
        self.metadata.push(metadata);
        for tensor in tensors {
            if let Some(&at) = self.by_name.get(&tensor.name) {
                return Err(Error::Duplicate {
                    first: self.files[self.tensors[at].file.index()].clone(),
                    second: path.to_path_buf(),
                    tensor: tensor.name,
                });
            }
            self.by_name.insert(tensor.name.clone(), self.tensors.len());
            self.tensors.push(tensor);
        }
        Ok(())
    }

    /// Checks that the last file added holds what the index `promised`.
    pub fn check_promised(&self, promised: &[String]) -> Result<(), Error> {
        let Some(path) = self.files.last() else { return Ok(()) };
        let file = FileIdx(self.next_file().0 - 1);
        let held: HashSet<&str> = self
            .tensors
            .iter()
            .rev()
            .take_while(|tensor| tensor.file == file)
            .map(|tensor| tensor.name.as_str())
            .collect();
        let mut lacking = promised.iter().filter(|name| !held.contains(name.as_str()));
        let Some(first) = lacking.next() else { return Ok(()) };
        let found = match lacking.count() {
            0 => "it is not in this file".to_string(),
            more => format!("it and {more} more are not in this file"),
        };
        Err(Error::Tensor {
            path: path.clone(),
            tensor: first.clone(),
            needed: "what the index promises".to_string(),
            found,
        })
    }
}
