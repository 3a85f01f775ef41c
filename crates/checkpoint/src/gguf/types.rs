//! Element types of GGUF tensors by number (`enum ggml_type` in ggml.h) and the size of their blocks.

use units::Dtype;

/// How one type is stored.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// Its dtype; [`Dtype::GgufOther`] for those known only by name and size.
    pub dtype: Dtype,
    /// Elements of one block.
    pub block_elements: u64,
    /// Bytes of one block.
    pub block_bytes: u64,
}

/// Number, name, dtype, elements and bytes of a block.
const TYPES: &[(u32, &str, Dtype, u64, u64)] = &[
    (0, "F32", Dtype::F32, 1, 4),
    (1, "F16", Dtype::F16, 1, 2),
    (2, "Q4_0", Dtype::Q4_0, 32, 18),
    (3, "Q4_1", Dtype::Q4_1, 32, 20),
    (6, "Q5_0", Dtype::Q5_0, 32, 22),
    (7, "Q5_1", Dtype::Q5_1, 32, 24),
    (8, "Q8_0", Dtype::Q8_0, 32, 34),
    (9, "Q8_1", Dtype::Q8_1, 32, 36),
    (10, "Q2_K", Dtype::Q2K, 256, 84),
    (11, "Q3_K", Dtype::Q3K, 256, 110),
    (12, "Q4_K", Dtype::Q4K, 256, 144),
    (13, "Q5_K", Dtype::Q5K, 256, 176),
    (14, "Q6_K", Dtype::Q6K, 256, 210),
    (15, "Q8_K", Dtype::Q8K, 256, 292),
    (16, "IQ2_XXS", Dtype::GgufOther, 256, 66),
    (17, "IQ2_XS", Dtype::GgufOther, 256, 74),
    (18, "IQ3_XXS", Dtype::GgufOther, 256, 98),
    (19, "IQ1_S", Dtype::GgufOther, 256, 50),
    (20, "IQ4_NL", Dtype::Iq4Nl, 32, 18),
    (21, "IQ3_S", Dtype::GgufOther, 256, 110),
    (22, "IQ2_S", Dtype::GgufOther, 256, 82),
    (23, "IQ4_XS", Dtype::Iq4Xs, 256, 136),
    (24, "I8", Dtype::I8, 1, 1),
    (25, "I16", Dtype::I16, 1, 2),
    (26, "I32", Dtype::I32, 1, 4),
    (27, "I64", Dtype::I64, 1, 8),
    (28, "F64", Dtype::F64, 1, 8),
    (29, "IQ1_M", Dtype::GgufOther, 256, 56),
    (30, "BF16", Dtype::Bf16, 1, 2),
    (34, "TQ1_0", Dtype::GgufOther, 256, 54),
    (35, "TQ2_0", Dtype::GgufOther, 256, 66),
    (39, "MXFP4", Dtype::Mxfp4, 32, 17),
    (40, "NVFP4", Dtype::GgufOther, 64, 36),
    (41, "Q1_0", Dtype::GgufOther, 128, 18),
];

/// The type with this number; none when its blocks are not known.
pub fn numbered(number: u32) -> Option<Stored> {
    let &(_, _, dtype, block_elements, block_bytes) = TYPES.iter().find(|row| row.0 == number)?;
    Some(Stored { dtype, block_elements, block_bytes })
}

/// How messages name the type with this number.
pub fn described(number: u32) -> String {
    match TYPES.iter().find(|row| row.0 == number) {
        Some((_, name, ..)) => format!("GGUF type {number} ({name})"),
        None => format!("GGUF type {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_agree_with_the_dtypes() {
        for (number, name, dtype, ..) in TYPES {
            assert!(*dtype == Dtype::GgufOther || dtype.name() == *name, "{number}");
        }
    }
}
