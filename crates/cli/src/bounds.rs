//! What the machine could do at best: bandwidth of memory and drive, measured where and when it is needed.

use std::{
    hint::black_box,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use units::{Arena, limits::PAGE_BYTES};

use crate::failure::Failure;

/// Memory that is read, over all threads: far more than caches hold.
const MEMORY_BYTES: usize = 512 << 20;
/// Passes over it; the best counts, as the others were disturbed.
const PASSES: usize = 5;
/// Bytes of one read of the drive.
const READ_BYTES: u64 = 2 << 20;
/// Reads in flight.
const DEPTH: usize = 8;
/// The drive is measured for so long at most.
const DRIVE_PATIENCE: Duration = Duration::from_secs(2);

/// A measured bandwidth.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Bandwidth {
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Bytes that were read to find out.
    pub measured_bytes: u64,
}

impl Bandwidth {
    fn new(measured_bytes: u64, time: Duration) -> Bandwidth {
        Bandwidth { bytes_per_s: measured_bytes as f64 / time.as_secs_f64().max(1e-9), measured_bytes }
    }
}

/// How fast `threads` threads together read memory.
pub fn memory(threads: usize) -> Bandwidth {
    let words = MEMORY_BYTES / size_of::<u64>() / threads;
    // Written once, so that the pages are there and are not all the one page of zeroes.
    let parts: Vec<Vec<u64>> =
        (0..threads).map(|seed| (0..words as u64).map(|word| word ^ seed as u64).collect()).collect();
    let pass = || {
        let begin = Instant::now();
        thread::scope(|scope| parts.iter().for_each(|part| drop(scope.spawn(|| black_box(sum(part))))));
        begin.elapsed()
    };
    let best = (0..PASSES).map(|_| pass()).min().unwrap_or_default();
    Bandwidth::new((words * size_of::<u64>() * threads) as u64, best)
}

/// Independent sums, so that additions never wait for one another.
fn sum(words: &[u64]) -> u64 {
    let mut sums = [0u64; 32];
    for words in words.as_chunks::<32>().0 {
        sums.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

/// How fast `files` are read from their drive, by large reads spread over all of them.
///
/// # Errors
/// A file cannot be read.
pub fn drive(
    files: &[PathBuf],
    strategy: storage::Strategy,
    direct: storage::Direct,
) -> Result<Bandwidth, Failure> {
    let places = places(files)?;
    let opened = storage::Files::open(files)?;
    let options = storage::SourceOptions { direct, ..Default::default() };
    let mut source = storage::open_source(opened, strategy, options)?;
    let mut arena = Arena::new(DEPTH * (READ_BYTES as usize + 2 * PAGE_BYTES));
    let mut free: Vec<_> = (0..DEPTH).filter_map(|_| arena.cut(READ_BYTES as usize + PAGE_BYTES)).collect();
    let mut places = places.into_iter();
    let begin = Instant::now();
    let mut bytes = 0;
    loop {
        while begin.elapsed() < DRIVE_PATIENCE
            && let Some(block) = free.pop()
        {
            let Some(place) = places.next() else { break };
            let placed = storage::place(&[place]);
            source.submit(storage::Request {
                token: 0,
                extents: placed.extents,
                block,
                priority: storage::Priority::Demand,
            });
        }
        if source.in_flight() == 0 {
            return Ok(Bandwidth::new(bytes, begin.elapsed()));
        }
        if let Some(done) = source.reap(storage::Wait::Yes) {
            bytes += done.result?;
            free.push(done.block);
        }
    }
}

/// Where to read: whole reads of all files in a shuffled order, so that no readahead helps and no file is favoured.
fn places(files: &[PathBuf]) -> Result<Vec<(storage::FileId, u64, u64)>, Failure> {
    let mut places = Vec::new();
    for (index, path) in files.iter().enumerate() {
        let bytes = std::fs::metadata(path).map_err(|source| Failure::io(path, source))?.len();
        let read = READ_BYTES.min(bytes);
        let starts = (0..bytes.checked_div(read).unwrap_or(0)).map(|at| at * read);
        places.extend(starts.map(|start| (storage::FileId(index as u32), start, read)));
    }
    let mut rng = units::Rng::new(1);
    for at in (1..places.len()).rev() {
        places.swap(at, rng.below(at as u64 + 1) as usize);
    }
    Ok(places)
}
