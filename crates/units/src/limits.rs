//! Every hard limit of the engine, in one place.

/// Routed experts of one layer.
pub const EXPERTS_MAX: usize = 4096;
/// Experts chosen for one token.
pub const ACTIVE_MAX: usize = 64;
/// Layers of one model.
pub const LAYERS_MAX: usize = 4096;
/// Entries of a vocabulary.
pub const VOCAB_MAX: usize = 1 << 24;
/// Width of a hidden state or an inner layer.
pub const WIDTH_MAX: usize = 1 << 20;
/// Tokens of context that a configuration may ask for.
pub const CONTEXT_MAX: usize = 1 << 26;
/// Bytes of a JSON header or configuration file.
pub const HEADER_BYTES_MAX: u64 = 100_000_000;
/// Tensors of one checkpoint.
pub const TENSORS_MAX: usize = 4_000_000;
/// Alignment of direct reads, of blocks in memory and of packed experts on disk.
pub const PAGE_BYTES: usize = 4096;
/// Lanes of every sum of products (the canonical order).
pub const LANES: usize = 16;
/// Most extents that one expert may be scattered over.
pub const EXTENTS_MAX: usize = 16;

const _: () = assert!(ACTIVE_MAX <= EXPERTS_MAX && PAGE_BYTES.is_power_of_two());
