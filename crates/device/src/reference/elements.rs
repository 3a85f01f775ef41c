//! Functions of single elements.

use std::f64::consts::PI;

use crate::contract::Activation;

pub(super) fn add(dst: &mut [f32], x: &[f32]) {
    dst.iter_mut().zip(x).for_each(|(dst, x)| *dst += x);
}

pub(super) fn scale(dst: &mut [f32], factor: f32) {
    dst.iter_mut().for_each(|dst| *dst *= factor);
}

pub(super) fn clamp(dst: &mut [f32], bound: f32) {
    dst.iter_mut().for_each(|dst| *dst = dst.clamp(-bound, bound));
}

pub(super) fn softcap(dst: &mut [f32], cap: f32) {
    dst.iter_mut().for_each(|dst| *dst = cap_softly(f64::from(*dst), cap) as f32);
}

/// `cap · tanh(value / cap)`.
pub(super) fn cap_softly(value: f64, cap: f32) -> f64 {
    let cap = f64::from(cap);
    cap * (value / cap).tanh()
}

pub(super) fn glu(gate: &[f32], up: &[f32], activation: Activation) -> Vec<f32> {
    let value = |(&gate, &up): (&f32, &f32)| (activate(f64::from(gate), activation) * f64::from(up)) as f32;
    gate.iter().zip(up).map(value).collect()
}

fn activate(x: f64, activation: Activation) -> f64 {
    match activation {
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::GeluTanh => 0.5 * x * (1.0 + ((2.0 / PI).sqrt() * (x + 0.044_715 * x.powi(3))).tanh()),
    }
}
