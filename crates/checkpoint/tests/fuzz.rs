//! A seeded loop over the fuzz targets: valid files with a few bytes changed, cut, doubled or replaced.

#![allow(missing_docs)]

mod write;

use checkpoint::fuzz;
use units::Rng;
use write::{Gguf, index, safetensors, vectors};

const ROUNDS: u64 = 20_000;

/// Pieces that hit the checks more often than random bytes do.
const PIECES: &[&[u8]] = &[
    &[0xFF; 8],
    &[0; 8],
    &[0, 0, 0, 0, 0, 0, 0, 0x80],
    b"18446744073709551615",
    b"-1",
    b"[[[[[[[[",
    b"\"\\ud83d\"",
    b"null",
    b"1e999",
    b"__metadata__",
    b"}",
    &[9, 0, 0, 0],
];

fn mutate(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..=rng.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = rng.below(bytes.len() as u64) as usize;
        match rng.below(5) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at] = rng.next_u64() as u8,
            2 => bytes.truncate(at),
            3 => {
                let piece = PIECES[rng.below(PIECES.len() as u64) as usize];
                let end = (at + piece.len()).min(bytes.len());
                bytes.splice(at..end, piece.iter().copied());
            }
            _ => {
                let tail = bytes[at..].to_vec();
                bytes.extend_from_slice(&tail);
            }
        }
    }
}

fn check(target: fn(&[u8]), valid: &[Vec<u8>]) {
    for seed in 0..ROUNDS {
        let mut rng = Rng::new(seed);
        let mut bytes = valid[rng.below(valid.len() as u64) as usize].clone();
        mutate(&mut rng, &mut bytes);
        if let Err(panic) = std::panic::catch_unwind(|| target(&bytes)) {
            eprintln!("seed {seed}: {}", bytes.escape_ascii());
            std::panic::resume_unwind(panic);
        }
    }
}

#[test]
fn safetensors_never_panics() {
    let mixed = r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F4","shape":[2,4],"data_offsets":[0,4]},"y":{"dtype":"I64","shape":[],"data_offsets":[4,12]}}  "#;
    check(fuzz::safetensors, &[vectors(&["a", "b", "c"]), safetensors(mixed, &[0; 12])]);
}

#[test]
fn gguf_never_panics() {
    let scalars = Gguf::new(3, 2, 4).key("general.alignment", 4).u32(32).key("a", 8).text("b");
    let lists = scalars.key("tokenizer.ggml.tokens", 9).u32(8).u64(2).text("x").text("y");
    let nested = lists.key("n", 9).u32(9).u64(1).u32(6).u64(2).u32(0).u32(0);
    let whole = nested.tensor("t", &[32, 2], 2, 0).tensor("u", &[4], 99, 64).data(96);
    check(fuzz::gguf, &[whole.0, Gguf::new(2, 1, 0).tensor("t", &[4], 0, 0).data(16).0]);
}

#[test]
fn configurations_never_panic() {
    let text = r#"{"n": 1, "f": 4096.0, "l": [1, true, "x", null], "o": {"t": 1e4, "n": null}, "s": "ü", "big": 1e300}"#;
    check(fuzz::config, &[text.into()]);
    check(fuzz::index, &[index(&[("a", "one.safetensors"), ("b", "two/three.safetensors")])]);
}
