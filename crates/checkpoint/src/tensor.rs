//! One stored tensor, and the checks that make its description trustworthy.

use std::path::Path;

use units::Dtype;

use crate::Error;

/// Axes of one tensor; published checkpoints stay at 5.
pub(crate) const AXES_MAX: usize = 8;

/// A file of the checkpoint, as a position in [`crate::Checkpoint::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdx(pub u32);

impl FileIdx {
    /// The position as an array index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where one tensor is and how it is stored. Its bytes lie inside the file and belong to no other tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// Its name in the file.
    pub name: String,
    /// How its elements are encoded.
    pub dtype: Dtype,
    /// Axes, outermost first (row-major), for GGUF too.
    pub shape: Vec<u64>,
    /// The file that holds it.
    pub file: FileIdx,
    /// Position of its first byte, counted from the start of the file.
    pub offset_bytes: u64,
    /// Its size; 0 for a placeholder.
    pub len_bytes: u64,
}

/// Number of elements, or none when it does not fit 64 bits.
pub(crate) fn elements(shape: &[u64]) -> Option<u64> {
    // An axis of 0 makes the whole empty, whatever the others multiply to.
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1u64, |product, &axis| product.checked_mul(axis))
}

/// Checks that every tensor lies inside the file and that no two share a byte.
///
/// Gaps are accepted: writers align tensors. Returns the bytes from `data_start` on that belong to no tensor.
pub(crate) fn check_extents(
    path: &Path,
    data_start: u64,
    file_bytes: u64,
    tensors: &[Tensor],
) -> Result<u64, Error> {
    let mut order: Vec<&Tensor> = tensors.iter().filter(|tensor| tensor.len_bytes > 0).collect();
    order.sort_unstable_by_key(|tensor| tensor.offset_bytes);
    let mut used_to = data_start;
    let mut claimed_bytes = 0;
    let mut last: Option<&Tensor> = None;
    for tensor in order {
        let end = tensor.offset_bytes.checked_add(tensor.len_bytes).ok_or_else(|| Error::Tensor {
            path: path.to_path_buf(),
            tensor: tensor.name.clone(),
            needed: "offsets inside the file".to_string(),
            found: format!("{} bytes from {}", tensor.len_bytes, tensor.offset_bytes),
        })?;
        if tensor.offset_bytes < used_to {
            return Err(Error::Tensor {
                path: path.to_path_buf(),
                tensor: tensor.name.clone(),
                needed: "bytes of its own".to_string(),
                found: format!(
                    "byte {} is also in `{}`",
                    tensor.offset_bytes,
                    last.map_or("the header", |last| last.name.as_str())
                ),
            });
        }
        claimed_bytes += tensor.len_bytes;
        used_to = end;
        last = Some(tensor);
    }
    // A file of only metadata need not be padded to where its data would begin.
    used_to = if last.is_none() { 0 } else { used_to };
    let farthest = tensors.iter().map(|tensor| tensor.offset_bytes).max().unwrap_or(0);
    used_to = used_to.max(farthest);
    if used_to > file_bytes {
        return Err(Error::Truncated {
            path: path.to_path_buf(),
            needed_bytes: used_to,
            found_bytes: file_bytes,
        });
    }
    Ok(file_bytes.saturating_sub(data_start).saturating_sub(claimed_bytes))
}
