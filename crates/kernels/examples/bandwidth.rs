//! Speed of products with stored matrices, beside that of reading the same bytes.
//!
//! `cargo run --release -p kernels --example bandwidth -- [FORMAT…]` prints, for each format, GB of weights a second for one
//! token (from the cache on one thread, from memory on one and on all), how much faster a token is among sixteen, and their
//! GFLOP/s.

use std::{hint::black_box, time::Instant};

use kernels::{Pool, Table};
use quant::{Format, Matrix};

const MATRIX_BYTES: usize = 64 << 20;
const COLS: usize = 2048;
const REPEATS: usize = 5;

/// The best of a few runs, in seconds.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..REPEATS).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

/// Reads everything, eight bytes at a time.
fn read(bytes: &[u8]) {
    let words = bytes.as_chunks::<64>().0;
    let mut sums = [0u64; 8];
    for words in words {
        for (sum, word) in sums.iter_mut().zip(words.as_chunks().0) {
            *sum ^= u64::from_le_bytes(*word);
        }
    }
    black_box(sums);
}

fn random_bytes(count: usize) -> Vec<u8> {
    let mut rng = units::Rng::new(1);
    // Every byte is below 64, so that no float is infinite and no scale is large.
    (0..count / 8 + 1)
        .flat_map(|_| (rng.next_u64() & 0x3F3F_3F3F_3F3F_3F3F).to_le_bytes())
        .take(count)
        .collect()
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (one, all) = (Pool::new(1), Pool::new(threads));
    let bytes = random_bytes(MATRIX_BYTES);
    let chunk = MATRIX_BYTES / 16;
    let read_with = |pool: &Pool| {
        let seconds = best(|| pool.run(16, &|part| read(&bytes[part * chunk..][..chunk])));
        MATRIX_BYTES as f64 / seconds / 1e9
    };
    println!("reading: {:.1} GB/s on 1 thread, {:.1} on {threads}", read_with(&one), read_with(&all));
    println!(
        "{:>10} {:>8} {:>10} {:>10} {:>10} {:>10} {:>12}",
        "table", "format", "in cache", "GB/s on 1", "GB/s all", "16 tokens", "GFLOP/s on 1"
    );
    for table in Table::all().into_iter().filter(|table| table.name != "plain") {
        for &format in Format::ALL {
            if wanted.is_empty() || wanted.iter().any(|name| name == format.name()) {
                measure(&table, format, &bytes, &one, &all);
            }
        }
    }
}

fn measure(table: &Table, format: Format, bytes: &[u8], one: &Pool, all: &Pool) {
    const TOKENS: usize = 16;
    let row_bytes = format.row_bytes(COLS).expect("2048 is a multiple of every block");
    let rows = bytes.len() / row_bytes / 32 * 32;
    let bytes = &bytes[..rows * row_bytes];
    let scales: Vec<u8> =
        (0..rows * format.scales_per_row(COLS)).flat_map(|_| 0.01f32.to_le_bytes()).collect();
    let w = Matrix::new(format, rows, COLS, bytes, &scales).expect("lengths fit");
    let x = vec![0.5; COLS * TOKENS];
    let product = |rows: std::ops::Range<usize>, tokens: usize| {
        let mut y = [0.0; 32 * TOKENS];
        for first in rows.step_by(32) {
            table.matmul(&mut y, 32, &w.rows(first..first + 32), &x, COLS, tokens);
        }
        black_box(y);
    };
    // The first rows again and again: the speed without waiting for memory.
    let hot_rows = ((128 << 10) / row_bytes / 32 * 32).max(32);
    let hot = (0..32).map(|_| best(|| product(0..hot_rows, 1))).fold(f64::INFINITY, f64::min);
    let hot_bytes = (hot_rows * (row_bytes + 4 * format.scales_per_row(COLS))) as f64 / 1e9;
    let with = |pool: &Pool, tokens: usize| {
        let parts = pool.threads() * 8;
        let part_rows = rows.div_ceil(parts * 32) * 32;
        best(|| {
            pool.run(parts, &|i| product((i * part_rows).min(rows)..((i + 1) * part_rows).min(rows), tokens))
        })
    };
    let stored = (bytes.len() + scales.len()) as f64 / 1e9;
    let (single, many, wide) = (with(one, 1), with(all, 1), {
        let few = rows / 8 / 32 * 32;
        best(|| product(0..few, TOKENS)) * rows as f64 / few as f64
    });
    println!(
        "{:>10} {:>8} {:>10.1} {:>10.1} {:>10.1} {:>9.1}x {:>12.1}",
        table.name,
        format.name(),
        hot_bytes / hot,
        stored / single,
        stored / many,
        single * TOKENS as f64 / wide,
        2.0 * (rows * COLS * TOKENS) as f64 / wide / 1e9,
    );
}
