//! Threads that take parts of a piece of work, with little to pay at its beginning and end.
//!
//! A step of a model has hundreds of regions of tens of microseconds, while waking a thread takes longer than many of them.
//! So a thread that finds nothing to do spins for a bounded time, then yields, then parks. Where there are more threads than
//! processors it parks at once, because the processor is needed by someone else.
//!
//! # Protocol
//! `unclaimed` counts the parts that nobody has taken; `unfinished` those that are not done. Both are 0 between runs. The
//! caller writes the job, then sets `unfinished`, then `unclaimed`. A thread takes a part by lowering `unclaimed` from a
//! value above 0, and only then reads the job: the part it holds keeps the caller in its call until the thread lowers
//! `unfinished`, after which it does not touch the job. A claim needs no more than the present value of the counter, so a
//! thread that was held up between reading and claiming is harmless.

use std::{
    any::Any,
    cell::UnsafeCell,
    hint,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// How long a thread looks for work before it lets others run.
const SPIN: Duration = Duration::from_micros(50);
/// Looks between two readings of the clock.
const SPIN_LOOKS: usize = 32;
/// Times that a thread lets others run before it parks.
const YIELDS: usize = 8;

type Work<'a> = dyn Fn(usize) + Sync + 'a;

/// What the parts of a run are.
struct Job {
    work: *const Work<'static>,
    parts: usize,
}

struct Shared {
    job: UnsafeCell<Option<Job>>,
    unclaimed: AtomicUsize,
    unfinished: AtomicUsize,
    stopping: AtomicBool,
    /// Threads that have parked or are about to, waiting for work.
    parked: AtomicUsize,
    /// Whether the caller has parked or is about to, waiting for the last part.
    caller_parked: AtomicBool,
    /// Guards parking; what is waited for is in the counters.
    gate: Mutex<()>,
    work_came: Condvar,
    work_done: Condvar,
    /// The first panic of the run.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    spins: bool,
}

// SAFETY: `job` is written only by a caller that holds `Pool::busy` while both counters are 0, and read only by a thread
// that holds a part, which keeps `unfinished` above 0; `work` points to something `Sync`. The rest is `Sync` by itself.
unsafe impl Sync for Shared {}
// SAFETY: as above; nothing in it belongs to one thread.
unsafe impl Send for Shared {}

/// Some threads, the caller of [`Pool::run`] among them.
pub struct Pool {
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    /// Held during a run; whoever does not get it works alone.
    busy: Mutex<()>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that is guarded here can be left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// A pool of `threads` threads (at least one), of which the caller is one. Where the system does not give as many,
    /// [`Pool::threads`] tells how many there are.
    #[must_use]
    pub fn new(threads: usize) -> Pool {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let shared = Arc::new(Shared {
            job: UnsafeCell::new(None),
            unclaimed: AtomicUsize::new(0),
            unfinished: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            parked: AtomicUsize::new(0),
            caller_parked: AtomicBool::new(false),
            gate: Mutex::new(()),
            work_came: Condvar::new(),
            work_done: Condvar::new(),
            panic: Mutex::new(None),
            spins: threads <= processors,
        });
        let spawn = |i: usize| {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name(format!("kernels-{i}")).spawn(move || shared.serve()).ok()
        };
        let workers = (1..threads).map_while(spawn).collect();
        Pool { shared, workers, busy: Mutex::new(()) }
    }

    /// Threads that work on a run, the caller included.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `work` with every number below `parts`, each once, on whichever thread is free, and returns when all calls
    /// have. Allocates nothing.
    ///
    /// A call from within `work`, or while another thread's run is going on, does all its parts itself.
    ///
    /// # Panics
    /// If a part panics, with the first such panic, when all other parts are done.
    pub fn run(&self, parts: usize, work: &Work<'_>) {
        let busy = (parts > 1 && !self.workers.is_empty()).then(|| self.busy.try_lock().ok()).flatten();
        let Some(guard) = busy else {
            return (0..parts).for_each(work);
        };
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. The pointer is used by threads that hold a part of this run, and this
        // function returns only when no part is held.
        let work: *const Work<'static> = unsafe { std::mem::transmute(std::ptr::from_ref(work)) };
        // SAFETY: both counters are 0 and `busy` is held, so nobody else reads or writes the job.
        unsafe { *shared.job.get() = Some(Job { work, parts }) };
        shared.unfinished.store(parts, SeqCst);
        shared.unclaimed.store(parts, SeqCst);
        if shared.parked.load(SeqCst) > 0 {
            drop(lock(&shared.gate));
            shared.work_came.notify_all();
        }
        while shared.work_on_a_part() {}
        shared.wait_for_the_rest();
        let panic = lock(&shared.panic).take();
        // The lock is given back before the panic goes on, so that it is not poisoned.
        drop(guard);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.stopping.store(true, SeqCst);
        drop(lock(&self.shared.gate));
        self.shared.work_came.notify_all();
        for worker in self.workers.drain(..) {
            // A worker catches the panics of its parts, so it ends in no other way than by returning.
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// The life of a worker.
    fn serve(&self) {
        while !self.stopping.load(SeqCst) {
            if !self.work_on_a_part() {
                self.wait_for_work();
            }
        }
    }

    /// Takes a part and does it; false when there is none.
    fn work_on_a_part(&self) -> bool {
        let Ok(left) = self.unclaimed.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)) else {
            return false;
        };
        // SAFETY: this thread holds a part, so the job was written before `unclaimed` was set and is not written again
        // before `unfinished` reaches 0, which waits for this part.
        let job = unsafe { (*self.job.get()).as_ref() }.expect("a part comes with its job");
        // SAFETY: the caller of `run` keeps `work` alive until `unfinished` is 0, which waits for this part.
        let work = unsafe { &*job.work };
        let part = job.parts - left;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| work(part))) {
            lock(&self.panic).get_or_insert(panic);
        }
        if self.unfinished.fetch_sub(1, SeqCst) == 1 && self.caller_parked.load(SeqCst) {
            drop(lock(&self.gate));
            self.work_done.notify_one();
        }
        true
    }

    /// Returns when there may be work, or the pool is going.
    fn wait_for_work(&self) {
        let ready = || self.unclaimed.load(SeqCst) > 0 || self.stopping.load(SeqCst);
        if self.look(ready) {
            return;
        }
        let mut gate = lock(&self.gate);
        // The caller sets `unclaimed` and then looks at `parked`; here it is the other way round, so one sees the other.
        self.parked.fetch_add(1, SeqCst);
        while !ready() {
            gate = self.work_came.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        self.parked.fetch_sub(1, SeqCst);
    }

    /// Returns when every part is done.
    fn wait_for_the_rest(&self) {
        let ready = || self.unfinished.load(SeqCst) == 0;
        if self.look(ready) {
            return;
        }
        let mut gate = lock(&self.gate);
        // As in `wait_for_work`, with `unfinished` lowered by the last worker before it looks here.
        self.caller_parked.store(true, SeqCst);
        while !ready() {
            gate = self.work_done.wait(gate).unwrap_or_else(PoisonError::into_inner);
        }
        self.caller_parked.store(false, SeqCst);
    }

    /// Looks for something for a while without parking; whether it came.
    fn look(&self, ready: impl Fn() -> bool) -> bool {
        if self.spins {
            let start = Instant::now();
            loop {
                for _ in 0..SPIN_LOOKS {
                    if ready() {
                        return true;
                    }
                    hint::spin_loop();
                }
                if start.elapsed() >= SPIN {
                    break;
                }
            }
        }
        for _ in 0..YIELDS {
            if ready() {
                return true;
            }
            thread::yield_now();
        }
        ready()
    }
}

#[cfg(test)]
mod tests;
