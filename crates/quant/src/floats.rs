//! `f32`, `f16` and `bf16`: one number an element, little-endian, widened exactly.

/// Columns and bytes of a "block" of f32.
pub const F32_BLOCK: (usize, usize) = (1, 4);
/// Columns and bytes of a "block" of f16 or bf16.
pub const HALF_BLOCK: (usize, usize) = (1, 2);

/// The value of an IEEE binary16, exactly: subnormals, infinities and the sign of zero included. A NaN keeps its sign
/// and payload and becomes quiet, as the conversion instructions do.
#[must_use]
pub fn f16_to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let (exponent, mantissa) = (u32::from(bits >> 10) & 0x1F, u32::from(bits & 0x3FF));
    let magnitude = match (exponent, mantissa) {
        // A subnormal is a whole number of 2^-24, which f32 holds as a normal number.
        (0, _) => (mantissa as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        (0x1F, 0) => 0x7F80_0000,
        (0x1F, _) => 0x7FC0_0000 | mantissa << 13,
        _ => (exponent + (127 - 15)) << 23 | mantissa << 13,
    };
    f32::from_bits(sign | magnitude)
}

/// The value of a bfloat16: its bits are the upper half of an f32.
#[must_use]
pub fn bf16_to_f32(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest binary16, ties to even; beyond 65519.99 infinity; a NaN stays a quiet NaN.
#[must_use]
pub fn f32_to_f16(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

/// The nearest bfloat16, ties to even; a NaN stays a NaN, made quiet.
#[must_use]
pub fn f32_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        // Dropping the low half could otherwise leave the bits of infinity.
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16
}

/// The f32 at place `index` of little-endian, perhaps unaligned `bytes`.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn f32_at(bytes: &[u8], index: usize) -> f32 {
    f32::from_le_bytes(bytes.as_chunks::<4>().0[index])
}

pub(crate) fn decode_f32(bytes: &[u8], out: &mut [f32]) {
    for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *out = f32::from_le_bytes(*bytes);
    }
}

pub(crate) fn decode_f16(bytes: &[u8], out: &mut [f32]) {
    for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *out = f16_to_f32(u16::from_le_bytes(*bytes));
    }
}

pub(crate) fn decode_bf16(bytes: &[u8], out: &mut [f32]) {
    for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *out = bf16_to_f32(u16::from_le_bytes(*bytes));
    }
}

pub(crate) fn encode_f32(x: &[f32], bytes: &mut Vec<u8>) {
    bytes.extend(x.iter().flat_map(|value| value.to_le_bytes()));
}

pub(crate) fn encode_f16(x: &[f32], bytes: &mut Vec<u8>) {
    bytes.extend(x.iter().flat_map(|value| f32_to_f16(*value).to_le_bytes()));
}

pub(crate) fn encode_bf16(x: &[f32], bytes: &mut Vec<u8>) {
    bytes.extend(x.iter().flat_map(|value| f32_to_bf16(*value).to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every finite f16 from its definition in f64: (-1)^s 2^(e-15) (1 + m/1024), or 2^-14 m/1024 for e = 0.
    #[test]
    fn widens_every_f16() {
        for bits in 0..=u16::MAX {
            let (exponent, mantissa) = (i32::from(bits >> 10 & 0x1F), f64::from(bits & 0x3FF) / 1024.0);
            let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
            let found = f16_to_f32(bits);
            match exponent {
                31 if mantissa == 0.0 => assert_eq!(found, sign as f32 * f32::INFINITY),
                31 => assert!(found.is_nan() && found.is_sign_negative() == (bits >> 15 == 1)),
                0 => assert_eq!(found.to_bits(), ((sign * mantissa * 2f64.powi(-14)) as f32).to_bits()),
                _ => assert_eq!(f64::from(found), sign * (1.0 + mantissa) * 2f64.powi(exponent - 15)),
            }
        }
    }

    /// Every bf16 narrows back to itself; NaNs become quiet.
    #[test]
    fn narrows_what_it_widened() {
        for bits in 0..=u16::MAX {
            let quiet = |nan: bool, bit: u16| if nan { bits | bit } else { bits };
            let wide = bf16_to_f32(bits);
            assert_eq!(f32_to_bf16(wide), quiet(wide.is_nan(), 0x40));
            let wide = f16_to_f32(bits);
            assert_eq!(f32_to_f16(wide), quiet(wide.is_nan(), 0x200));
        }
    }

    #[test]
    fn rounds_to_nearest_even() {
        // f32 bits, bf16 bits, f16 bits.
        let rows: &[(u32, u16, u16)] = &[
            (0x3F80_8000, 0x3F80, 0x3C04), // 1 + 2^-8: a tie for bf16, goes down to the even one
            (0x3F81_8000, 0x3F82, 0x3C0C), // 1 + 3 * 2^-8: a tie, goes up to the even one
            (0x3F80_8001, 0x3F81, 0x3C04), // just above the tie
            (0x3F80_1000, 0x3F80, 0x3C00), // 1 + 2^-11: a tie for f16, down
            (0x3F80_3000, 0x3F80, 0x3C02), // 1 + 3 * 2^-11: a tie for f16, up
            (0x7F7F_FFFF, 0x7F80, 0x7C00), // the largest f32 rounds to infinity in both
            (0x477F_EFFF, 0x4780, 0x7BFF), // just below 65520, still the largest f16
            (0x477F_F000, 0x4780, 0x7C00), // 65520, the tie to infinity
            (0x3300_0000, 0x3300, 0x0000), // 2^-25, half of the least f16 subnormal, ties to zero
            (0x3300_0001, 0x3300, 0x0001), // just above it
            (0x0000_8000, 0x0000, 0x0000), // an f32 subnormal halfway between two bf16
            (0x8001_8000, 0x8002, 0x8000),
            (0x7F80_0001, 0x7FC0, 0x7E00), // a signalling NaN whose low half alone makes it one
            (0xFF80_0000, 0xFF80, 0xFC00),
        ];
        for &(bits, bf16, f16) in rows {
            assert_eq!(f32_to_bf16(f32::from_bits(bits)), bf16, "{bits:08x} as bf16");
            assert_eq!(f32_to_f16(f32::from_bits(bits)), f16, "{bits:08x} as f16");
        }
    }
}
