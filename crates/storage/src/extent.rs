//! Ranges of files, and where they land in a block.
//!
//! One geometry serves every way of reading: a range lands at the same remainder modulo the page size as it has in its
//! file, with room for the whole pages around it. So direct reads, which must begin and end at page boundaries of both file
//! and memory, need no second layout, and neighbours are fetched in one read.

use std::sync::Arc;

use units::limits::PAGE_BYTES;

/// A file of a checkpoint, by its position in the list it was opened with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A read: `len_bytes` bytes from `offset_bytes` on, to byte `at` of a block. `at` has the remainder of `offset_bytes`
/// modulo the page size, and the block has room for the whole pages around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Which file.
    pub file: FileId,
    /// Where in it.
    pub offset_bytes: u64,
    /// How much.
    pub len_bytes: u32,
    /// Where in the block.
    pub at: u32,
}

impl Extent {
    /// The whole pages around the extent: where they begin in the file, their length, and where they begin in the block.
    #[must_use]
    pub fn pages(&self) -> (u64, usize, usize) {
        let page = PAGE_BYTES as u64;
        let begin = self.offset_bytes / page * page;
        let end = (self.offset_bytes + u64::from(self.len_bytes)).next_multiple_of(page);
        let lead = (self.offset_bytes - begin) as usize;
        (begin, (end - begin) as usize, self.at as usize - lead)
    }

    /// End of the wanted bytes in the file.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.offset_bytes + u64::from(self.len_bytes)
    }
}

/// Where wanted ranges are read and where each of them then lies.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The reads, neighbours merged.
    pub extents: Arc<[Extent]>,
    /// For each wanted range the byte of the block where it begins.
    pub at: Vec<u32>,
    /// Bytes of the block, whole pages.
    pub block_bytes: usize,
}

/// Lays out `wanted` ranges (file, offset, length) in one block: those whose pages touch or overlap become one read.
///
/// # Panics
/// If the ranges together exceed 4 GiB, which no expert does.
#[must_use]
pub fn place(wanted: &[(FileId, u64, u64)]) -> Placed {
    let mut order: Vec<usize> = (0..wanted.len()).filter(|index| wanted[*index].2 > 0).collect();
    order.sort_by_key(|index| (wanted[*index].0, wanted[*index].1));
    let page = PAGE_BYTES as u64;
    let mut extents: Vec<Extent> = Vec::new();
    let mut at = vec![0u32; wanted.len()];
    let mut used = 0u64;
    for index in order {
        let (file, offset_bytes, len) = wanted[index];
        let joins = extents.last_mut().filter(|last| {
            last.file == file && offset_bytes / page * page <= last.end().next_multiple_of(page)
        });
        if let Some(last) = joins {
            let end = last.end().max(offset_bytes + len);
            last.len_bytes = small(end - last.offset_bytes);
            at[index] = last.at + small(offset_bytes - last.offset_bytes);
        } else {
            at[index] = small(used + offset_bytes % page);
            extents.push(Extent { file, offset_bytes, len_bytes: small(len), at: at[index] });
        }
        let last = extents.last().expect("one was just pushed or joined");
        let (_, bytes, start) = last.pages();
        used = (start + bytes) as u64;
    }
    Placed { extents: extents.into(), at, block_bytes: small(used) as usize }
}

fn small(bytes: u64) -> u32 {
    u32::try_from(bytes).expect("an expert is below 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &[(u32, u64, u64)], reads: &[(u32, u64, u32, u32)], at: &[u32], block_bytes: usize) {
        let wanted: Vec<_> = wanted.iter().map(|&(file, offset, len)| (FileId(file), offset, len)).collect();
        let placed = place(&wanted);
        let found: Vec<_> = placed
            .extents
            .iter()
            .map(|read| (read.file.0, read.offset_bytes, read.len_bytes, read.at))
            .collect();
        assert_eq!(found, reads, "{wanted:?}");
        assert_eq!((placed.at.as_slice(), placed.block_bytes), (at, block_bytes), "{wanted:?}");
    }

    #[test]
    fn ranges_keep_their_place_in_the_page() {
        check(&[(0, 100, 50)], &[(0, 100, 50, 100)], &[100], 4096);
        check(&[(0, 4096, 4096)], &[(0, 4096, 4096, 0)], &[0], 4096);
        check(&[(0, 4000, 200)], &[(0, 4000, 200, 4000)], &[4000], 8192);
    }

    #[test]
    fn neighbours_become_one_read() {
        check(&[(0, 0, 4096), (0, 4096, 10)], &[(0, 0, 4106, 0)], &[0, 4096], 8192);
        check(&[(0, 5000, 10), (0, 100, 50)], &[(0, 100, 4910, 100)], &[5000, 100], 8192);
        check(&[(0, 100, 50), (0, 120, 10)], &[(0, 100, 50, 100)], &[100, 120], 4096);
    }

    #[test]
    fn strangers_stay_apart() {
        check(&[(0, 10, 10), (1, 10, 10)], &[(0, 10, 10, 10), (1, 10, 10, 4106)], &[10, 4106], 8192);
        check(
            &[(0, 10, 10), (0, 90_000, 10)],
            &[(0, 10, 10, 10), (0, 90_000, 10, 4096 + 3984)],
            &[10, 4096 + 3984],
            8192,
        );
        check(&[(0, 10, 0)], &[], &[0], 0);
    }
}
