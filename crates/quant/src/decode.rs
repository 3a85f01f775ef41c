//! From a format to its decoder.

use crate::{Format, floats, int4, int8_row, iq4, mxfp4, q2_k, q3_k, q4, q4_k, q5, q5_k, q6_k, q8_0};

/// Decodes one row whose lengths were checked by [`crate::Matrix::new`].
pub(crate) fn row(format: Format, bytes: &[u8], scales: &[u8], out: &mut [f32]) {
    match format {
        Format::F32 => floats::decode_f32(bytes, out),
        Format::F16 => floats::decode_f16(bytes, out),
        Format::Bf16 => floats::decode_bf16(bytes, out),
        Format::Int8Row => int8_row::decode(bytes, scales, out),
        Format::Int4Row => int4::decode(bytes, scales, out.len(), out),
        Format::Int4Group { group } => int4::decode(bytes, scales, group, out),
        Format::Q8_0 => q8_0::decode(bytes, out),
        Format::Q4_0 => q4::decode_q4_0(bytes, out),
        Format::Q4_1 => q4::decode_q4_1(bytes, out),
        Format::Q5_0 => q5::decode_q5_0(bytes, out),
        Format::Q5_1 => q5::decode_q5_1(bytes, out),
        Format::Q2K => q2_k::decode(bytes, out),
        Format::Q3K => q3_k::decode(bytes, out),
        Format::Q4K => q4_k::decode(bytes, out),
        Format::Q5K => q5_k::decode(bytes, out),
        Format::Q6K => q6_k::decode(bytes, out),
        Format::Iq4Nl => iq4::decode_nl(bytes, out),
        Format::Iq4Xs => iq4::decode_xs(bytes, out),
        Format::Mxfp4 => mxfp4::decode(bytes, out),
    }
}
