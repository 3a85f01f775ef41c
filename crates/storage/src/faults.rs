//! A source that is unpleasant on purpose: completions late, out of order or failed, all decided by a seed. What happens
//! below a source, such as short reads, is in [`crate::Mishaps`].

use std::{collections::VecDeque, io, path::Path};

use units::Rng;

use crate::{Completion, Error, Request, Source, Wait};

/// How often what happens. The default is a source without fault.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// One completion in so many becomes an input/output error; 0 for none.
    pub error_one_in: u64,
    /// Completions that may be held back, so that they come late and out of order.
    pub held_most: usize,
    /// Decides everything.
    pub seed: u64,
}

/// Any source, with faults.
pub struct Faulty<S> {
    inner: S,
    faults: Faults,
    rng: Rng,
    held: VecDeque<Completion>,
}

impl<S: Source> Faulty<S> {
    /// `inner` with `faults`.
    #[must_use]
    pub fn new(inner: S, faults: Faults) -> Faulty<S> {
        Faulty { inner, faults, rng: Rng::new(faults.seed), held: VecDeque::new() }
    }

    fn spoil(&mut self, mut completion: Completion) -> Completion {
        if self.faults.error_one_in > 0 && self.rng.below(self.faults.error_one_in) == 0 {
            completion.block.fill(0xA5);
            completion.result = Err(Error::Read {
                file: Path::new("a faulty drive").to_path_buf(),
                offset_bytes: completion.token,
                source: io::Error::from_raw_os_error(5),
            });
        }
        completion
    }
}

impl<S: Source> Source for Faulty<S> {
    fn submit(&mut self, request: Request) {
        self.inner.submit(request);
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        while self.held.len() < self.faults.held_most.max(1) {
            let must = wait == Wait::Yes && self.held.is_empty();
            match self.inner.reap(if must { Wait::Yes } else { Wait::No }) {
                Some(completion) => self.held.push_back(completion),
                None => break,
            }
        }
        if self.held.is_empty() || (wait == Wait::No && self.rng.below(2) == 0) {
            return None;
        }
        let at = self.rng.below(self.held.len() as u64) as usize;
        let completion = self.held.remove(at)?;
        Some(self.spoil(completion))
    }

    fn promote(&mut self, token: u64) {
        self.inner.promote(token);
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.held.len()
    }

    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn fallbacks(&self) -> &[String] {
        self.inner.fallbacks()
    }

    fn read_bytes(&self) -> u64 {
        self.inner.read_bytes()
    }
}
