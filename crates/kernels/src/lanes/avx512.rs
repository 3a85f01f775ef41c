//! Lanes as one AVX-512 register; needs AVX-512 F, BW, DQ and VL beside AVX2.
//!
//! Sixteen bytes stand in each quarter of a register, for the reason given in [`super::avx2`].

use std::arch::x86_64::*;

use super::{Avx2, LANES, Lanes, Real};

/// Proof that the CPU has AVX-512 F, BW, DQ and VL, AVX2, FMA and F16C.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The token.
    ///
    /// # Safety
    /// The CPU has AVX-512 F, BW, DQ and VL, AVX2, FMA and F16C.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Avx512 {
        Avx512(())
    }

    /// The token for the last steps of a reduction, which are the same.
    #[inline(always)]
    fn narrow(self) -> Avx2 {
        // SAFETY: an `Avx512` proves AVX2, FMA and F16C too.
        unsafe { Avx2::new() }
    }
}

/// Runs intrinsics of AVX-512 F, BW, DQ and VL.
macro_rules! avx512 {
    ($($body:tt)*) => {
        // SAFETY: whoever made the `Avx512` promised these instructions. Loads and stores are unaligned ones and stay
        // inside arrays of at least their width, which the types of the arguments guarantee.
        unsafe { $($body)* }
    };
}

type F = __m512;

/// Puts byte `l` into byte `place` of word `l`, and zeros elsewhere.
const fn to_words(place: usize) -> [u8; 64] {
    let mut mask = [0x80; 64];
    let mut l = 0;
    while l < LANES {
        mask[l * 4 + place] = l as u8;
        l += 1;
    }
    mask
}

/// Mask that moves sixteen bytes to the upper ends of words.
const UPPER: [u8; 64] = to_words(3);
/// Mask that moves them below the upper ends, where no bit is a sign.
const BELOW: [u8; 64] = to_words(2);

/// The sixteen bytes in sixteen words.
#[inline(always)]
fn words(a: __m512i, mask: &[u8; 64]) -> __m512i {
    avx512! { _mm512_shuffle_epi8(a, _mm512_loadu_si512(mask.as_ptr().cast())) }
}

#[inline(always)]
fn convert(words: __m512i) -> F {
    avx512! { _mm512_cvtepi32_ps(words) }
}

#[inline(always)]
fn and(a: __m512i, mask: u32) -> __m512i {
    avx512! { _mm512_and_si512(a, _mm512_set1_epi32(mask as i32)) }
}

/// The lower and the upper eight lanes.
#[inline(always)]
fn halves(a: F) -> (__m256, __m256) {
    avx512! { (_mm512_castps512_ps256(a), _mm512_extractf32x8_ps::<1>(a)) }
}

impl Real for Avx512 {
    type F = F;

    #[inline(always)]
    fn splat(self, a: f32) -> F {
        avx512! { _mm512_set1_ps(a) }
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        avx512! { _mm512_add_ps(a, b) }
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        avx512! { _mm512_sub_ps(a, b) }
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        avx512! { _mm512_mul_ps(a, b) }
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        avx512! { _mm512_div_ps(a, b) }
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        avx512! { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn max(self, a: F, b: F) -> F {
        avx512! { _mm512_max_ps(a, b) }
    }
    #[inline(always)]
    fn min(self, a: F, b: F) -> F {
        avx512! { _mm512_min_ps(a, b) }
    }
    #[inline(always)]
    fn less(self, a: F, b: F, yes: F, no: F) -> F {
        avx512! { _mm512_mask_blend_ps(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), no, yes) }
    }
    #[inline(always)]
    fn copy_sign(self, a: F, sign: F) -> F {
        avx512! {
            let bit = _mm512_set1_ps(-0.0);
            _mm512_or_ps(_mm512_andnot_ps(bit, a), _mm512_and_ps(bit, sign))
        }
    }
    #[inline(always)]
    fn pow2(self, n: F) -> F {
        avx512! {
            let biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(biased))
        }
    }
}

impl Lanes for Avx512 {
    type Bytes = __m512i;

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> F {
        avx512! { _mm512_loadu_ps(from.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, a: F, to: &mut [f32; LANES]) {
        avx512! { _mm512_storeu_ps(to.as_mut_ptr(), a) }
    }
    #[inline(always)]
    fn sum(self, a: F) -> f32 {
        self.narrow().sum(halves(a))
    }
    #[inline(always)]
    fn largest(self, a: F) -> f32 {
        self.narrow().largest(halves(a))
    }

    #[inline(always)]
    fn load_f32(self, from: &[u8; 64]) -> F {
        avx512! { _mm512_loadu_ps(from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn load_f16(self, from: &[u8; 32]) -> F {
        avx512! { _mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn load_bf16(self, from: &[u8; 32]) -> F {
        avx512! {
            let words = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.as_ptr().cast()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(words))
        }
    }
    #[inline(always)]
    fn splat_f16(self, from: [u8; 2]) -> F {
        avx512! { _mm512_cvtph_ps(_mm256_set1_epi16(i16::from_le_bytes(from))) }
    }

    #[inline(always)]
    fn bytes(self, from: &[u8; 16]) -> __m512i {
        avx512! { _mm512_broadcast_i32x4(_mm_loadu_si128(from.as_ptr().cast())) }
    }
    #[inline(always)]
    fn splat_byte(self, a: u8) -> __m512i {
        avx512! { _mm512_set1_epi8(a as i8) }
    }
    #[inline(always)]
    fn splat_pair(self, a: [u8; 2]) -> __m512i {
        avx512! { _mm512_set1_epi16(i16::from_le_bytes(a)) }
    }
    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        avx512! { _mm512_and_si512(a, b) }
    }
    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        avx512! { _mm512_or_si512(a, b) }
    }
    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        avx512! { _mm512_xor_si512(a, b) }
    }
    #[inline(always)]
    fn sub_bytes(self, a: __m512i, b: __m512i) -> __m512i {
        avx512! { _mm512_sub_epi8(a, b) }
    }
    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> __m512i {
        avx512! { _mm512_movm_epi8(_mm512_cmpeq_epi8_mask(a, b)) }
    }
    #[inline(always)]
    fn shift_right(self, a: __m512i, count: u32) -> __m512i {
        avx512! {
            let pairs = _mm512_srl_epi16(a, _mm_cvtsi32_si128(count as i32));
            _mm512_and_si512(pairs, _mm512_set1_epi8((0xFF_u8 >> count) as i8))
        }
    }
    #[inline(always)]
    fn shift_left(self, a: __m512i, count: u32) -> __m512i {
        avx512! {
            let pairs = _mm512_sll_epi16(a, _mm_cvtsi32_si128(count as i32));
            _mm512_and_si512(pairs, _mm512_set1_epi8((0xFF_u8 << count) as i8))
        }
    }
    #[inline(always)]
    fn lookup(self, table: __m512i, index: __m512i) -> __m512i {
        avx512! { _mm512_shuffle_epi8(table, index) }
    }

    #[inline(always)]
    fn codes(self, a: __m512i) -> F {
        convert(words(a, &UPPER))
    }
    #[inline(always)]
    fn nibbles(self, a: __m512i) -> (F, F) {
        let words = words(a, &BELOW);
        (convert(and(words, 0x000F_0000)), convert(and(words, 0x00F0_0000)))
    }
    #[inline(always)]
    fn signed_nibbles(self, a: __m512i) -> (F, F) {
        let words = words(a, &UPPER);
        // A byte in the upper end leaves only zeros behind its low nibble.
        let low = avx512! { _mm512_slli_epi32::<4>(words) };
        (convert(low), convert(and(words, 0xF000_0000)))
    }
    #[inline(always)]
    fn paired_nibbles(self, a: __m512i) -> (F, F) {
        // Every byte with one of its nibbles in the upper half; a word would show the other one as well.
        let (first, last) = avx512! {
            let mask = _mm512_set1_epi8(0xF0_u8 as i8);
            let low = _mm512_and_si512(_mm512_slli_epi16::<4>(a), mask);
            let high = _mm512_and_si512(a, mask);
            (_mm512_unpacklo_epi8(low, high), _mm512_unpackhi_epi8(low, high))
        };
        (convert(words(first, &UPPER)), convert(words(last, &UPPER)))
    }

    #[inline(always)]
    fn prefetch(self, at: *const u8) {
        avx512! { _mm_prefetch::<_MM_HINT_T0>(at.cast()) }
    }
}
