//! The stored formats as steps of a product, each written once for all instruction sets.
//!
//! Layouts are described in `quant`; here a step decodes one block in registers and multiplies it with the matching columns
//! of some tokens.

mod group;

mod elements;
mod int4;
mod mxfp4;
mod q4;
mod q5;
mod q8;

mod iq4;
mod q2_k;
mod q3_k;
mod q4_k;
mod q5_k;
mod q6_k;

pub(crate) use elements::{Bf16, F16, F32, Int8Row};
pub(crate) use int4::{Int4Group, Int4Row};
pub(crate) use iq4::{Iq4Nl, Iq4Xs};
pub(crate) use mxfp4::Mxfp4;
pub(crate) use q2_k::Q2K;
pub(crate) use q3_k::Q3K;
pub(crate) use q4::{Q4_0, Q4_1};
pub(crate) use q4_k::Q4K;
pub(crate) use q5::{Q5_0, Q5_1};
pub(crate) use q5_k::Q5K;
pub(crate) use q6_k::Q6K;
pub(crate) use q8::Q8_0;
