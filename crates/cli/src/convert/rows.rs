//! From the bytes of one tensor to those of another, a few rows at a time.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use checkpoint::Tensor;
use quant::{Format, Matrix};

use super::rules::Fate;
use crate::failure::Failure;

/// Source bytes that are held at once, unless a single row is longer.
const BATCH_BYTES: usize = 4 << 20;

/// Reads `tensor` from its file and hands its new bytes to `write`, in order. Returns the scales that belong beside them.
///
/// # Errors
/// The file cannot be read, a value does not fit the new format, or `write` fails.
pub fn rewrite(
    path: &Path,
    tensor: &Tensor,
    fate: Fate,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
) -> Result<Vec<u8>, Failure> {
    let mut file = File::open(path).map_err(|source| Failure::io(path, source))?;
    file.seek(SeekFrom::Start(tensor.offset_bytes)).map_err(|source| Failure::io(path, source))?;
    let mut read = |bytes: &mut [u8]| file.read_exact(bytes).map_err(|source| Failure::io(path, source));
    match fate {
        Fate::Copied => copy(tensor.len_bytes, &mut read, write).map(|()| Vec::new()),
        Fate::Encoded { from, to, .. } if from == to => {
            copy(tensor.len_bytes, &mut read, write).map(|()| Vec::new())
        }
        Fate::Encoded { from, to, rows, cols } => {
            let refuse = |error: quant::Error| {
                Failure::refused(
                    format!("{}: tensor `{}`: {error}", path.display(), tensor.name),
                    "another --format may hold these values",
                )
            };
            encode(from, to, rows, cols, &mut read, write, &refuse)
        }
    }
}

type Reader<'a> = &'a mut dyn FnMut(&mut [u8]) -> Result<(), Failure>;
type Writer<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Failure>;

fn copy(len_bytes: u64, read: Reader<'_>, write: Writer<'_>) -> Result<(), Failure> {
    let mut buffer = vec![0; BATCH_BYTES.min(len_bytes as usize)];
    let mut left = len_bytes as usize;
    while left > 0 {
        let part = &mut buffer[..left.min(BATCH_BYTES)];
        read(part)?;
        write(part)?;
        left -= part.len();
    }
    Ok(())
}

fn encode(
    from: Format,
    to: Format,
    rows: usize,
    cols: usize,
    read: Reader<'_>,
    write: Writer<'_>,
    refuse: &dyn Fn(quant::Error) -> Failure,
) -> Result<Vec<u8>, Failure> {
    let needed = || refuse(quant::Error::Columns { format: from, cols, block: from.block_elements() });
    let row_bytes = from.row_bytes(cols).ok_or_else(needed)?;
    let batch = (BATCH_BYTES / row_bytes.max(1)).clamp(1, rows.max(1));
    let (mut source, mut values) = (vec![0; batch * row_bytes], vec![0.0; cols]);
    let (mut bytes, mut scales) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        let count = batch.min(rows - done);
        let part = &mut source[..count * row_bytes];
        read(part)?;
        let matrix = Matrix::new(from, count, cols, part, &[]).map_err(refuse)?;
        bytes.clear();
        for row in 0..count {
            matrix.decode_row(row, &mut values);
            to.encode_row(&values, &mut bytes, &mut scales).map_err(refuse)?;
        }
        write(&bytes)?;
        done += count;
    }
    Ok(scales)
}
