//! Element types as checkpoints name them: those of safetensors and the block types of GGUF.

use std::fmt;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal),* $(,)?) => {
        /// How the elements of a stored tensor are encoded, as its file declares it.
        ///
        /// What the bytes mean is the business of `quant`; several dtypes here have no decoder yet and are
        /// refused by name where a weight of that dtype is needed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(non_camel_case_types)]
        pub enum Dtype { $($(#[$doc])* $variant),* }

        impl Dtype {
            /// Every dtype, in declaration order.
            pub const ALL: &[Dtype] = &[$(Dtype::$variant),*];

            /// The name users read in messages, equal to the file format's own spelling.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Dtype::$variant => $name),* }
            }

            /// The dtype with this name, if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Dtype> {
                match name { $($name => Some(Dtype::$variant),)* _ => None }
            }
        }
    };
}

dtypes! {
    /// 1-bit truth value, one byte each.
    Bool = "BOOL",
    /// Unsigned byte; also the carrier of packed private formats.
    U8 = "U8",
    /// Signed byte.
    I8 = "I8",
    /// Unsigned 16-bit integer.
    U16 = "U16",
    /// Signed 16-bit integer.
    I16 = "I16",
    /// Unsigned 32-bit integer.
    U32 = "U32",
    /// Signed 32-bit integer.
    I32 = "I32",
    /// Unsigned 64-bit integer.
    U64 = "U64",
    /// Signed 64-bit integer.
    I64 = "I64",
    /// IEEE binary16.
    F16 = "F16",
    /// The upper half of an IEEE binary32.
    Bf16 = "BF16",
    /// IEEE binary32.
    F32 = "F32",
    /// IEEE binary64.
    F64 = "F64",
    /// 8-bit float, 4 exponent and 3 mantissa bits, no infinities.
    F8E4M3 = "F8_E4M3",
    /// 8-bit float, 5 exponent and 2 mantissa bits.
    F8E5M2 = "F8_E5M2",
    /// 8-bit power of two (exponent only).
    F8E8M0 = "F8_E8M0",
    /// 4-bit float, 2 exponent and 1 mantissa bits.
    F4 = "F4",
    /// GGUF: 32 elements, 4 bits, f16 scale.
    Q4_0 = "Q4_0",
    /// GGUF: 32 elements, 4 bits, f16 scale and minimum.
    Q4_1 = "Q4_1",
    /// GGUF: 32 elements, 5 bits, f16 scale.
    Q5_0 = "Q5_0",
    /// GGUF: 32 elements, 5 bits, f16 scale and minimum.
    Q5_1 = "Q5_1",
    /// GGUF: 32 elements, 8 bits, f16 scale.
    Q8_0 = "Q8_0",
    /// GGUF: 32 elements, 8 bits, with sums; an activation format, never a weight.
    Q8_1 = "Q8_1",
    /// GGUF: 256 elements, 2 bits, 4-bit scales and minima per 16.
    Q2K = "Q2_K",
    /// GGUF: 256 elements, 3 bits, 6-bit scales per 16.
    Q3K = "Q3_K",
    /// GGUF: 256 elements, 4 bits, 6-bit scales and minima per 32.
    Q4K = "Q4_K",
    /// GGUF: 256 elements, 5 bits, 6-bit scales and minima per 32.
    Q5K = "Q5_K",
    /// GGUF: 256 elements, 6 bits, 8-bit scales per 16.
    Q6K = "Q6_K",
    /// GGUF: 256 elements, 8 bits; an activation format, never a weight.
    Q8K = "Q8_K",
    /// GGUF: 32 elements, 4-bit codes into a fixed non-linear table.
    Iq4Nl = "IQ4_NL",
    /// GGUF: 256 elements, 4-bit codes into the same table, 6-bit scales per 32.
    Iq4Xs = "IQ4_XS",
    /// GGUF: 32 elements, e2m1 codes with a power-of-two scale.
    Mxfp4 = "MXFP4",
    /// GGUF: other lattice and ternary types, known by number but not decoded here.
    GgufOther = "GGUF_OTHER",
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
