//! Against the standard library's f64 functions, which are an independent implementation.

use super::*;

/// Distance of `found` from the exact value in units of its last place, the least subnormal at the smallest.
fn ulps(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if found == nearest || found.is_nan() && exact.is_nan() {
        return 0.0;
    }
    let unit = f64::from(nearest.abs().next_up()) - f64::from(nearest.abs());
    (f64::from(found) - exact).abs() / unit
}

/// The largest error over f32 with every 4001st bit pattern, both signs.
fn worst(f: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64, wanted: impl Fn(f32) -> bool) -> (f64, f32) {
    let mut worst = (0.0, 0.0);
    for bits in (0..=0x7F80_0000u32).step_by(4001) {
        for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
            if wanted(x) {
                let error = ulps(f(x), exact(f64::from(x)));
                assert!(!error.is_nan(), "{x:e} gave {:e}", f(x));
                worst = if error > worst.0 { (error, x) } else { worst };
            }
        }
    }
    worst
}

#[test]
fn f32_functions_are_accurate() {
    let normal = |x: f32| x > -87.3;
    let sigmoid_exact = |x: f64| 1.0 / (1.0 + (-x).exp());
    let gelu =
        |x: f64| x * sigmoid_exact(2.0 * (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3)));
    let rows: [(&str, (f64, f32), f64); 7] = [
        ("exp", worst(exp, f64::exp, normal), 1.0),
        ("exp, all", worst(exp, f64::exp, |_| true), 1.5),
        ("sigmoid", worst(sigmoid, sigmoid_exact, normal), 2.5),
        ("silu", worst(silu, |x| x * sigmoid_exact(x), |x| x > -87.0), 2.5),
        // The argument of the exponential is rounded before it, which counts for large ones.
        ("gelu", worst(gelu_tanh, gelu, |x| x > -4.0), 30.0),
        ("tanh", worst(tanh, f64::tanh, |_| true), 2.0),
        ("ln", worst(ln, f64::ln, |x| x >= 0.0), 0.51),
    ];
    for (name, (error, at), bound) in rows {
        assert!(error <= bound, "{name} is {error} units off at {at:e}");
    }
}

#[test]
fn f32_functions_end_well() {
    let rows: [(f32, f32); 10] = [
        (exp(f32::INFINITY), f32::INFINITY),
        (exp(f32::NEG_INFINITY), 0.0),
        (exp(f32::MAX), f32::INFINITY),
        (exp(-104.0), 0.0),
        (exp(-0.0), 1.0),
        (sigmoid(f32::INFINITY), 1.0),
        (sigmoid(f32::NEG_INFINITY), 0.0),
        (tanh(f32::NEG_INFINITY), -1.0),
        (tanh(f32::INFINITY), 1.0),
        (ln(0.0), f32::NEG_INFINITY),
    ];
    for (i, (found, expected)) in rows.into_iter().enumerate() {
        assert_eq!(found.to_bits(), expected.to_bits(), "row {i}");
    }
    assert_eq!(tanh(-0.0).to_bits(), (-0.0f32).to_bits());
    let least = f32::from_bits(1);
    assert_eq!(exp(least.ln()), least);
    for value in [exp(f32::NAN), sigmoid(f32::NAN), silu(f32::NAN), tanh(f32::NAN), ln(f32::NAN), ln(-1.0)] {
        assert!(value.is_nan());
    }
}

fn close(name: &str, x: f64, found: f64, exact: f64, bound: f64) {
    let error = if exact == 0.0 { found.abs() } else { ((found - exact) / exact).abs() };
    assert!(
        found == exact || error <= bound,
        "{name} of {x:e}: {found:e}, exact {exact:e}, off by {error:e}"
    );
}

#[test]
fn f64_functions_are_accurate() {
    let mut rng = units::Rng::new(7);
    for _ in 0..50_000 {
        let x = (rng.next_f64() - 0.5) * 2f64.powi(rng.below(40) as i32 - 11);
        let (sin, cos) = sin_cos_f64(x);
        close("sin", x, sin, x.sin(), 4.5e-16);
        close("cos", x, cos, x.cos(), 4.5e-16);
        let x = (rng.next_f64() - 0.5) * 1400.0;
        close("exp", x, exp_f64(x), x.exp(), 4.5e-16);
        let x = f64::from_bits(rng.next_u64() >> 1);
        if x.is_finite() {
            close("ln", x, ln_f64(x), x.ln(), 4.5e-16);
        }
        let x = 1.0 + rng.next_f64() * 2f64.powi(-(rng.below(30) as i32));
        close("ln", x, ln_f64(x), x.ln(), 4.5e-16);
        let (base, power) = (rng.next_f64() * 1e7, (rng.next_f64() - 0.5) * 20.0);
        close("pow", base, pow_f64(base, power), base.powf(power), 8e-16);
    }
}

#[test]
fn sines_hold_beside_multiples_of_half_pi() {
    for n in (1..(1i64 << 26)).step_by(4099) {
        let x = n as f64 * std::f64::consts::FRAC_PI_2;
        let (sin, cos) = sin_cos_f64(x);
        close("sin", x, sin, x.sin(), 4.5e-16);
        close("cos", x, cos, x.cos(), 4.5e-16);
    }
}

#[test]
fn f64_functions_end_well() {
    let rows = [
        (exp_f64(f64::INFINITY), f64::INFINITY),
        (exp_f64(f64::NEG_INFINITY), 0.0),
        (exp_f64(0.0), 1.0),
        (exp_f64(1e9), f64::INFINITY),
        (ln_f64(0.0), f64::NEG_INFINITY),
        (ln_f64(f64::INFINITY), f64::INFINITY),
        (ln_f64(1.0), 0.0),
        (pow_f64(0.0, 2.0), 0.0),
        (pow_f64(0.0, 0.0), 1.0),
        (pow_f64(10.0, 400.0), f64::INFINITY),
        (pow_f64(10.0, -400.0), 0.0),
        (sin_cos_f64(0.0).0, 0.0),
        (sin_cos_f64(0.0).1, 1.0),
    ];
    for (i, (found, expected)) in rows.into_iter().enumerate() {
        assert_eq!(found, expected, "row {i}");
    }
    for value in [exp_f64(f64::NAN), ln_f64(-1.0), pow_f64(-2.0, 0.5), sin_cos_f64(f64::INFINITY).0] {
        assert!(value.is_nan());
    }
}
