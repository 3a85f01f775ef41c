//! The cases that every device must pass: values worked out by hand, and seeded ones held against [`crate::Reference`].
//!
//! Each case runs on the device as a whole and once more token by token, which must give the same bits. The suite judges
//! nothing but reports: a CPU is asked for [`TOLERANCE`] and for equal digests of all its variants, a GPU for the bound
//! that it states.

mod by_hand;
mod op;
mod seeded;

use units::Span;

use crate::contract::Device;

pub use by_hand::by_hand;
pub use op::{Op, Weights};
pub use seeded::seeded;

/// Floats of memory that a device needs for the suite.
pub const CAPACITY: usize = 1 << 18;
/// How far a CPU may be from the expected values, relative to the largest of them.
pub const TOLERANCE: f64 = 1e-5;

/// One operation on a known memory and what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Operation and shape, unique among the cases.
    pub name: String,
    /// The memory before, from its first float on.
    pub memory: Vec<f32>,
    /// What is done.
    pub op: Op,
    /// Where the result is looked for.
    pub watch: Span,
    /// The result.
    pub expected: Vec<f32>,
}

/// What a device made of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The case.
    pub case: String,
    /// Largest distance from the expected values, relative to the largest of them; infinite where a NaN is in the way.
    pub error: f64,
    /// A hash of the result's bits.
    pub digest: u64,
    /// Whether the tokens one by one gave the same bits; true where an operation has no tokens.
    pub splits: bool,
}

impl Outcome {
    /// Whether the values are within `tolerance` and do not depend on how many tokens a call carries.
    #[must_use]
    pub fn passes(&self, tolerance: f64) -> bool {
        self.splits && self.error <= tolerance
    }
}

/// Every case, those by hand first.
#[must_use]
pub fn cases() -> Vec<Case> {
    let mut cases = by_hand();
    cases.extend(seeded());
    cases
}

/// Runs every case.
///
/// # Panics
/// If the device has less than [`CAPACITY`] floats, or if an operation panics.
pub fn suite(device: &mut dyn Device) -> Vec<Outcome> {
    run(device, &cases())
}

/// Runs some cases, made once for several devices.
///
/// # Panics
/// As [`suite`].
pub fn run(device: &mut dyn Device, cases: &[Case]) -> Vec<Outcome> {
    let (name, capacity) = (device.name(), device.capacity());
    assert!(capacity >= CAPACITY, "the suite needs {CAPACITY} floats, {name} has {capacity}");
    cases.iter().map(|case| check(device, case)).collect()
}

/// Runs one case.
pub fn check(device: &mut dyn Device, case: &Case) -> Outcome {
    let whole = result(device, case, std::slice::from_ref(&case.op));
    let singles: Vec<Op> = (0..case.op.tokens()).map(|token| case.op.part(token..token + 1)).collect();
    let splits = singles.len() < 2 || same_bits(&result(device, case, &singles), &whole);
    Outcome {
        case: case.name.clone(),
        error: distance(&whole, &case.expected),
        digest: digest(&whole),
        splits,
    }
}

/// What `ops` leave at the case's watched span.
pub fn result(device: &mut dyn Device, case: &Case, ops: &[Op]) -> Vec<f32> {
    device.write(Span { start: 0, len: case.memory.len() }, &case.memory);
    ops.iter().for_each(|op| op.apply(device));
    let mut result = vec![0.0; case.watch.len];
    device.read(case.watch, &mut result);
    result
}

/// A table of outcomes for people: a line for each case, a column for each device.
#[must_use]
pub fn grid(devices: &[(String, Vec<Outcome>)], tolerance: f64) -> String {
    let mut text = String::new();
    for (i, first) in devices.first().map_or(&[][..], |(_, outcomes)| outcomes).iter().enumerate() {
        for (_, outcomes) in devices {
            let outcome = &outcomes[i];
            let word = match (outcome.passes(tolerance), outcome.splits) {
                (true, _) => "ok",
                (false, true) => "off",
                (false, false) => "splits",
            };
            text += &format!("{word:>6} {:8.1e} {:016x}", outcome.error, outcome.digest);
        }
        text += &format!("  {}\n", first.case);
    }
    let names = devices.iter().map(|(name, _)| format!("{name:>32}")).collect::<String>();
    names + "\n" + &text
}

fn same_bits(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

fn distance(found: &[f32], expected: &[f32]) -> f64 {
    assert_eq!(found.len(), expected.len(), "a case expects as many values as it watches");
    let largest = expected.iter().fold(0.0, |largest: f64, &value| largest.max(f64::from(value).abs()));
    let worst = found.iter().zip(expected).fold(0.0, |worst: f64, (&found, &expected)| {
        let apart = (f64::from(found) - f64::from(expected)).abs();
        if apart.is_nan() { f64::INFINITY } else { worst.max(apart) }
    });
    if worst == 0.0 { 0.0 } else { worst / largest }
}

/// FNV-1a over the bits (Fowler, Noll and Vo).
fn digest(values: &[f32]) -> u64 {
    let bytes = values.iter().flat_map(|value| value.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
