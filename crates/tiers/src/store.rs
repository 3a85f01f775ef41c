//! The store: requests, loads and leases under one byte budget.
//!
//! The blocks are made once, at the start, and only move between their slot and a read in progress. So nothing is allocated
//! while a model runs, and nobody can look at bytes that are still being written.

mod predict;

use std::{collections::VecDeque, time::Instant};

use storage::{Completion, Priority, Request, Source, Wait};
use units::{ExpertIdx, ExpertKey, LayerIdx};

use crate::{
    Catalogue, Error, Lease, Stats,
    policy::{Lru, Policy},
    slots::{Slots, State},
};

/// Reads in progress at once: more than any drive serves at a time, and fewer than a source makes room for.
const READS_MAX: usize = 128;

/// Experts in memory and the way to get more.
pub struct Store {
    source: Box<dyn Source>,
    catalogue: Catalogue,
    slots: Slots,
    /// For each class of slots its rule.
    policies: Vec<Box<dyn Policy>>,
    /// Experts of the current request that have no slot yet.
    waiting: VecDeque<ExpertKey>,
    /// Slots whose experts can be taken.
    ready: VecDeque<usize>,
    /// Slots of the current request whose experts are being read.
    arriving: usize,
    /// Reads in progress that nobody has asked for yet.
    guesses: usize,
    stats: Stats,
}

impl Store {
    /// A store over `source` with as many slots as `budget_bytes` holds ([`Catalogue::divide`]).
    ///
    /// # Errors
    /// The budget does not hold one expert.
    pub fn new(source: Box<dyn Source>, catalogue: Catalogue, budget_bytes: u64) -> Result<Store, Error> {
        let classes = catalogue.divide(budget_bytes);
        if classes.is_empty() {
            let needed = catalogue.block_bytes().max(1) as u64;
            return Err(Error::Budget { needed, found: budget_bytes });
        }
        let widest = catalogue.layers().map(|(experts, _)| experts).max().unwrap_or(0);
        let slots = Slots::new(&catalogue, &classes);
        let policy = |class: &std::ops::Range<usize>| Box::new(Lru::new(class.len())) as Box<dyn Policy>;
        Ok(Store {
            policies: slots.classes().iter().map(policy).collect(),
            waiting: VecDeque::with_capacity(widest),
            ready: VecDeque::with_capacity(slots.count()),
            arriving: 0,
            guesses: 0,
            stats: Stats::default(),
            source,
            catalogue,
            slots,
        })
    }

    /// Asks for `experts` of `layer`, all at once. Those in memory can be taken at once, reads of the others begin; what an
    /// earlier request left is forgotten. An expert listed twice is given once.
    ///
    /// # Errors
    /// The model has no such expert; nothing is requested then.
    pub fn request(&mut self, layer: LayerIdx, experts: &[ExpertIdx]) -> Result<(), Error> {
        self.abandon();
        self.know(layer, experts)?;
        for &expert in experts {
            self.want(ExpertKey { layer, expert });
        }
        self.load();
        Ok(())
    }

    fn know(&self, layer: LayerIdx, experts: &[ExpertIdx]) -> Result<(), Error> {
        let unknown = experts.iter().find(|expert| !self.catalogue.has(layer, **expert));
        unknown.map_or(Ok(()), |&expert| Err(Error::Unknown { key: ExpertKey { layer, expert } }))
    }

    fn want(&mut self, key: ExpertKey) {
        let place = self.slots.find(key);
        if self.waiting.contains(&key) || place.is_some_and(|slot| self.slots.is_wanted(slot)) {
            return;
        }
        self.stats.requests += 1;
        let Some(slot) = place else {
            self.stats.misses += 1;
            self.waiting.push_back(key);
            return;
        };
        self.slots.want(slot, true);
        self.stats.predicted_used += u64::from(self.slots.confirm_guess(slot));
        if let State::Loading(_, priority) = self.slots.state(slot) {
            self.stats.misses += 1;
            self.arriving += 1;
            if priority == Priority::Predicted {
                self.guesses -= 1;
                self.slots.demand(slot);
                self.source.promote(slot as u64);
            }
        } else {
            self.stats.hits += 1;
            self.ready.push_back(slot);
        }
    }

    /// The next expert of the request: those that were in memory first, then the others as they arrive. Waits only when
    /// none is ready; `None` when the request is exhausted.
    ///
    /// When the store is smaller than the request, slots are reused once their leases end.
    ///
    /// # Errors
    /// An expert cannot be read, or every slot that could hold it is leased. The rest of the request is then forgotten; the
    /// store is as good as before.
    pub fn take(&mut self) -> Result<Option<Lease>, Error> {
        loop {
            while let Some(completion) = self.source.reap(Wait::No) {
                self.arrived(completion)?;
            }
            self.load();
            if let Some(slot) = self.ready.pop_front() {
                self.slots.want(slot, false);
                self.used(slot);
                return Ok(Some(self.slots.lease(slot)));
            }
            match self.waiting.front() {
                None if self.arriving == 0 => return Ok(None),
                Some(&key) if self.source.in_flight() == 0 => {
                    self.abandon();
                    let slots = self.slots.classes()[self.slots.class_of(key.layer)].len();
                    return Err(Error::AllLeased { key, slots });
                }
                _ => {}
            }
            let start = Instant::now();
            let completion = self.source.reap(Wait::Yes);
            self.stats.wait_us += start.elapsed().as_micros() as u64;
            if let Some(completion) = completion {
                self.arrived(completion)?;
            }
        }
    }

    /// Starts reads for waiting experts while slots can be given up.
    fn load(&mut self) {
        while self.source.in_flight() < READS_MAX
            && let Some(&key) = self.waiting.front()
            && let Some(slot) = self.begin(key, Priority::Demand)
        {
            self.waiting.pop_front();
            self.slots.want(slot, true);
            self.arriving += 1;
        }
    }

    /// Begins to read `key` into a slot that can be given up; none if there is no such slot.
    fn begin(&mut self, key: ExpertKey, priority: Priority) -> Option<usize> {
        let class = self.slots.class_of(key.layer);
        let (slots, first) = (&self.slots, self.slots.classes()[class].start);
        let slot = first + self.policies[class].victim(&|at| slots.is_free_to_go(first + at))?;
        let block = self.slots.begin_load(slot, key, priority);
        self.used(slot);
        let extents = self.catalogue.extents(key);
        self.source.submit(Request { token: slot as u64, extents, block, priority });
        Some(slot)
    }

    /// Puts a block that the source has finished with into its slot.
    fn arrived(&mut self, completion: Completion) -> Result<(), Error> {
        let slot = completion.token as usize;
        let is_wanted = self.slots.is_wanted(slot);
        if let State::Loading(_, Priority::Predicted) = self.slots.state(slot) {
            self.guesses -= 1;
        }
        match completion.result {
            Ok(bytes) => {
                self.stats.read_bytes += bytes;
                self.slots.end_load(slot, completion.block);
                if is_wanted {
                    self.arriving -= 1;
                    self.ready.push_back(slot);
                }
                Ok(())
            }
            Err(source) => {
                self.stats.failed += 1;
                let key = self.slots.fail_load(slot, completion.block);
                let (class, at) = self.class_and_place(slot);
                self.policies[class].emptied(at);
                if !is_wanted {
                    return Ok(());
                }
                self.abandon();
                Err(Error::Read { key, source })
            }
        }
    }

    fn used(&mut self, slot: usize) {
        let (class, at) = self.class_and_place(slot);
        self.policies[class].used(at);
    }

    /// The class of a slot and its position there.
    fn class_and_place(&self, slot: usize) -> (usize, usize) {
        let classes = self.slots.classes();
        let class = classes.partition_point(|class| class.end <= slot);
        (class, slot - classes[class].start)
    }

    /// Forgets the current request. Reads in progress go on; their experts will be resident.
    fn abandon(&mut self) {
        self.waiting.clear();
        self.ready.clear();
        self.arriving = 0;
        self.slots.want_nothing();
    }

    /// Counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Sets all counters to 0.
    pub fn clear_stats(&mut self) {
        self.stats = Stats::default();
    }

    /// Experts that fit at once.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.count()
    }

    /// Whether every expert has a slot, so that after each was read once nothing is read again.
    #[must_use]
    pub fn all_resident(&self) -> bool {
        self.slots.count() == self.catalogue.experts()
    }

    /// The way of reading in use.
    #[must_use]
    pub fn source_name(&self) -> &'static str {
        self.source.name()
    }

    /// Ways of reading that were wanted and could not be had, with the reason.
    #[must_use]
    pub fn fallbacks(&self) -> &[String] {
        self.source.fallbacks()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("slots", &self.slots.count())
            .field("stats", &self.stats)
            .finish_non_exhaustive()
    }
}
