//! Reading long ranges at once, for weights that stay in memory; leaves nothing in the page cache.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use units::{Arena, limits::PAGE_BYTES};

use crate::{Error, Extent, FileId, Files, pread::read_extent};

/// Bytes of one read; each thread has a block of this size between the drive and the destination.
const PIECE_BYTES: usize = 2 << 20;
/// Threads that read, the caller included: enough to keep a drive busy while some of them copy.
const THREADS: usize = 4;

/// A range of a file, and where it goes.
#[derive(Debug)]
pub struct Whole<'a> {
    /// Which file.
    pub file: FileId,
    /// Where in it.
    pub offset_bytes: u64,
    /// Filled from there on.
    pub out: &'a mut [u8],
}

/// Reads `out.len()` bytes of `file` from `offset_bytes` on.
///
/// # Errors
/// A read fails or the file ends early.
pub fn read_range(files: &Files, file: FileId, offset_bytes: u64, out: &mut [u8]) -> Result<(), Error> {
    read_all(files, vec![Whole { file, offset_bytes, out }], &mut |_| {})
}

/// Reads every range, with several reads under way at once. `progress` is told the bytes read so far, on the caller's
/// thread, now and then.
///
/// # Errors
/// A read fails or a file ends early; then the destinations hold part of what was wanted.
pub fn read_all(files: &Files, ranges: Vec<Whole<'_>>, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let total: usize = ranges.iter().map(|range| range.out.len()).sum();
    let threads = total.div_ceil(PIECE_BYTES).clamp(1, THREADS);
    let done = AtomicU64::new(0);
    let pieces = Mutex::new(ranges.into_iter().flat_map(pieces));
    let work = |progress: &mut dyn FnMut(u64)| -> Result<(), Error> {
        let bytes = PIECE_BYTES.min(total.next_multiple_of(PAGE_BYTES)) + PAGE_BYTES;
        let mut bounce = Arena::new(bytes).cut(bytes).expect("an arena holds what it was made for");
        loop {
            // A thread that panicked while holding the lock has at worst lost a piece, and its panic goes on below.
            let piece = pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(piece) = piece else { return Ok(()) };
            let len = piece.out.len() as u64;
            if let Err(error) = read_piece(files, piece, &mut bounce) {
                // The others have nothing left to do.
                pieces.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
                return Err(error);
            }
            progress(done.fetch_add(len, Ordering::Relaxed) + len);
        }
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| work(&mut |_| {}))).collect();
        let mut result = work(progress);
        for other in others {
            result = result.and(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        result
    })?;
    progress(done.into_inner());
    Ok(())
}

/// Cuts a range into pieces that end at page boundaries of the file.
fn pieces(range: Whole<'_>) -> impl Iterator<Item = Whole<'_>> {
    let Whole { file, mut offset_bytes, mut out } = range;
    std::iter::from_fn(move || {
        let lead = (offset_bytes % PAGE_BYTES as u64) as usize;
        let len = out.len().min(PIECE_BYTES - lead);
        let (first, rest) = std::mem::take(&mut out).split_at_mut(len);
        out = rest;
        let piece = Whole { file, offset_bytes, out: first };
        offset_bytes += len as u64;
        (len > 0).then_some(piece)
    })
}

fn read_piece(files: &Files, piece: Whole<'_>, bounce: &mut [u8]) -> Result<(), Error> {
    let lead = (piece.offset_bytes % PAGE_BYTES as u64) as usize;
    let len = piece.out.len();
    let extent =
        Extent { file: piece.file, offset_bytes: piece.offset_bytes, len_bytes: len as u32, at: lead as u32 };
    read_extent(files, &extent, bounce)?;
    piece.out.copy_from_slice(&bounce[lead..lead + len]);
    Ok(())
}
