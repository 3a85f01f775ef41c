//! Rotary tables against PyTorch and transformers; `data/rope.py` wrote the values.
#![allow(clippy::unwrap_used)] // Helpers of tests may unwrap like tests.
use device::rope::{RopeScaling, fill_row, inverse_frequencies, rope_table};
use serde_json::Value;

fn golden() -> Value {
    serde_json::from_str(include_str!("data/rope.json")).unwrap()
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect()
}

fn scaling(case: &Value) -> RopeScaling {
    let parameters = &case["parameters"];
    let opt = |key: &str| parameters[key].as_f64();
    let needed = |key: &str| opt(key).unwrap();
    match case["kind"].as_str().unwrap() {
        "none" => RopeScaling::None,
        "linear" => RopeScaling::Linear { factor: needed("factor") },
        "banded" => RopeScaling::Banded {
            factor: needed("factor"),
            low_freq_factor: needed("low_freq_factor"),
            high_freq_factor: needed("high_freq_factor"),
            original_context: needed("original_max_position_embeddings"),
        },
        "yarn" => RopeScaling::Yarn {
            factor: needed("factor"),
            original_context: needed("original_max_position_embeddings"),
            beta_fast: opt("beta_fast").unwrap_or(32.0),
            beta_slow: opt("beta_slow").unwrap_or(1.0),
            attention_factor: opt("attention_factor"),
            mscale: opt("mscale"),
            mscale_all_dim: opt("mscale_all_dim"),
            truncate: parameters["truncate"].as_bool().unwrap_or(true),
        },
        other => panic!("{other}"),
    }
}

/// Frequencies are those of PyTorch but for its vectorised power, which may be off by one unit in the last place.
#[test]
fn frequencies_are_those_of_pytorch() {
    let (mut equal, mut all) = (0, 0);
    for case in golden()["cases"].as_array().unwrap() {
        let rotary = case["rotary"].as_u64().unwrap() as usize;
        let found = inverse_frequencies(case["theta"].as_f64().unwrap(), rotary, &scaling(case));
        let expected = floats(&case["frequencies"]);
        assert_eq!(found.len(), expected.len());
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let apart = found.to_bits().abs_diff(expected.to_bits());
            // The last two formulas add two terms that each may be off.
            assert!(
                apart <= 2,
                "{} {} frequency {i}: {found} for {expected}",
                case["kind"],
                case["parameters"]
            );
            equal += usize::from(apart == 0);
            all += 1;
        }
        let magnitude = scaling(case).magnitude();
        assert!(
            (magnitude - case["magnitude"].as_f64().unwrap()).abs() < 1e-12,
            "{}: {magnitude}",
            case["kind"]
        );
    }
    assert!(equal * 100 >= all * 97, "{equal} of {all} frequencies are the same float");
}

/// Given the same frequencies, the angles are the same floats; PyTorch's sines and cosines may be off by one unit.
#[test]
fn tables_are_those_of_pytorch() {
    let golden = golden();
    for case in golden["cases"].as_array().unwrap() {
        let frequencies = floats(&case["frequencies"]);
        let magnitude = case["magnitude"].as_f64().unwrap() as f32;
        let table = floats(&case["table"]);
        let mut row = vec![0.0; 2 * frequencies.len()];
        for (position, expected) in
            golden["positions"].as_array().unwrap().iter().zip(table.chunks(row.len()))
        {
            fill_row(&mut row, position.as_u64().unwrap() as u32, &frequencies, magnitude);
            for (found, expected) in row.iter().zip(expected) {
                assert!((found - expected).abs() <= 1.2e-7 * magnitude, "{position}: {found} for {expected}");
            }
        }
    }
}

#[test]
fn divisors_slow_the_frequencies_down() {
    let table = rope_table(10_000.0, 4, &RopeScaling::None, Some(&[2.0, 1.0]), 2);
    let halved = 0.5f32;
    let expected = [1.0, 1.0, 0.0, 0.0, halved.cos(), 0.01f32.cos(), halved.sin(), 0.01f32.sin()];
    for (found, expected) in table.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-7, "{table:?}");
    }
}
