//! Aligned memory for weights: one mapping, cut into blocks that are owned one by one.
//!
//! An [`Arena`] is mapped once, zeroed, page-aligned; [`Arena::cut`] hands out disjoint [`Block`]s. A block is `Send`
//! and can be moved into a read request and back, so nobody can look at bytes that the kernel is still writing.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error},
    ops::{Deref, DerefMut},
    ptr::NonNull,
    sync::Arc,
};

use crate::limits::PAGE_BYTES;

/// Alignment of an arena: a huge page, so that the kernel may back it with huge pages.
const ARENA_ALIGN: usize = 2 << 20;

/// A mapping of zeroed, aligned bytes that is freed when its last block goes.
#[derive(Debug)]
struct Mapping {
    base: NonNull<u8>,
    layout: Layout,
}

// SAFETY: the mapping is plain memory; access to its bytes goes through blocks that never overlap.
unsafe impl Send for Mapping {}
// SAFETY: as above; the mapping itself hands out no reference.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` came from `alloc_zeroed` with this very layout and is freed once, here.
        unsafe { dealloc(self.base.as_ptr(), self.layout) }
    }
}

/// Memory not yet cut into blocks.
#[derive(Debug)]
pub struct Arena {
    mapping: Arc<Mapping>,
    used: usize,
}

/// A page-aligned run of bytes, owned by whoever holds it.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    len: usize,
    _mapping: Arc<Mapping>,
}

// SAFETY: a block owns its bytes exclusively, like a boxed slice.
unsafe impl Send for Block {}
// SAFETY: a shared block gives only shared access to its bytes, like a boxed slice.
unsafe impl Sync for Block {}

impl Arena {
    /// Maps `bytes` zeroed bytes (at least one page). Untouched pages cost no physical memory.
    #[must_use]
    pub fn new(bytes: usize) -> Arena {
        let size = bytes.max(1).next_multiple_of(PAGE_BYTES);
        let align = if size >= ARENA_ALIGN { ARENA_ALIGN } else { PAGE_BYTES };
        let layout = Layout::from_size_align(size, align).expect("arena sizes are far below isize::MAX");
        // SAFETY: `layout` has a size of at least one page.
        let raw = unsafe { alloc_zeroed(layout) };
        let base = NonNull::new(raw).unwrap_or_else(|| handle_alloc_error(layout));
        Arena { mapping: Arc::new(Mapping { base, layout }), used: 0 }
    }

    /// Bytes not yet handed out.
    #[must_use]
    pub fn left_bytes(&self) -> usize {
        self.mapping.layout.size() - self.used
    }

    /// The next `bytes` bytes as a block of their own, rounded up to whole pages; `None` when they do not fit.
    pub fn cut(&mut self, bytes: usize) -> Option<Block> {
        let len = bytes.checked_next_multiple_of(PAGE_BYTES)?;
        if len > self.left_bytes() {
            return None;
        }
        // SAFETY: `used + len` is at most the mapping's size (checked above), so the result is inside the mapping.
        let start = unsafe { self.mapping.base.add(self.used) };
        self.used += len;
        Some(Block { start, len, _mapping: Arc::clone(&self.mapping) })
    }
}

impl Deref for Block {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the block's bytes are inside a live mapping (held by the `Arc`), initialised (zeroed), and no other
        // block overlaps them (`cut` only moves forward).
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Block {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and `&mut self` proves that nobody else reads them.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_disjoint_and_zeroed() {
        let mut arena = Arena::new(5 * PAGE_BYTES);
        let mut first = arena.cut(1).expect("one page fits");
        let second = arena.cut(2 * PAGE_BYTES).expect("two more fit");
        assert_eq!((first.len(), second.len()), (PAGE_BYTES, 2 * PAGE_BYTES));
        assert_eq!(first.as_ptr() as usize % PAGE_BYTES, 0);
        first.fill(7);
        assert!(second.iter().all(|&byte| byte == 0));
        assert!(arena.cut(3 * PAGE_BYTES).is_none());
        assert!(arena.cut(usize::MAX).is_none());
        drop(arena);
        assert!(first.iter().all(|&byte| byte == 7));
    }
}
