//! The formats: their names, their dtypes and their geometry.

use std::fmt;

use units::Dtype;

use crate::{floats, int4, int8_row, iq4, mxfp4, q2_k, q3_k, q4, q4_k, q5, q5_k, q6_k, q8_0};

/// How the weights of a matrix are stored. Rows are stored one after another, each on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// The upper half of an IEEE binary32.
    Bf16,
    /// Signed bytes, one f32 scale a row beside them.
    Int8Row,
    /// Nibbles, one f32 scale a row beside them.
    Int4Row,
    /// Nibbles, one f32 scale for every `group` columns of a row beside them.
    Int4Group {
        /// Columns that share a scale: one of [`int4::GROUPS`].
        group: usize,
    },
    /// Blocks of 32 signed bytes with an f16 scale.
    Q8_0,
    /// Blocks of 32 nibbles with an f16 scale.
    Q4_0,
    /// Blocks of 32 nibbles with an f16 scale and an f16 minimum.
    Q4_1,
    /// Blocks of 32 five-bit codes with an f16 scale.
    Q5_0,
    /// Blocks of 32 five-bit codes with an f16 scale and an f16 minimum.
    Q5_1,
    /// Blocks of 256 two-bit codes, 4-bit scale and minimum for every 16.
    Q2K,
    /// Blocks of 256 three-bit codes, 6-bit scale for every 16.
    Q3K,
    /// Blocks of 256 four-bit codes, 6-bit scale and minimum for every 32.
    Q4K,
    /// Blocks of 256 five-bit codes, 6-bit scale and minimum for every 32.
    Q5K,
    /// Blocks of 256 six-bit codes, 8-bit scale for every 16.
    Q6K,
    /// Blocks of 32 nibbles into a fixed table, with an f16 scale.
    Iq4Nl,
    /// Blocks of 256 nibbles into the same table, 6-bit scale for every 32.
    Iq4Xs,
    /// Blocks of 32 e2m1 floats with a power-of-two scale.
    Mxfp4,
}

/// Every format with its name and, where a dtype alone says what the bytes mean, that dtype.
const TABLE: &[(Format, &str, Option<Dtype>)] = &[
    (Format::F32, "f32", Some(Dtype::F32)),
    (Format::F16, "f16", Some(Dtype::F16)),
    (Format::Bf16, "bf16", Some(Dtype::Bf16)),
    (Format::Int8Row, "int8-row", None),
    (Format::Int4Row, "int4-row", None),
    (Format::Int4Group { group: 32 }, "int4-g32", None),
    (Format::Int4Group { group: 64 }, "int4-g64", None),
    (Format::Int4Group { group: 128 }, "int4-g128", None),
    (Format::Int4Group { group: 256 }, "int4-g256", None),
    (Format::Q8_0, "q8_0", Some(Dtype::Q8_0)),
    (Format::Q4_0, "q4_0", Some(Dtype::Q4_0)),
    (Format::Q4_1, "q4_1", Some(Dtype::Q4_1)),
    (Format::Q5_0, "q5_0", Some(Dtype::Q5_0)),
    (Format::Q5_1, "q5_1", Some(Dtype::Q5_1)),
    (Format::Q2K, "q2_k", Some(Dtype::Q2K)),
    (Format::Q3K, "q3_k", Some(Dtype::Q3K)),
    (Format::Q4K, "q4_k", Some(Dtype::Q4K)),
    (Format::Q5K, "q5_k", Some(Dtype::Q5K)),
    (Format::Q6K, "q6_k", Some(Dtype::Q6K)),
    (Format::Iq4Nl, "iq4_nl", Some(Dtype::Iq4Nl)),
    (Format::Iq4Xs, "iq4_xs", Some(Dtype::Iq4Xs)),
    (Format::Mxfp4, "mxfp4", Some(Dtype::Mxfp4)),
];

impl Format {
    /// Every format, from the widest to the narrowest of each kind; grouped int4 once for each group size.
    pub const ALL: &[Format] = &{
        let mut all = [Format::F32; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            all[i] = TABLE[i].0;
            i += 1;
        }
        all
    };

    /// The name users read and write, such as `int4-g64` or `q4_k`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // Only an `Int4Group` of a size that no container has is missing from the table.
        TABLE.iter().find(|row| row.0 == self).map_or("int4-grouped", |row| row.1)
    }

    /// The format with this name (exactly as [`Format::name`] spells it), if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// The format of a tensor whose dtype alone says what its bytes mean; `None` for integers, which need scales
    /// beside them, and for dtypes without a decoder.
    #[must_use]
    pub fn from_dtype(dtype: Dtype) -> Option<Format> {
        TABLE.iter().find(|row| row.2 == Some(dtype)).map(|row| row.0)
    }

    /// The dtype that this format has in a file, `U8` for those that keep their scales in a second tensor.
    #[must_use]
    pub fn dtype(self) -> Dtype {
        TABLE.iter().find(|row| row.0 == self).and_then(|row| row.2).unwrap_or(Dtype::U8)
    }

    /// Columns and bytes of a block. A match and not the table, because every row of a product asks.
    const fn block(self) -> (usize, usize) {
        match self {
            Format::F32 => floats::F32_BLOCK,
            Format::F16 | Format::Bf16 => floats::HALF_BLOCK,
            Format::Int8Row => int8_row::BLOCK,
            Format::Int4Row | Format::Int4Group { .. } => int4::BLOCK,
            Format::Q8_0 => (q8_0::ELEMENTS, q8_0::BYTES),
            Format::Q4_0 => (q4::ELEMENTS, q4::Q4_0_BYTES),
            Format::Q4_1 => (q4::ELEMENTS, q4::Q4_1_BYTES),
            Format::Q5_0 => (q5::ELEMENTS, q5::Q5_0_BYTES),
            Format::Q5_1 => (q5::ELEMENTS, q5::Q5_1_BYTES),
            Format::Q2K => (q2_k::ELEMENTS, q2_k::BYTES),
            Format::Q3K => (q3_k::ELEMENTS, q3_k::BYTES),
            Format::Q4K => (q4_k::ELEMENTS, q4_k::BYTES),
            Format::Q5K => (q5_k::ELEMENTS, q5_k::BYTES),
            Format::Q6K => (q6_k::ELEMENTS, q6_k::BYTES),
            Format::Iq4Nl => (iq4::NL_ELEMENTS, iq4::NL_BYTES),
            Format::Iq4Xs => (iq4::XS_ELEMENTS, iq4::XS_BYTES),
            Format::Mxfp4 => (mxfp4::ELEMENTS, mxfp4::BYTES),
        }
    }

    /// Columns of a block, the least that can be decoded without reading its neighbours.
    #[must_use]
    pub fn block_elements(self) -> usize {
        self.block().0
    }

    /// Bytes of a block, without the scales of formats that keep them beside the weights.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        self.block().1
    }

    /// Columns that share one scale, inside the block or beside it; `None` where a scale serves a whole row or there
    /// is none. The last group of a row of [`Format::Int4Group`] may be shorter.
    #[must_use]
    pub fn group_elements(self) -> Option<usize> {
        match self {
            Format::F32 | Format::F16 | Format::Bf16 | Format::Int8Row | Format::Int4Row => None,
            Format::Int4Group { group } => Some(group),
            Format::Q2K | Format::Q3K | Format::Q6K => Some(q2_k::GROUP),
            _ => Some(32),
        }
    }

    /// Bytes of a row of `cols` weights, without scales beside it; `None` when `cols` is not a whole number of blocks
    /// or the count overflows. Rows of int4 may have an odd width; the high nibble of their last byte means nothing.
    #[must_use]
    pub fn row_bytes(self, cols: usize) -> Option<usize> {
        let (elements, bytes) = self.block();
        let blocks = match self {
            Format::Int4Row | Format::Int4Group { .. } => cols.div_ceil(elements),
            _ if cols.is_multiple_of(elements) => cols / elements,
            _ => return None,
        };
        blocks.checked_mul(bytes)
    }

    /// The f32 scales that a row of `cols` weights has beside it; 0 for formats that hold their own.
    #[must_use]
    pub fn scales_per_row(self, cols: usize) -> usize {
        match self {
            Format::Int8Row | Format::Int4Row => 1,
            Format::Int4Group { group } => cols.div_ceil(group.max(1)),
            _ => 0,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests;
