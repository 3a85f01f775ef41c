//! The store over real files, in every way of reading, on drives that misbehave: leases hold what the file holds, or the
//! error names layer, expert, file and offset. Layers have experts of unlike sizes.

use std::path::Path;

use storage::{
    Direct, FileId, Files, Mishaps, SourceOptions, Strategy,
    faults::{Faults, Faulty},
    open_source, place,
};
use tiers::{Catalogue, Error, Store};
use units::{ExpertIdx, ExpertKey, LayerIdx, Rng};

/// For each layer how many experts it has, and the bytes of each of the three parts of one.
const LAYERS: [(u32, u64); 3] = [(70, 3001), (1, 40_000), (66, 1111)];
const ACTIVE: usize = 8;

/// Where a part of an expert is in the one file.
fn part(key: ExpertKey, part: u64) -> (u64, u64) {
    let before: u64 =
        LAYERS[..key.layer.index()].iter().map(|(experts, len)| u64::from(*experts) * 3 * len).sum();
    let (experts, len) = LAYERS[key.layer.index()];
    (before + (part * u64::from(experts) + u64::from(key.expert.0)) * len, len)
}

fn placed(key: ExpertKey) -> storage::Placed {
    let wanted: Vec<_> = (0..3).map(|index| part(key, index)).map(|(at, len)| (FileId(0), at, len)).collect();
    place(&wanted)
}

fn experts(layer: LayerIdx) -> impl Iterator<Item = ExpertKey> {
    (0..LAYERS[layer.index()].0).map(move |expert| ExpertKey { layer, expert: ExpertIdx(expert) })
}

fn layers() -> impl Iterator<Item = LayerIdx> {
    (0..LAYERS.len() as u32).map(LayerIdx)
}

fn content() -> Vec<u8> {
    let mut rng = Rng::new(11);
    let len: u64 = LAYERS.iter().map(|(experts, len)| u64::from(*experts) * 3 * len).sum();
    (0..len).map(|_| rng.next_u64() as u8).collect()
}

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for layer in layers() {
        let placed: Vec<_> = experts(layer).map(placed).collect();
        let block_bytes = placed.iter().map(|placed| placed.block_bytes).max().expect("a layer has experts");
        let extents: Vec<_> = placed.into_iter().map(|placed| placed.extents).collect();
        catalogue.add(layer, &extents, block_bytes);
    }
    catalogue
}

/// Runs random requests and predictions; returns how many failed.
fn check(mut store: Store, content: &[u8], seed: u64, name: &str) -> u64 {
    let mut rng = Rng::new(seed);
    let mut failed = 0;
    for _ in 0..40 {
        let layer = LayerIdx(rng.below(LAYERS.len() as u64) as u32);
        let choose = |rng: &mut Rng| -> Vec<ExpertIdx> {
            let count = u64::from(LAYERS[layer.index()].0);
            (0..ACTIVE).map(|_| ExpertIdx(rng.below(count) as u32)).collect()
        };
        let (mut wanted, guess) = (choose(&mut rng), choose(&mut rng));
        store.request(layer, &wanted).expect("known experts");
        store.predict(layer, &guess).expect("known experts");
        wanted.sort();
        wanted.dedup();
        let mut came = Vec::new();
        let end = loop {
            match store.take() {
                Ok(Some(lease)) => {
                    let placed = placed(lease.key());
                    for (at, index) in placed.at.iter().zip(0..) {
                        let (begin, len) = part(lease.key(), index);
                        let expected = &content[begin as usize..(begin + len) as usize];
                        let found = &lease[*at as usize..*at as usize + len as usize];
                        assert!(found == expected, "{name}, seed {seed}: {} part {index}", lease.key());
                    }
                    came.push(lease.key().expert);
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        came.sort();
        match end {
            Ok(()) => assert_eq!(came, wanted, "{name}, seed {seed}"),
            Err(error) => {
                let text = error.to_string();
                let parts = [format!("layer {layer} expert "), "model: read at byte ".to_string()];
                assert!(matches!(error, Error::Read { .. }), "{name}, seed {seed}: {text}");
                assert!(parts.iter().all(|part| text.contains(part)), "{name}, seed {seed}: {text}");
                failed += 1;
            }
        }
    }
    failed
}

fn open(path: &Path, strategy: Strategy, direct: Direct, mishaps: Mishaps, budget_bytes: u64) -> Store {
    let files = Files::open(&[path.to_path_buf()]).expect("a file").with_mishaps(mishaps);
    let options = SourceOptions { direct, ..SourceOptions::default() };
    let source = open_source(files, strategy, options).expect("a source");
    let faults = Faults { held_most: 3, seed: mishaps.seed, ..Faults::default() };
    Store::new(Box::new(Faulty::new(source, faults)), catalogue(), budget_bytes).expect("room for an expert")
}

#[test]
fn leases_hold_what_the_file_holds() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let path = folder.path().join("model");
    let content = content();
    std::fs::write(&path, &content).expect("a file");
    let largest = catalogue().block_bytes() as u64;
    let all: u64 =
        catalogue().divide(u64::MAX).iter().map(|class| (class.block_bytes * class.slots) as u64).sum();
    // One slot; as many as a token needs; most; all. The last two are divided into classes.
    let budgets = [(largest, 1), (largest * ACTIVE as u64, 8), (all - largest, 120), (all, 137)];
    for (budget_bytes, least) in budgets {
        for strategy in [Strategy::Auto, Strategy::Pread, Strategy::Mmap] {
            for direct in [Direct::Auto, Direct::Off] {
                for (seed, error_one_in) in [(1, 0), (2, 30)] {
                    let mishaps = Mishaps { short_one_in: 3, error_one_in, error_at: None, seed };
                    let store = open(&path, strategy, direct, mishaps, budget_bytes);
                    assert!(store.slots() >= least, "{} slots of {budget_bytes}", store.slots());
                    assert_eq!(store.all_resident(), budget_bytes == all);
                    let failed = check(store, &content, seed, &format!("{strategy} {direct} {budget_bytes}"));
                    assert!((failed > 0) == (error_one_in > 0), "{strategy}: {failed} requests failed");
                }
            }
        }
    }
}
