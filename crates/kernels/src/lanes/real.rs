//! Arithmetic on some number of f32 lanes, one of them in the case of [`Scalar`].

/// Arithmetic lane by lane. Each operation rounds once, to nearest even, as IEEE 754 defines it.
pub(crate) trait Real: Copy {
    /// The lanes.
    type F: Copy;

    fn splat(self, a: f32) -> Self::F;
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a * b + c`, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a` where `a > b`, else `b`: `b` wins ties, and where either is NaN.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a` where `a < b`, else `b`: `b` wins ties, and where either is NaN.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// `yes` where `a < b`, else `no`.
    fn less(self, a: Self::F, b: Self::F, yes: Self::F, no: Self::F) -> Self::F;
    /// The size of `a` with the sign of `sign`.
    fn copy_sign(self, a: Self::F, sign: Self::F) -> Self::F;
    /// `2^n` for whole `n` in `-126..=127`; anything for others.
    fn pow2(self, n: Self::F) -> Self::F;
}

/// One lane.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

impl Real for Scalar {
    type F = f32;

    #[inline(always)]
    fn splat(self, a: f32) -> f32 {
        a
    }
    #[inline(always)]
    fn add(self, a: f32, b: f32) -> f32 {
        a + b
    }
    #[inline(always)]
    fn sub(self, a: f32, b: f32) -> f32 {
        a - b
    }
    #[inline(always)]
    fn mul(self, a: f32, b: f32) -> f32 {
        a * b
    }
    #[inline(always)]
    fn div(self, a: f32, b: f32) -> f32 {
        a / b
    }
    #[inline(always)]
    fn fma(self, a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn max(self, a: f32, b: f32) -> f32 {
        if a > b { a } else { b }
    }
    #[inline(always)]
    fn min(self, a: f32, b: f32) -> f32 {
        if a < b { a } else { b }
    }
    #[inline(always)]
    fn less(self, a: f32, b: f32, yes: f32, no: f32) -> f32 {
        if a < b { yes } else { no }
    }
    #[inline(always)]
    fn copy_sign(self, a: f32, sign: f32) -> f32 {
        a.copysign(sign)
    }
    #[inline(always)]
    fn pow2(self, n: f32) -> f32 {
        f32::from_bits(((n as i32).wrapping_add(127) as u32) << 23)
    }
}
