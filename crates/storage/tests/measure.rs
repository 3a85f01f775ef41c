//! The drive's rate is told for files that are large enough, and reading them leaves no error.

use std::time::Duration;

use storage::{Direct, Strategy, measure};

#[test]
fn a_file_gives_a_rate_and_a_small_one_none() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let (large, small) = (folder.path().join("large"), folder.path().join("small"));
    std::fs::write(&large, vec![1u8; 9_000_000]).expect("a file");
    std::fs::write(&small, vec![1u8; 9_000]).expect("a file");
    let patience = Duration::from_secs(30); // more than one round of the file takes
    for strategy in [Strategy::Auto, Strategy::Pread] {
        let found = measure(&[large.clone(), small.clone()], strategy, Direct::Auto, patience);
        let found = found.expect("readable files").expect("a large file");
        assert!(found.bytes_per_s > 0.0 && found.measured_bytes == (8 << 20) + (8 << 20), "{found:?}");
        let none = measure(std::slice::from_ref(&small), strategy, Direct::Auto, patience);
        assert_eq!(none.expect("a readable file"), None);
    }
}
