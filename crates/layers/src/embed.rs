//! Token lookup.

/// Rows of the embedding matrix, times a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Embed {
    /// Factor on every looked-up row; 1 for most families.
    pub scale: f32,
}
