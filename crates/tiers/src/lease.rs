//! The right to read one expert's bytes, for as long as it is held.

use std::{
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
};

use units::{Block, ExpertKey};

/// One expert's block. While the lease lives nobody can evict it; when it is dropped the block goes back to its place.
#[derive(Debug)]
pub struct Lease {
    key: ExpertKey,
    slot: usize,
    /// Present until the drop.
    block: Option<Block>,
    home: Arc<Returns>,
}

impl Lease {
    pub(crate) fn new(key: ExpertKey, slot: usize, block: Block, home: &Arc<Returns>) -> Lease {
        Lease { key, slot, block: Some(block), home: Arc::clone(home) }
    }

    /// Which expert this is.
    #[must_use]
    pub fn key(&self) -> ExpertKey {
        self.key
    }
}

impl Deref for Lease {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.block.as_deref().unwrap_or_default()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(block) = self.block.take() {
            self.home.push(self.slot, block);
        }
    }
}

/// Blocks on their way back from leases. Room for all of them is made once.
#[derive(Debug)]
pub(crate) struct Returns(Mutex<Vec<(usize, Block)>>);

impl Returns {
    pub(crate) fn new(slots: usize) -> Arc<Returns> {
        Arc::new(Returns(Mutex::new(Vec::with_capacity(slots))))
    }

    fn push(&self, slot: usize, block: Block) {
        // A poisoned lock still guards a whole list: pushing and popping cannot stop half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((slot, block));
    }

    pub(crate) fn pop(&self) -> Option<(usize, Block)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }
}
