//! Every way of reading, direct and not, on a drive and in memory, passes the same suite.

use storage::{
    Direct, SourceOptions, Strategy, Wait,
    faults::{Faults, Faulty},
    open_source, suite,
};

fn check(strategy: Strategy, direct: Direct, options: SourceOptions, folder: &std::path::Path) {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let options = SourceOptions { direct, ..options };
    suite::run(folder.path(), &|files| open_source(files, strategy, options).expect("a source"));
}

/// The drive that holds the build, and memory where the system has such a file system.
fn folders() -> Vec<std::path::PathBuf> {
    let memory = std::path::PathBuf::from("/dev/shm");
    let mut folders = vec![std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))];
    folders.extend(Some(memory).filter(|folder| folder.is_dir()));
    folders
}

#[test]
fn all_ways_of_reading_agree() {
    for folder in folders() {
        for strategy in [Strategy::Auto, Strategy::Pread, Strategy::Mmap] {
            for direct in [Direct::Auto, Direct::On, Direct::Off] {
                check(strategy, direct, SourceOptions::default(), &folder);
            }
        }
        for (depth, threads) in [(1, 1), (2, 9), (64, 2)] {
            let options = SourceOptions { depth, threads, ..SourceOptions::default() };
            check(Strategy::Auto, Direct::Auto, options, &folder);
            check(Strategy::Pread, Direct::Auto, options, &folder);
        }
    }
}

#[test]
fn faults_come_as_often_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let name = folder.path().join("part");
    std::fs::write(&name, vec![1u8; 100_000]).expect("a file");
    let files = storage::Files::open(&[name]).expect("an open file");
    let inner = open_source(files, Strategy::Pread, SourceOptions::default()).expect("a source");
    let mut source = Faulty::new(inner, Faults { error_one_in: 3, held_most: 4, seed: 1 });
    let mut failed = 0;
    for token in 0..90 {
        use storage::Source;
        let placed = storage::place(&[(storage::FileId(0), token * 1000, 900)]);
        let block = units::Arena::new(placed.block_bytes).cut(placed.block_bytes).expect("an arena");
        source.submit(storage::Request {
            token,
            extents: placed.extents,
            block,
            priority: storage::Priority::Demand,
        });
        let done = source.reap(Wait::Yes).expect("one in flight");
        failed += u32::from(done.result.is_err());
    }
    assert!((15..45).contains(&failed), "{failed} of 90");
}

#[test]
fn long_ranges_arrive_whole() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let name = folder.path().join("part");
    let mut rng = units::Rng::new(2);
    let content: Vec<u8> = (0..11_000_001).map(|_| rng.next_u64() as u8).collect();
    std::fs::write(&name, &content).expect("a file");
    for direct in [Direct::Auto, Direct::Off] {
        let files = storage::Files::open_with(std::slice::from_ref(&name), direct).expect("an open file");
        for (offset, len) in [(0, 11_000_001), (5, 10), (4095, 9_000_000), (10_999_999, 2), (7, 0)] {
            let mut out = vec![0; len];
            storage::read_range(&files, storage::FileId(0), offset, &mut out).expect("a range");
            assert!(out == content[offset as usize..offset as usize + len], "{offset} + {len}");
        }
        let error = storage::read_range(&files, storage::FileId(0), 10_999_999, &mut [0; 3]);
        assert!(
            matches!(error, Err(storage::Error::Ended { needed: 11_000_002, found: 11_000_001, .. })),
            "{error:?}"
        );
    }
}
