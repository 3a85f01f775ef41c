//! Reading by asking the system for a range and waiting for it.

use std::io;

use crate::{Error, Extent, Files, files::Returned, system::read_at, workers::Fill};

/// Fills blocks from files by positioned reads. One read of a large extent already fills a drive's queue, because the
/// system splits it into many.
pub(crate) struct Pread(pub(crate) Files);

impl Fill for Pread {
    fn fill(&self, extents: &[Extent], block: &mut [u8]) -> Result<u64, Error> {
        extents.iter().try_fold(0, |total, extent| Ok(total + read_extent(&self.0, extent, block)?))
    }

    fn name(&self) -> &'static str {
        "pread"
    }
}

/// Reads one extent into its place in `block`, going on after short reads, and leaves nothing of it in the page cache.
/// Returns the bytes read.
pub(crate) fn read_extent(files: &Files, extent: &Extent, block: &mut [u8]) -> Result<u64, Error> {
    let result = read_all_of(files, extent, block);
    files.forget(extent);
    result
}

fn read_all_of(files: &Files, extent: &Extent, block: &mut [u8]) -> Result<u64, Error> {
    let reading = files.reading(extent);
    let target = &mut block[reading.at..reading.at + reading.len];
    let mut done = 0;
    while done < target.len() && extent.len_bytes > 0 {
        let rest = &mut target[done..];
        let (from, wanted) = (reading.begin + done as u64, rest.len());
        let asked = files.asked(extent.file, wanted);
        let read = match files.mishap() {
            Some(error) => Err(error),
            None => read_at(reading.file, &mut rest[..asked], from),
        };
        match read.map(|count| (count, files.judge(extent, from, wanted, count))) {
            Ok((count, Returned::All)) => return Ok((done + count) as u64),
            Ok((_, Returned::Part(kept))) => done += kept,
            Ok((_, Returned::Ended(at))) => return Err(files.ended(extent, at)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(files.failed(extent.file, from, error)),
        }
    }
    Ok(done as u64)
}
