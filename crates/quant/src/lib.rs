//! What the bytes of a stored weight mean: one file a format, with its layout, its plain decoder and, where this
//! project writes the format, its encoder.
//!
//! This crate knows nothing of files, models or speed. The decoders here are the definition that fast kernels are held
//! to. All numbers on disk are little-endian and nothing needs to be aligned.

#![forbid(unsafe_code)]

pub mod error;
pub mod format;
pub mod matrix;

mod decode;
mod encode;

pub mod deduce;
pub mod stamp;

mod blocks;
pub mod floats;
pub mod int4;
pub mod int8_row;
pub mod iq4;
pub mod mxfp4;
pub mod q2_k;
pub mod q3_k;
pub mod q4;
pub mod q4_k;
pub mod q5;
pub mod q5_k;
pub mod q6_k;
pub mod q8_0;

pub use error::Error;
pub use format::Format;
pub use iq4::{IQ4_LEVELS, iq4xs_scale};
pub use matrix::Matrix;
pub use mxfp4::{MXFP4_LEVELS, mxfp4_half_scale};
pub use q2_k::q2k_scale_min;
pub use q3_k::q3k_scale;
pub use q4_k::q4k_scale_min;
pub use stamp::Stamps;
