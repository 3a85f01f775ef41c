//! What a family states about itself: plain data, no weights, no I/O.
//!
//! A [`Description`] is comparable and printable. Everything that plans, loads, runs or serves a model reads this and
//! never asks which family wrote it.

use units::LayerIdx;

use crate::{
    embed::Embed, ffn::glu::Glu, head::Head, mixer::gqa::Gqa, moe::Moe, names::Names, norm::RmsNorm,
    residual::Residual,
};

/// A whole model as data.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The family's own word for itself, for messages and `info`.
    pub family: &'static str,
    /// Width of the residual stream.
    pub hidden: usize,
    /// Rows of the embedding and of the head.
    pub vocab: usize,
    /// Positions that the model was trained for.
    pub context: usize,
    /// Token lookup.
    pub embed: Embed,
    /// The layers, bottom first.
    pub layers: Vec<Layer>,
    /// The norm before the head.
    pub final_norm: RmsNorm,
    /// From hidden state to logits.
    pub head: Head,
    /// How the checkpoint spells its tensors.
    pub names: Names,
}

/// One layer: a mixer over positions, then a feed-forward part, each written into the residual stream.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The part that looks at other positions.
    pub mixer: Mixer,
    /// The part that looks at one position.
    pub ffn: Ffn,
    /// How both are read from and added to the stream.
    pub residual: Residual,
}

/// The blocks that mix positions.
#[derive(Clone, Debug, PartialEq)]
pub enum Mixer {
    /// Softmax attention with grouped key and value heads.
    Gqa(Gqa),
}

/// The blocks that work on one position.
#[derive(Clone, Debug, PartialEq)]
pub enum Ffn {
    /// One gated linear unit for every token.
    Dense(Glu),
    /// Routed experts.
    Moe(Moe),
}

impl Description {
    /// The layers with their indices, bottom first.
    pub fn indexed(&self) -> impl Iterator<Item = (LayerIdx, &Layer)> {
        self.layers.iter().enumerate().map(|(index, layer)| (LayerIdx(index as u32), layer))
    }

    /// The routed part of `layer`, if it has one.
    #[must_use]
    pub fn moe(&self, layer: LayerIdx) -> Option<&Moe> {
        match &self.layers.get(layer.index())?.ffn {
            Ffn::Moe(moe) => Some(moe),
            Ffn::Dense(_) => None,
        }
    }

    /// Routed experts of the whole model.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.indexed().filter_map(|(layer, _)| self.moe(layer)).map(|moe| moe.experts).sum()
    }

    /// The most experts that one token visits in one layer; 0 for a dense model.
    #[must_use]
    pub fn active_max(&self) -> usize {
        self.indexed().filter_map(|(layer, _)| self.moe(layer)).map(|moe| moe.active).max().unwrap_or(0)
    }
}
