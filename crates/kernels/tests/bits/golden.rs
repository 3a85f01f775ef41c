//! Hashes of results, written once and the same on every machine: what x86-64 wrote, aarch64 must find.
//!
//! `GOLDEN=update` writes the file anew; a change of it is a change of the numerics.

use std::fmt::Write;

use kernels::{Activation, Table, math};
use quant::{Format, Matrix};

use crate::naive;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden.txt");

/// FNV-1a over the bits.
fn hash(values: &[f32]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

fn lines(table: &Table) -> String {
    let mut out = String::new();
    let mut line =
        |name: &str, values: &[f32]| writeln!(out, "{name} {:016x}", hash(values)).expect("a string grows");
    for &format in Format::ALL {
        let (rows, cols, tokens) = (7, 512, 3);
        let (bytes, scales) = naive::random_rows(format, rows, cols, 77);
        let w = Matrix::new(format, rows, cols, &bytes, &scales).expect("lengths fit");
        let mut y = vec![0.0; rows * tokens];
        table.matmul(&mut y, rows, &w, &naive::random_floats(cols * tokens, 78), cols, tokens);
        line(format.name(), &y);
    }
    let (a, b) = (naive::random_floats(1003, 1), naive::random_floats(1003, 2));
    line("reductions", &[table.dot(&a, &b), table.sum(&a), table.sum_squares(&a), table.max(&a)]);
    let wide: Vec<f32> = a.iter().map(|a| a * 30.0).collect();
    let mut y = wide.clone();
    let sum = table.exp_sum(&mut y, 2.0);
    y.push(sum);
    line("exp", &y);
    y = wide.clone();
    table.softcap(&mut y, 30.0);
    line("softcap", &y);
    y = wide.clone();
    table.glu(&mut y, &wide, &b, Activation::Silu);
    line("silu", &y);
    table.glu(&mut y, &wide, &b, Activation::GeluTanh);
    line("gelu-tanh", &y);
    let tables: Vec<f32> = (0..1000)
        .flat_map(|i| {
            let (sin, cos) = math::sin_cos_f64(f64::from(i) * 97.3);
            let power = math::pow_f64(1e6, -f64::from(i) / 1000.0);
            [sin, cos, power, math::exp_f64(f64::from(i) - 500.0), math::ln_f64(f64::from(i) + 0.1)]
        })
        .flat_map(|value| [value as f32, (value - f64::from(value as f32)) as f32])
        .collect();
    line("f64-tables", &tables);
    out
}

#[test]
fn results_are_those_of_every_other_machine() {
    let tables = Table::all();
    if std::env::var("GOLDEN").is_ok_and(|value| value == "update") {
        std::fs::write(FILE, lines(&tables[0])).expect("the golden file can be written");
    }
    let golden = std::fs::read_to_string(FILE).expect("the golden file is part of the sources");
    for table in tables {
        assert_eq!(lines(&table), golden, "on {}", table.name);
    }
}
