//! Least recently used: a doubly linked list over the slots, the oldest first. No allocation, and constant time unless the
//! oldest may not go.

use super::Policy;

/// Gives up the slot that has not been used for longest.
#[derive(Debug)]
pub struct Lru {
    /// For each slot its older and younger neighbour; the last entry is the head that ties the ends together.
    links: Vec<(usize, usize)>,
}

impl Lru {
    /// A rule over `slots` places; at first slot 0 is the oldest.
    #[must_use]
    pub fn new(slots: usize) -> Lru {
        let count = slots + 1;
        Lru { links: (0..count).map(|at| ((at + count - 1) % count, (at + 1) % count)).collect() }
    }

    fn head(&self) -> usize {
        self.links.len() - 1
    }

    /// Moves `slot` to between `older` and its younger neighbour.
    fn put_after(&mut self, slot: usize, older: usize) {
        let younger = self.links[older].1;
        self.links[slot] = (older, younger);
        self.links[older].1 = slot;
        self.links[younger].0 = slot;
    }

    fn take_out(&mut self, slot: usize) {
        let (older, younger) = self.links[slot];
        self.links[older].1 = younger;
        self.links[younger].0 = older;
    }
}

impl Policy for Lru {
    fn used(&mut self, slot: usize) {
        self.take_out(slot);
        let youngest = self.links[self.head()].0;
        self.put_after(slot, youngest);
    }

    fn emptied(&mut self, slot: usize) {
        self.take_out(slot);
        self.put_after(slot, self.head());
    }

    fn victim(&mut self, free_to_go: &dyn Fn(usize) -> bool) -> Option<usize> {
        let head = self.head();
        let mut at = self.links[head].1;
        while at != head {
            if free_to_go(at) {
                return Some(at);
            }
            at = self.links[at].1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first() {
        let mut lru = Lru::new(3);
        assert_eq!(lru.victim(&|_| true), Some(0));
        lru.used(0);
        assert_eq!(lru.victim(&|_| true), Some(1));
        lru.used(1);
        lru.used(0);
        assert_eq!(lru.victim(&|_| true), Some(2));
        assert_eq!(lru.victim(&|slot| slot != 2), Some(1));
        assert_eq!(lru.victim(&|_| false), None);
        lru.used(2);
        lru.used(2);
        assert_eq!(lru.victim(&|_| true), Some(1));
        lru.emptied(2);
        assert_eq!(lru.victim(&|_| true), Some(2));
        lru.emptied(2);
        assert_eq!(lru.victim(&|slot| slot != 2), Some(1));
    }
}
