//! Lanes as two AVX registers; needs AVX2, FMA and F16C.
//!
//! Sixteen bytes stand in both halves of a register, because bytes become words by a shuffle that cannot cross the halves.
//! Loading them twice costs no more than loading them once.

use std::arch::x86_64::*;

use super::{LANES, Lanes, Real};

/// Proof that the CPU has AVX2, FMA and F16C.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The token.
    ///
    /// # Safety
    /// The CPU has AVX2, FMA and F16C.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Avx2 {
        Avx2(())
    }
}

/// Runs intrinsics of AVX2, FMA and F16C.
macro_rules! avx2 {
    ($($body:tt)*) => {
        // SAFETY: whoever made the `Avx2` promised these instructions. Loads and stores are unaligned ones and stay inside
        // arrays of at least their width, which the types of the arguments guarantee.
        unsafe { $($body)* }
    };
}

type F = (__m256, __m256);

/// Puts byte `first + l` into byte `place` of word `l`, and zeros elsewhere.
const fn to_words(first: u8, place: usize) -> [u8; 32] {
    let mut mask = [0x80; 32];
    let mut l = 0;
    while l < 8 {
        mask[l * 4 + place] = first + l as u8;
        l += 1;
    }
    mask
}

/// Masks that move sixteen bytes to the upper ends of words.
const UPPER: [[u8; 32]; 2] = [to_words(0, 3), to_words(8, 3)];
/// Masks that move them below the upper ends, where no bit is a sign.
const BELOW: [[u8; 32]; 2] = [to_words(0, 2), to_words(8, 2)];

/// The sixteen bytes in sixteen words.
#[inline(always)]
fn words(a: __m256i, masks: &[[u8; 32]; 2]) -> (__m256i, __m256i) {
    avx2! {
        let first = _mm256_loadu_si256(masks[0].as_ptr().cast());
        let last = _mm256_loadu_si256(masks[1].as_ptr().cast());
        (_mm256_shuffle_epi8(a, first), _mm256_shuffle_epi8(a, last))
    }
}

#[inline(always)]
fn convert(words: (__m256i, __m256i)) -> F {
    avx2! { (_mm256_cvtepi32_ps(words.0), _mm256_cvtepi32_ps(words.1)) }
}

#[inline(always)]
fn and(a: (__m256i, __m256i), mask: u32) -> (__m256i, __m256i) {
    avx2! {
        let mask = _mm256_set1_epi32(mask as i32);
        (_mm256_and_si256(a.0, mask), _mm256_and_si256(a.1, mask))
    }
}

impl Real for Avx2 {
    type F = F;

    #[inline(always)]
    fn splat(self, a: f32) -> F {
        avx2! { (_mm256_set1_ps(a), _mm256_set1_ps(a)) }
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        avx2! { (_mm256_add_ps(a.0, b.0), _mm256_add_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        avx2! { (_mm256_sub_ps(a.0, b.0), _mm256_sub_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        avx2! { (_mm256_mul_ps(a.0, b.0), _mm256_mul_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        avx2! { (_mm256_div_ps(a.0, b.0), _mm256_div_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        avx2! { (_mm256_fmadd_ps(a.0, b.0, c.0), _mm256_fmadd_ps(a.1, b.1, c.1)) }
    }
    #[inline(always)]
    fn max(self, a: F, b: F) -> F {
        avx2! { (_mm256_max_ps(a.0, b.0), _mm256_max_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn min(self, a: F, b: F) -> F {
        avx2! { (_mm256_min_ps(a.0, b.0), _mm256_min_ps(a.1, b.1)) }
    }
    #[inline(always)]
    fn less(self, a: F, b: F, yes: F, no: F) -> F {
        avx2! {
            let (first, last) = (_mm256_cmp_ps::<_CMP_LT_OQ>(a.0, b.0), _mm256_cmp_ps::<_CMP_LT_OQ>(a.1, b.1));
            (_mm256_blendv_ps(no.0, yes.0, first), _mm256_blendv_ps(no.1, yes.1, last))
        }
    }
    #[inline(always)]
    fn copy_sign(self, a: F, sign: F) -> F {
        avx2! {
            let bit = _mm256_set1_ps(-0.0);
            (
                _mm256_or_ps(_mm256_andnot_ps(bit, a.0), _mm256_and_ps(bit, sign.0)),
                _mm256_or_ps(_mm256_andnot_ps(bit, a.1), _mm256_and_ps(bit, sign.1)),
            )
        }
    }
    #[inline(always)]
    fn pow2(self, n: F) -> F {
        avx2! {
            let bias = _mm256_set1_epi32(127);
            let first = _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_cvtps_epi32(n.0), bias));
            let last = _mm256_slli_epi32::<23>(_mm256_add_epi32(_mm256_cvtps_epi32(n.1), bias));
            (_mm256_castsi256_ps(first), _mm256_castsi256_ps(last))
        }
    }
}

impl Lanes for Avx2 {
    type Bytes = __m256i;

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> F {
        avx2! { (_mm256_loadu_ps(from.as_ptr()), _mm256_loadu_ps(from.as_ptr().add(8))) }
    }
    #[inline(always)]
    fn store(self, a: F, to: &mut [f32; LANES]) {
        avx2! {
            _mm256_storeu_ps(to.as_mut_ptr(), a.0);
            _mm256_storeu_ps(to.as_mut_ptr().add(8), a.1);
        }
    }
    #[inline(always)]
    fn sum(self, a: F) -> f32 {
        avx2! {
            let eight = _mm256_add_ps(a.0, a.1);
            let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
            let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        }
    }
    #[inline(always)]
    fn largest(self, a: F) -> f32 {
        avx2! {
            let eight = _mm256_max_ps(a.1, a.0);
            let four = _mm_max_ps(_mm256_extractf128_ps::<1>(eight), _mm256_castps256_ps128(eight));
            let two = _mm_max_ps(_mm_movehl_ps(four, four), four);
            _mm_cvtss_f32(_mm_max_ss(_mm_shuffle_ps::<1>(two, two), two))
        }
    }

    #[inline(always)]
    fn load_f32(self, from: &[u8; 64]) -> F {
        avx2! { (_mm256_loadu_ps(from.as_ptr().cast()), _mm256_loadu_ps(from.as_ptr().add(32).cast())) }
    }
    #[inline(always)]
    fn load_f16(self, from: &[u8; 32]) -> F {
        avx2! {
            let first = _mm_loadu_si128(from.as_ptr().cast());
            let last = _mm_loadu_si128(from.as_ptr().add(16).cast());
            (_mm256_cvtph_ps(first), _mm256_cvtph_ps(last))
        }
    }
    #[inline(always)]
    fn load_bf16(self, from: &[u8; 32]) -> F {
        avx2! {
            let first = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast()));
            let last = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().add(16).cast()));
            (
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(first)),
                _mm256_castsi256_ps(_mm256_slli_epi32::<16>(last)),
            )
        }
    }
    #[inline(always)]
    fn splat_f16(self, from: [u8; 2]) -> F {
        avx2! {
            let all = _mm256_cvtph_ps(_mm_set1_epi16(i16::from_le_bytes(from)));
            (all, all)
        }
    }

    #[inline(always)]
    fn bytes(self, from: &[u8; 16]) -> __m256i {
        avx2! { _mm256_broadcastsi128_si256(_mm_loadu_si128(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn splat_byte(self, a: u8) -> __m256i {
        avx2! { _mm256_set1_epi8(a as i8) }
    }
    #[inline(always)]
    fn splat_pair(self, a: [u8; 2]) -> __m256i {
        avx2! { _mm256_set1_epi16(i16::from_le_bytes(a)) }
    }
    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        avx2! { _mm256_and_si256(a, b) }
    }
    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        avx2! { _mm256_or_si256(a, b) }
    }
    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        avx2! { _mm256_xor_si256(a, b) }
    }
    #[inline(always)]
    fn sub_bytes(self, a: __m256i, b: __m256i) -> __m256i {
        avx2! { _mm256_sub_epi8(a, b) }
    }
    #[inline(always)]
    fn equal(self, a: __m256i, b: __m256i) -> __m256i {
        avx2! { _mm256_cmpeq_epi8(a, b) }
    }
    #[inline(always)]
    fn shift_right(self, a: __m256i, count: u32) -> __m256i {
        avx2! {
            let pairs = _mm256_srl_epi16(a, _mm_cvtsi32_si128(count as i32));
            _mm256_and_si256(pairs, _mm256_set1_epi8((0xFF_u8 >> count) as i8))
        }
    }
    #[inline(always)]
    fn shift_left(self, a: __m256i, count: u32) -> __m256i {
        avx2! {
            let pairs = _mm256_sll_epi16(a, _mm_cvtsi32_si128(count as i32));
            _mm256_and_si256(pairs, _mm256_set1_epi8((0xFF_u8 << count) as i8))
        }
    }
    #[inline(always)]
    fn lookup(self, table: __m256i, index: __m256i) -> __m256i {
        avx2! { _mm256_shuffle_epi8(table, index) }
    }

    #[inline(always)]
    fn codes(self, a: __m256i) -> F {
        convert(words(a, &UPPER))
    }
    #[inline(always)]
    fn nibbles(self, a: __m256i) -> (F, F) {
        let words = words(a, &BELOW);
        (convert(and(words, 0x000F_0000)), convert(and(words, 0x00F0_0000)))
    }
    #[inline(always)]
    fn signed_nibbles(self, a: __m256i) -> (F, F) {
        let words = words(a, &UPPER);
        // A byte in the upper end leaves only zeros behind its low nibble.
        let low = avx2! { (_mm256_slli_epi32::<4>(words.0), _mm256_slli_epi32::<4>(words.1)) };
        (convert(low), convert(and(words, 0xF000_0000)))
    }
    #[inline(always)]
    fn paired_nibbles(self, a: __m256i) -> (F, F) {
        // Every byte with one of its nibbles in the upper half; a word would show the other one as well.
        let (first, last) = avx2! {
            let mask = _mm256_set1_epi8(0xF0_u8 as i8);
            let low = _mm256_and_si256(_mm256_slli_epi16::<4>(a), mask);
            let high = _mm256_and_si256(a, mask);
            (_mm256_unpacklo_epi8(low, high), _mm256_unpackhi_epi8(low, high))
        };
        (convert(words(first, &UPPER)), convert(words(last, &UPPER)))
    }

    #[inline(always)]
    fn prefetch(self, at: *const u8) {
        avx2! { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
}
