//! Every way of reading, direct and not, on a drive and in memory, passes the same suite.

use storage::{
    Direct, FileId, Files, Mishaps, SourceOptions, Strategy, Whole,
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
            for direct in [Direct::On, Direct::Off] {
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
fn late_completions_change_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    for (index, held_most) in [1, 5, 200].into_iter().enumerate() {
        let faults = Faults { held_most, seed: index as u64, ..Faults::default() };
        let folder = tempfile::tempdir_in(&folder).expect("a folder");
        suite::run(folder.path(), &|files| {
            let inner = open_source(files, Strategy::Auto, SourceOptions::default()).expect("a source");
            Box::new(Faulty::new(inner, faults))
        });
    }
}

#[test]
fn a_missing_file_is_named() {
    let error = Files::open(&["/nowhere/at/all".into()]).expect_err("there is no such file");
    assert!(error.to_string().starts_with("/nowhere/at/all: cannot be opened"), "{error}");
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
        many_ranges(&files, &content);
    }
}

/// Several ranges at once, with progress, on a drive with short reads and on one that fails.
fn many_ranges(files: &Files, content: &[u8]) {
    let places = [(3, 5_000_000), (6_000_000, 5_000_001), (9, 0), (8191, 2)];
    let mut outs = places.map(|(_, len)| vec![0; len]);
    let whole = |((offset, _), out)| Whole { file: FileId(0), offset_bytes: offset, out };
    let short = files.clone().with_mishaps(Mishaps { short_one_in: 2, ..Mishaps::default() });
    let ranges = places
        .map(|(offset, len)| (offset as u64, len))
        .into_iter()
        .zip(outs.iter_mut().map(Vec::as_mut_slice));
    let mut seen = Vec::new();
    storage::read_all(&short, ranges.map(whole).collect(), &mut |bytes| seen.push(bytes))
        .expect("all ranges");
    for ((offset, len), out) in places.iter().zip(&outs) {
        assert!(out[..] == content[*offset..offset + len], "{offset} + {len}");
    }
    assert!(seen.is_sorted() && seen.last() == Some(&10_000_003), "{seen:?}");
    let failing = files.clone().with_mishaps(Mishaps { error_at: Some(2), ..Mishaps::default() });
    let mut out = vec![0; 11_000_000];
    let error = storage::read_range(&failing, FileId(0), 0, &mut out);
    assert!(matches!(error, Err(storage::Error::Read { .. })), "{error:?}");
}
