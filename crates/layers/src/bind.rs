//! From a role to a tensor: tries the names of a role, checks the shape, works out the stored format.

use std::{path::PathBuf, rc::Rc};

use checkpoint::{Checkpoint, FileIdx, Tensor};
use quant::{Format, Stamps};
use units::{ExpertIdx, LayerIdx};

use crate::{description::Description, error::Error, names::Role, weight::Stored};

/// Finds the tensors of one description in one checkpoint.
#[derive(Clone)]
pub struct Binder<'a> {
    /// Where the tensors are.
    pub checkpoint: &'a Checkpoint,
    /// What is needed.
    pub description: &'a Description,
    /// What each file says about the formats of its tensors, if it does.
    stamps: Rc<[Option<Stamps>]>,
}

impl<'a> Binder<'a> {
    /// A binder for `description` in `checkpoint`.
    ///
    /// # Errors
    /// A file's format stamp cannot be read.
    pub fn new(checkpoint: &'a Checkpoint, description: &'a Description) -> Result<Binder<'a>, Error> {
        let stamp = |(index, file): (usize, &PathBuf)| -> Result<Option<Stamps>, Error> {
            let text = checkpoint.metadata_stamp(FileIdx(index as u32));
            let refuse =
                |source| Error::Format { file: file.clone(), tensor: "colibri.fmt".to_string(), source };
            text.map(Stamps::parse).transpose().map_err(refuse)
        };
        let stamps = checkpoint.files().iter().enumerate().map(stamp).collect::<Result<_, _>>()?;
        Ok(Binder { checkpoint, description, stamps })
    }

    /// The first tensor that has one of the role's names. Placeholders of 0 bytes count as absent.
    #[must_use]
    pub fn find(&self, role: Role, layer: LayerIdx, expert: ExpertIdx) -> Option<&'a Tensor> {
        let names = self.description.names.of(role, layer, expert);
        names.filter_map(|name| self.checkpoint.tensor(&name)).find(|tensor| tensor.len_bytes > 0)
    }

    /// As [`Binder::find`], or an error that lists the names.
    ///
    /// # Errors
    /// No name of the role is in the checkpoint.
    pub fn need(&self, role: Role, layer: LayerIdx, expert: ExpertIdx) -> Result<&'a Tensor, Error> {
        self.find(role, layer, expert).ok_or_else(|| Error::Missing {
            path: self.checkpoint.path().to_path_buf(),
            family: self.description.family,
            role,
            layer,
            tried: self.description.names.of(role, layer, expert).collect::<Vec<_>>().join(", "),
        })
    }

    /// The matrix for `role`, `[rows, cols]`, in whatever format it is stored.
    ///
    /// # Errors
    /// It is absent, has another shape, or its bytes have no decoder.
    pub fn matrix(
        &self,
        role: Role,
        layer: LayerIdx,
        expert: ExpertIdx,
        rows: usize,
        cols: usize,
    ) -> Result<Stored, Error> {
        let tensor = self.need(role, layer, expert)?;
        self.stored(tensor, role, layer, &[rows, cols])
    }

    /// `tensor` as a stack of matrices with these `axes` (the last is the input width, the others make up the rows).
    ///
    /// # Errors
    /// As [`Binder::matrix`].
    pub fn stored(
        &self,
        tensor: &Tensor,
        role: Role,
        layer: LayerIdx,
        axes: &[usize],
    ) -> Result<Stored, Error> {
        let (cols, outer) = axes.split_last().expect("a matrix has two axes");
        let (rows, cols) = (outer.iter().product(), *cols);
        let scales = self.checkpoint.tensor(&format!("{}.qs", tensor.name));
        if scales.is_none() && !same_shape(&tensor.shape, axes) {
            return Err(self.misshapen(tensor, role, layer, axes));
        }
        let scale_count = scales.map(|scales| scales.len_bytes as usize / size_of::<f32>());
        let stamp = self.stamps[tensor.file.0 as usize].as_ref().and_then(|stamps| stamps.of(&tensor.name));
        let format = Format::deduce(tensor.dtype, rows, cols, tensor.len_bytes as usize, scale_count, stamp)
            .map_err(|source| self.undecodable(tensor, source))?;
        Ok(Stored { tensor: tensor.clone(), scales: scales.cloned(), format, rows, cols })
    }

    /// The `len` values for `role` as f32, or `None` when the checkpoint has no such tensor.
    ///
    /// # Errors
    /// It has another shape, no decoder, or cannot be read.
    pub fn vector(&self, role: Role, layer: LayerIdx, len: usize) -> Result<Option<Vec<f32>>, Error> {
        let Some(tensor) = self.find(role, layer, ExpertIdx(0)) else { return Ok(None) };
        if !same_shape(&tensor.shape, &[len]) {
            return Err(self.misshapen(tensor, role, layer, &[len]));
        }
        let refuse = |source| self.undecodable(tensor, source);
        let format =
            Format::deduce(tensor.dtype, 1, len, tensor.len_bytes as usize, None, None).map_err(refuse)?;
        let bytes = self.checkpoint.read(tensor)?;
        let mut values = vec![0.0; len];
        quant::Matrix::new(format, 1, len, &bytes, &[]).map_err(refuse)?.decode_row(0, &mut values);
        Ok(Some(values))
    }

    fn misshapen(&self, tensor: &Tensor, role: Role, layer: LayerIdx, needed: &[usize]) -> Error {
        Error::Shape {
            file: self.file(tensor),
            tensor: tensor.name.clone(),
            found: tensor.shape.clone(),
            dtype: tensor.dtype,
            role,
            layer,
            family: self.description.family,
            needed: needed.to_vec(),
        }
    }

    fn undecodable(&self, tensor: &Tensor, source: quant::Error) -> Error {
        Error::Format { file: self.file(tensor), tensor: tensor.name.clone(), source }
    }

    /// The file that holds `tensor`.
    #[must_use]
    pub fn file(&self, tensor: &Tensor) -> PathBuf {
        self.checkpoint.files()[tensor.file.0 as usize].clone()
    }
}

fn same_shape(found: &[u64], needed: &[usize]) -> bool {
    found.len() == needed.len() && found.iter().zip(needed).all(|(found, needed)| *found == *needed as u64)
}
