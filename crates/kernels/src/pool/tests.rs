use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed},
};

use super::Pool;

/// Every part is done once, whatever the number of parts and threads, run after run.
#[test]
fn does_every_part_once() {
    for threads in [0, 1, 2, 3, 5] {
        let pool = Pool::new(threads);
        assert_eq!(pool.threads(), threads.max(1));
        let runs = if threads > 2 { 300 } else { 5_000 };
        for run in 0..runs {
            let done: [AtomicU32; 9] = Default::default();
            let parts = run % (done.len() + 1);
            pool.run(parts, &|part| {
                done[part].fetch_add(1, Relaxed);
            });
            for (part, done) in done.iter().enumerate() {
                assert_eq!(done.load(Relaxed), u32::from(part < parts), "part {part} of {parts}, run {run}");
            }
        }
    }
}

/// Work that comes after the threads have parked is still done, by waking them.
#[test]
fn wakes_parked_threads() {
    let pool = Pool::new(3);
    for _ in 0..20 {
        while pool.shared.parked.load(Relaxed) < 2 {
            std::thread::yield_now();
        }
        let together = AtomicUsize::new(0);
        // Each part waits for the others, so three threads must come.
        pool.run(3, &|_| {
            together.fetch_add(1, Relaxed);
            while together.load(Relaxed) < 3 {
                std::thread::yield_now();
            }
        });
    }
}

#[test]
fn passes_a_panic_on_and_lives() {
    for threads in [1, 2, 3] {
        let pool = Pool::new(threads);
        for bad in 0..4 {
            let done = AtomicUsize::new(0);
            let run = || {
                pool.run(4, &|part| {
                    assert_ne!(part, bad, "the bad part");
                    done.fetch_add(1, Relaxed);
                })
            };
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("the panic comes through");
            let text = panic.downcast_ref::<String>().expect("the panic of the assertion");
            assert!(text.contains("the bad part"), "{text}");
            assert!(threads == 1 || done.load(Relaxed) == 3, "the other parts are done");
            pool.run(4, &|_| {});
        }
    }
}

#[test]
fn nested_and_competing_runs_do_not_wait_for_each_other() {
    let pool = Pool::new(2);
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..200 {
                    pool.run(3, &|_| {
                        pool.run(2, &|_| {
                            done.fetch_add(1, Relaxed);
                        });
                    });
                }
            });
        }
    });
    assert_eq!(done.load(Relaxed), 3 * 200 * 6);
}
