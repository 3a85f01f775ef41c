//! Random requests and predictions against the plainest model of the store: every lease must hold the right expert's bytes
//! for as long as it lives, each expert of a request must come exactly once, and a failed read must say which expert and
//! leave the store usable.

use std::{collections::VecDeque, sync::Arc};

use storage::{Completion, Extent, FileId, Request, Source, Wait};
use tiers::{Catalogue, Error, Lease, Store};
use units::{ExpertIdx, ExpertKey, LayerIdx, Rng};

const LAYERS: u32 = 3;
const EXPERTS: u32 = 6;
const BLOCK: usize = 4096;

/// A source that fills blocks with a pattern of the extent's offset, in random order, and fails now and then.
struct Pattern {
    queue: VecDeque<Request>,
    rng: Rng,
    fail_one_in: u64,
    most_in_flight: usize,
}

impl Source for Pattern {
    fn submit(&mut self, request: Request) {
        self.queue.push_back(request);
        assert!(self.queue.len() <= self.most_in_flight, "more reads in flight than places");
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        if self.queue.is_empty() || (matches!(wait, Wait::No) && self.rng.below(2) == 0) {
            return None;
        }
        let at = self.rng.below(self.queue.len() as u64) as usize;
        let mut request = self.queue.remove(at)?;
        let extent = request.extents[0];
        let fails = self.fail_one_in > 0 && self.rng.below(self.fail_one_in) == 0;
        let result = if fails {
            request.block.fill(0xEE);
            Err(storage::Error::Read {
                file: "pattern".into(),
                offset_bytes: extent.offset_bytes,
                source: std::io::Error::other("broken"),
            })
        } else {
            request.block.fill(extent.offset_bytes as u8);
            Ok(u64::from(extent.len_bytes))
        };
        Some(Completion { token: request.token, block: request.block, result })
    }

    fn promote(&mut self, _: u64) {}

    fn in_flight(&self) -> usize {
        self.queue.len()
    }

    fn name(&self) -> &'static str {
        "pattern"
    }

    fn fallbacks(&self) -> &[String] {
        &[]
    }

    fn read_bytes(&self) -> u64 {
        0
    }
}

/// The byte that fills an expert's block.
fn pattern(key: ExpertKey) -> u8 {
    (key.layer.0 * EXPERTS + key.expert.0 + 1) as u8
}

fn store(slots: usize, seed: u64, fail_one_in: u64) -> Store {
    let mut catalogue = Catalogue::default();
    for layer in 0..LAYERS {
        let experts: Vec<Arc<[Extent]>> = (0..EXPERTS)
            .map(|expert| {
                let key = ExpertKey { layer: LayerIdx(layer), expert: ExpertIdx(expert) };
                let offset_bytes = u64::from(pattern(key));
                Arc::from([Extent { file: FileId(0), offset_bytes, len_bytes: BLOCK as u32, at: 0 }])
            })
            .collect();
        catalogue.add(LayerIdx(layer), &experts, BLOCK);
    }
    let source = Pattern { queue: VecDeque::new(), rng: Rng::new(seed), fail_one_in, most_in_flight: slots };
    Store::new(Box::new(source), catalogue, (slots * BLOCK) as u64).expect("a place")
}

fn request(rng: &mut Rng) -> (LayerIdx, Vec<ExpertIdx>) {
    let layer = LayerIdx(rng.below(u64::from(LAYERS)) as u32);
    let experts = (0..EXPERTS).filter(|_| rng.below(2) == 0).map(ExpertIdx).collect();
    (layer, experts)
}

/// Whether a lease holds its expert's bytes.
fn is_right(lease: &Lease) -> bool {
    lease.iter().all(|byte| *byte == pattern(lease.key()))
}

/// Takes a whole request, checking every lease. Returns the experts that came, or the error.
fn take_all(store: &mut Store, layer: LayerIdx) -> Result<Vec<ExpertIdx>, Error> {
    take_while_holding(store, layer, &mut Vec::new(), 0)
}

/// The same while the last `most` leases are held, also those of requests before.
fn take_while_holding(
    store: &mut Store,
    layer: LayerIdx,
    held: &mut Vec<Lease>,
    most: usize,
) -> Result<Vec<ExpertIdx>, Error> {
    let mut came = Vec::new();
    while let Some(lease) = store.take()? {
        assert_eq!(lease.key().layer, layer);
        came.push(lease.key().expert);
        held.push(lease);
        for lease in &*held {
            assert!(is_right(lease), "{} holds other bytes", lease.key());
        }
        held.drain(..held.len().saturating_sub(most));
    }
    came.sort();
    Ok(came)
}

#[test]
fn every_lease_holds_the_right_bytes() {
    for seed in 0..300 {
        let slots = 1 + (seed as usize % 18);
        let mut store = store(slots, seed, 0);
        let mut rng = Rng::new(seed ^ 0xABCD);
        let mut held = Vec::new();
        for _ in 0..40 {
            let (layer, experts) = request(&mut rng);
            store.request(layer, &experts).expect("known experts");
            let (likely, guess) = request(&mut rng);
            if rng.below(2) == 0 {
                store.predict(likely, &guess).expect("known experts");
            }
            if rng.below(5) == 0 {
                continue; // abandoned before it is taken
            }
            // One slot is left to go round.
            let most = rng.below(slots as u64) as usize;
            held.truncate(most);
            let came = take_while_holding(&mut store, layer, &mut held, most);
            assert_eq!(came.expect("no faults"), experts, "seed {seed}");
        }
        let stats = store.stats();
        assert_eq!(stats.requests, stats.hits + stats.misses, "seed {seed}");
        assert!(stats.predicted_used <= stats.predicted, "seed {seed}");
        drop(store);
        assert!(held.iter().all(is_right), "seed {seed}: a lease outlives its store");
    }
}

#[test]
fn a_fault_names_its_expert_and_passes() {
    for seed in 0..300 {
        let slots = 1 + (seed as usize % 7);
        let mut store = store(slots, seed, 6);
        let mut rng = Rng::new(seed ^ 0x1234);
        for _ in 0..60 {
            let (layer, experts) = request(&mut rng);
            store.request(layer, &experts).expect("known experts");
            let (likely, guess) = request(&mut rng);
            store.predict(likely, &guess).expect("known experts");
            match take_all(&mut store, layer) {
                Ok(came) => assert_eq!(came, experts, "seed {seed}"),
                Err(Error::Read { key, .. }) => {
                    assert!(key.layer == layer && experts.contains(&key.expert), "seed {seed}: {key}");
                }
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }
        assert!(store.stats().failed > 0, "seed {seed}: faults were asked for");
    }
}

#[test]
fn a_good_prediction_is_a_hit() {
    let mut store = store(18, 1, 0);
    let (layer, guess) = (LayerIdx(1), [ExpertIdx(2), ExpertIdx(4)]);
    store.request(LayerIdx(0), &[ExpertIdx(0)]).expect("known experts");
    store.predict(layer, &guess).expect("known experts");
    store.predict(layer, &guess).expect("what is on its way is not read twice");
    // The source is asked whenever something is taken; after some requests everything has come.
    for _ in 0..20 {
        store.request(LayerIdx(0), &[ExpertIdx(0)]).expect("known experts");
        take_all(&mut store, LayerIdx(0)).expect("no faults");
    }
    store.clear_stats();
    store.request(layer, &guess).expect("known experts");
    assert_eq!(take_all(&mut store, layer).expect("no faults"), guess);
    let stats = store.stats();
    assert_eq!((stats.hits, stats.misses, stats.predicted_used, stats.read_bytes), (2, 0, 2, 0));
}

#[test]
fn a_prediction_leaves_most_of_the_store_alone() {
    let mut store = store(8, 1, 0);
    let all: Vec<ExpertIdx> = (0..EXPERTS).map(ExpertIdx).collect();
    store.predict(LayerIdx(0), &all).expect("known experts");
    assert_eq!(store.stats().predicted, 2, "a quarter of eight slots");
    let unknown = store.predict(LayerIdx(LAYERS), &all);
    assert!(matches!(unknown, Err(Error::Unknown { .. })));
}

#[test]
fn what_fits_is_read_once() {
    let mut store = store(18, 1, 0);
    let all: Vec<ExpertIdx> = (0..EXPERTS).map(ExpertIdx).collect();
    for round in 0..3 {
        for layer in 0..LAYERS {
            store.request(LayerIdx(layer), &all).expect("known experts");
            take_all(&mut store, LayerIdx(layer)).expect("no faults");
        }
        let stats = store.stats();
        assert_eq!((stats.misses, stats.hits), (18, round * 18));
        assert_eq!(stats.read_bytes, (18 * BLOCK) as u64);
    }
    assert!(store.all_resident() && store.slots() == 18);
}

#[test]
fn limits_are_told() {
    assert!(matches!(
        Store::new(
            Box::new(Pattern { queue: VecDeque::new(), rng: Rng::new(0), fail_one_in: 0, most_in_flight: 1 }),
            Catalogue::default(),
            1
        ),
        Err(Error::Budget { found: 1, .. })
    ));
    let mut store = store(1, 1, 0);
    let unknown = store.request(LayerIdx(0), &[ExpertIdx(0), ExpertIdx(EXPERTS)]);
    assert!(matches!(unknown, Err(Error::Unknown { key: ExpertKey { expert: ExpertIdx(EXPERTS), .. } })));
    store.request(LayerIdx(0), &[ExpertIdx(0), ExpertIdx(1)]).expect("known experts");
    let held = store.take().expect("no faults").expect("the first");
    assert!(
        matches!(
            store.take(),
            Err(Error::AllLeased { slots: 1, key: ExpertKey { expert: ExpertIdx(1), .. } })
        ),
        "the only place is out"
    );
    assert!(!store.all_resident() && is_right(&held));
    store.request(LayerIdx(0), &[ExpertIdx(0)]).expect("known experts");
    let again = store.take().expect("no faults").expect("an expert may be leased twice");
    assert!(is_right(&again) && again.key() == held.key());
    drop((held, again));
    store.request(LayerIdx(0), &[ExpertIdx(1), ExpertIdx(1)]).expect("known experts");
    assert_eq!(
        take_all(&mut store, LayerIdx(0)).expect("no faults"),
        [ExpertIdx(1)],
        "a repeated expert comes once"
    );
}
