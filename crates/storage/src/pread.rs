//! Reading with worker threads that call `pread`: works on every system and file system.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use crate::{Completion, Files, Priority, Request, Source, Wait, whole::read_extents};

/// Worker threads over one queue.
pub(crate) struct Pread {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    files: Files,
    fallbacks: Vec<String>,
    in_flight: usize,
    read_bytes: u64,
}

/// What the threads share.
struct Shared {
    state: Mutex<State>,
    submitted: Condvar,
    finished: Condvar,
}

#[derive(Default)]
struct State {
    demanded: VecDeque<Request>,
    predicted: VecDeque<Request>,
    done: VecDeque<Completion>,
    is_closed: bool,
}

impl Pread {
    pub(crate) fn new(files: Files, threads: usize, fallbacks: Vec<String>) -> Pread {
        let shared = Arc::new(Shared {
            state: Mutex::new(State::default()),
            submitted: Condvar::new(),
            finished: Condvar::new(),
        });
        let worker = |index: usize| {
            let (shared, files) = (Arc::clone(&shared), files.clone());
            let builder = std::thread::Builder::new().name(format!("read-{index}")).stack_size(128 << 10);
            builder.spawn(move || shared.work(&files))
        };
        // A system that gives fewer threads than wanted still reads, as long as there is one.
        let workers: Vec<_> = (0..threads.max(1)).map_while(|index| worker(index).ok()).collect();
        Pread { shared, workers, files, fallbacks, in_flight: 0, read_bytes: 0 }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Queues stay whole even if a thread panicked between two operations on them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, files: &Files) {
        while let Some(mut request) = self.next() {
            let result = read_extents(files, &request.extents, &mut request.block);
            self.lock().done.push_back(Completion { token: request.token, block: request.block, result });
            self.finished.notify_one();
        }
    }

    /// The next request, demanded ones first; none once the source is closed.
    fn next(&self) -> Option<Request> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(request) = state.demanded.pop_front() {
                return Some(request);
            }
            if let Some(request) = state.predicted.pop_front() {
                return Some(request);
            }
            state = self.submitted.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Source for Pread {
    fn submit(&mut self, request: Request) {
        self.files.check(&request.extents, request.block.len());
        self.in_flight += 1;
        let mut state = self.shared.lock();
        if self.workers.is_empty() {
            let mut request = request;
            let result = read_extents(&self.files, &request.extents, &mut request.block);
            state.done.push_back(Completion { token: request.token, block: request.block, result });
            return;
        }
        match request.priority {
            Priority::Demand => state.demanded.push_back(request),
            Priority::Predicted => state.predicted.push_back(request),
        }
        drop(state);
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

    fn in_flight(&self) -> usize {
        self.in_flight
    }

    fn name(&self) -> &'static str {
        "pread"
    }

    fn fallbacks(&self) -> &[String] {
        &self.fallbacks
    }

    fn read_bytes(&self) -> u64 {
        self.read_bytes
    }
}

impl Drop for Pread {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.submitted.notify_all();
        for worker in self.workers.drain(..) {
            // A worker that panicked has nothing left to give back.
            let _ = worker.join();
        }
    }
}
