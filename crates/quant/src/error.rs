//! Why bytes cannot be read as a matrix, or a row cannot be written.

use units::Dtype;

use crate::Format;

/// What this crate refuses.
///
/// The caller knows the file and the tensor and adds them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A dtype whose bytes have no decoder here.
    #[error("dtype {dtype} has no decoder")]
    NoDecoder {
        /// As the file declares it.
        dtype: Dtype,
    },
    /// A format that is read but never written.
    #[error("format {format} is read but not written")]
    NoEncoder {
        /// What was asked for.
        format: Format,
    },
    /// A row that does not fill whole blocks.
    #[error("a row of {cols} values is not a whole number of {format} blocks of {block}")]
    Columns {
        /// What was asked for.
        format: Format,
        /// Values of a row.
        cols: usize,
        /// Values of a block.
        block: usize,
    },
    /// A group of columns per scale that no container uses.
    #[error("a scale per {group} columns is not known, only per 32, 64, 128 or 256")]
    Group {
        /// Columns that share a scale.
        group: usize,
    },
    /// Bytes that are too few or too many for the shape.
    #[error("a {format} matrix [{rows}, {cols}] needs {needed} bytes of {part}, found {found}")]
    Length {
        /// What the bytes were to be.
        format: Format,
        /// Output width.
        rows: usize,
        /// Input width.
        cols: usize,
        /// `weights` or `scales`.
        part: &'static str,
        /// Bytes of such a matrix.
        needed: usize,
        /// Bytes given.
        found: usize,
    },
    /// A shape whose byte count does not fit a `usize`.
    #[error("a {format} matrix [{rows}, {cols}] has more bytes than can be addressed")]
    Overflow {
        /// What the bytes were to be.
        format: Format,
        /// Output width.
        rows: usize,
        /// Input width.
        cols: usize,
    },
    /// Packed bytes without the scales that give them a meaning.
    #[error("{dtype} weights [{rows}, {cols}] need a tensor of scales (`.qs`), found none")]
    NoScales {
        /// As the file declares it.
        dtype: Dtype,
        /// Output width.
        rows: usize,
        /// Input width.
        cols: usize,
    },
    /// Scales beside a dtype that carries its own.
    #[error("{dtype} weights have no scales beside them, found {scales}")]
    NeedlessScales {
        /// As the file declares it.
        dtype: Dtype,
        /// Values in the tensor of scales.
        scales: usize,
    },
    /// Packed bytes that fit no known format.
    #[error(
        "{dtype} weights [{rows}, {cols}] of {weight_bytes} bytes with {scales} scales fit no known format: {fits}"
    )]
    Unknown {
        /// As the file declares it.
        dtype: Dtype,
        /// Output width.
        rows: usize,
        /// Input width.
        cols: usize,
        /// Bytes of the tensor.
        weight_bytes: usize,
        /// Values in the tensor of scales.
        scales: usize,
        /// What would fit.
        fits: String,
    },
    /// A stamp that contradicts the bytes.
    #[error("stamped `{stamp}`, but the bytes are {found}")]
    StampDisagrees {
        /// As the file spells it.
        stamp: String,
        /// By byte arithmetic.
        found: Format,
    },
    /// A stamp that names nothing known.
    #[error("stamped `{stamp}`, which is not the name of a format that is read here")]
    StampUnknown {
        /// As the file spells it, cut to a readable length.
        stamp: String,
    },
    /// A stamp that cannot be parsed.
    #[error("the format stamp `colibri.fmt` needs {needed}, found {found}")]
    StampMalformed {
        /// What it should be.
        needed: &'static str,
        /// What it is.
        found: String,
    },
    /// A value that a quantised format cannot hold.
    #[error(
        "value {index} of the row is {value}, and {format} holds finite values whose scale fits its type"
    )]
    NotFinite {
        /// What was to be written.
        format: Format,
        /// Position in the row.
        index: usize,
        /// The value there.
        value: f32,
    },
}
