//! A throttled source delivers the same bytes no faster than told. Time is a number here, so nothing sleeps.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use storage::{Clock, Completion, Priority, Request, Source, Throttle, Wait};
use units::Arena;

/// A clock that moves only when someone waits.
#[derive(Clone, Default)]
struct Hand(Arc<AtomicU64>);

impl Clock for Hand {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(Ordering::Relaxed))
    }

    fn wait_until(&mut self, moment: Duration) {
        self.0.fetch_max(moment.as_millis() as u64, Ordering::Relaxed);
    }
}

/// A source that reads 1000 bytes for every request, at once.
#[derive(Default)]
struct Instantly(VecDeque<Request>);

impl Source for Instantly {
    fn submit(&mut self, request: Request) {
        self.0.push_back(request);
    }

    fn reap(&mut self, _: Wait) -> Option<Completion> {
        let request = self.0.pop_front()?;
        Some(Completion { token: request.token, block: request.block, result: Ok(1000) })
    }

    fn promote(&mut self, _: u64) {}

    fn in_flight(&self) -> usize {
        self.0.len()
    }

    fn name(&self) -> &'static str {
        "instantly"
    }

    fn fallbacks(&self) -> &[String] {
        &[]
    }

    fn read_bytes(&self) -> u64 {
        0
    }
}

fn request(token: u64) -> Request {
    let block = Arena::new(1).cut(1).expect("a page");
    Request { token, extents: Arc::new([]), block, priority: Priority::Demand }
}

#[test]
fn completions_come_when_they_are_due() {
    let hand = Hand::default();
    // 1000 bytes take 10 ms.
    let mut source = Throttle::new(Instantly::default(), 100_000, hand.clone());
    assert!(source.reap(Wait::Yes).is_none(), "nothing is in flight");
    (0..3).for_each(|token| source.submit(request(token)));
    assert!(source.reap(Wait::No).is_none() && source.in_flight() == 3);
    for token in 0..3 {
        assert_eq!(source.reap(Wait::Yes).map(|done| done.token), Some(token));
        assert_eq!(hand.now(), Duration::from_millis(10 * (token + 1)));
    }
    // The drive was idle for a while; that earns nothing.
    hand.clone().wait_until(Duration::from_millis(500));
    source.submit(request(3));
    assert!(source.reap(Wait::No).is_none());
    hand.clone().wait_until(Duration::from_millis(510));
    assert_eq!(source.reap(Wait::No).map(|done| done.token), Some(3));
}
