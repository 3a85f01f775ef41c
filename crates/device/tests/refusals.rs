//! What a caller may not ask for, on every device of this crate.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use device::{Activation, Attention, Cpu, Device, Reference, RopeStyle, conformance::Weights};
use kernels::{Pool, Table};
use units::Span;

fn at(start: usize, len: usize) -> Span {
    Span { start, len }
}

type Ask = fn(&mut dyn Device);

fn attend(change: fn(Attention<'static>) -> Attention<'static>) -> impl Fn(&mut dyn Device) {
    move |device| {
        let job = Attention {
            dst: at(24, 4),
            q: at(0, 4),
            k: at(4, 8),
            v: at(12, 8),
            heads: 2,
            kv_heads: 1,
            head_dim: 2,
            value_dim: 2,
            positions: &[3],
            scale: 1.0,
            window: None,
            softcap: None,
            kv_capacity: 4,
        };
        device.attention(&change(job));
    }
}

fn refuses(name: &str, ask: &dyn Fn(&mut dyn Device)) {
    let mut reference = Reference::new(32);
    let mut cpu = Cpu::new(Table::detect(), Arc::new(Pool::new(2)), 32);
    let devices: [&mut dyn Device; 2] = [&mut reference, &mut cpu];
    for device in devices {
        let outcome = catch_unwind(AssertUnwindSafe(|| ask(device)));
        assert!(outcome.is_err(), "{} took: {name}", device.name());
    }
}

#[test]
fn spans_are_checked() {
    let rows: &[(&str, Ask)] = &[
        ("a read past the end", |device| _ = device.view(at(30, 3))),
        ("a span whose end overflows", |device| _ = device.view(at(usize::MAX, 2))),
        ("a read of another length", |device| device.read(at(0, 2), &mut [0.0; 3])),
        ("a write of another length", |device| device.write(at(0, 2), &[0.0; 3])),
        ("a copy of another length", |device| device.copy(at(0, 2), at(2, 3))),
        ("a product onto its operand", |device| {
            device.matmul(at(1, 2), &Weights::f32(2, 2, &[0.0; 4]).matrix(), at(0, 2), 1);
        }),
        ("a product of another width", |device| {
            device.matmul(at(8, 2), &Weights::f32(2, 2, &[0.0; 4]).matrix(), at(0, 3), 1);
        }),
        ("an id beyond the table", |device| {
            device.embed(at(0, 2), &Weights::f32(2, 2, &[0.0; 4]).matrix(), &[2], 1.0);
        }),
        ("a norm of broken rows", |device| device.rms_norm(at(0, 5), at(0, 5), at(8, 2), 2, 0.0)),
        ("a norm half onto itself", |device| device.rms_norm(at(1, 4), at(0, 4), at(8, 2), 2, 0.0)),
        ("a sum half onto itself", |device| device.add(at(1, 4), at(0, 4))),
        ("a negative bound", |device| device.clamp(at(0, 4), -1.0)),
        ("a rotation of an odd width", |device| {
            device.rope(at(0, 4), at(8, 6), &[0], 1, 4, 3, RopeStyle::HalfSplit);
        }),
        ("a rotation beyond the head", |device| {
            device.rope(at(0, 4), at(8, 6), &[0], 1, 4, 6, RopeStyle::HalfSplit);
        }),
        ("a position beyond the table", |device| {
            device.rope(at(0, 4), at(8, 8), &[2], 1, 4, 4, RopeStyle::Interleaved);
        }),
        ("a gate half under its result", |device| device.glu(at(1, 2), at(0, 2), at(4, 2), Activation::Silu)),
        ("a row that is not there", |device| device.gather(at(0, 2), at(4, 4), &[2], 2)),
        ("a row too many", |device| device.scatter(at(4, 4), at(0, 2), &[0, 1], 2)),
        ("a weight too few", |device| device.weighted_sum(at(0, 2), at(4, 4), &[1.0], 2, 2)),
    ];
    for (name, ask) in rows {
        refuses(name, ask);
    }
}

#[test]
fn attention_is_checked() {
    refuses("heads that do not divide", &attend(|job| Attention { kv_heads: 3, ..job }));
    refuses("no key heads", &attend(|job| Attention { kv_heads: 0, ..job }));
    refuses("a window of nothing", &attend(|job| Attention { window: Some(0), ..job }));
    refuses("a position beyond the cache", &attend(|job| Attention { positions: &[4], ..job }));
    refuses("two positions for one query", &attend(|job| Attention { positions: &[0, 1], ..job }));
    refuses("a result in the cache", &attend(|job| Attention { dst: at(16, 4), ..job }));
    refuses("a cache of another size", &attend(|job| Attention { kv_capacity: 3, positions: &[0], ..job }));
    // The job itself is sound.
    attend(|job| job)(&mut Reference::new(32));
}

#[test]
fn keys_and_values_may_be_the_same_cache() {
    let memory: Vec<f32> = (0u8..32).map(|value| f32::from(value) / 16.0).collect();
    let mut results = Vec::new();
    let mut reference = Reference::new(32);
    let mut cpu = Cpu::new(Table::detect(), Arc::new(Pool::new(2)), 32);
    let devices: [&mut dyn Device; 2] = [&mut reference, &mut cpu];
    for device in devices {
        device.write(at(0, 32), &memory);
        attend(|job| Attention { v: job.k, ..job })(device);
        results.push(device.view(at(24, 4)).to_vec());
    }
    for (reference, cpu) in results[0].iter().zip(&results[1]) {
        assert!((reference - cpu).abs() < 1e-6, "{results:?}");
    }
}
