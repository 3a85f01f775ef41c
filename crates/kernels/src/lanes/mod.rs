//! Sixteen lanes of f32 and sixteen bytes, as every instruction set sees them.
//!
//! A value that implements [`Lanes`] is a token: it exists only where the CPU has the instructions, so its methods are safe
//! to call, and the loops written over it contain no unsafe code. Everything is `#[inline(always)]`: a loop becomes fast by
//! being inlined into a function that is compiled for the instruction set (see [`crate::dispatch`]).

mod plain;
mod real;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) use neon::Neon;
pub(crate) use plain::Plain;
pub(crate) use real::{Real, Scalar};

/// Lanes of every vector.
pub(crate) const LANES: usize = 16;

/// `2^24`: how much too large [`Lanes::codes`] are.
pub(crate) const BYTE_UNIT: f32 = (1u32 << 24) as f32;
/// How much too large the low and the high [`Lanes::nibbles`] are.
pub(crate) const NIBBLE_UNITS: (f32, f32) = ((1u32 << 16) as f32, (1u32 << 20) as f32);
/// `2^28`: how much too large [`Lanes::signed_nibbles`] and [`Lanes::paired_nibbles`] are.
pub(crate) const NIBBLE_UNIT: f32 = (1u32 << 28) as f32;

/// Operations on sixteen lanes of f32 and on sixteen bytes.
///
/// Codes come out too large by a power of two, because a byte that is left in the upper end of a word needs no shift down
/// before it is converted. Scaling by a power of two changes no rounding; the result of a row is scaled back once.
pub(crate) trait Lanes: Real {
    /// Sixteen bytes.
    type Bytes: Copy;

    fn load(self, from: &[f32; LANES]) -> Self::F;
    fn store(self, a: Self::F, to: &mut [f32; LANES]);
    /// The sum of all lanes by the canonical tree.
    fn sum(self, a: Self::F) -> f32;
    /// The largest lane by the same tree, each step as in [`Real::max`] with the upper lanes first.
    fn largest(self, a: Self::F) -> f32;

    /// Little-endian f32.
    fn load_f32(self, from: &[u8; 64]) -> Self::F;
    /// Little-endian f16, widened exactly.
    fn load_f16(self, from: &[u8; 32]) -> Self::F;
    /// Little-endian bf16, widened exactly.
    fn load_bf16(self, from: &[u8; 32]) -> Self::F;
    /// One little-endian f16 in all lanes.
    fn splat_f16(self, from: [u8; 2]) -> Self::F;

    fn bytes(self, from: &[u8; 16]) -> Self::Bytes;
    fn splat_byte(self, a: u8) -> Self::Bytes;
    /// `[a[0], a[1], a[0], a[1], …]`.
    fn splat_pair(self, a: [u8; 2]) -> Self::Bytes;
    fn and(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn or(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    fn xor(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// Wraps around.
    fn sub_bytes(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// `0xFF` where the bytes are equal, else 0.
    fn equal(self, a: Self::Bytes, b: Self::Bytes) -> Self::Bytes;
    /// Each byte shifted right by `count < 8`, zeros from the left.
    fn shift_right(self, a: Self::Bytes, count: u32) -> Self::Bytes;
    /// Each byte shifted left by `count < 8`, zeros from the right.
    fn shift_left(self, a: Self::Bytes, count: u32) -> Self::Bytes;
    /// `table[index]` for each index, all of them below 16.
    fn lookup(self, table: Self::Bytes, index: Self::Bytes) -> Self::Bytes;

    /// The signed bytes, times [`BYTE_UNIT`].
    fn codes(self, a: Self::Bytes) -> Self::F;
    /// The low and the high nibbles, from 0 to 15, times [`NIBBLE_UNITS`].
    fn nibbles(self, a: Self::Bytes) -> (Self::F, Self::F);
    /// The low and the high nibbles, two's complement, times [`NIBBLE_UNIT`].
    fn signed_nibbles(self, a: Self::Bytes) -> (Self::F, Self::F);
    /// All nibbles, two's complement, in the order low, high of the first byte, low, high of the second and so on, times
    /// [`NIBBLE_UNIT`].
    fn paired_nibbles(self, a: Self::Bytes) -> (Self::F, Self::F);

    /// Asks for the cache line at `at` to be fetched; never faults.
    fn prefetch(self, at: *const u8);
}

/// A tail of fewer than sixteen numbers, padded with -0: adding -0, or a product of it with +0, changes no lane.
#[inline(always)]
pub(crate) fn padded<const N: usize>(tail: &[f32]) -> [f32; N] {
    let mut full = [-0.0; N];
    full[..tail.len()].copy_from_slice(tail);
    full
}
