//! The header of one GGUF file, from its bytes to checked tensors.

use std::{collections::HashSet, io::BufReader, io::Read, path::Path};

use serde_json::{Map, Value};
use units::{Dtype, limits::TENSORS_MAX};

use super::{metadata::GgufMetadata, reader::Reader, types, value};
use crate::{
    Error, FileIdx, Tensor, regular,
    tensor::{AXES_MAX, check_extents, elements},
};

const MAGIC: [u8; 4] = *b"GGUF";
/// Metadata entries of one file; published ones have below a hundred.
const ENTRIES_MAX: u64 = 65_536;
/// Where `general.alignment` says nothing.
const ALIGNMENT_BYTES: u64 = 32;

/// What one file says about itself.
#[derive(Debug)]
pub struct Header {
    /// Size of the whole file.
    pub file_bytes: u64,
    /// Metadata but for the long lists.
    pub values: Map<String, Value>,
    /// The long lists.
    pub metadata: GgufMetadata,
    /// Tensors in the order of the header.
    pub tensors: Vec<Tensor>,
}

/// One tensor as the header describes it: axes innermost first, offset from the start of the data.
struct Described {
    name: String,
    axes: Vec<u64>,
    number: u32,
    offset: u64,
}

/// Reads and checks the header of `path`, which becomes file `file` of the checkpoint.
pub fn open(path: &Path, file: FileIdx) -> Result<Header, Error> {
    let (stream, file_bytes) = regular::open(path)?;
    read(path, BufReader::with_capacity(1 << 18, stream), file_bytes, file)
}

/// As [`open`], from any stream of `file_bytes` bytes; `path` is only for messages.
pub fn read(path: &Path, stream: impl Read, file_bytes: u64, file: FileIdx) -> Result<Header, Error> {
    let mut reader = Reader::new(stream, path, file_bytes);
    check_beginning(&mut reader)?;
    let (tensor_count, entry_count) = (reader.u64()?, reader.u64()?);
    for (what, count, most) in
        [("tensors", tensor_count, TENSORS_MAX as u64), ("entries", entry_count, ENTRIES_MAX)]
    {
        if count > most {
            return Err(reader.error(format!("at most {most} {what}"), count.to_string()));
        }
    }
    let (values, mut metadata) = value::entries(&mut reader, entry_count)?;
    let alignment = alignment(&reader, &values)?;
    let described = descriptions(&mut reader, tensor_count)?;
    let data_start = reader.used_bytes().next_multiple_of(alignment);

    let mut starts: Vec<u64> = described.iter().map(|tensor| tensor.offset).collect();
    starts.sort_unstable();
    let data_bytes = file_bytes.saturating_sub(data_start);
    let mut tensors = Vec::with_capacity(described.len());
    for tensor in described {
        if !tensor.offset.is_multiple_of(alignment) {
            let needed = format!("an offset that is a multiple of {alignment}");
            return Err(refuse(path, &tensor.name, needed, tensor.offset.to_string()));
        }
        let next = starts[starts.partition_point(|&start| start <= tensor.offset)..].first();
        let room = next.copied().unwrap_or(data_bytes).saturating_sub(tensor.offset);
        let (dtype, len_bytes) = size(path, &tensor, room)?;
        if dtype == Dtype::GgufOther {
            metadata.other_types.insert(tensor.name.clone(), tensor.number);
        }
        let offset_bytes = data_start.checked_add(tensor.offset).ok_or_else(|| {
            refuse(path, &tensor.name, "an offset inside the file".to_string(), tensor.offset.to_string())
        })?;
        let shape = tensor.axes.iter().rev().copied().collect();
        tensors.push(Tensor { name: tensor.name, dtype, shape, file, offset_bytes, len_bytes });
    }
    check_extents(path, data_start, file_bytes, &tensors)?;
    Ok(Header { file_bytes, values, metadata, tensors })
}

fn refuse(path: &Path, tensor: &str, needed: String, found: String) -> Error {
    Error::Tensor { path: path.to_path_buf(), tensor: tensor.to_string(), needed, found }
}

fn check_beginning<R: Read>(reader: &mut Reader<R>) -> Result<(), Error> {
    let magic: [u8; 4] = reader.array()?;
    if magic != MAGIC {
        return Err(reader.error("the bytes `GGUF`", format!("`{}`", magic.escape_ascii())));
    }
    match reader.u32()? {
        2 | 3 => Ok(()),
        // The other byte order puts the small number into the upper half.
        version if version & 0xFFFF == 0 && version != 0 => {
            Err(reader
                .error("little-endian GGUF", format!("big-endian GGUF version {}", version.swap_bytes())))
        }
        version => Err(reader.error("GGUF version 2 or 3", format!("version {version}"))),
    }
}

fn alignment<R: Read>(reader: &Reader<R>, values: &Map<String, Value>) -> Result<u64, Error> {
    const ALIGNMENT_BYTES_MAX: u64 = 1 << 30;
    let Some(value) = values.get("general.alignment") else { return Ok(ALIGNMENT_BYTES) };
    value
        .as_u64()
        .filter(|&bytes| bytes.is_power_of_two() && bytes <= ALIGNMENT_BYTES_MAX)
        .ok_or_else(|| reader.error("a power of two as `general.alignment`", value.to_string()))
}

fn descriptions<R: Read>(reader: &mut Reader<R>, count: u64) -> Result<Vec<Described>, Error> {
    /// Length of the name, number of axes, type, offset.
    const LEAST_BYTES: u64 = 8 + 4 + 4 + 8;
    reader.expect_room(count, LEAST_BYTES)?;
    let mut names = HashSet::new();
    let mut described = Vec::with_capacity(count as usize);
    for at in 0..count {
        let name = reader.string(&format!("the name of tensor {at}"))?;
        let axis_count = reader.u32()? as usize;
        if axis_count > AXES_MAX {
            let needed = format!("at most {AXES_MAX} axes of tensor `{name}`");
            return Err(reader.error(needed, axis_count.to_string()));
        }
        let axes = (0..axis_count).map(|_| reader.u64()).collect::<Result<Vec<u64>, Error>>()?;
        let (number, offset) = (reader.u32()?, reader.u64()?);
        if !names.insert(name.clone()) {
            return Err(reader.error("every tensor once", format!("`{name}` again")));
        }
        described.push(Described { name, axes, number, offset });
    }
    Ok(described)
}

/// Type and size of a tensor that has `room` bytes until the next one begins; a type whose blocks are not known fills it.
fn size(path: &Path, tensor: &Described, room: u64) -> Result<(Dtype, u64), Error> {
    let Some(stored) = types::numbered(tensor.number) else { return Ok((Dtype::GgufOther, room)) };
    let row = tensor.axes.first().copied().unwrap_or(1);
    if !row.is_multiple_of(stored.block_elements) {
        let needed = format!("rows of a multiple of {} elements", stored.block_elements);
        let found = format!("{row} of {}", types::described(tensor.number));
        return Err(refuse(path, &tensor.name, needed, found));
    }
    let bytes =
        elements(&tensor.axes).and_then(|all| (all / stored.block_elements).checked_mul(stored.block_bytes));
    let bytes = bytes.ok_or_else(|| {
        refuse(path, &tensor.name, "a size below 2^64 bytes".to_string(), format!("axes {:?}", tensor.axes))
    })?;
    Ok((stored.dtype, bytes))
}
