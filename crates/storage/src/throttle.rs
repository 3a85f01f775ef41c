//! A source that is as slow as a given drive: to see how an engine behaves on one, and to leave room for other programs.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use crate::{Completion, Request, Source, Wait};

/// Time as the throttle sees it.
pub trait Clock: Send {
    /// Time since some fixed moment.
    fn now(&self) -> Duration;

    /// Returns no earlier than at `moment`.
    fn wait_until(&mut self, moment: Duration);
}

/// The clock on the wall.
#[derive(Debug)]
pub struct Wall(Instant);

impl Default for Wall {
    fn default() -> Wall {
        Wall(Instant::now())
    }
}

impl Clock for Wall {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait_until(&mut self, moment: Duration) {
        std::thread::sleep(moment.saturating_sub(self.now()));
    }
}

/// Any source, no faster than so many bytes a second.
pub struct Throttle<S, C = Wall> {
    inner: S,
    clock: C,
    bytes_per_s: u64,
    /// When the drive has delivered everything that it was asked for.
    free_at: Duration,
    /// Completions and when they are due, in order.
    due: VecDeque<(Duration, Completion)>,
}

impl<S: Source, C: Clock> Throttle<S, C> {
    /// `inner`, no faster than `bytes_per_s`.
    #[must_use]
    pub fn new(inner: S, bytes_per_s: u64, clock: C) -> Throttle<S, C> {
        let free_at = clock.now();
        Throttle { inner, clock, bytes_per_s: bytes_per_s.max(1), free_at, due: VecDeque::new() }
    }

    /// Notes when a completion would have come from the slow drive.
    fn delay(&mut self, completion: Completion) {
        let bytes = completion.result.as_ref().copied().unwrap_or(0);
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(self.bytes_per_s);
        self.free_at += Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
        self.due.push_back((self.free_at, completion));
    }
}

impl<S: Source, C: Clock> Source for Throttle<S, C> {
    fn submit(&mut self, request: Request) {
        // An idle drive does not save up time.
        if self.in_flight() == 0 {
            self.free_at = self.free_at.max(self.clock.now());
        }
        self.inner.submit(request);
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        while let Some(completion) = self.inner.reap(Wait::No) {
            self.delay(completion);
        }
        if wait == Wait::Yes {
            if self.due.is_empty() {
                let completion = self.inner.reap(Wait::Yes)?;
                self.delay(completion);
            }
            let (moment, _) = self.due.front()?;
            self.clock.wait_until(*moment);
        }
        let is_due = self.due.front().is_some_and(|(moment, _)| *moment <= self.clock.now());
        if is_due { self.due.pop_front().map(|(_, completion)| completion) } else { None }
    }

    fn promote(&mut self, token: u64) {
        self.inner.promote(token);
    }

    fn in_flight(&self) -> usize {
        self.inner.in_flight() + self.due.len()
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
