//! Which place is given up when a new expert needs one. A rule only ranks places; it never changes what is computed.

mod lru;

pub use lru::Lru;

/// A rule over places `0..slots`.
pub trait Policy: Send {
    /// The expert in `slot` was used or has just come.
    fn used(&mut self, slot: usize);

    /// The place to give up among those that are `free_to_go`; none if there is none.
    fn victim(&mut self, free_to_go: &dyn Fn(usize) -> bool) -> Option<usize>;
}
