//! What can go wrong between a description and a running stack.

use std::path::PathBuf;

use units::LayerIdx;

use crate::names::Role;

/// A checkpoint that does not hold what its description needs, or experts that could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No spelling of a needed tensor is in the checkpoint.
    #[error("{}: no tensor for {role} of layer {layer} of `{family}`; needed one of {tried}", path.display())]
    Missing {
        /// The checkpoint.
        path: PathBuf,
        /// The family whose description needs it.
        family: &'static str,
        /// What it is for.
        role: Role,
        /// Where (layer 0 for tensors outside the layers).
        layer: LayerIdx,
        /// The names that were looked for.
        tried: String,
    },
    /// A tensor has another shape than its description needs.
    #[error("{}: tensor `{tensor}` is {found:?} {dtype}, but {role} of layer {layer} of `{family}` needs {needed:?}", file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// Its name there.
        tensor: String,
        /// Its shape, outermost axis first.
        found: Vec<u64>,
        /// Its declared element type.
        dtype: units::Dtype,
        /// What it is for.
        role: Role,
        /// Where.
        layer: LayerIdx,
        /// The family whose description needs it.
        family: &'static str,
        /// The needed shape.
        needed: Vec<usize>,
    },
    /// A tensor's bytes have no decoder, or contradict its declared format.
    #[error("{}: tensor `{tensor}`: {source}", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// Its name there.
        tensor: String,
        /// Why.
        source: quant::Error,
    },
    /// Experts of one layer are stored in different formats.
    #[error("{}: tensor `{tensor}` is stored as {found}, but the same projection of the layer's first expert is {needed}", file.display())]
    MixedExperts {
        /// The file.
        file: PathBuf,
        /// The first that differs.
        tensor: String,
        /// Its format.
        found: String,
        /// The first expert's format.
        needed: String,
    },
    /// A small tensor could not be read.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
    /// Weights could not be read.
    #[error(transparent)]
    Storage(#[from] storage::Error),
    /// An expert could not be had.
    #[error(transparent)]
    Experts(#[from] tiers::Error),
}
