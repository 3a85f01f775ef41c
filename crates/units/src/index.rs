//! Typed indices: the compiler refuses an exchanged layer and expert.

use std::fmt;

/// Position of a layer in the stack, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayerIdx(pub u32);

/// Position of a routed expert within its layer, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpertIdx(pub u32);

/// One entry of the vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenId(pub u32);

/// One routed expert of the whole model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpertKey {
    /// The layer the expert belongs to.
    pub layer: LayerIdx,
    /// Its position within that layer.
    pub expert: ExpertIdx,
}

macro_rules! index {
    ($name:ident) => {
        impl $name {
            /// The position as an array index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

index!(LayerIdx);
index!(ExpertIdx);
index!(TokenId);

impl fmt::Display for ExpertKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "layer {} expert {}", self.layer, self.expert)
    }
}
