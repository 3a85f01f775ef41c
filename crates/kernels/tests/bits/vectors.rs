//! Loops over slices on every instruction set against scalar loops in the canonical order.

use kernels::{Activation, Table, math};

use crate::naive;

const LENGTHS: [usize; 11] = [0, 1, 5, 15, 16, 17, 31, 64, 100, 257, 1024];

fn lanes(a: impl Iterator<Item = f32>, add: impl Fn(f32, f32) -> f32) -> [f32; 16] {
    let mut lanes = [0.0; 16];
    a.enumerate().for_each(|(i, a)| lanes[i % 16] = add(a, lanes[i % 16]));
    lanes
}

fn same(name: &str, table: &Table, length: usize, found: &[f32], expected: &[f32]) {
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let equal = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(equal, "{name} of {length} on {}, element {i}: {found:e} for {expected:e}", table.name);
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn reductions_have_the_canonical_bits() {
    for length in LENGTHS {
        let (a, b) = (naive::random_floats(length, 1), naive::random_floats(length, 2));
        let mut products = [0.0; 16];
        for i in 0..length {
            products[i % 16] = a[i].mul_add(b[i], products[i % 16]);
        }
        let expected = [
            naive::tree(products),
            naive::tree(lanes(a.iter().copied(), |a, sum| sum + a)),
            naive::tree(lanes(a.iter().copied(), |a, sum| a.mul_add(a, sum))),
            a.iter().copied().fold(f32::NEG_INFINITY, f32::max),
        ];
        for table in Table::all() {
            let found = [table.dot(&a, &b), table.sum(&a), table.sum_squares(&a), table.max(&a)];
            same("a reduction", &table, length, &found, &expected);
        }
    }
}

#[test]
fn the_largest_element_ignores_nan_and_keeps_the_first_zero() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let mut rows: Vec<(Vec<f32>, f32)> = vec![
        (vec![], -inf),
        (vec![nan; 20], -inf),
        (vec![-inf, nan, -3.0, nan], -3.0),
        (vec![0.0, -0.0], 0.0),
        (vec![-0.0, 0.0], -0.0),
        (vec![1.0, inf, nan], inf),
    ];
    let mut zeros = vec![0.0; 40];
    zeros[0] = -0.0;
    rows.push((zeros, -0.0));
    for (a, expected) in rows {
        for table in Table::all() {
            same("max", &table, a.len(), &[table.max(&a)], &[expected]);
        }
    }
}

#[test]
fn elementwise_loops_have_the_bits_of_scalars() {
    type Loop = (&'static str, fn(&Table, &mut [f32], &[f32]), fn(f32, f32) -> f32);
    let loops: [Loop; 9] = [
        ("axpy", |t, y, x| t.axpy(y, 0.7, x), |y, x| x.mul_add(0.7, y)),
        ("scale", |t, y, _| t.scale(y, -1.3), |y, _| y * -1.3),
        ("add", |t, y, x| t.add(y, x), |y, x| y + x),
        ("mul", |t, y, x| t.mul(y, x), |y, x| y * x),
        ("normalise", |t, y, x| t.normalise(y, 0.3, x), |y, x| (y * 0.3) * x),
        (
            "exp",
            |t, y, _| {
                let _ = t.exp_sum(y, 0.5);
            },
            |y, _| math::exp(y - 0.5),
        ),
        ("softcap", |t, y, _| t.softcap(y, 3.0), |y, _| 3.0 * math::tanh(y / 3.0)),
        (
            "silu",
            |t, y, x| {
                let gate = y.to_vec();
                t.glu(y, &gate, x, Activation::Silu)
            },
            |y, x| math::silu(y) * x,
        ),
        (
            "gelu",
            |t, y, x| {
                let gate = y.to_vec();
                t.glu(y, &gate, x, Activation::GeluTanh)
            },
            |y, x| math::gelu_tanh(y) * x,
        ),
    ];
    let special = [
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -0.0,
        0.0,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-42,
        -103.9,
        -87.5,
        -95.0,
        88.8,
        0.625,
        -0.625,
        30.0,
        -30.0,
    ];
    for length in LENGTHS {
        let mut y = naive::random_floats(length, 3);
        y.iter_mut().for_each(|y| *y *= 20.0);
        for (y, special) in y.iter_mut().skip(14).step_by(3).zip(special) {
            *y = special;
        }
        let x = naive::random_floats(length, 4);
        for (name, run, scalar) in loops {
            let expected: Vec<f32> = y.iter().zip(&x).map(|(y, x)| scalar(*y, *x)).collect();
            for table in Table::all() {
                let mut found = y.clone();
                run(&table, &mut found, &x);
                same(name, &table, length, &found, &expected);
            }
        }
    }
}

#[test]
fn exp_sum_returns_the_canonical_sum() {
    for length in LENGTHS {
        let y = naive::random_floats(length, 9);
        for table in Table::all() {
            let mut found = y.clone();
            let sum = table.exp_sum(&mut found, 1.0);
            same(
                "exp_sum",
                &table,
                length,
                &[sum],
                &[naive::tree(lanes(found.into_iter(), |a, sum| sum + a))],
            );
        }
    }
}

#[test]
fn rows_give_the_bits_of_one_at_a_time() {
    for width in LENGTHS {
        for count in [0, 1, 3, 4, 9] {
            let stride = width + 3;
            let rows = naive::random_floats(count * stride, 10);
            let x = naive::random_floats(width, 11);
            let weights = naive::random_floats(count, 12);
            for table in Table::all() {
                let row = |i: usize| &rows[i * stride..][..width];
                let mut out = vec![0.0; count];
                table.dots(&mut out, &rows, stride, &x);
                let expected: Vec<f32> = (0..count).map(|i| table.dot(row(i), &x)).collect();
                same("dots", &table, width, &out, &expected);

                let mut expected = x.clone();
                (0..count).for_each(|i| table.axpy(&mut expected, weights[i], row(i)));
                let mut y = x.clone();
                table.add_rows(&mut y, &weights, &rows, stride);
                same("add_rows", &table, width, &y, &expected);
            }
        }
    }
}
