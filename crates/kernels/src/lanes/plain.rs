//! Lanes as arrays: what every operation means, on any processor.

use super::{LANES, Lanes, Real, Scalar};

/// No instructions beyond those that the program was compiled for.
#[derive(Clone, Copy)]
pub(crate) struct Plain(());

impl Plain {
    /// The token.
    ///
    /// # Safety
    /// None; the other tokens ask for instructions here.
    #[inline(always)]
    pub(crate) unsafe fn new() -> Plain {
        Plain(())
    }
}

type F = [f32; LANES];
type Bytes = [u8; 16];

#[inline(always)]
fn each<const N: usize, A: Copy, B: Copy, C: Copy + Default>(
    a: [A; N],
    b: [B; N],
    f: impl Fn(A, B) -> C,
) -> [C; N] {
    let mut out = [C::default(); N];
    for l in 0..N {
        out[l] = f(a[l], b[l]);
    }
    out
}

impl Real for Plain {
    type F = F;

    #[inline(always)]
    fn splat(self, a: f32) -> F {
        [a; LANES]
    }
    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.add(a, b))
    }
    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.sub(a, b))
    }
    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.mul(a, b))
    }
    #[inline(always)]
    fn div(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.div(a, b))
    }
    #[inline(always)]
    fn fma(self, a: F, b: F, c: F) -> F {
        let mut out = c;
        for l in 0..LANES {
            out[l] = Scalar.fma(a[l], b[l], c[l]);
        }
        out
    }
    #[inline(always)]
    fn max(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.max(a, b))
    }
    #[inline(always)]
    fn min(self, a: F, b: F) -> F {
        each(a, b, |a, b| Scalar.min(a, b))
    }
    #[inline(always)]
    fn less(self, a: F, b: F, yes: F, no: F) -> F {
        let mut out = no;
        for l in 0..LANES {
            out[l] = Scalar.less(a[l], b[l], yes[l], no[l]);
        }
        out
    }
    #[inline(always)]
    fn copy_sign(self, a: F, sign: F) -> F {
        each(a, sign, |a, sign| Scalar.copy_sign(a, sign))
    }
    #[inline(always)]
    fn pow2(self, n: F) -> F {
        n.map(|n| Scalar.pow2(n))
    }
}

/// Combines lanes `l` and `l + 8`, then `+ 4`, `+ 2`, `+ 1`.
#[inline(always)]
fn tree(mut a: F, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            a[l] = combine(a[l], a[l + half]);
        }
        half /= 2;
    }
    a[0]
}

impl Lanes for Plain {
    type Bytes = Bytes;

    #[inline(always)]
    fn load(self, from: &F) -> F {
        *from
    }
    #[inline(always)]
    fn store(self, a: F, to: &mut F) {
        *to = a;
    }
    #[inline(always)]
    fn sum(self, a: F) -> f32 {
        tree(a, |low, high| low + high)
    }
    #[inline(always)]
    fn largest(self, a: F) -> f32 {
        tree(a, |low, high| Scalar.max(high, low))
    }

    #[inline(always)]
    fn load_f32(self, from: &[u8; 64]) -> F {
        std::array::from_fn(|l| f32::from_le_bytes(from.as_chunks().0[l]))
    }
    #[inline(always)]
    fn load_f16(self, from: &[u8; 32]) -> F {
        std::array::from_fn(|l| quant::floats::f16_to_f32(u16::from_le_bytes(from.as_chunks().0[l])))
    }
    #[inline(always)]
    fn load_bf16(self, from: &[u8; 32]) -> F {
        std::array::from_fn(|l| quant::floats::bf16_to_f32(u16::from_le_bytes(from.as_chunks().0[l])))
    }
    #[inline(always)]
    fn splat_f16(self, from: [u8; 2]) -> F {
        [quant::floats::f16_to_f32(u16::from_le_bytes(from)); LANES]
    }

    #[inline(always)]
    fn bytes(self, from: &Bytes) -> Bytes {
        *from
    }
    #[inline(always)]
    fn splat_byte(self, a: u8) -> Bytes {
        [a; 16]
    }
    #[inline(always)]
    fn splat_pair(self, a: [u8; 2]) -> Bytes {
        std::array::from_fn(|l| a[l % 2])
    }
    #[inline(always)]
    fn and(self, a: Bytes, b: Bytes) -> Bytes {
        each(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, a: Bytes, b: Bytes) -> Bytes {
        each(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(self, a: Bytes, b: Bytes) -> Bytes {
        each(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn sub_bytes(self, a: Bytes, b: Bytes) -> Bytes {
        each(a, b, |a: u8, b| a.wrapping_sub(b))
    }
    #[inline(always)]
    fn equal(self, a: Bytes, b: Bytes) -> Bytes {
        each(a, b, |a, b| if a == b { 0xFF } else { 0 })
    }
    #[inline(always)]
    fn shift_right(self, a: Bytes, count: u32) -> Bytes {
        a.map(|a| a >> count)
    }
    #[inline(always)]
    fn shift_left(self, a: Bytes, count: u32) -> Bytes {
        a.map(|a| a << count)
    }
    #[inline(always)]
    fn lookup(self, table: Bytes, index: Bytes) -> Bytes {
        index.map(|index| table[usize::from(index & 15)])
    }

    #[inline(always)]
    fn codes(self, a: Bytes) -> F {
        a.map(|a| (i32::from(a as i8) << 24) as f32)
    }
    #[inline(always)]
    fn nibbles(self, a: Bytes) -> (F, F) {
        (a.map(|a| (i32::from(a & 15) << 16) as f32), a.map(|a| (i32::from(a >> 4) << 20) as f32))
    }
    #[inline(always)]
    fn signed_nibbles(self, a: Bytes) -> (F, F) {
        (a.map(|a| (i32::from(a) << 28) as f32), a.map(|a| (i32::from(a >> 4) << 28) as f32))
    }
    #[inline(always)]
    fn paired_nibbles(self, a: Bytes) -> (F, F) {
        let (low, high) = self.signed_nibbles(a);
        let order = |first: usize| std::array::from_fn(|l| [low, high][l % 2][first + l / 2]);
        (order(0), order(8))
    }

    #[inline(always)]
    fn prefetch(self, _at: *const u8) {}
}
