//! A matrix in its stored form: a format, a shape and the bytes, checked against each other once.

use std::ops::Range;

use crate::{Error, Format, decode, int4};

/// Rows of stored weights. Whoever holds one made by [`Matrix::new`] has bytes of the right length.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// What the bytes mean.
    pub format: Format,
    /// Output width.
    pub rows: usize,
    /// Input width.
    pub cols: usize,
    /// `[rows, row_bytes]`, no alignment.
    pub bytes: &'a [u8],
    /// `[rows, scales_per_row]` little-endian f32, no alignment; empty for formats that hold their own scales.
    pub scales: &'a [u8],
}

impl<'a> Matrix<'a> {
    /// A matrix `[rows, cols]` over `bytes` and, where the format keeps its scales apart, `scales`.
    ///
    /// # Errors
    /// `cols` is not a whole number of blocks, a group size is unknown, or a length does not fit the shape.
    pub fn new(
        format: Format,
        rows: usize,
        cols: usize,
        bytes: &'a [u8],
        scales: &'a [u8],
    ) -> Result<Matrix<'a>, Error> {
        if let Format::Int4Group { group } = format
            && !int4::GROUPS.contains(&group)
        {
            return Err(Error::Group { group });
        }
        let block = format.block_elements();
        let overflow = || Error::Overflow { format, rows, cols };
        let row_bytes = match format.row_bytes(cols) {
            Some(row_bytes) => row_bytes,
            None if cols.is_multiple_of(block) => return Err(overflow()),
            None => return Err(Error::Columns { format, cols, block }),
        };
        let scale_bytes = format.scales_per_row(cols).checked_mul(size_of::<f32>()).ok_or_else(overflow)?;
        for (part, found, of_row) in
            [("weights", bytes.len(), row_bytes), ("scales", scales.len(), scale_bytes)]
        {
            let needed = rows.checked_mul(of_row).ok_or_else(overflow)?;
            if found != needed {
                return Err(Error::Length { format, rows, cols, part, needed, found });
            }
        }
        Ok(Matrix { format, rows, cols, bytes, scales })
    }

    fn row_bytes(&self) -> usize {
        self.format.row_bytes(self.cols).expect("the constructor checked the width")
    }

    fn scale_bytes(&self) -> usize {
        self.format.scales_per_row(self.cols) * size_of::<f32>()
    }

    /// The weights and the scales of row `r`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, r: usize) -> (&'a [u8], &'a [u8]) {
        let row = self.rows(r..r + 1);
        (row.bytes, row.scales)
    }

    /// The rows of `range` as a matrix of their own.
    ///
    /// # Panics
    /// If the range is not within the rows.
    #[must_use]
    pub fn rows(&self, range: Range<usize>) -> Matrix<'a> {
        assert!(range.start <= range.end && range.end <= self.rows, "rows {range:?} of {}", self.rows);
        let (row_bytes, scale_bytes) = (self.row_bytes(), self.scale_bytes());
        Matrix {
            rows: range.len(),
            bytes: &self.bytes[range.start * row_bytes..range.end * row_bytes],
            scales: &self.scales[range.start * scale_bytes..range.end * scale_bytes],
            ..*self
        }
    }

    /// The values of row `r` into `out`, `[cols]`. A value is `scale * code`, rounded once, or
    /// `scale * code ± minimum`, rounded after each operation; the scale of a group inside a block is itself
    /// `block scale * group scale`, rounded once.
    ///
    /// # Panics
    /// If there is no such row or `out` has another width.
    pub fn decode_row(&self, r: usize, out: &mut [f32]) {
        assert_eq!(out.len(), self.cols, "a row of the matrix has {} values", self.cols);
        let (bytes, scales) = self.row(r);
        decode::row(self.format, bytes, scales, out);
    }
}
