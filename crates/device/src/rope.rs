//! Tables of rotary angles, computed step by step as PyTorch does in f32, so that every angle is the very float that the
//! families were trained with.
//!
//! The formulas are those of transformers 5 (`modeling_rope_utils.py`): where that code computes with Python numbers this
//! one uses f64, where it computes with tensors this one uses f32 and rounds after every step. Powers, sines and cosines
//! are computed in f64 by `kernels::math`, the same on every machine, and rounded once; PyTorch's own may differ from them
//! in the last bit.

use std::f64::consts::PI;

use kernels::math;

/// How frequencies are stretched for contexts longer than those of the first training.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum RopeScaling {
    /// Not at all.
    #[default]
    None,
    /// Every frequency is divided by `factor`.
    Linear {
        /// The divisor.
        factor: f64,
    },
    /// Low frequencies are divided by `factor`, high ones stay, those in the band between are mixed.
    Banded {
        /// The divisor of low frequencies.
        factor: f64,
        /// A frequency with fewer turns than this within `original_context` is low.
        low_freq_factor: f64,
        /// A frequency with more turns than this within `original_context` is high.
        high_freq_factor: f64,
        /// Positions of the first training.
        original_context: f64,
    },
    /// Interpolation by parts (Peng et al., "YaRN", 2023): frequencies with more than `beta_fast` turns stay, those with
    /// fewer than `beta_slow` are divided by `factor`, with a linear ramp over the indices between.
    Yarn {
        /// The divisor of low frequencies.
        factor: f64,
        /// Positions of the first training.
        original_context: f64,
        /// Turns within `original_context` above which a frequency stays; usually 32.
        beta_fast: f64,
        /// Turns within `original_context` below which a frequency is divided; usually 1.
        beta_slow: f64,
        /// Factor on sines and cosines; follows from the fields below when there is none.
        attention_factor: Option<f64>,
        /// Numerator of the factor on sines and cosines; used only together with `mscale_all_dim`.
        mscale: Option<f64>,
        /// Its denominator.
        mscale_all_dim: Option<f64>,
        /// Whether the ends of the ramp are rounded outwards to whole indices; usually so.
        truncate: bool,
    },
}

/// Cosines and sines for positions `0..positions`: `[positions, rotary]`, for each position `rotary / 2` cosines and then
/// as many sines.
///
/// `theta` is the base of the frequencies; `divisors`, where a file has them, are `[rotary / 2]` and divide the
/// frequencies at the end.
///
/// # Panics
/// If `rotary` is odd or there is another number of divisors.
#[must_use]
pub fn rope_table(
    theta: f64,
    rotary: usize,
    scaling: &RopeScaling,
    divisors: Option<&[f32]>,
    positions: usize,
) -> Vec<f32> {
    let mut frequencies = inverse_frequencies(theta, rotary, scaling);
    if let Some(divisors) = divisors {
        assert_eq!(divisors.len(), frequencies.len(), "one divisor for each frequency");
        frequencies.iter_mut().zip(divisors).for_each(|(frequency, divisor)| *frequency /= divisor);
    }
    let magnitude = scaling.magnitude() as f32;
    let mut table = vec![0.0; positions * rotary];
    for (position, row) in table.chunks_exact_mut(rotary.max(1)).enumerate() {
        fill_row(row, position as u32, &frequencies, magnitude);
    }
    table
}

/// One row of a table: the cosines and then the sines of `position · frequency`, times `magnitude`.
///
/// # Panics
/// If `row` is not twice as long as `frequencies`.
pub fn fill_row(row: &mut [f32], position: u32, frequencies: &[f32], magnitude: f32) {
    let (cosines, sines) = row.split_at_mut(frequencies.len());
    assert_eq!(sines.len(), frequencies.len(), "a cosine and a sine for each frequency");
    for ((cos, sin), frequency) in cosines.iter_mut().zip(sines).zip(frequencies) {
        let angle = position as f32 * frequency;
        let (sin_value, cos_value) = math::sin_cos_f64(f64::from(angle));
        *cos = cos_value as f32 * magnitude;
        *sin = sin_value as f32 * magnitude;
    }
}

/// Radians that each pair turns with every position: `[rotary / 2]`, the fastest first.
///
/// # Panics
/// If `rotary` is odd.
#[must_use]
pub fn inverse_frequencies(theta: f64, rotary: usize, scaling: &RopeScaling) -> Vec<f32> {
    assert!(rotary.is_multiple_of(2), "{rotary} rotated components do not form pairs");
    let period = |i: usize| {
        let exponent = (2 * i) as f32 / rotary as f32;
        math::pow_f64(f64::from(theta as f32), f64::from(exponent)) as f32
    };
    let ramp = Ramp::new(theta, rotary, scaling);
    (0..rotary / 2)
        .map(|i| match *scaling {
            RopeScaling::None => 1.0 / period(i),
            RopeScaling::Linear { factor } => 1.0 / period(i) / factor as f32,
            RopeScaling::Banded { factor, low_freq_factor, high_freq_factor, original_context } => {
                banded(1.0 / period(i), factor as f32, low_freq_factor, high_freq_factor, original_context)
            }
            RopeScaling::Yarn { factor, .. } => {
                let kept = 1.0 - ramp.at(i);
                1.0 / (factor as f32 * period(i)) * (1.0 - kept) + 1.0 / period(i) * kept
            }
        })
        .collect()
}

fn banded(frequency: f32, factor: f32, low: f64, high: f64, original_context: f64) -> f32 {
    let wavelength = 1.0 / frequency * (2.0 * PI) as f32;
    if wavelength > (original_context / low) as f32 {
        frequency / factor
    } else if wavelength < (original_context / high) as f32 {
        frequency
    } else {
        let turns = 1.0 / wavelength * original_context as f32;
        let kept = (turns - low as f32) / (high - low) as f32;
        (1.0 - kept) * frequency / factor + kept * frequency
    }
}

/// The share of interpolation by index of the frequency: 0 up to `low`, 1 from `high` on.
struct Ramp {
    low: f64,
    high: f64,
}

impl Ramp {
    fn new(theta: f64, rotary: usize, scaling: &RopeScaling) -> Ramp {
        let RopeScaling::Yarn { original_context, beta_fast, beta_slow, truncate, .. } = *scaling else {
            return Ramp { low: 0.0, high: 1.0 };
        };
        let index = |turns: f64| {
            let fitting = original_context / (turns * 2.0 * PI);
            rotary as f64 * math::ln_f64(fitting) / (2.0 * math::ln_f64(theta))
        };
        let (low, high) = (index(beta_fast), index(beta_slow));
        let (low, high) = if truncate { (low.floor(), high.ceil()) } else { (low, high) };
        let (low, high) = (low.max(0.0), high.min(rotary as f64 - 1.0));
        Ramp { low, high: if low == high { high + 0.001 } else { high } }
    }

    fn at(&self, i: usize) -> f32 {
        ((i as f32 - self.low as f32) / (self.high - self.low) as f32).clamp(0.0, 1.0)
    }
}

impl RopeScaling {
    /// The factor on every sine and cosine: 1 except with YaRN.
    #[must_use]
    pub fn magnitude(&self) -> f64 {
        let RopeScaling::Yarn { factor, attention_factor, mscale, mscale_all_dim, .. } = *self else {
            return 1.0;
        };
        let grown = |scale: f64| if factor <= 1.0 { 1.0 } else { 0.1 * scale * math::ln_f64(factor) + 1.0 };
        let given = |scale: Option<f64>| scale.filter(|&scale| scale != 0.0);
        match (attention_factor, given(mscale), given(mscale_all_dim)) {
            (Some(given), _, _) => given,
            (None, Some(over), Some(under)) => grown(over) / grown(under),
            (None, _, _) => grown(1.0),
        }
    }
}
