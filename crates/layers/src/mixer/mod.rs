//! Blocks that look at other positions.

pub mod gqa;
