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

/// One line of the table that all properties of a format come from.
struct Row {
    format: Format,
    name: &'static str,
    dtype: Option<Dtype>,
    block_elements: usize,
    block_bytes: usize,
    group: Option<usize>,
}

const fn row(
    format: Format,
    name: &'static str,
    dtype: Option<Dtype>,
    (block_elements, block_bytes): (usize, usize),
    group: Option<usize>,
) -> Row {
    Row { format, name, dtype, block_elements, block_bytes, group }
}

const fn int4_group(group: usize, name: &'static str) -> Row {
    row(Format::Int4Group { group }, name, None, int4::BLOCK, Some(group))
}

const TABLE: &[Row] = &[
    row(Format::F32, "f32", Some(Dtype::F32), floats::F32_BLOCK, None),
    row(Format::F16, "f16", Some(Dtype::F16), floats::HALF_BLOCK, None),
    row(Format::Bf16, "bf16", Some(Dtype::Bf16), floats::HALF_BLOCK, None),
    row(Format::Int8Row, "int8-row", None, int8_row::BLOCK, None),
    row(Format::Int4Row, "int4-row", None, int4::BLOCK, None),
    int4_group(32, "int4-g32"),
    int4_group(64, "int4-g64"),
    int4_group(128, "int4-g128"),
    int4_group(256, "int4-g256"),
    row(Format::Q8_0, "q8_0", Some(Dtype::Q8_0), (q8_0::ELEMENTS, q8_0::BYTES), Some(32)),
    row(Format::Q4_0, "q4_0", Some(Dtype::Q4_0), (q4::ELEMENTS, q4::Q4_0_BYTES), Some(32)),
    row(Format::Q4_1, "q4_1", Some(Dtype::Q4_1), (q4::ELEMENTS, q4::Q4_1_BYTES), Some(32)),
    row(Format::Q5_0, "q5_0", Some(Dtype::Q5_0), (q5::ELEMENTS, q5::Q5_0_BYTES), Some(32)),
    row(Format::Q5_1, "q5_1", Some(Dtype::Q5_1), (q5::ELEMENTS, q5::Q5_1_BYTES), Some(32)),
    row(Format::Q2K, "q2_k", Some(Dtype::Q2K), (q2_k::ELEMENTS, q2_k::BYTES), Some(q2_k::GROUP)),
    row(Format::Q3K, "q3_k", Some(Dtype::Q3K), (q3_k::ELEMENTS, q3_k::BYTES), Some(q3_k::GROUP)),
    row(Format::Q4K, "q4_k", Some(Dtype::Q4K), (q4_k::ELEMENTS, q4_k::BYTES), Some(q4_k::GROUP)),
    row(Format::Q5K, "q5_k", Some(Dtype::Q5K), (q5_k::ELEMENTS, q5_k::BYTES), Some(q5_k::GROUP)),
    row(Format::Q6K, "q6_k", Some(Dtype::Q6K), (q6_k::ELEMENTS, q6_k::BYTES), Some(q6_k::GROUP)),
    row(Format::Iq4Nl, "iq4_nl", Some(Dtype::Iq4Nl), (iq4::NL_ELEMENTS, iq4::NL_BYTES), Some(32)),
    row(Format::Iq4Xs, "iq4_xs", Some(Dtype::Iq4Xs), (iq4::XS_ELEMENTS, iq4::XS_BYTES), Some(iq4::XS_GROUP)),
    row(Format::Mxfp4, "mxfp4", Some(Dtype::Mxfp4), (mxfp4::ELEMENTS, mxfp4::BYTES), Some(32)),
];

impl Format {
    /// Every format, from the widest to the narrowest of each kind; grouped int4 once for each group size.
    pub const ALL: &[Format] = &{
        let mut all = [Format::F32; TABLE.len()];
        let mut i = 0;
        while i < TABLE.len() {
            all[i] = TABLE[i].format;
            i += 1;
        }
        all
    };

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.format == self)
    }

    /// The name users read and write, such as `int4-g64` or `q4_k`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // Only an `Int4Group` of a size that no container has is missing from the table.
        self.row().map_or("int4-grouped", |row| row.name)
    }

    /// The format with this name (exactly as [`Format::name`] spells it), if there is one.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Format> {
        TABLE.iter().find(|row| row.name == name).map(|row| row.format)
    }

    /// The format of a tensor whose dtype alone says what its bytes mean; `None` for integers, which need scales
    /// beside them, and for dtypes without a decoder.
    #[must_use]
    pub fn from_dtype(dtype: Dtype) -> Option<Format> {
        TABLE.iter().find(|row| row.dtype == Some(dtype)).map(|row| row.format)
    }

    /// The dtype that this format has in a file, `U8` for those that keep their scales in a second tensor.
    #[must_use]
    pub fn dtype(self) -> Dtype {
        self.row().and_then(|row| row.dtype).unwrap_or(Dtype::U8)
    }

    /// Columns of a block, the least that can be decoded without reading its neighbours.
    #[must_use]
    pub fn block_elements(self) -> usize {
        self.row().map_or(int4::BLOCK.0, |row| row.block_elements)
    }

    /// Bytes of a block, without the scales of formats that keep them beside the weights.
    #[must_use]
    pub fn block_bytes(self) -> usize {
        self.row().map_or(int4::BLOCK.1, |row| row.block_bytes)
    }

    /// Columns that share one scale, inside the block or beside it; `None` where a scale serves a whole row or there
    /// is none. The last group of a row of [`Format::Int4Group`] may be shorter.
    #[must_use]
    pub fn group_elements(self) -> Option<usize> {
        match self {
            Format::Int4Group { group } => Some(group),
            _ => self.row().and_then(|row| row.group),
        }
    }

    /// Bytes of a row of `cols` weights, without scales beside it; `None` when `cols` is not a whole number of blocks
    /// or the count overflows. Rows of int4 may have an odd width; the high nibble of their last byte means nothing.
    #[must_use]
    pub fn row_bytes(self, cols: usize) -> Option<usize> {
        let (elements, bytes) = (self.block_elements(), self.block_bytes());
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
mod tests {
    use super::*;

    /// The table as published: name, columns of a block, bytes of a block, bytes and scales of a row of 512.
    #[test]
    fn has_the_published_geometry() {
        let rows = [
            ("f32", 1, 4, 2048, 0),
            ("f16", 1, 2, 1024, 0),
            ("bf16", 1, 2, 1024, 0),
            ("int8-row", 1, 1, 512, 1),
            ("int4-row", 2, 1, 256, 1),
            ("int4-g32", 2, 1, 256, 16),
            ("int4-g64", 2, 1, 256, 8),
            ("int4-g128", 2, 1, 256, 4),
            ("int4-g256", 2, 1, 256, 2),
            ("q8_0", 32, 34, 544, 0),
            ("q4_0", 32, 18, 288, 0),
            ("q4_1", 32, 20, 320, 0),
            ("q5_0", 32, 22, 352, 0),
            ("q5_1", 32, 24, 384, 0),
            ("q2_k", 256, 84, 168, 0),
            ("q3_k", 256, 110, 220, 0),
            ("q4_k", 256, 144, 288, 0),
            ("q5_k", 256, 176, 352, 0),
            ("q6_k", 256, 210, 420, 0),
            ("iq4_nl", 32, 18, 288, 0),
            ("iq4_xs", 256, 136, 272, 0),
            ("mxfp4", 32, 17, 272, 0),
        ];
        assert_eq!(rows.len(), Format::ALL.len());
        for (name, elements, bytes, row_bytes, scales) in rows {
            let format = Format::from_name(name).expect(name);
            assert_eq!(format.to_string(), name);
            assert_eq!((format.block_elements(), format.block_bytes()), (elements, bytes), "{name}");
            assert_eq!(format.row_bytes(512), Some(row_bytes), "{name}");
            assert_eq!(format.scales_per_row(512), scales, "{name}");
            assert!(Format::ALL.contains(&format));
        }
    }

    #[test]
    fn refuses_broken_rows_and_overflow() {
        let rows = [
            ("q8_0", 31, None),
            ("q4_k", 128, None),
            ("int4-row", 5, Some(3)),
            ("int4-g64", 1, Some(1)),
            ("int8-row", 5, Some(5)),
            ("f32", usize::MAX, None),
            ("f32", 0, Some(0)),
        ];
        for (name, cols, bytes) in rows {
            assert_eq!(Format::from_name(name).expect(name).row_bytes(cols), bytes, "{name} of {cols}");
        }
    }

    #[test]
    fn knows_every_decodable_dtype() {
        for format in Format::ALL {
            let expected = (format.scales_per_row(256) == 0).then_some(*format);
            assert_eq!(Format::from_dtype(format.dtype()), expected, "{format}");
        }
        for dtype in
            [Dtype::U8, Dtype::I8, Dtype::F64, Dtype::F8E4M3, Dtype::Q8_1, Dtype::Q8K, Dtype::GgufOther]
        {
            assert_eq!(Format::from_dtype(dtype), None, "{dtype}");
        }
        assert_eq!(Format::from_name("Q4_K"), None);
        assert_eq!(Format::from_name("int4-g48"), None);
    }
}
