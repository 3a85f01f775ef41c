//! Prints how fast files arrive by each way of reading: `cargo run --release -p storage --example bandwidth -- FILE…`

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use storage::{Direct, FileId, Files, Strategy, Whole, measure, read_all};

/// Patterns are timed for so long together.
const PATIENCE: Duration = Duration::from_millis(1500);

fn main() -> Result<(), storage::Error> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    // Neighbours in time are compared, because a drive's rate drifts.
    for round in 0..2 {
        for direct in [Direct::On, Direct::Off] {
            for strategy in [Strategy::Uring, Strategy::Pread, Strategy::Mmap] {
                match measure(&paths, strategy, direct, PATIENCE)? {
                    Some(found) => println!(
                        "round {round}  {strategy:5} direct {direct:3}  {:.2} GB/s, best with {} of {} MiB",
                        found.bytes_per_s / 1e9,
                        found.in_flight,
                        found.block_bytes >> 20,
                    ),
                    None => println!("{strategy}: the files are too small"),
                }
            }
        }
        whole(&paths)?;
    }
    Ok(())
}

/// The way dense weights are loaded.
fn whole(paths: &[PathBuf]) -> Result<(), storage::Error> {
    let files = Files::open(paths)?;
    let mut outs: Vec<Vec<u8>> =
        (0..paths.len() as u32).map(|file| vec![1; files.len_bytes(FileId(file)) as usize]).collect();
    let range = |(file, out)| Whole { file: FileId(file), offset_bytes: 0, out };
    let ranges = (0..).zip(outs.iter_mut().map(Vec::as_mut_slice)).map(range).collect();
    let (begin, mut read) = (Instant::now(), 0);
    read_all(&files, ranges, &mut |bytes| read = bytes)?;
    println!("whole files: {:.2} GB/s", read as f64 / 1e9 / begin.elapsed().as_secs_f64());
    Ok(())
}
