//! The places of the store: what each holds, and where each expert is.

use units::{Arena, Block, ExpertKey};

use crate::catalogue::Catalogue;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// What a place is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing is in it.
    Empty,
    /// Its block is with the source.
    Loading(ExpertKey),
    /// Its block holds this expert.
    Resident(ExpertKey),
    /// Its block is out on a lease.
    Leased(ExpertKey),
}

/// All places, and the way from an expert to its place.
#[derive(Debug)]
pub(crate) struct Slots {
    states: Vec<State>,
    blocks: Vec<Option<Block>>,
    /// Places that the current request still needs; they may not be given up.
    wanted: Vec<bool>,
    /// For each layer and expert its place.
    places: Vec<Vec<u32>>,
}

impl Slots {
    pub(crate) fn new(catalogue: &Catalogue, count: usize) -> Slots {
        let bytes = catalogue.block_bytes();
        let mut arena = Arena::new(bytes * count);
        Slots {
            states: vec![State::Empty; count],
            blocks: (0..count).map(|_| arena.cut(bytes)).collect(),
            wanted: vec![false; count],
            places: catalogue.widths().map(|experts| vec![NOWHERE; experts]).collect(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.states.len()
    }

    pub(crate) fn find(&self, key: ExpertKey) -> Option<usize> {
        let place = self.places[key.layer.index()][key.expert.index()];
        (place != NOWHERE).then_some(place as usize)
    }

    pub(crate) fn state(&self, slot: usize) -> State {
        self.states[slot]
    }

    /// Whether the place may be given to another expert now.
    pub(crate) fn is_free_to_go(&self, slot: usize) -> bool {
        matches!(self.states[slot], State::Empty | State::Resident(_)) && !self.wanted[slot]
    }

    pub(crate) fn is_wanted(&self, slot: usize) -> bool {
        self.wanted[slot]
    }

    pub(crate) fn want(&mut self, slot: usize, wanted: bool) {
        self.wanted[slot] = wanted;
    }

    pub(crate) fn want_nothing(&mut self) {
        self.wanted.fill(false);
    }

    /// Takes the place's block for reading `key` into it; whatever was there is forgotten.
    pub(crate) fn begin_load(&mut self, slot: usize, key: ExpertKey) -> Block {
        if let State::Resident(old) = self.states[slot] {
            self.places[old.layer.index()][old.expert.index()] = NOWHERE;
        }
        self.states[slot] = State::Loading(key);
        self.places[key.layer.index()][key.expert.index()] = slot as u32;
        self.blocks[slot].take().expect("a place that may be given up holds its block")
    }

    /// The block is back from the source, filled. Returns what it holds.
    pub(crate) fn end_load(&mut self, slot: usize, block: Block) -> ExpertKey {
        let State::Loading(key) = self.states[slot] else { unreachable!("a completion belongs to a load") };
        self.states[slot] = State::Resident(key);
        self.blocks[slot] = Some(block);
        key
    }

    /// The block is back from the source, not filled. Returns what it should have held.
    pub(crate) fn fail_load(&mut self, slot: usize, block: Block) -> ExpertKey {
        let key = self.end_load(slot, block);
        self.states[slot] = State::Empty;
        self.places[key.layer.index()][key.expert.index()] = NOWHERE;
        key
    }

    /// Takes a resident block out for a lease.
    pub(crate) fn lease(&mut self, slot: usize) -> Option<(ExpertKey, Block)> {
        let State::Resident(key) = self.states[slot] else { return None };
        let block = self.blocks[slot].take()?;
        self.states[slot] = State::Leased(key);
        Some((key, block))
    }

    /// A lease has ended.
    pub(crate) fn give_back(&mut self, slot: usize, block: Block) {
        if let State::Leased(key) = self.states[slot] {
            self.states[slot] = State::Resident(key);
        }
        self.blocks[slot] = Some(block);
    }
}
