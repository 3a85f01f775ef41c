//! One file of the destination.

use std::{collections::BTreeMap, path::Path};

use checkpoint::{Checkpoint, Declared, SafetensorsWriter, Tensor};
use quant::Stamps;
use units::Dtype;

use super::{
    rows,
    rules::{self, Fate, Target},
};
use crate::failure::Failure;

/// Bytes that existing readers take for a stamp.
const STAMP_BYTES_MAX: usize = 4096;

/// A file of the source, and what becomes of each of its tensors.
pub struct Shard<'a> {
    /// Name of the destination's file.
    pub name: String,
    file: &'a Path,
    items: Vec<(&'a Tensor, Fate)>,
}

impl<'a> Shard<'a> {
    /// All shards of a conversion.
    ///
    /// # Errors
    /// A tensor cannot be converted.
    pub fn all(source: &'a Checkpoint, target: Target) -> Result<Vec<Shard<'a>>, Failure> {
        let count = source.files().len();
        let mut shards: Vec<Shard<'a>> = source
            .files()
            .iter()
            .enumerate()
            .map(|(index, file)| Shard { name: name(index, count), file, items: Vec::new() })
            .collect();
        let mut tensors: Vec<&Tensor> = source.tensors().collect();
        // In the order of the file, so that it is read from front to back.
        tensors.sort_by_key(|tensor| (tensor.file, tensor.offset_bytes));
        for tensor in tensors {
            let shard = &mut shards[tensor.file.index()];
            let fate = rules::fate(tensor, target).map_err(|needed| refused(source, tensor, needed))?;
            shard.items.push((tensor, fate));
        }
        Ok(shards)
    }

    /// Bytes of the source that this shard reads.
    pub fn source_bytes(&self) -> u64 {
        self.items.iter().map(|(tensor, _)| tensor.len_bytes).sum()
    }

    /// Bytes of the destination's tensors.
    pub fn destination_bytes(&self) -> u64 {
        let bytes = |(tensor, fate): &(&Tensor, Fate)| match *fate {
            Fate::Copied => tensor.len_bytes,
            Fate::Encoded { to, rows, cols, .. } => {
                let row_bytes = to.row_bytes(cols).unwrap_or(0) + size_of::<f32>() * to.scales_per_row(cols);
                (rows * row_bytes) as u64
            }
        };
        self.items.iter().map(bytes).sum()
    }

    /// The tensors that the destination's file will hold, in order. Scales follow their weights, so that an expert whose
    /// matrices are neighbours in the source is one run of bytes in the destination.
    pub fn declared(&self) -> Vec<Declared> {
        self.items.iter().flat_map(|(tensor, fate)| declared(tensor, *fate)).collect()
    }

    /// The stamp of the file: a bare name where all packed tensors share a format, else a claim for each; none where that
    /// would be longer than readers take. Byte counts tell the format without it.
    pub fn stamp(&self) -> Option<String> {
        let packed = || {
            self.items.iter().filter_map(|(tensor, fate)| match fate {
                Fate::Encoded { to, cols, .. } if to.scales_per_row(*cols) > 0 => {
                    Some((tensor.name.clone(), to.name()))
                }
                _ => None,
            })
        };
        let (_, first) = packed().next()?;
        if packed().all(|(_, format)| format == first) {
            return Some(Stamps::All(first.to_string()).to_text());
        }
        let claims = Stamps::Named(packed().map(|(tensor, format)| (tensor, format.to_string())).collect());
        Some(claims.to_text()).filter(|text| text.len() <= STAMP_BYTES_MAX)
    }

    /// Writes the shard into `folder`; it appears there when it is whole.
    ///
    /// # Errors
    /// The source cannot be read, a value does not fit its format, or the destination cannot be written.
    pub fn write(&self, folder: &Path, on_read: &mut dyn FnMut(u64)) -> Result<(), Failure> {
        let mut metadata = BTreeMap::from([("format".to_string(), "pt".to_string())]);
        metadata.extend(self.stamp().map(|stamp| ("colibri.fmt".to_string(), stamp)));
        let mut writer = SafetensorsWriter::create(&folder.join(&self.name), &self.declared(), &metadata)?;
        for (tensor, fate) in &self.items {
            let mut write = |bytes: &[u8]| Ok(writer.write(&tensor.name, bytes)?);
            let scales = rows::rewrite(self.file, tensor, *fate, &mut write)?;
            if !scales.is_empty() {
                writer.write(&scales_name(tensor), &scales)?;
            }
            on_read(tensor.len_bytes);
        }
        writer.finish()?;
        Ok(())
    }
}

fn name(index: usize, count: usize) -> String {
    match count {
        1 => "model.safetensors".to_string(),
        _ => format!("model-{:05}-of-{count:05}.safetensors", index + 1),
    }
}

fn scales_name(tensor: &Tensor) -> String {
    format!("{}.qs", tensor.name)
}

fn declared(tensor: &Tensor, fate: Fate) -> Vec<Declared> {
    let one = |name: String, dtype: Dtype, shape: Vec<u64>| Declared { name, dtype, shape };
    match fate {
        Fate::Copied => vec![one(tensor.name.clone(), tensor.dtype, tensor.shape.clone())],
        Fate::Encoded { to, rows, cols, .. } => {
            let scales = to.scales_per_row(cols);
            if scales == 0 {
                return vec![one(tensor.name.clone(), to.dtype(), tensor.shape.clone())];
            }
            // Packed rows are bytes, whatever they mean.
            let row_bytes = to.row_bytes(cols).unwrap_or(cols);
            let of_rows = |per_row: usize| vec![rows as u64, per_row as u64];
            let scales = if to.group_elements().is_some() { of_rows(scales) } else { vec![rows as u64] };
            vec![
                one(tensor.name.clone(), Dtype::U8, of_rows(row_bytes)),
                one(scales_name(tensor), Dtype::F32, scales),
            ]
        }
    }
}

fn refused(source: &Checkpoint, tensor: &Tensor, needed: &str) -> Failure {
    let file = source
        .files()
        .get(tensor.file.index())
        .map_or_else(String::new, |file| format!("{}: ", file.display()));
    Failure::refused(
        format!("{file}tensor `{}`: needed {needed}; found {}", tensor.name, source.type_name(tensor)),
        "convert the original checkpoint",
    )
}
