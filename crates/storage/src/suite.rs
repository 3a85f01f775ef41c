//! What every way of reading must do; run on each of them by the tests.

use std::{fs, path::Path, sync::Arc};

use units::{Arena, Rng};

use crate::{Completion, Error, Extent, FileId, Files, Mishaps, Priority, Request, Source, Wait, place};

/// Makes a source over files, for one case.
pub type Make<'a> = dyn Fn(Files) -> Box<dyn Source> + 'a;

/// Runs all cases in `folder`, which must be empty.
///
/// # Panics
/// If a case fails; the message names it.
pub fn run(folder: &Path, make: &Make<'_>) {
    let (names, contents) = files(folder);
    let open = || Files::open(&names).expect("the files were just written");
    scattered_reads(make(open()), &contents);
    scattered_reads(make(open().with_mishaps(Mishaps { short_one_in: 2, ..Mishaps::default() })), &contents);
    ends_of_files(make(open()), &contents);
    ends_of_files(make(open().with_mishaps(Mishaps { short_one_in: 1, ..Mishaps::default() })), &contents);
    for seed in 0..4 {
        failing_reads(
            make(open().with_mishaps(Mishaps { error_one_in: 3, seed, ..Mishaps::default() })),
            seed,
        );
    }
    one_failing_read(make(open().with_mishaps(Mishaps { error_at: Some(0), ..Mishaps::default() })));
    nothing_to_read(make(open()));
    a_file_that_shrank(folder, make);
    dropped_in_flight(make(open()), &contents);
}

/// Three files of odd sizes and unlike contents.
fn files(folder: &Path) -> (Vec<std::path::PathBuf>, Vec<Vec<u8>>) {
    let mut rng = Rng::new(17);
    let contents: Vec<Vec<u8>> = [5_000_003usize, 4096, 70_001]
        .iter()
        .map(|len| (0..*len).map(|_| rng.next_u64() as u8).collect())
        .collect();
    let names: Vec<_> = (0..contents.len()).map(|index| folder.join(format!("part-{index}"))).collect();
    for (name, content) in names.iter().zip(&contents) {
        fs::write(name, content).expect("a writable folder");
    }
    (names, contents)
}

fn request(token: u64, wanted: &[(FileId, u64, u64)]) -> (Request, Vec<u32>) {
    let placed = place(wanted);
    let block = Arena::new(placed.block_bytes).cut(placed.block_bytes).expect("an arena of that size");
    let priority = if token.is_multiple_of(3) { Priority::Predicted } else { Priority::Demand };
    (Request { token, extents: placed.extents, block, priority }, placed.at)
}

fn wait(source: &mut dyn Source) -> Completion {
    source.reap(Wait::Yes).expect("something is in flight")
}

/// Many requests at once, over all files, at odd places, checked byte for byte.
fn scattered_reads(mut source: Box<dyn Source>, contents: &[Vec<u8>]) {
    let mut rng = Rng::new(5);
    let mut expected = Vec::new();
    for token in 0..120u64 {
        let wanted: Vec<(FileId, u64, u64)> = (0..1 + rng.below(6))
            .map(|_| {
                let file = rng.below(contents.len() as u64);
                let size = contents[file as usize].len() as u64;
                let offset = rng.below(size);
                let most = if token % 30 == 0 { size } else { 20_000 };
                (FileId(file as u32), offset, 1 + rng.below((size - offset).min(most)))
            })
            .collect();
        let (request, at) = request(token, &wanted);
        expected.push((wanted, at));
        source.submit(request);
        // A promotion is a hint: of a request that waits, has begun, is done or never was.
        source.promote(rng.below(2 * (token + 1)));
    }
    assert_eq!(source.in_flight(), expected.len(), "{}: all are in flight", source.name());
    let mut seen = vec![false; expected.len()];
    for _ in 0..expected.len() {
        let done = wait(&mut *source);
        done.result.unwrap_or_else(|error| panic!("{}: {error}", source.name()));
        let (wanted, at) = &expected[done.token as usize];
        for ((file, offset, len), at) in wanted.iter().zip(at) {
            let (begin, len) = (*offset as usize, *len as usize);
            let found = &done.block[*at as usize..*at as usize + len];
            assert!(
                found == &contents[file.0 as usize][begin..begin + len],
                "{}: request {}",
                source.name(),
                done.token
            );
        }
        assert!(!std::mem::replace(&mut seen[done.token as usize], true), "a request completes once");
    }
    assert!(
        source.reap(Wait::Yes).is_none() && source.in_flight() == 0,
        "{}: nothing is left",
        source.name()
    );
    assert!(source.read_bytes() > 0);
}

/// The last byte of each file can be read, the one after it cannot; the error says where the file ends.
fn ends_of_files(mut source: Box<dyn Source>, contents: &[Vec<u8>]) {
    for (index, content) in contents.iter().enumerate() {
        let (file, size) = (FileId(index as u32), content.len() as u64);
        let (last, at) = request(1, &[(file, size - 1, 1)]);
        source.submit(last);
        let done = wait(&mut *source);
        done.result.unwrap_or_else(|error| panic!("{}: {error}", source.name()));
        assert_eq!(done.block[at[0] as usize], content[content.len() - 1]);
        let (beyond, _) = request(2, &[(file, size - 1, 2)]);
        let len = beyond.block.len();
        source.submit(beyond);
        let done = wait(&mut *source);
        assert_eq!(done.block.len(), len, "the block comes back");
        match done.result {
            Err(Error::Ended { file, needed, found }) => {
                assert_eq!((needed, found), (size + 1, size), "{}", file.display());
            }
            other => panic!("{}: {other:?}", source.name()),
        }
    }
}

/// Errors name file and offset, give the block back, and leave the source usable.
fn failing_reads(mut source: Box<dyn Source>, seed: u64) {
    let wanted = [(FileId(0), 5000, 3_000_000), (FileId(2), 4097, 60_000)];
    let (mut fine, mut failed) = (0, 0);
    for token in 0..60 {
        let (request, _) = request(token, &wanted);
        let len = request.block.len();
        source.submit(request);
        if token % 4 < 3 {
            continue;
        }
        while let Some(done) = source.reap(Wait::Yes) {
            assert_eq!(done.block.len(), len, "{}: the block comes back", source.name());
            match done.result {
                Ok(_) => fine += 1,
                Err(Error::Read { file, offset_bytes, .. }) => {
                    failed += 1;
                    let is_first = file.ends_with("part-0") && (4096..3_005_000).contains(&offset_bytes);
                    let is_second = file.ends_with("part-2") && (4096..64_097).contains(&offset_bytes);
                    assert!(is_first || is_second, "{}: {} at {offset_bytes}", source.name(), file.display());
                }
                Err(other) => panic!("{}, seed {seed}: {other}", source.name()),
            }
        }
    }
    assert!(fine + failed == 60 && failed > 0, "{}, seed {seed}: {fine} and {failed}", source.name());
}

/// The read after a failed one is fine.
fn one_failing_read(mut source: Box<dyn Source>) {
    for (token, is_fine) in [(1, false), (2, true)] {
        source.submit(request(token, &[(FileId(1), 100, 200)]).0);
        assert_eq!(wait(&mut *source).result.is_ok(), is_fine, "{}", source.name());
    }
}

fn nothing_to_read(mut source: Box<dyn Source>) {
    let block = Arena::new(1).cut(1).expect("a page");
    source.submit(Request { token: 9, extents: Arc::new([]), block, priority: Priority::Predicted });
    let done = wait(&mut *source);
    assert_eq!((done.token, done.result.expect("nothing can go wrong")), (9, 0));
    // An extent of no bytes is no read either, even at the end of the file.
    let block = Arena::new(1).cut(1).expect("a page");
    let extents = Arc::new([Extent { file: FileId(1), offset_bytes: 4096, len_bytes: 0, at: 0 }]);
    source.submit(Request { token: 10, extents, block, priority: Priority::Demand });
    let done = wait(&mut *source);
    assert_eq!((done.token, done.result.expect("nothing can go wrong")), (10, 0));
}

/// A file cut short after it was opened is an error that names it, and the source goes on.
fn a_file_that_shrank(folder: &Path, make: &Make<'_>) {
    let name = folder.join("shrinks");
    fs::write(&name, vec![3u8; 50_000]).expect("a writable folder");
    let mut source = make(Files::open(std::slice::from_ref(&name)).expect("an open file"));
    let file = fs::OpenOptions::new().write(true).open(&name).expect("a writable file");
    file.set_len(10_000).expect("a shorter file");
    let (beyond, _) = request(1, &[(FileId(0), 9_000, 20_000)]);
    source.submit(beyond);
    match wait(&mut *source).result {
        Err(error @ Error::Ended { .. }) => assert!(error.to_string().contains("shrinks"), "{error}"),
        other => panic!("{}: {other:?}", source.name()),
    }
    let (within, at) = request(2, &[(FileId(0), 9_000, 500)]);
    source.submit(within);
    let done = wait(&mut *source);
    done.result.unwrap_or_else(|error| panic!("{}: {error}", source.name()));
    assert_eq!(done.block[at[0] as usize], 3);
}

/// A source may go while reads are under way.
fn dropped_in_flight(mut source: Box<dyn Source>, contents: &[Vec<u8>]) {
    for token in 0..40 {
        let extents: Arc<[Extent]> = place(&[(FileId(0), 0, contents[0].len() as u64)]).extents;
        let bytes = contents[0].len().next_multiple_of(4096);
        let block = Arena::new(bytes).cut(bytes).expect("an arena of that size");
        source.submit(Request { token, extents, block, priority: Priority::Demand });
    }
    drop(source);
}
