//! Every device of this crate against the suite, and any cut of the tokens against the whole.

use std::sync::{Arc, LazyLock};

use device::{
    Cpu, Reference,
    conformance::{self, CAPACITY, Case, Op, Outcome, TOLERANCE, grid, result, run, suite},
};
use kernels::{Pool, Table};
use proptest::prelude::*;

fn assert_passes(name: &str, outcomes: &[Outcome]) {
    let failed: Vec<_> = outcomes.iter().filter(|outcome| !outcome.passes(TOLERANCE)).collect();
    assert!(failed.is_empty(), "{name}: {failed:#?}");
}

#[test]
fn the_reference_gives_the_values_worked_out_by_hand() {
    let mut reference = Reference::new(CAPACITY);
    assert_passes("reference", &suite(&mut reference));
}

#[test]
fn every_table_and_number_of_threads_gives_the_same_bits() {
    let (cases, mut columns) = (conformance::cases(), Vec::new());
    for threads in [1, 2, 3] {
        let pool = Arc::new(Pool::new(threads));
        for table in Table::all() {
            let mut cpu = Cpu::new(table, Arc::clone(&pool), CAPACITY);
            columns.push((format!("{} x {threads}", table.name), run(&mut cpu, &cases)));
        }
    }
    let report = grid(&columns, TOLERANCE);
    for (name, outcomes) in &columns {
        assert!(outcomes.iter().all(|outcome| outcome.passes(TOLERANCE)), "{name}\n{report}");
        assert_eq!(outcomes, &columns[0].1, "{name} differs from {}\n{report}", columns[0].0);
    }
}

/// Cases with tokens whose shapes are odd enough to be worth cutting at random.
static SPLITTABLE: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let words = [
        "matmul f32",
        "matmul bf16 257",
        "matmul q8_0 257",
        "attention",
        "rms norm",
        "rope",
        "glu Silu of 100",
    ];
    let wanted = |case: &Case| case.op.tokens() > 2 && words.iter().any(|word| case.name.starts_with(word));
    conformance::cases().into_iter().filter(wanted).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Tokens cut into runs of any lengths, on any number of threads, leave the bits of the whole.
    #[test]
    fn any_cut_gives_the_same_bits(cuts in prop::collection::vec(1usize..20, 1..12), threads in 1usize..4) {
        let pool = Arc::new(Pool::new(threads));
        let mut cpu = Cpu::new(Table::detect(), pool, CAPACITY);
        for case in SPLITTABLE.iter() {
            let mut parts: Vec<Op> = Vec::new();
            let mut start = 0;
            for cut in cuts.iter().cycle() {
                let end = (start + cut).min(case.op.tokens());
                parts.push(case.op.part(start..end));
                start = end;
                if start == case.op.tokens() {
                    break;
                }
            }
            let whole = result(&mut cpu, case, std::slice::from_ref(&case.op));
            let cut = result(&mut cpu, case, &parts);
            let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&whole), bits(&cut), "{}", case.name);
        }
    }
}
