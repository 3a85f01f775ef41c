//! The right to read one expert's bytes, for as long as it is held.

use std::{
    ops::Deref,
    sync::{Arc, OnceLock},
};

use units::{Block, ExpertKey};

/// A block while it lies in its slot; empty while a source fills it.
pub(crate) type Shelf = Arc<OnceLock<Block>>;

/// One expert's block. While a lease lives nobody can evict it. It may outlive the store.
#[derive(Debug)]
pub struct Lease {
    key: ExpertKey,
    /// Shared with the slot, and with other leases of the same expert. The store takes the block out only when nobody
    /// shares it.
    shelf: Shelf,
}

impl Lease {
    pub(crate) fn new(key: ExpertKey, shelf: &Shelf) -> Lease {
        Lease { key, shelf: Arc::clone(shelf) }
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
        self.shelf.get().expect("a lease is made of a filled slot, which stays filled while it is shared")
    }
}
