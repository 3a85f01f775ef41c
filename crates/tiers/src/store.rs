//! The store: requests, loads and leases under one byte budget.
//!
//! The blocks are made once, at the start, and only move: between their place, a read in progress and a lease. So nothing
//! is allocated while a model runs, and nobody can look at bytes that are still being written.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use storage::{Completion, Priority, Request, Source, Wait};
use units::{ExpertIdx, ExpertKey, LayerIdx};

use crate::{
    Catalogue, Error, Lease, Stats,
    lease::Returns,
    policy::{Lru, Policy},
    slots::{Slots, State},
};

/// Experts in memory and the way to get more.
pub struct Store {
    source: Box<dyn Source>,
    catalogue: Catalogue,
    slots: Slots,
    policy: Box<dyn Policy>,
    home: Arc<Returns>,
    /// Experts of the current request that have no place yet.
    waiting: VecDeque<ExpertKey>,
    /// Places whose experts can be taken.
    ready: VecDeque<usize>,
    /// Places of the current request whose experts are being read.
    arriving: usize,
    stats: Stats,
}

impl Store {
    /// A store over `source` with as many places as `budget_bytes` holds, but no more than there are experts.
    ///
    /// # Errors
    /// The budget does not hold one expert.
    pub fn new(source: Box<dyn Source>, catalogue: Catalogue, budget_bytes: u64) -> Result<Store, Error> {
        let needed = catalogue.block_bytes().max(1) as u64;
        let count = (budget_bytes / needed).min(catalogue.experts() as u64) as usize;
        if count == 0 {
            return Err(Error::Budget { needed, found: budget_bytes });
        }
        let widest = catalogue.widths().max().unwrap_or(0);
        Ok(Store {
            slots: Slots::new(&catalogue, count),
            policy: Box::new(Lru::new(count)),
            home: Returns::new(count),
            waiting: VecDeque::with_capacity(widest),
            ready: VecDeque::with_capacity(count),
            arriving: 0,
            stats: Stats::default(),
            source,
            catalogue,
        })
    }

    /// Asks for `experts` of `layer`, all at once. Those in memory can be taken at once, reads of the others begin; what an
    /// earlier request left is forgotten. An expert listed twice is given once.
    ///
    /// # Errors
    /// The model has no such expert; nothing is requested then.
    pub fn request(&mut self, layer: LayerIdx, experts: &[ExpertIdx]) -> Result<(), Error> {
        self.abandon();
        if let Some(&expert) = experts.iter().find(|expert| !self.catalogue.has(layer, **expert)) {
            return Err(Error::Unknown { key: ExpertKey { layer, expert } });
        }
        self.collect();
        for &expert in experts {
            self.want(ExpertKey { layer, expert });
        }
        self.load();
        Ok(())
    }

    fn want(&mut self, key: ExpertKey) {
        let place = self.slots.find(key);
        if self.waiting.contains(&key) || place.is_some_and(|slot| self.slots.is_wanted(slot)) {
            return;
        }
        self.stats.requests += 1;
        match place.map(|slot| (slot, self.slots.state(slot))) {
            Some((slot, State::Resident(_) | State::Leased(_))) => {
                self.stats.hits += 1;
                self.slots.want(slot, true);
                self.ready.push_back(slot);
            }
            Some((slot, State::Loading(_))) => {
                self.stats.misses += 1;
                self.slots.want(slot, true);
                self.arriving += 1;
            }
            Some((_, State::Empty)) | None => {
                self.stats.misses += 1;
                self.waiting.push_back(key);
            }
        }
    }

    /// The next expert of the request: those that were in memory first, then the others as they arrive. Waits only when
    /// none is ready; `None` when the request is exhausted.
    ///
    /// When the cache is smaller than the request, places are reused once their leases end; hold no lease over a call.
    ///
    /// # Errors
    /// An expert cannot be read, or every place is leased. The rest of the request is then forgotten; the store is as good
    /// as before.
    pub fn take(&mut self) -> Result<Option<Lease>, Error> {
        self.collect();
        loop {
            while let Some(completion) = self.source.reap(Wait::No) {
                self.arrived(completion)?;
            }
            self.load();
            if let Some(lease) = self.next_ready()? {
                return Ok(Some(lease));
            }
            if self.arriving == 0 && self.waiting.is_empty() {
                return Ok(None);
            }
            if self.source.in_flight() == 0 {
                self.abandon();
                return Err(Error::AllLeased { slots: self.slots.count() });
            }
            let start = Instant::now();
            let completion = self.source.reap(Wait::Yes);
            self.stats.wait_us += start.elapsed().as_micros() as u64;
            if let Some(completion) = completion {
                self.arrived(completion)?;
            }
        }
    }

    fn next_ready(&mut self) -> Result<Option<Lease>, Error> {
        let Some(slot) = self.ready.pop_front() else { return Ok(None) };
        self.slots.want(slot, false);
        self.policy.used(slot);
        let Some((key, block)) = self.slots.lease(slot) else {
            self.abandon();
            return Err(Error::AllLeased { slots: self.slots.count() });
        };
        Ok(Some(Lease::new(key, slot, block, &self.home)))
    }

    /// Starts reads for waiting experts while places can be given up.
    fn load(&mut self) {
        while let Some(&key) = self.waiting.front() {
            let slots = &self.slots;
            let Some(slot) = self.policy.victim(&|slot| slots.is_free_to_go(slot)) else { return };
            self.waiting.pop_front();
            let block = self.slots.begin_load(slot, key);
            self.slots.want(slot, true);
            self.policy.used(slot);
            self.arriving += 1;
            let extents = self.catalogue.extents(key);
            self.source.submit(Request { token: slot as u64, extents, block, priority: Priority::Demand });
        }
    }

    /// Puts a block that the source has finished with into its place.
    fn arrived(&mut self, completion: Completion) -> Result<(), Error> {
        let slot = completion.token as usize;
        let is_wanted = self.slots.is_wanted(slot);
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
                let key = self.slots.fail_load(slot, completion.block);
                if !is_wanted {
                    return Ok(());
                }
                self.abandon();
                Err(Error::Read { key, source })
            }
        }
    }

    /// Takes back what leases have returned.
    fn collect(&mut self) {
        while let Some((slot, block)) = self.home.pop() {
            self.slots.give_back(slot, block);
        }
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

    /// Places for experts.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.count()
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
