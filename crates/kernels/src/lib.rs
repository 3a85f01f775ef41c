//! Fast loops on slices, in one canonical order, so that every instruction set gives the same bits.
//!
//! Each loop is written once, over sixteen abstract lanes, and stamped for each instruction set; a [`Table`]
//! of function pointers is chosen when the program starts. The [`Pool`] spreads work over threads. This crate knows nothing
//! of models, files or where results go.
//!
//! # The canonical order
//! Every sum is sixteen partial sums: lane `l` takes the elements `l, l + 16, …`, starting from 0 and adding each product by
//! one fused multiply-add. A tail shorter than sixteen touches only its lanes. Lanes are combined by one tree: `l` with
//! `l + 8`, then `+ 4`, `+ 2`, `+ 1`.
//!
//! A row of a quantised matrix is summed in one of two ways:
//! - Formats that share a scale among 32 columns or more, without a minimum: a group at a time. The group's codes, as f32,
//!   times `x` give partial lanes from 0, and `lane = fma(partial, scale, lane)`. A scale inside a superblock is
//!   `block scale * group scale`, rounded once.
//! - Formats with a minimum, or with a scale for every 16 columns: as a row of f32. Their weights `scale * code + minimum` are
//!   exactly those that [`quant::Matrix::decode_row`] gives, because the product fits an f32.
//!
//! A NaN stays a NaN, but its sign and payload are the processor's business.
// Coefficients stand with the digits they were computed with, near constants or not; loops over lanes index several arrays.
#![allow(clippy::excessive_precision, clippy::approx_constant, clippy::needless_range_loop)]

pub mod math;

mod dispatch;
mod formats;
mod lanes;
mod matmul;
mod pool;
mod table;
mod vector;

pub use pool::Pool;
pub use table::{Activation, Table};
