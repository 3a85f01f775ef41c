//! Feed-forward blocks that every token passes.

pub mod glu;
