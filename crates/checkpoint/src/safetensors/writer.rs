//! Writing a safetensors file that is either whole or not there.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use serde_json::{Map, Value, json};
use units::{
    Dtype,
    limits::{HEADER_BYTES_MAX, PAGE_BYTES, TENSORS_MAX},
};

use super::{element, header::PREFIX_BYTES};
use crate::{Error, tensor::AXES_MAX};

/// A tensor that a file will hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// How its elements are encoded.
    pub dtype: Dtype,
    /// Axes, outermost first.
    pub shape: Vec<u64>,
}

/// Writes the header first and then the tensors in the order of their declaration, in pieces of any size.
///
/// The bytes go to `NAME.partial` beside the file; [`SafetensorsWriter::finish`] gives it its name when all of it is on
/// the drive. Dropped before that, the writer removes the partial file. The data begin on a page.
#[derive(Debug)]
pub struct SafetensorsWriter {
    path: PathBuf,
    partial: PathBuf,
    /// None once finished.
    stream: Option<BufWriter<File>>,
    /// Names and bytes still to come, next one last.
    expected: Vec<(String, u64)>,
}

impl SafetensorsWriter {
    /// Starts `path` with `tensors` and `__metadata__`.
    ///
    /// # Errors
    /// The file cannot be made; a dtype or shape cannot be stored; a name occurs twice; the header becomes too large.
    pub fn create(
        path: &Path,
        tensors: &[Declared],
        metadata: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let header = header(path, tensors, metadata)?;
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(".partial");
        let partial = path.with_file_name(name);
        let file = File::create(&partial).map_err(|source| Error::Io { path: partial.clone(), source })?;
        let mut expected = sizes(path, tensors)?;
        expected.reverse();
        let stream = Some(BufWriter::with_capacity(1 << 20, file));
        let mut writer = SafetensorsWriter { path: path.to_path_buf(), partial, stream, expected };
        writer.put(&header)?;
        Ok(writer)
    }

    /// Appends `bytes` to tensor `name`, which must be the first that is not yet whole.
    ///
    /// # Errors
    /// It is another tensor's turn, it has fewer bytes left, or the drive refuses.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        while self.expected.last().is_some_and(|(next, left)| *left == 0 && next != name) {
            self.expected.pop();
        }
        let refuse = |needed: String, found: String| Error::Tensor {
            path: self.path.clone(),
            tensor: name.to_string(),
            needed,
            found,
        };
        let Some((next, left)) = self.expected.last_mut() else {
            return Err(refuse("no further tensor".to_string(), format!("{} bytes", bytes.len())));
        };
        if next != name {
            return Err(refuse(format!("`{next}` first"), format!("{} bytes", bytes.len())));
        }
        *left = left
            .checked_sub(bytes.len() as u64)
            .ok_or_else(|| refuse(format!("at most {left} further bytes"), bytes.len().to_string()))?;
        self.put(bytes)
    }

    /// Makes the file durable and gives it its name.
    ///
    /// # Errors
    /// A tensor is not whole, or the drive refuses; then there is no file.
    pub fn finish(mut self) -> Result<(), Error> {
        if let Some((name, left)) = self.expected.iter().rev().find(|(_, left)| *left > 0) {
            return Err(Error::Tensor {
                path: self.path.clone(),
                tensor: name.clone(),
                needed: format!("{left} further bytes"),
                found: "the end".to_string(),
            });
        }
        let Some(stream) = self.stream.take() else { return Ok(()) };
        let outcome = stream
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.partial, &self.path))
            .and_then(|()| sync_directory(&self.path));
        outcome.map_err(|source| {
            let _ = fs::remove_file(&self.partial);
            Error::Io { path: self.path.clone(), source }
        })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        stream.write_all(bytes).map_err(|source| Error::Io { path: self.partial.clone(), source })
    }
}

impl Drop for SafetensorsWriter {
    fn drop(&mut self) {
        if let Some(stream) = self.stream.take() {
            // What is still buffered belongs to a file that goes away.
            drop(stream.into_parts());
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// The new name itself must survive a power cut, not only the bytes.
fn sync_directory(path: &Path) -> std::io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}

fn sizes(path: &Path, tensors: &[Declared]) -> Result<Vec<(String, u64)>, Error> {
    let size = |tensor: &Declared| {
        let bytes =
            element::stored_bytes(tensor.dtype, &tensor.shape).filter(|_| tensor.shape.len() <= AXES_MAX);
        bytes.map(|bytes| (tensor.name.clone(), bytes)).ok_or_else(|| Error::Tensor {
            path: path.to_path_buf(),
            tensor: tensor.name.clone(),
            needed: format!("a dtype of safetensors and at most {AXES_MAX} axes"),
            found: format!("{:?} {}", tensor.shape, tensor.dtype),
        })
    };
    tensors.iter().map(size).collect()
}

/// Length and JSON, padded with spaces so that the data begin on a page.
fn header(path: &Path, tensors: &[Declared], metadata: &BTreeMap<String, String>) -> Result<Vec<u8>, Error> {
    let refuse = |needed: String, found: String| Error::Header { path: path.to_path_buf(), needed, found };
    if tensors.len() > TENSORS_MAX {
        return Err(refuse(format!("at most {TENSORS_MAX} tensors"), tensors.len().to_string()));
    }
    let mut entries = Map::new();
    if !metadata.is_empty() {
        entries.insert("__metadata__".to_string(), json!(metadata));
    }
    let mut end = 0u64;
    for (tensor, (name, bytes)) in tensors.iter().zip(sizes(path, tensors)?) {
        let begin = end;
        end = end
            .checked_add(bytes)
            .ok_or_else(|| refuse("below 2^64 bytes".to_string(), "more".to_string()))?;
        let entry =
            json!({"dtype": tensor.dtype.name(), "shape": tensor.shape, "data_offsets": [begin, end]});
        if name == "__metadata__" || entries.insert(name.clone(), entry).is_some() {
            return Err(refuse("every tensor once".to_string(), format!("`{name}` again")));
        }
    }
    let mut text = Value::Object(entries).to_string().into_bytes();
    let padded = (text.len() + PREFIX_BYTES as usize).next_multiple_of(PAGE_BYTES) - PREFIX_BYTES as usize;
    text.resize(padded, b' ');
    if text.len() as u64 > HEADER_BYTES_MAX {
        return Err(refuse(format!("at most {HEADER_BYTES_MAX} bytes of header"), text.len().to_string()));
    }
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut text);
    Ok(bytes)
}
