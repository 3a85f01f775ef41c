//! Where every expert lies on disk.

use std::sync::Arc;

use storage::Extent;
use units::{ExpertIdx, ExpertKey, LayerIdx};

/// The reads that bring each expert, by layer and expert.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    layers: Vec<Vec<Arc<[Extent]>>>,
    block_bytes: usize,
}

impl Catalogue {
    /// Adds the experts of `layer`, each with its reads; a block of `block_bytes` holds any of them.
    pub fn add(&mut self, layer: LayerIdx, experts: &[Arc<[Extent]>], block_bytes: usize) {
        if self.layers.len() <= layer.index() {
            self.layers.resize(layer.index() + 1, Vec::new());
        }
        self.layers[layer.index()] = experts.to_vec();
        self.block_bytes = self.block_bytes.max(block_bytes);
    }

    /// Experts of all layers.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.layers.iter().map(Vec::len).sum()
    }

    /// Bytes of a block that holds any expert, in whole pages.
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        self.block_bytes.next_multiple_of(units::limits::PAGE_BYTES)
    }

    /// Bytes with which `active` experts can be held at once: the least with which a layer runs without reading twice.
    #[must_use]
    pub fn least_bytes(&self, active: usize) -> u64 {
        (active * self.block_bytes()) as u64
    }

    /// The reads that bring `key`.
    pub(crate) fn extents(&self, key: ExpertKey) -> Arc<[Extent]> {
        Arc::clone(&self.layers[key.layer.index()][key.expert.index()])
    }

    /// Experts of each layer.
    pub(crate) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.layers.iter().map(Vec::len)
    }

    /// Whether there is such an expert.
    pub(crate) fn has(&self, layer: LayerIdx, expert: ExpertIdx) -> bool {
        self.layers.get(layer.index()).is_some_and(|experts| expert.index() < experts.len())
    }
}
