//! One dense matrix in its stored form: where it lies in the checkpoint, and its bytes in memory once loaded.

use checkpoint::Tensor;
use quant::{Format, Matrix};
use units::Block;

/// Scales start at multiples of this many bytes behind the weights.
const SCALE_ALIGN: usize = 64;

/// A matrix `[rows, cols]` as the checkpoint stores it.
#[derive(Clone, Debug)]
pub struct Stored {
    /// The weights.
    pub tensor: Tensor,
    /// The side tensor of scales, for formats that have one.
    pub scales: Option<Tensor>,
    /// What the bytes mean.
    pub format: Format,
    /// Output width.
    pub rows: usize,
    /// Input width.
    pub cols: usize,
}

impl Stored {
    /// Where the scales begin in a buffer that holds the weights first.
    #[must_use]
    pub fn scales_at(&self) -> usize {
        (self.tensor.len_bytes as usize).next_multiple_of(SCALE_ALIGN)
    }

    /// Bytes of such a buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        match &self.scales {
            Some(scales) => self.scales_at() + scales.len_bytes as usize,
            None => self.tensor.len_bytes as usize,
        }
    }
}

/// A matrix in memory. Until it is loaded it has a size and no bytes.
#[derive(Debug)]
pub struct Weight {
    format: Format,
    rows: usize,
    cols: usize,
    weight_bytes: usize,
    scales_at: usize,
    buffer_bytes: usize,
    block: Option<Block>,
}

impl Weight {
    /// A weight whose bytes are in `block` (weights first, scales at [`Stored::scales_at`]), or not loaded.
    #[must_use]
    pub fn new(stored: &Stored, block: Option<Block>) -> Weight {
        Weight {
            format: stored.format,
            rows: stored.rows,
            cols: stored.cols,
            weight_bytes: stored.tensor.len_bytes as usize,
            scales_at: stored.scales_at(),
            buffer_bytes: stored.buffer_bytes(),
            block,
        }
    }

    /// Output width.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Input width.
    #[must_use]
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// The matrix as kernels read it.
    ///
    /// # Panics
    /// If the weight was only measured, not loaded; a stack that can run holds loaded weights alone.
    #[must_use]
    pub fn matrix(&self) -> Matrix<'_> {
        let block = self.block.as_deref().expect("a stack that runs was built by loading");
        let scales = if self.buffer_bytes > self.weight_bytes {
            &block[self.scales_at..self.buffer_bytes]
        } else {
            &[]
        };
        Matrix::new(self.format, self.rows, self.cols, &block[..self.weight_bytes], scales)
            .expect("lengths were checked against the format when the tensor was bound")
    }
}
