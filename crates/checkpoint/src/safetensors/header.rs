//! The header of one safetensors file, from its bytes to checked tensors.

use std::{collections::BTreeMap, fmt, io::Read, path::Path};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use units::limits::{HEADER_BYTES_MAX, TENSORS_MAX};

use super::element;
use crate::{
    Error, FileIdx, Tensor, regular,
    tensor::{AXES_MAX, check_extents},
};

/// The header's length stands in the first bytes, little-endian.
pub const PREFIX_BYTES: u64 = 8;

/// What one file says about itself.
#[derive(Debug)]
pub struct Header {
    /// Size of the whole file.
    pub file_bytes: u64,
    /// Its tensors, in the order of the header.
    pub tensors: Vec<Tensor>,
    /// `__metadata__`.
    pub metadata: BTreeMap<String, String>,
    /// Bytes of the data that belong to no tensor.
    pub unclaimed_bytes: u64,
}

/// Reads and checks the header of `path`, which becomes file `file` of the checkpoint.
pub fn open(path: &Path, file: FileIdx) -> Result<Header, Error> {
    let (mut stream, file_bytes) = regular::open(path)?;
    read(path, &mut stream, file_bytes, file)
}

/// As [`open`], from any stream of `file_bytes` bytes; `path` is only for messages.
pub fn read(path: &Path, stream: &mut impl Read, file_bytes: u64, file: FileIdx) -> Result<Header, Error> {
    let io = |source| Error::Io { path: path.to_path_buf(), source };
    let refuse = |needed: &str, found: String| Error::Header {
        path: path.to_path_buf(),
        needed: needed.to_string(),
        found,
    };
    if file_bytes < PREFIX_BYTES {
        return Err(Error::Truncated {
            path: path.to_path_buf(),
            needed_bytes: PREFIX_BYTES,
            found_bytes: file_bytes,
        });
    }
    let mut prefix = [0; PREFIX_BYTES as usize];
    stream.read_exact(&mut prefix).map_err(io)?;
    let header_bytes = u64::from_le_bytes(prefix);
    if header_bytes < 2 {
        return Err(refuse("a length of at least 2 bytes", format!("a length of {header_bytes}")));
    }
    if header_bytes > HEADER_BYTES_MAX {
        let needed = format!("a length of at most {HEADER_BYTES_MAX} bytes");
        return Err(refuse(
            &needed,
            format!("{header_bytes}, so the file is no safetensors file or damaged"),
        ));
    }
    let data_start = PREFIX_BYTES + header_bytes;
    if data_start > file_bytes {
        return Err(Error::Truncated {
            path: path.to_path_buf(),
            needed_bytes: data_start,
            found_bytes: file_bytes,
        });
    }
    // The length is below both the cap and the size of the file, so this much really is there.
    let mut text = vec![0; header_bytes as usize];
    stream.read_exact(&mut text).map_err(io)?;
    let entries: Entries = serde_json::from_slice(&text)
        .map_err(|error| refuse("a JSON object of tensors", error.to_string()))?;
    let mut tensors = Vec::with_capacity(entries.tensors.len());
    for (name, entry) in entries.tensors {
        tensors.push(checked(path, file, data_start, name, entry)?);
    }
    refuse_twins(path, &tensors)?;
    let unclaimed_bytes = check_extents(path, data_start, file_bytes, &tensors)?;
    Ok(Header { file_bytes, tensors, metadata: entries.metadata, unclaimed_bytes })
}

fn checked(path: &Path, file: FileIdx, data_start: u64, name: String, entry: Entry) -> Result<Tensor, Error> {
    let refuse = |needed: String, found: String| Error::Tensor {
        path: path.to_path_buf(),
        tensor: name.clone(),
        needed,
        found,
    };
    let dtype = element::named(&entry.dtype).ok_or_else(|| {
        let known: Vec<_> =
            units::Dtype::ALL.iter().filter(|dtype| element::bits(**dtype).is_some()).collect();
        let known = known.iter().map(|dtype| dtype.name()).collect::<Vec<_>>().join(", ");
        refuse(format!("a dtype out of {known}"), format!("`{}`", entry.dtype))
    })?;
    let [begin, end] = entry.data_offsets;
    let shape = entry.shape.0;
    let held = end.checked_sub(begin).ok_or_else(|| {
        refuse("offsets that do not run backwards".to_string(), format!("[{begin}, {end}]"))
    })?;
    // A converter leaves a name without bytes where the real tensor lives elsewhere; the shape then says nothing.
    let needed = element::stored_bytes(dtype, &shape).ok_or_else(|| {
        refuse("a whole number of bytes below 2^64".to_string(), format!("{shape:?} {dtype}"))
    })?;
    if held != needed && held != 0 {
        return Err(refuse(format!("{needed} bytes for {shape:?} {dtype}"), format!("{held} bytes")));
    }
    let offset_bytes = data_start
        .checked_add(begin)
        .filter(|start| start.checked_add(held).is_some())
        .ok_or_else(|| refuse("offsets inside the file".to_string(), format!("[{begin}, {end}]")))?;
    Ok(Tensor { name, dtype, shape, file, offset_bytes, len_bytes: held })
}

fn refuse_twins(path: &Path, tensors: &[Tensor]) -> Result<(), Error> {
    let mut names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::Duplicate {
            tensor: pair[0].to_string(),
            first: path.to_path_buf(),
            second: path.to_path_buf(),
        }),
    }
}

/// The header as it stands in the file: nothing is checked yet but types and counts.
struct Entries {
    tensors: Vec<(String, Entry)>,
    metadata: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Axes,
    data_offsets: [u64; 2],
}

struct Axes(Vec<u64>);

impl<'de> Deserialize<'de> for Entries {
    /// Keeps every entry of the map in order, so that a name that occurs twice is seen.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;
        impl<'de> Visitor<'de> for Map {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Entries { tensors: Vec::new(), metadata: BTreeMap::new() };
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        entries.metadata = map
                            .next_value()
                            .map_err(|error| A::Error::custom(format!("`__metadata__`: {error}")))?;
                        continue;
                    }
                    if entries.tensors.len() == TENSORS_MAX {
                        return Err(A::Error::custom(format!("more than {TENSORS_MAX} tensors")));
                    }
                    let entry = map
                        .next_value()
                        .map_err(|error| A::Error::custom(format!("tensor `{name}`: {error}")))?;
                    entries.tensors.push((name, entry));
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Map)
    }
}

impl<'de> Deserialize<'de> for Axes {
    /// Stops at [`AXES_MAX`], so that a hostile shape costs no memory.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Axes;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                write!(f, "a list of at most {AXES_MAX} whole numbers")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Axes, A::Error> {
                let mut axes = Vec::new();
                while let Some(axis) = list.next_element()? {
                    if axes.len() == AXES_MAX {
                        return Err(A::Error::invalid_length(AXES_MAX + 1, &self));
                    }
                    axes.push(axis);
                }
                Ok(Axes(axes))
            }
        }
        deserializer.deserialize_seq(List)
    }
}
