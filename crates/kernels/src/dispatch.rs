//! From one loop to one function for each instruction set, and from the CPU to the functions that it can run.
//!
//! A loop over lanes is inlined into a function that carries the instruction set's `target_feature`, so that the compiler
//! may use its instructions throughout.

use quant::Format;

use crate::{
    formats,
    lanes::Plain,
    matmul::{Job, matmul},
    table::{Activation, Matmul, Table},
    vector,
};

/// A function that runs `$loop` with the lanes `$lanes`, as a pointer.
macro_rules! stamped {
    ($lanes:ty, [$($attribute:tt)*], $loop:path, ($($arg:ident: $type:ty),*) $(-> $result:ty)?) => {{
        /// # Safety
        /// The CPU has the instructions of the lanes.
        $($attribute)*
        unsafe fn stamped($($arg: $type),*) $(-> $result)? {
            // SAFETY: whoever calls this promises the instructions.
            let lanes = unsafe { <$lanes>::new() };
            $loop(lanes, $($arg),*)
        }
        stamped
    }};
}

/// The table of one instruction set.
macro_rules! table {
    ($name:literal, $lanes:ty, $attributes:tt) => {{
        macro_rules! rows {
            ($step:ident, $bytes:literal, $cols:literal, $rows:literal) => {
                stamped!($lanes, $attributes, matmul::<_, formats::$step, $bytes, $cols, $rows>, (job: &mut Job<'_>))
            };
        }
        fn of(format: Format) -> Matmul {
            match format {
                Format::F32 => rows!(F32, 64, 16, 4),
                Format::F16 => rows!(F16, 32, 16, 4),
                Format::Bf16 => rows!(Bf16, 32, 16, 4),
                Format::Int8Row => rows!(Int8Row, 16, 16, 4),
                Format::Int4Row => rows!(Int4Row, 16, 32, 4),
                Format::Int4Group { group: 32 } => rows!(Int4Group, 16, 32, 4),
                Format::Int4Group { group: 64 } => rows!(Int4Group, 32, 64, 2),
                Format::Int4Group { group: 128 } => rows!(Int4Group, 64, 128, 2),
                Format::Int4Group { group: 256 } => rows!(Int4Group, 128, 256, 2),
                Format::Int4Group { group } => unreachable!("no matrix has groups of {group}"),
                Format::Q8_0 => rows!(Q8_0, 34, 32, 4),
                Format::Q4_0 => rows!(Q4_0, 18, 32, 4),
                Format::Q4_1 => rows!(Q4_1, 20, 32, 4),
                Format::Q5_0 => rows!(Q5_0, 22, 32, 4),
                Format::Q5_1 => rows!(Q5_1, 24, 32, 4),
                Format::Q2K => rows!(Q2K, 84, 256, 2),
                Format::Q3K => rows!(Q3K, 110, 256, 2),
                Format::Q4K => rows!(Q4K, 144, 256, 2),
                Format::Q5K => rows!(Q5K, 176, 256, 2),
                Format::Q6K => rows!(Q6K, 210, 256, 2),
                Format::Iq4Nl => rows!(Iq4Nl, 18, 32, 4),
                Format::Iq4Xs => rows!(Iq4Xs, 136, 256, 2),
                Format::Mxfp4 => rows!(Mxfp4, 17, 32, 4),
            }
        }
        Table {
            name: $name,
            matmul: of,
            dot: stamped!($lanes, $attributes, vector::dot, (a: &[f32], b: &[f32]) -> f32),
            dots: stamped!(
                $lanes, $attributes, vector::dots,
                (out: &mut [f32], rows: &[f32], stride: usize, x: &[f32])
            ),
            sum: stamped!($lanes, $attributes, vector::sum, (a: &[f32]) -> f32),
            sum_squares: stamped!($lanes, $attributes, vector::sum_squares, (a: &[f32]) -> f32),
            max: stamped!($lanes, $attributes, vector::max, (a: &[f32]) -> f32),
            axpy: stamped!($lanes, $attributes, vector::axpy, (y: &mut [f32], a: f32, x: &[f32])),
            add_rows: stamped!(
                $lanes, $attributes, vector::add_rows,
                (y: &mut [f32], weights: &[f32], rows: &[f32], stride: usize)
            ),
            scale: stamped!($lanes, $attributes, vector::scale, (y: &mut [f32], factor: f32)),
            add: stamped!($lanes, $attributes, vector::add, (y: &mut [f32], x: &[f32])),
            mul: stamped!($lanes, $attributes, vector::mul, (y: &mut [f32], x: &[f32])),
            normalise: stamped!(
                $lanes, $attributes, vector::normalise,
                (y: &mut [f32], factor: f32, weight: &[f32])
            ),
            exp_sum: stamped!($lanes, $attributes, vector::exp_sum, (y: &mut [f32], max: f32) -> f32),
            softcap: stamped!($lanes, $attributes, vector::softcap, (y: &mut [f32], cap: f32)),
            glu: stamped!(
                $lanes, $attributes, vector::glu,
                (out: &mut [f32], gate: &[f32], up: &[f32], activation: Activation)
            ),
        }
    }};
}

/// All tables that this CPU can run, the fastest last.
pub(crate) fn tables() -> impl DoubleEndedIterator<Item = Table> {
    let plain = table!("plain", Plain, []);
    [Some(plain), first(), second()].into_iter().flatten()
}

#[cfg(target_arch = "x86_64")]
fn first() -> Option<Table> {
    use crate::lanes::Avx2;
    let can = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    can.then(|| table!("avx2", Avx2, [#[target_feature(enable = "avx2,fma,f16c")]]))
}

#[cfg(target_arch = "x86_64")]
fn second() -> Option<Table> {
    use crate::lanes::Avx512;
    let can = first().is_some()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    can.then(|| {
        table!(
            "avx512",
            Avx512,
            [#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]]
        )
    })
}

#[cfg(target_arch = "aarch64")]
fn first() -> Option<Table> {
    use crate::lanes::Neon;
    Some(table!("neon", Neon, [#[target_feature(enable = "neon")]]))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn first() -> Option<Table> {
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn second() -> Option<Table> {
    None
}
