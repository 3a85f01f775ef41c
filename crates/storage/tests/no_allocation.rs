//! Once a source is open, reading allocates nothing, whichever way it reads.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use storage::{Extent, FileId, Files, Priority, Request, SourceOptions, Strategy, Wait, open_source, place};
use units::{Arena, Block};

/// The system's allocator, counting.
struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's obligations are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` above, so from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test, because the count is the whole program's.
#[test]
fn reading_allocates_nothing() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let name = folder.path().join("part");
    std::fs::write(&name, vec![7u8; 6_000_000]).expect("a file");
    let placed = place(&[(FileId(0), 100, 2_500_000), (FileId(0), 4_000_001, 1_000)]);
    for strategy in [Strategy::Auto, Strategy::Pread, Strategy::Mmap] {
        let files = Files::open(std::slice::from_ref(&name)).expect("an open file");
        let mut source = open_source(files, strategy, SourceOptions::default()).expect("a source");
        let mut arena = Arena::new(8 * placed.block_bytes);
        let mut blocks: Vec<Block> = (0..8).filter_map(|_| arena.cut(placed.block_bytes)).collect();
        // The first round lets threads and locks of the standard library come to be.
        let mut counts = Vec::with_capacity(4);
        for _ in 0..4 {
            round(&mut *source, &placed.extents, &mut blocks);
            counts.push(ALLOCATIONS.load(Ordering::Relaxed));
        }
        assert_eq!(counts[1], counts[3], "{}: {counts:?}", source.name());
    }
}

fn round(source: &mut dyn storage::Source, extents: &Arc<[Extent]>, blocks: &mut Vec<Block>) {
    for token in 0..8 {
        let block = blocks.pop().expect("eight blocks");
        let priority = if token < 4 { Priority::Predicted } else { Priority::Demand };
        source.submit(Request { token, extents: Arc::clone(extents), block, priority });
        source.promote(1);
    }
    while let Some(done) = source.reap(Wait::Yes) {
        done.result.expect("a sound drive");
        assert!(done.block[100] == 7);
        blocks.push(done.block);
    }
}
