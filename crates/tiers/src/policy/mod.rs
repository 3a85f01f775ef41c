//! Which slot is given up when a new expert needs one. A rule only ranks slots; it never changes what is computed.

mod lru;

pub use lru::Lru;

/// A rule over slots `0..slots`.
pub trait Policy: Send {
    /// The expert in `slot` was used or is about to come.
    fn used(&mut self, slot: usize);

    /// Nothing is in `slot` any more.
    fn emptied(&mut self, slot: usize);

    /// The slot to give up among those that are `free_to_go`; none if there is none.
    fn victim(&mut self, free_to_go: &dyn Fn(usize) -> bool) -> Option<usize>;
}
