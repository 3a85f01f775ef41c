//! How fast a drive is: the bound beside which speeds are shown.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use units::{Arena, Block, Rng, limits::PAGE_BYTES};

use crate::{
    Completion, Direct, Error, FileId, Files, Priority, Request, Source, SourceOptions, Strategy, Wait,
};
use crate::{open_source, place};

/// Bytes of a read and reads in flight, as experts of several sizes would ask for them.
const PATTERNS: [(usize, usize); 3] = [(1 << 20, 32), (4 << 20, 8), (16 << 20, 4)];

/// What a drive delivered at best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bandwidth {
    /// Bytes a second.
    pub bytes_per_s: f64,
    /// Bytes of one read, for the best pattern.
    pub block_bytes: usize,
    /// Reads in flight, for the best pattern.
    pub in_flight: usize,
    /// Bytes that were read to find out, over all patterns.
    pub measured_bytes: u64,
    /// Name of the way of reading.
    pub source: &'static str,
}

/// Reads from all over `paths` for about `patience` and tells the best rate. None if the files are too small to tell.
///
/// Without direct reads the page cache answers too, and the rate may exceed the drive's.
///
/// # Errors
/// A file cannot be opened or read.
pub fn measure(
    paths: &[PathBuf],
    strategy: Strategy,
    direct: Direct,
    patience: Duration,
) -> Result<Option<Bandwidth>, Error> {
    let files = Files::open_with(paths, direct)?;
    let mut source = open_source(files.clone(), strategy, SourceOptions { direct, ..Default::default() })?;
    let mut best: Option<Bandwidth> = None;
    let mut measured_bytes = 0;
    for (block_bytes, in_flight) in PATTERNS {
        let offsets = offsets(&files, block_bytes);
        if offsets.is_empty() {
            continue;
        }
        let begin = Instant::now();
        let patience = patience / PATTERNS.len() as u32;
        let read = run(&mut *source, &offsets, block_bytes, in_flight, || begin.elapsed() < patience)?;
        let bytes_per_s = read as f64 / begin.elapsed().as_secs_f64().max(1e-9);
        measured_bytes += read;
        if best.is_none_or(|best| bytes_per_s > best.bytes_per_s) {
            best = Some(Bandwidth {
                bytes_per_s,
                block_bytes,
                in_flight,
                measured_bytes,
                source: source.name(),
            });
        }
    }
    Ok(best.map(|best| Bandwidth { measured_bytes, ..best }))
}

/// Reads at `offsets`, `in_flight` at once, once around or until `go_on` says no. Returns the bytes read.
fn run(
    source: &mut dyn Source,
    offsets: &[(FileId, u64)],
    block_bytes: usize,
    in_flight: usize,
    go_on: impl Fn() -> bool,
) -> Result<u64, Error> {
    let mut arena = Arena::new(in_flight * (block_bytes + PAGE_BYTES));
    let mut free: Vec<Block> = (0..in_flight).filter_map(|_| arena.cut(block_bytes)).collect();
    // Touched beforehand, so that the drive is measured and not the making of memory.
    free.iter_mut().for_each(|block| block.fill(1));
    let mut offsets = offsets.iter();
    let mut read = 0;
    loop {
        while go_on()
            && let Some(block) = free.pop()
        {
            let Some(&(file, offset)) = offsets.next() else { break };
            let extents = place(&[(file, offset, block_bytes as u64)]).extents;
            source.submit(Request { token: 0, extents, block, priority: Priority::Demand });
        }
        let Some(Completion { block, result, .. }) = source.reap(Wait::Yes) else { return Ok(read) };
        read += result?;
        free.push(block);
    }
}

/// Where to read: page-aligned blocks of all files in a shuffled order, so that no readahead helps.
fn offsets(files: &Files, block_bytes: usize) -> Vec<(FileId, u64)> {
    let of = |file: FileId| (0..files.len_bytes(file) / block_bytes as u64).map(move |at| (file, at));
    let mut offsets: Vec<_> = (0..files.count() as u32)
        .flat_map(|file| of(FileId(file)))
        .map(|(file, at)| (file, at * block_bytes as u64))
        .collect();
    let mut rng = Rng::new(1);
    for at in (1..offsets.len()).rev() {
        offsets.swap(at, rng.below(at as u64 + 1) as usize);
    }
    offsets
}
