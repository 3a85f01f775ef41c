//! The hard guarantee: cache size, storage strategy, threads, kernel table and the cutting of the prompt change no bit.

mod support;

use kernels::Table;
use proptest::prelude::*;
use session::Options;
use storage::{Direct, Strategy as Reads};
use support::{Fixture, fixtures, open, options};

/// A way to run a model.
#[derive(Clone, Debug)]
struct Way {
    cache: Cache,
    threads: usize,
    reads: Reads,
    direct: Direct,
    table: &'static str,
    chunk: usize,
}

/// How many experts stay in memory.
#[derive(Clone, Copy, Debug)]
enum Cache {
    OnePerLayer,
    Share(usize),
    All,
}

/// Bits of all logits of the fixture's text and of the tokens that follow it, one at a time.
fn bits(fixture: &Fixture, options: &Options) -> Vec<u32> {
    let ids = fixture.reference().ids("input_ids");
    let more = fixture.reference().ids("greedy_ids");
    let mut session = open(&fixture.checkpoint, options);
    let chunk = session.plan().chunk_tokens;
    let mut bits = Vec::new();
    for part in ids.chunks(chunk) {
        session.forward(part, None).expect("a pass");
        for row in 0..part.len() {
            bits.extend(session.logits_of(row).iter().map(|logit| logit.to_bits()));
        }
    }
    for id in more {
        session.forward(&[id], None).expect("a pass");
        bits.extend(session.logits_of(0).iter().map(|logit| logit.to_bits()));
    }
    bits
}

fn way() -> impl Strategy<Value = Way> {
    let tables: Vec<&'static str> = Table::all().iter().map(Table::name).collect();
    let cache = prop_oneof![Just(Cache::OnePerLayer), Just(Cache::Share(30)), Just(Cache::All)];
    let reads = prop_oneof![Just(Reads::Pread), Just(Reads::Uring), Just(Reads::Mmap), Just(Reads::Auto)];
    let direct = prop_oneof![Just(Direct::Auto), Just(Direct::On), Just(Direct::Off)];
    let chunk = prop_oneof![Just(1usize), Just(7), Just(512), 2..16usize];
    (cache, 1..=3usize, reads, direct, proptest::sample::select(tables), chunk).prop_map(
        |(cache, threads, reads, direct, table, chunk)| Way { cache, threads, reads, direct, table, chunk },
    )
}

impl Way {
    fn options(&self, layers: usize, experts: usize) -> Options {
        let cache_experts = match self.cache {
            Cache::OnePerLayer => Some(layers),
            Cache::Share(percent) => Some((experts * percent / 100).max(1)),
            Cache::All => None,
        };
        Options {
            cache_experts,
            threads: Some(self.threads),
            storage: self.reads,
            direct: self.direct,
            kernels: Some(self.table.to_string()),
            prefill_chunk: Some(self.chunk),
            ..options()
        }
    }
}

#[test]
fn no_way_of_running_changes_a_bit() {
    let fixtures: Vec<Fixture> = fixtures();
    let expected: Vec<Vec<u32>> = fixtures
        .iter()
        .map(|fixture| bits(fixture, &Options { kernels: Some("plain".to_string()), ..options() }))
        .collect();
    let cases = std::env::var("COLI_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(256);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let inputs = (0..fixtures.len(), way());
    let outcome = runner.run(&inputs, |(index, way)| {
        let fixture = &fixtures[index];
        let plan = open(&fixture.checkpoint, &options()).plan().clone();
        let experts = plan.experts.as_ref().map_or(0, |experts| experts.count);
        let found = bits(fixture, &way.options(plan.layers, experts));
        prop_assert!(
            found == expected[index],
            "{} differs when run as {way:?}",
            fixture.checkpoint.display()
        );
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}
