//! Reading a long range at once, for weights that stay in memory; leaves nothing in the page cache.

use units::{Arena, limits::PAGE_BYTES};

use crate::{Error, Extent, FileId, Files, files::read_at};

/// Bytes of the block between drive and destination.
const BOUNCE_BYTES: usize = 4 << 20;

/// Reads `out.len()` bytes of `file` from `offset_bytes` on. A range of more than one block is read by two threads.
///
/// # Errors
/// A read fails or the file ends early.
pub fn read_range(files: &Files, file: FileId, offset_bytes: u64, out: &mut [u8]) -> Result<(), Error> {
    if out.len() <= BOUNCE_BYTES {
        return read_part(files, file, offset_bytes, out);
    }
    let half = (out.len() / 2).next_multiple_of(PAGE_BYTES);
    let (first, second) = out.split_at_mut(half);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| read_part(files, file, offset_bytes + half as u64, second));
        let own = read_part(files, file, offset_bytes, first);
        let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        own.and(other)
    })
}

fn read_part(files: &Files, file: FileId, offset_bytes: u64, out: &mut [u8]) -> Result<(), Error> {
    let bounce_bytes = BOUNCE_BYTES.min(out.len().next_multiple_of(PAGE_BYTES)) + PAGE_BYTES;
    let mut bounce = Arena::new(bounce_bytes).cut(bounce_bytes).expect("an arena holds what it was made for");
    let mut done = 0;
    while done < out.len() {
        let at = offset_bytes + done as u64;
        let lead = (at % PAGE_BYTES as u64) as usize;
        let len = (out.len() - done).min(bounce_bytes - PAGE_BYTES);
        let extent = Extent { file, offset_bytes: at, len_bytes: len as u32, at: lead as u32 };
        read_extent(files, &extent, &mut bounce)?;
        out[done..done + len].copy_from_slice(&bounce[lead..lead + len]);
        done += len;
    }
    Ok(())
}

/// Reads every extent into `block`; returns the bytes read.
pub(crate) fn read_extents(files: &Files, extents: &[Extent], block: &mut [u8]) -> Result<u64, Error> {
    extents.iter().try_fold(0, |total, extent| Ok(total + read_extent(files, extent, block)?))
}

/// Reads one extent into its place in `block`, going on after short reads, and leaves nothing of it in the page cache.
fn read_extent(files: &Files, extent: &Extent, block: &mut [u8]) -> Result<u64, Error> {
    let (file, begin, len, at) = files.read_of(extent);
    let mut done = 0;
    // Beyond the wanted bytes a direct read may meet the end of the file; that is no fault.
    while begin + (done as u64) < extent.end() {
        match read_at(file, &mut block[at + done..at + len], begin + done as u64) {
            Ok(count) if files.is_end(extent, count, done + count) => {
                return Err(files.ended(extent, begin + (done + count) as u64));
            }
            Ok(count) => done += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(files.failed(extent, begin + done as u64, error)),
        }
    }
    files.forget(extent);
    Ok(done as u64)
}
