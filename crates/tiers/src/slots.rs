//! The slots of the store: what each holds, and where each expert is.
//!
//! The blocks are made once and only move between their slot and the source; leases share them in place.

use std::{
    ops::Range,
    sync::{Arc, OnceLock},
};

use storage::Priority;
use units::{Arena, Block, ExpertKey, LayerIdx};

use crate::{
    Lease,
    catalogue::{Catalogue, Class},
    lease::Shelf,
};

/// No slot.
const NOWHERE: u32 = u32::MAX;

/// What a slot is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is in it.
    Empty,
    /// Its block is with the source, for this reason.
    Loading(ExpertKey, Priority),
    /// Its block holds this expert.
    Resident(ExpertKey),
}

/// One slot.
#[derive(Debug)]
struct Slot {
    state: State,
    shelf: Shelf,
    /// The current request still needs it; it may not be given up.
    is_wanted: bool,
    /// It was filled by a prediction that nobody has used yet.
    is_guess: bool,
}

/// All slots, and the way from an expert to its slot.
#[derive(Debug)]
pub(crate) struct Slots {
    slots: Vec<Slot>,
    /// For each class its slots.
    classes: Vec<Range<usize>>,
    layers: Vec<Layer>,
}

/// Where the experts of a layer are.
#[derive(Debug)]
struct Layer {
    /// For each expert its slot.
    places: Vec<u32>,
    class: usize,
}

impl Slots {
    /// Slots as `classes` say, whose blocks grow in size.
    pub(crate) fn new(catalogue: &Catalogue, classes: &[Class]) -> Slots {
        let mut arena = Arena::new(classes.iter().map(|class| class.block_bytes * class.slots).sum());
        let mut slots = Vec::with_capacity(classes.iter().map(|class| class.slots).sum());
        let mut ranges = Vec::with_capacity(classes.len());
        for class in classes {
            let first = slots.len();
            slots.extend((0..class.slots).map_while(|_| arena.cut(class.block_bytes)).map(Slot::new));
            ranges.push(first..slots.len());
        }
        let layer = |(experts, block_bytes): (usize, usize)| Layer {
            places: vec![NOWHERE; experts],
            // The last class holds any expert.
            class: classes.partition_point(|class| class.block_bytes < block_bytes).min(classes.len() - 1),
        };
        Slots { slots, classes: ranges, layers: catalogue.layers().map(layer).collect() }
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// For each class its slots.
    pub(crate) fn classes(&self) -> &[Range<usize>] {
        &self.classes
    }

    /// The class whose slots hold the experts of `layer`.
    pub(crate) fn class_of(&self, layer: LayerIdx) -> usize {
        self.layers[layer.index()].class
    }

    /// The slot that holds `key` or will.
    pub(crate) fn find(&self, key: ExpertKey) -> Option<usize> {
        let place = self.layers[key.layer.index()].places[key.expert.index()];
        (place != NOWHERE).then_some(place as usize)
    }

    fn set_place(&mut self, key: ExpertKey, place: u32) {
        self.layers[key.layer.index()].places[key.expert.index()] = place;
    }

    pub(crate) fn state(&self, slot: usize) -> State {
        self.slots[slot].state
    }

    /// Whether the slot may be given to another expert now: nobody reads it, waits for it or fills it.
    pub(crate) fn is_free_to_go(&self, slot: usize) -> bool {
        let slot = &self.slots[slot];
        !matches!(slot.state, State::Loading(..)) && !slot.is_wanted && Arc::strong_count(&slot.shelf) == 1
    }

    pub(crate) fn is_wanted(&self, slot: usize) -> bool {
        self.slots[slot].is_wanted
    }

    pub(crate) fn want(&mut self, slot: usize, is_wanted: bool) {
        self.slots[slot].is_wanted = is_wanted;
    }

    pub(crate) fn want_nothing(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.is_wanted = false);
    }

    /// Whether the slot came by a prediction that is used now for the first time.
    pub(crate) fn confirm_guess(&mut self, slot: usize) -> bool {
        std::mem::take(&mut self.slots[slot].is_guess)
    }

    /// A predicted load has become a demanded one.
    pub(crate) fn demand(&mut self, slot: usize) {
        if let State::Loading(_, priority) = &mut self.slots[slot].state {
            *priority = Priority::Demand;
        }
    }

    /// Takes the block of a slot that is free to go, for reading `key` into it; whatever was there is forgotten.
    pub(crate) fn begin_load(&mut self, slot: usize, key: ExpertKey, priority: Priority) -> Block {
        if let State::Resident(old) = self.slots[slot].state {
            self.set_place(old, NOWHERE);
        }
        self.set_place(key, slot as u32);
        let slot = &mut self.slots[slot];
        slot.state = State::Loading(key, priority);
        slot.is_guess = priority == Priority::Predicted;
        let shelf = Arc::get_mut(&mut slot.shelf).expect("nobody shares a slot that is free to go");
        shelf.take().expect("a slot that is not loading has its block")
    }

    /// The block is back from the source, filled.
    pub(crate) fn end_load(&mut self, slot: usize, block: Block) {
        let slot = &mut self.slots[slot];
        let State::Loading(key, _) = slot.state else { unreachable!("a completion belongs to a load") };
        slot.state = State::Resident(key);
        slot.shelf.set(block).expect("the block of a loading slot was taken out");
    }

    /// The block is back from the source, not filled. Returns what it should have held.
    pub(crate) fn fail_load(&mut self, slot: usize, block: Block) -> ExpertKey {
        self.end_load(slot, block);
        let State::Resident(key) = self.slots[slot].state else { unreachable!("`end_load` made it so") };
        self.set_place(key, NOWHERE);
        self.slots[slot].state = State::Empty;
        self.slots[slot].is_guess = false;
        key
    }

    /// A lease of what a resident slot holds.
    pub(crate) fn lease(&self, slot: usize) -> Lease {
        let slot = &self.slots[slot];
        let State::Resident(key) = slot.state else { unreachable!("only resident slots become ready") };
        Lease::new(key, &slot.shelf)
    }
}

impl Slot {
    fn new(block: Block) -> Slot {
        let shelf = Arc::new(OnceLock::from(block));
        Slot { state: State::Empty, shelf, is_wanted: false, is_guess: false }
    }
}
