//! The canonical order, held against a second, naive implementation of it.

mod naive;

mod canonical;
mod golden;
mod vectors;
