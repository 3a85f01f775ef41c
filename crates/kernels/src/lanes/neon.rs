//! Lanes as four NEON registers, bytes as one; NEON is part of every aarch64.

use std::arch::{aarch64::*, asm};

use super::{LANES, Lanes, Real};

/// Proof that the CPU has NEON, which the architecture guarantees.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// The token.
    ///
    /// # Safety
    /// The CPU has NEON.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Neon {
        Neon(())
    }
}

/// Runs intrinsics of NEON.
macro_rules! neon {
    ($($body:tt)*) => {
        // SAFETY: whoever made the `Neon` promised these instructions. Loads and stores need no alignment and stay inside
        // arrays of at least their width, which the types of the arguments guarantee.
        unsafe { $($body)* }
    };
}

type F = [float32x4_t; 4];

/// Mask `i` puts byte `4 i + l` into byte `place` of word `l`, and zeros elsewhere.
const fn to_words(place: usize) -> [[u8; 16]; 4] {
    let mut masks = [[0xFF; 16]; 4];
    let mut byte = 0;
    while byte < LANES {
        masks[byte / 4][byte % 4 * 4 + place] = byte as u8;
        byte += 1;
    }
    masks
}

/// Masks that move sixteen bytes to the upper ends of words.
const UPPER: [[u8; 16]; 4] = to_words(3);
/// Masks that move them below the upper ends, where no bit is a sign.
const BELOW: [[u8; 16]; 4] = to_words(2);

/// The sixteen bytes in sixteen words.
#[inline(always)]
fn words(a: uint8x16_t, masks: &[[u8; 16]; 4]) -> [uint32x4_t; 4] {
    neon! {
        let quarter = |mask: &[u8; 16]| vreinterpretq_u32_u8(vqtbl1q_u8(a, vld1q_u8(mask.as_ptr())));
        [quarter(&masks[0]), quarter(&masks[1]), quarter(&masks[2]), quarter(&masks[3])]
    }
}

#[inline(always)]
fn and(a: [uint32x4_t; 4], mask: u32) -> [uint32x4_t; 4] {
    a.map(|a| neon! { vandq_u32(a, vdupq_n_u32(mask)) })
}

#[inline(always)]
fn convert(a: [uint32x4_t; 4]) -> F {
    a.map(|a| neon! { vcvtq_f32_s32(vreinterpretq_s32_u32(a)) })
}

#[inline(always)]
fn each(a: F, b: F, f: impl Fn(float32x4_t, float32x4_t) -> float32x4_t) -> F {
    [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])]
}

impl Real for Neon {
    type F = F;

    #[inline(always)]
    fn splat(self, a: f32) -> F {
        [neon! { vdupq_n_f32(a) }; 4]
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vaddq_f32(a, b) })
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vsubq_f32(a, b) })
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vmulq_f32(a, b) })
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vdivq_f32(a, b) })
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        let mut out = c;
        for i in 0..4 {
            out[i] = neon! { vfmaq_f32(c[i], a[i], b[i]) };
        }
        out
    }
    #[inline(always)]
    fn max(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vbslq_f32(vcgtq_f32(a, b), a, b) })
    }
    #[inline(always)]
    fn min(self, a: F, b: F) -> F {
        each(a, b, |a, b| neon! { vbslq_f32(vcltq_f32(a, b), a, b) })
    }
    #[inline(always)]
    fn less(self, a: F, b: F, yes: F, no: F) -> F {
        let mut out = no;
        for i in 0..4 {
            out[i] = neon! { vbslq_f32(vcltq_f32(a[i], b[i]), yes[i], no[i]) };
        }
        out
    }
    #[inline(always)]
    fn copy_sign(self, a: F, sign: F) -> F {
        each(a, sign, |a, sign| neon! { vbslq_f32(vdupq_n_u32(1 << 31), sign, a) })
    }
    #[inline(always)]
    fn pow2(self, n: F) -> F {
        n.map(|n| neon! { vreinterpretq_f32_s32(vshlq_n_s32::<23>(vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127)))) })
    }
}

impl Lanes for Neon {
    type Bytes = uint8x16_t;

    #[inline(always)]
    fn load(self, from: &[f32; LANES]) -> F {
        let at = from.as_ptr();
        neon! { [vld1q_f32(at), vld1q_f32(at.add(4)), vld1q_f32(at.add(8)), vld1q_f32(at.add(12))] }
    }
    #[inline(always)]
    fn store(self, a: F, to: &mut [f32; LANES]) {
        for (a, to) in a.into_iter().zip(to.as_chunks_mut::<4>().0) {
            neon! { vst1q_f32(to.as_mut_ptr(), a) }
        }
    }
    #[inline(always)]
    fn sum(self, a: F) -> f32 {
        neon! {
            let four = vaddq_f32(vaddq_f32(a[0], a[2]), vaddq_f32(a[1], a[3]));
            let two = vadd_f32(vget_low_f32(four), vget_high_f32(four));
            vget_lane_f32::<0>(two) + vget_lane_f32::<1>(two)
        }
    }
    #[inline(always)]
    fn largest(self, a: F) -> f32 {
        let (first, second) = self.eight(a);
        neon! {
            let four = vbslq_f32(vcgtq_f32(second, first), second, first);
            let (low, high) = (vget_low_f32(four), vget_high_f32(four));
            let two = vbsl_f32(vcgt_f32(high, low), high, low);
            let (low, high) = (vget_lane_f32::<0>(two), vget_lane_f32::<1>(two));
            if high > low { high } else { low }
        }
    }

    #[inline(always)]
    fn load_f32(self, from: &[u8; 64]) -> F {
        let at = from.as_ptr();
        neon! {
            let quarter = |i: usize| vreinterpretq_f32_u8(vld1q_u8(at.add(i * 16)));
            [quarter(0), quarter(1), quarter(2), quarter(3)]
        }
    }
    #[inline(always)]
    fn load_f16(self, from: &[u8; 32]) -> F {
        let at = from.as_ptr();
        neon! {
            let quarter = |i: usize| vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(at.add(i * 8))));
            [quarter(0), quarter(1), quarter(2), quarter(3)]
        }
    }
    #[inline(always)]
    fn load_bf16(self, from: &[u8; 32]) -> F {
        let at = from.as_ptr();
        neon! {
            let quarter = |i: usize| {
                vreinterpretq_f32_u32(vshll_n_u16::<16>(vreinterpret_u16_u8(vld1_u8(at.add(i * 8)))))
            };
            [quarter(0), quarter(1), quarter(2), quarter(3)]
        }
    }
    #[inline(always)]
    fn splat_f16(self, from: [u8; 2]) -> F {
        [neon! { vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(u16::from_le_bytes(from)))) }; 4]
    }

    #[inline(always)]
    fn bytes(self, from: &[u8; 16]) -> uint8x16_t {
        neon! { vld1q_u8(from.as_ptr()) }
    }
    #[inline(always)]
    fn splat_byte(self, a: u8) -> uint8x16_t {
        neon! { vdupq_n_u8(a) }
    }
    #[inline(always)]
    fn splat_pair(self, a: [u8; 2]) -> uint8x16_t {
        neon! { vreinterpretq_u8_u16(vdupq_n_u16(u16::from_le_bytes(a))) }
    }
    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon! { vandq_u8(a, b) }
    }
    #[inline(always)]
    fn or(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon! { vorrq_u8(a, b) }
    }
    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon! { veorq_u8(a, b) }
    }
    #[inline(always)]
    fn sub_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon! { vsubq_u8(a, b) }
    }
    #[inline(always)]
    fn equal(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        neon! { vceqq_u8(a, b) }
    }
    #[inline(always)]
    fn shift_right(self, a: uint8x16_t, count: u32) -> uint8x16_t {
        neon! { vshlq_u8(a, vdupq_n_s8(-(count as i8))) }
    }
    #[inline(always)]
    fn shift_left(self, a: uint8x16_t, count: u32) -> uint8x16_t {
        neon! { vshlq_u8(a, vdupq_n_s8(count as i8)) }
    }
    #[inline(always)]
    fn lookup(self, table: uint8x16_t, index: uint8x16_t) -> uint8x16_t {
        neon! { vqtbl1q_u8(table, index) }
    }

    #[inline(always)]
    fn codes(self, a: uint8x16_t) -> F {
        convert(words(a, &UPPER))
    }
    #[inline(always)]
    fn nibbles(self, a: uint8x16_t) -> (F, F) {
        let words = words(a, &BELOW);
        (convert(and(words, 0x000F_0000)), convert(and(words, 0x00F0_0000)))
    }
    #[inline(always)]
    fn signed_nibbles(self, a: uint8x16_t) -> (F, F) {
        neon! { (self.codes(vshlq_n_u8::<4>(a)), self.codes(vandq_u8(a, vdupq_n_u8(0xF0)))) }
    }
    #[inline(always)]
    fn paired_nibbles(self, a: uint8x16_t) -> (F, F) {
        neon! {
            let (low, high) = (vshlq_n_u8::<4>(a), vandq_u8(a, vdupq_n_u8(0xF0)));
            (self.codes(vzip1q_u8(low, high)), self.codes(vzip2q_u8(low, high)))
        }
    }

    #[inline(always)]
    fn prefetch(self, at: *const u8) {
        // SAFETY: the instruction is a hint: it accesses no memory that the program can see and never faults.
        unsafe {
            asm!("prfm pldl1keep, [{at}]", at = in(reg) at, options(nostack, preserves_flags, readonly))
        }
    }
}

impl Neon {
    /// Lanes 0 to 7, each the larger of itself and the one eight above, in two registers.
    #[inline(always)]
    fn eight(self, a: F) -> (float32x4_t, float32x4_t) {
        neon! {
            (
                vbslq_f32(vcgtq_f32(a[2], a[0]), a[2], a[0]),
                vbslq_f32(vcgtq_f32(a[3], a[1]), a[3], a[1]),
            )
        }
    }
}
