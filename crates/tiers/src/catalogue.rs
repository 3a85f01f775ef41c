//! Where every expert lies on disk, and how a budget is divided among experts of unlike sizes.

use std::sync::Arc;

use storage::Extent;
use units::{
    ExpertIdx, ExpertKey, LayerIdx,
    limits::{ACTIVE_MAX, PAGE_BYTES},
};

/// Slots that a class must have before memory is divided into classes: enough for the experts of any token, so that a
/// division never makes a layer wait for itself.
const CLASS_SLOTS_MIN: usize = ACTIVE_MAX;

/// The reads that bring each expert, by layer and expert.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    layers: Vec<Layer>,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    experts: Vec<Arc<[Extent]>>,
    block_bytes: usize,
}

/// Slots of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Bytes of a block that holds any expert of the class, whole pages.
    pub block_bytes: usize,
    /// How many such blocks there are.
    pub slots: usize,
}

impl Catalogue {
    /// Adds the experts of `layer`, each with its reads; a block of `block_bytes` holds any of them.
    pub fn add(&mut self, layer: LayerIdx, experts: &[Arc<[Extent]>], block_bytes: usize) {
        if self.layers.len() <= layer.index() {
            self.layers.resize(layer.index() + 1, Layer::default());
        }
        let block_bytes = block_bytes.next_multiple_of(PAGE_BYTES);
        self.layers[layer.index()] = Layer { experts: experts.to_vec(), block_bytes };
    }

    /// Experts of all layers.
    #[must_use]
    pub fn experts(&self) -> usize {
        self.layers.iter().map(|layer| layer.experts.len()).sum()
    }

    /// Bytes of a block that holds any expert, in whole pages.
    #[must_use]
    pub fn block_bytes(&self) -> usize {
        self.with_experts().map(|layer| layer.block_bytes).max().unwrap_or(0)
    }

    /// Bytes with which `active` experts can be held at once: the least with which a layer runs without reading twice.
    #[must_use]
    pub fn least_bytes(&self, active: usize) -> u64 {
        (active * self.block_bytes()) as u64
    }

    /// How `budget_bytes` are divided into slots, smallest blocks first; together they never exceed the budget, and there
    /// are never more than experts to fill them.
    ///
    /// Layers whose experts are equally large share a class. A budget too small for classes gives slots that hold any
    /// expert, as does one that would hold fewer for being divided. None if it does not hold a single expert.
    #[must_use]
    pub fn divide(&self, budget_bytes: u64) -> Vec<Class> {
        let all_bytes = self.block_bytes();
        let uniform = match all_bytes {
            0 => 0,
            bytes => (budget_bytes / bytes as u64).min(self.experts() as u64) as usize,
        };
        let divided = self.classes(budget_bytes);
        if divided.iter().map(|class| class.slots).sum::<usize>() >= uniform.max(1) {
            return divided;
        }
        let class = Class { block_bytes: all_bytes, slots: uniform };
        Some(class).filter(|class| class.slots > 0).into_iter().collect()
    }

    /// A class for every size of expert: each gets slots enough for any token, and an equal share of what is then left.
    /// None if the budget does not reach so far.
    fn classes(&self, budget_bytes: u64) -> Vec<Class> {
        // Bytes of a block, and the experts that need one so large, by growing size.
        let mut sizes: Vec<(usize, usize)> = Vec::new();
        for layer in self.with_experts() {
            match sizes.iter_mut().find(|(block_bytes, _)| *block_bytes == layer.block_bytes) {
                Some((_, experts)) => *experts += layer.experts.len(),
                None => sizes.push((layer.block_bytes, layer.experts.len())),
            }
        }
        sizes.sort_unstable();
        let least = |experts: usize| experts.min(CLASS_SLOTS_MIN);
        let bytes = |count: &dyn Fn(usize) -> usize| -> u128 {
            sizes.iter().map(|(block_bytes, experts)| *block_bytes as u128 * count(*experts) as u128).sum()
        };
        let Some(mut left) = u128::from(budget_bytes).checked_sub(bytes(&least)) else { return Vec::new() };
        let wanted = bytes(&|experts| experts - least(experts));
        let given = left.min(wanted);
        let share = |experts: usize| -> usize {
            let more = (experts - least(experts)) as u128;
            least(experts) + (more * given).checked_div(wanted).unwrap_or(0) as usize
        };
        left -= bytes(&share) - bytes(&least);
        // What rounding has left goes to whoever still has experts without a slot.
        let mut class = |&(block_bytes, experts): &(usize, usize)| {
            let more = share(experts) < experts && left >= block_bytes as u128;
            left -= if more { block_bytes as u128 } else { 0 };
            Class { block_bytes, slots: share(experts) + usize::from(more) }
        };
        sizes.iter().map(&mut class).collect()
    }

    fn with_experts(&self) -> impl Iterator<Item = &Layer> {
        self.layers.iter().filter(|layer| !layer.experts.is_empty())
    }

    /// The reads that bring `key`.
    pub(crate) fn extents(&self, key: ExpertKey) -> Arc<[Extent]> {
        Arc::clone(&self.layers[key.layer.index()].experts[key.expert.index()])
    }

    /// For each layer how many experts it has and how large a block they need.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.layers.iter().map(|layer| (layer.experts.len(), layer.block_bytes))
    }

    /// Whether there is such an expert.
    pub(crate) fn has(&self, layer: LayerIdx, expert: ExpertIdx) -> bool {
        self.layers.get(layer.index()).is_some_and(|layer| expert.index() < layer.experts.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = PAGE_BYTES;

    fn check(layers: &[(usize, usize)], budget_pages: usize, expected: &[(usize, usize)]) {
        let mut catalogue = Catalogue::default();
        for (index, (experts, pages)) in layers.iter().enumerate() {
            let none: Arc<[Extent]> = Arc::new([]);
            catalogue.add(LayerIdx(index as u32), &vec![none; *experts], pages * PAGE - 1);
        }
        let found: Vec<_> = catalogue
            .divide((budget_pages * PAGE) as u64)
            .iter()
            .map(|class| (class.block_bytes / PAGE, class.slots))
            .collect();
        assert_eq!(found, expected, "{layers:?} in {budget_pages} pages");
        assert!(expected.iter().map(|(pages, slots)| pages * slots).sum::<usize>() <= budget_pages);
    }

    #[test]
    fn equal_experts_share_all_slots() {
        check(&[(8, 3), (8, 3)], 20, &[(3, 6)]);
        check(&[(8, 3), (8, 3)], 1000, &[(3, 16)]);
        check(&[(8, 3)], 2, &[]);
        check(&[(0, 3)], 100, &[]);
        check(&[], 100, &[]);
    }

    #[test]
    fn unlike_experts_get_equal_shares_of_an_ample_budget() {
        check(&[(200, 2), (200, 3)], 1000, &[(2, 200), (3, 200)]);
        check(&[(200, 2), (200, 3)], 500, &[(2, 100), (3, 100)]);
        check(&[(200, 2), (200, 3)], 502, &[(2, 101), (3, 100)]);
        check(&[(200, 2), (10, 3), (200, 2)], 830, &[(2, 400), (3, 10)]);
        check(&[(200, 2), (1, 90)], 300, &[(2, 105), (90, 1)]); // the one large expert does not make all slots large
    }

    #[test]
    fn a_small_budget_is_not_divided() {
        check(&[(200, 2), (200, 3)], 300, &[(3, 100)]); // sixty of each would be too few
        check(&[(8, 2), (8, 3)], 30, &[(3, 10)]);
    }
}
