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

#[cfg(test)]
mod tests {
    use units::Rng;

    use super::*;

    #[test]
    fn refuses_what_does_not_fit() {
        // Format, rows, cols, bytes, scale bytes, part of the message.
        let rows = [
            (Format::Q8_0, 2, 33, 68, 0, "a row of 33 values is not a whole number of q8_0 blocks of 32"),
            (Format::Q8_0, 2, 32, 67, 0, "a q8_0 matrix [2, 32] needs 68 bytes of weights, found 67"),
            (Format::Q8_0, 2, 32, 68, 4, "needs 0 bytes of scales, found 4"),
            (Format::Int8Row, 2, 5, 10, 0, "an int8-row matrix [2, 5] needs 8 bytes of scales, found 0"),
            (Format::Int4Group { group: 64 }, 2, 65, 66, 12, "needs 16 bytes of scales, found 12"),
            (Format::Int4Group { group: 48 }, 2, 96, 96, 16, "a scale per 48 columns is not known"),
            (Format::Int4Group { group: 0 }, 2, 96, 96, 16, "a scale per 0 columns is not known"),
            (Format::F32, 1, usize::MAX, 4, 0, "more bytes than can be addressed"),
            (Format::F32, usize::MAX, 2, 4, 0, "more bytes than can be addressed"),
        ];
        for (format, rows, cols, bytes, scales, reason) in rows {
            let (bytes, scales) = (vec![0; bytes], vec![0; scales]);
            let error = Matrix::new(format, rows, cols, &bytes, &scales).expect_err(reason).to_string();
            assert!(error.contains(reason.trim_start_matches("an ").trim_start_matches("a ")), "{error}");
        }
    }

    #[test]
    fn cuts_rows_with_their_scales() {
        let bytes: Vec<u8> = (1..=6).map(|code| code * 0x11).collect();
        let scales: Vec<u8> = [1f32, 2.0, 4.0].iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let matrix = Matrix::new(Format::Int4Row, 3, 3, &bytes, &scales).expect("2 bytes and a scale a row");
        let below = matrix.rows(1..3);
        assert_eq!((below.rows, below.row(1)), (2, (&bytes[4..], &scales[8..])));
        let mut row = [0.0; 3];
        below.decode_row(0, &mut row);
        assert_eq!(row, [-10.0, -10.0, -8.0]); // nibbles 3, 3, 4 less 8, times 2
        assert_eq!(matrix.rows(3..3).rows, 0);
    }

    /// Any bytes of the right length have values; an empty matrix and an empty row are matrices too.
    #[test]
    fn decodes_any_bytes() {
        let mut rng = Rng::new(1);
        for format in Format::ALL {
            for (rows, cols) in [(3, 512), (1, 256), (0, 256), (2, 0)] {
                let mut random = |len: usize| (0..len).map(|_| rng.next_u64() as u8).collect::<Vec<_>>();
                let bytes = random(rows * format.row_bytes(cols).expect("whole blocks"));
                let scales = random(rows * format.scales_per_row(cols) * 4);
                let matrix =
                    Matrix::new(*format, rows, cols, &bytes, &scales).expect("lengths of the format");
                let mut out = vec![f32::NAN; cols];
                (0..rows).for_each(|r| matrix.decode_row(r, &mut out));
            }
        }
    }
}
