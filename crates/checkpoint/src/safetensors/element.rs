//! Which element types safetensors files may hold, and how large they are.

use units::Dtype;

/// Bits of one element; none for types that only GGUF has.
pub fn bits(dtype: Dtype) -> Option<u64> {
    Some(match dtype {
        Dtype::F4 => 4,
        Dtype::Bool | Dtype::U8 | Dtype::I8 | Dtype::F8E4M3 | Dtype::F8E5M2 | Dtype::F8E8M0 => 8,
        Dtype::U16 | Dtype::I16 | Dtype::F16 | Dtype::Bf16 => 16,
        Dtype::U32 | Dtype::I32 | Dtype::F32 => 32,
        Dtype::U64 | Dtype::I64 | Dtype::F64 => 64,
        _ => return None,
    })
}

/// The type with this name in a header.
pub fn named(name: &str) -> Option<Dtype> {
    Dtype::from_name(name).filter(|&dtype| bits(dtype).is_some())
}

/// Bytes of `shape` elements; none when that is no whole number of bytes or does not fit 64 bits.
pub fn stored_bytes(dtype: Dtype, shape: &[u64]) -> Option<u64> {
    let total = crate::tensor::elements(shape)?.checked_mul(bits(dtype)?)?;
    total.is_multiple_of(8).then_some(total / 8)
}
