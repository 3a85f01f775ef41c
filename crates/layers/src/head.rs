//! From the last hidden state to logits.

/// Where the output projection comes from, and what happens to its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Which matrix is used.
    pub weights: HeadWeights,
    /// `cap · tanh(logit / cap)`, if the family caps its logits.
    pub softcap: Option<f32>,
}

/// The source of the output projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadWeights {
    /// The embedding matrix; a head tensor in the file is ignored, so that a redundant copy changes nothing.
    Tied,
    /// A tensor of its own, which must be there.
    Own,
    /// A tensor of its own if the file has one, else the embedding matrix (files that carry no flag for it).
    OwnIfPresent,
}
