//! Worker threads over one queue: the way to read asynchronously on every system and file system.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use crate::{
    Completion, Error, Extent, Files, Request, Source, Wait,
    queue::{Queue, REQUESTS},
};

/// What a worker does with a request: waits until every extent is in its place in the block.
pub(crate) trait Fill: Send + Sync + 'static {
    /// Returns the bytes read.
    fn fill(&self, extents: &[Extent], block: &mut [u8]) -> Result<u64, Error>;

    /// The name that users know.
    fn name(&self) -> &'static str;
}

/// Worker threads that fill blocks.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    files: Files,
    fallbacks: Vec<String>,
    in_flight: usize,
    read_bytes: u64,
}

/// What the threads share.
struct Shared {
    fill: Box<dyn Fill>,
    state: Mutex<State>,
    submitted: Condvar,
    finished: Condvar,
}

struct State {
    queue: Queue,
    done: VecDeque<Completion>,
    is_closed: bool,
}

impl Workers {
    pub(crate) fn new(fill: impl Fill, files: Files, threads: usize, mut fallbacks: Vec<String>) -> Workers {
        let state = State { queue: Queue::new(), done: VecDeque::with_capacity(REQUESTS), is_closed: false };
        let shared = Arc::new(Shared {
            fill: Box::new(fill),
            state: Mutex::new(state),
            submitted: Condvar::new(),
            finished: Condvar::new(),
        });
        let start = |index: usize| {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("read-{index}")).stack_size(128 << 10);
            builder.spawn(move || shared.work())
        };
        let mut started = Vec::with_capacity(threads.max(1));
        for index in 0..threads.max(1) {
            match start(index) {
                Ok(thread) => started.push(thread),
                Err(error) => {
                    fallbacks.push(format!("reading thread {index}: {error}; reading with {index}"));
                    break;
                }
            }
        }
        Workers { shared, threads: started, files, fallbacks, in_flight: 0, read_bytes: 0 }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Queues stay whole even if a thread panicked between two operations on them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(request) = self.next() {
            self.serve(request);
        }
    }

    fn serve(&self, mut request: Request) {
        let result = self.fill.fill(&request.extents, &mut request.block);
        self.lock().done.push_back(Completion { token: request.token, block: request.block, result });
        self.finished.notify_one();
    }

    /// The next request; none once the source is closed.
    fn next(&self) -> Option<Request> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(request) = state.queue.pop_any() {
                return Some(request);
            }
            state = self.submitted.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Source for Workers {
    fn submit(&mut self, request: Request) {
        self.files.check(&request.extents, request.block.len());
        self.in_flight += 1;
        if self.threads.is_empty() {
            self.shared.serve(request);
            return;
        }
        self.shared.lock().queue.push(request);
        self.shared.submitted.notify_one();
    }

    fn reap(&mut self, wait: Wait) -> Option<Completion> {
        if self.in_flight == 0 {
            return None;
        }
        let mut state = self.shared.lock();
        loop {
            if let Some(completion) = state.done.pop_front() {
                self.in_flight -= 1;
                self.read_bytes += completion.result.as_ref().copied().unwrap_or(0);
                return Some(completion);
            }
            if wait == Wait::No {
                return None;
            }
            state = self.shared.finished.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn promote(&mut self, token: u64) {
        self.shared.lock().queue.promote(token);
    }

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn name(&self) -> &'static str {
        self.shared.fill.name()
    }

    fn fallbacks(&self) -> &[String] {
        &self.fallbacks
    }

    fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.submitted.notify_all();
        for thread in self.threads.drain(..) {
            // A thread that panicked has nothing left to give back.
            let _ = thread.join();
        }
    }
}
