//! GGUF files: those that the reference package wrote, and damaged ones written by hand.

#![allow(missing_docs)]

mod write;

use std::{fs, path::Path};

use checkpoint::{Checkpoint, Error, Kind};
use serde_json::{Value, json};
use units::Dtype;
use write::{Gguf, put};

fn sample(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn refusal(bytes: &[u8]) -> String {
    let directory = tempfile::tempdir().expect("a temporary directory");
    put(directory.path(), "m.gguf", bytes);
    let path = directory.path().join("m.gguf");
    match Checkpoint::open(&path) {
        Ok(_) => "it opened".to_string(),
        Err(error) => error.to_string().replace(&path.display().to_string(), "m.gguf"),
    }
}

#[test]
fn every_tensor_is_where_the_reference_reader_says() {
    let said: Value =
        serde_json::from_slice(&fs::read(sample("sample.json")).expect("committed")).expect("JSON");
    let checkpoint = Checkpoint::open(&sample("sample.gguf")).expect("it is whole");
    assert_eq!(checkpoint.kind(), Kind::Gguf);
    let tensors = said["tensors"].as_array().expect("a list");
    assert_eq!(checkpoint.tensors().len(), tensors.len());
    for (tensor, said) in checkpoint.tensors().zip(tensors) {
        assert_eq!(said["name"], tensor.name.as_str());
        assert_eq!(said["shape"], json!(tensor.shape), "{}", tensor.name);
        assert_eq!(said["offset_bytes"], tensor.offset_bytes, "{}", tensor.name);
        assert_eq!(said["len_bytes"], tensor.len_bytes, "{}", tensor.name);
        assert_eq!(
            said["first_bytes"],
            json!(checkpoint.read(tensor).expect("readable")[..4]),
            "{}",
            tensor.name
        );
        let name = said["type"].as_str().expect("a name");
        match tensor.dtype {
            Dtype::GgufOther => {
                assert!(checkpoint.type_name(tensor).ends_with(&format!("({name})")), "{name}")
            }
            dtype => assert_eq!((dtype.name(), checkpoint.type_name(tensor).as_str()), (name, name)),
        }
    }
}

#[test]
fn metadata_is_what_the_reference_reader_says() {
    let said: Value =
        serde_json::from_slice(&fs::read(sample("sample.json")).expect("committed")).expect("JSON");
    let checkpoint = Checkpoint::open(&sample("sample.gguf")).expect("it is whole");
    let config = checkpoint.config();
    assert_eq!(config.str("general.architecture").ok(), Some("toy"));
    for (key, value) in said["metadata"].as_object().expect("an object") {
        assert_eq!(config.get(key), Some(value), "{key}");
    }
    assert_eq!(config.f64("toy.epsilon").expect("a number") as f32, 1e-5);
    assert_eq!(config.usize_list("toy.heads").expect("a list"), Some(vec![4, 4, 0, 2]));
    let metadata = checkpoint.gguf().expect("it is GGUF");
    let tokens = metadata.strings("tokenizer.ggml.tokens").expect("they stand apart");
    assert_eq!(tokens, ["<s>", "▁a", "世"]);
    assert_eq!(metadata.f32s("tokenizer.ggml.scores"), Some([0.0, -1.5, 0.25].as_slice()));
    assert_eq!(metadata.i32s("tokenizer.ggml.token_type"), Some([3, 1, 1].as_slice()));
    assert_eq!(metadata.i32s("toy.long").map(|long| (long.len(), long[4999])), Some((5000, 4999)));
    assert!(config.get("toy.long").is_none() && metadata.strings("toy.words").is_none());
    assert_eq!(checkpoint.sidecar("sample.json").expect("none is looked for"), None);
}

#[test]
fn split_models_open_by_any_part() {
    let split = |part: usize| sample(&format!("split-{part:05}-of-00003.gguf"));
    let whole = Checkpoint::open(&split(1)).expect("three parts");
    assert_eq!((whole.files().len(), whole.tensors().len()), (3, 5));
    assert_eq!(whole.config().usize("toy.block_count").ok(), Some(2));
    for at in 0..5u8 {
        let tensor = whole.tensor(&format!("t{at}")).expect("all five are there");
        let value = f32::from(at).to_le_bytes();
        assert_eq!((tensor.file.index(), tensor.shape.as_slice()), (usize::from(at) / 2, [2, 4].as_slice()));
        assert!(whole.read(tensor).expect("readable").chunks(4).all(|bytes| bytes == value));
    }
    let other = Checkpoint::open(&split(3)).expect("the same three parts");
    assert_eq!((other.files(), other.fingerprint()), (whole.files(), whole.fingerprint()));

    let directory = tempfile::tempdir().expect("a temporary directory");
    let copy = |part: usize, name: &str| fs::copy(split(part), directory.path().join(name)).map(|_| ());
    copy(1, "t-00001-of-00003.gguf").expect("copied");
    put(directory.path(), "mmproj-t.gguf", "no model");
    put(directory.path(), "other.safetensors", "no model either");
    let error = Checkpoint::open(directory.path()).expect_err("two parts are absent");
    assert!(error.to_string().ends_with(
        "2 of 3 files that `split.count` names are absent: t-00002-of-00003.gguf, t-00003-of-00003.gguf"
    ));
    copy(2, "t-00002-of-00003.gguf").expect("copied");
    copy(2, "t-00003-of-00003.gguf").expect("copied");
    let error = Checkpoint::open(directory.path()).expect_err("a part stands in another's place");
    assert!(error.to_string().ends_with("needed `split.no` 2 and `split.count` 3; found 1 and 3"), "{error}");
    copy(3, "t-00003-of-00003.gguf").expect("copied");
    assert_eq!(Checkpoint::open(directory.path()).expect("whole").tensors().len(), 5);
    copy(1, "renamed.gguf").expect("copied");
    let error =
        Checkpoint::open(&directory.path().join("renamed.gguf")).expect_err("its parts cannot be found");
    assert!(matches!(error, Error::Header { .. }), "{error}");
    let error = Checkpoint::open(directory.path()).expect_err("two models");
    assert!(error.to_string().ends_with("found renamed.gguf, t-00001-of-00003.gguf"), "{error}");
}

#[test]
fn version_2_and_nested_lists_are_read() {
    let nested = |file: Gguf| {
        let outer = file.key("toy.nested", 9).u32(9).u64(2);
        outer.u32(4).u64(2).u32(1).u32(2).u32(8).u64(1).text("x")
    };
    let file = nested(Gguf::new(2, 1, 1)).tensor("t", &[4, 2], 0, 0).data(32);
    let directory = tempfile::tempdir().expect("a temporary directory");
    put(directory.path(), "m.gguf", &file.0);
    let checkpoint = Checkpoint::open(directory.path()).expect("version 2 is like version 3");
    assert_eq!(checkpoint.config().get("toy.nested"), Some(&json!([[1, 2], ["x"]])));
    assert_eq!(checkpoint.tensor("t").map(|tensor| tensor.shape.clone()), Some(vec![2, 4]));
}

#[test]
fn types_without_a_known_block_fill_their_place() {
    let file = Gguf::new(3, 3, 0)
        .tensor("a", &[32], 99, 0)
        .tensor("b", &[8], 0, 64)
        .tensor("c", &[32], 36, 96)
        .data(128);
    let directory = tempfile::tempdir().expect("a temporary directory");
    put(directory.path(), "m.gguf", &file.0);
    let checkpoint =
        Checkpoint::open(&directory.path().join("m.gguf")).expect("an unknown type is not used yet");
    for (name, len_bytes, type_name) in
        [("a", 64, "GGUF type 99"), ("b", 32, "F32"), ("c", 32, "GGUF type 36")]
    {
        let tensor = checkpoint.tensor(name).expect("it is there");
        assert_eq!((tensor.len_bytes, checkpoint.type_name(tensor).as_str()), (len_bytes, type_name));
    }
}

#[test]
fn damaged_files_are_refused_with_the_reason() {
    let one = |axes: &[u64], kind, offset| Gguf::new(3, 1, 0).tensor("t", axes, kind, offset);
    let key = |kind| Gguf::new(3, 0, 1).key("k", kind);
    let long = u64::MAX;
    for (file, message) in [
        (Gguf(b"PK\x03\x04".to_vec()), "header: needed the bytes `GGUF`; found `PK\\x03\\x04`"),
        (Gguf(b"GG".to_vec()), "truncated: the header describes 4 bytes, the file has 2"),
        (Gguf::new(1, 0, 0), "header: needed GGUF version 2 or 3; found version 1"),
        (Gguf::new(4, 0, 0), "header: needed GGUF version 2 or 3; found version 4"),
        (Gguf::new(3, long, 0), "header: needed at most 4000000 tensors; found 18446744073709551615"),
        (Gguf::new(3, 0, long), "header: needed at most 65536 entries; found 18446744073709551615"),
        (Gguf::new(3, 4_000_000, 0), "truncated: the header describes 96000024 bytes, the file has 24"),
        (Gguf::new(3, 0, 60_000), "truncated: the header describes 780024 bytes, the file has 24"),
        (
            Gguf::new(3, 0, 1).u64(long).u64(0),
            "truncated: the header describes 18446744073709551615 bytes, the file has 40",
        ),
        (key(13).u64(0), "header: needed a value type from 0 to 12 for `k`; found 13"),
        (key(7).u32(2), "header: needed 0 or 1 as truth value `k`; found 2"),
        (
            key(8).u64(2).bytes(b"a\xFF"),
            "header: needed UTF-8 in the value of `k`; found a broken character at byte 1 of 2",
        ),
        (
            Gguf::new(3, 0, 1).key("tokenizer.ggml.tokens", 9).u32(8).u64(1).u64(1).bytes(b"\xC3"),
            "header: needed UTF-8 in an element of `tokenizer.ggml.tokens`; found a broken character at byte 0 of 1",
        ),
        (
            key(9).u32(0).u64(long),
            "truncated: the header describes 18446744073709551615 bytes, the file has 49",
        ),
        (
            (0..5).fold(key(9), |file, _| file.u32(9).u64(1)).u32(0).u64(0),
            "header: needed at most 4 lists inside each other in `k`; found more",
        ),
        (
            Gguf::new(3, 0, 2).key("k", 4).u32(1).key("k", 4).u32(1),
            "header: needed every metadata key once; found `k` again",
        ),
        (
            Gguf::new(3, 0, 1).key("general.alignment", 4).u32(24),
            "header: needed a power of two as `general.alignment`; found 24",
        ),
        (
            Gguf::new(3, 2, 0).tensor("t", &[8], 0, 0).tensor("t", &[8], 0, 32).data(64),
            "header: needed every tensor once; found `t` again",
        ),
        (
            Gguf::new(3, 2, 0).tensor("t", &[16], 0, 0).tensor("u", &[8], 0, 32).data(64),
            "tensor `u`: needed bytes of its own; found byte 128 is also in `t`",
        ),
        (one(&[8], 0, 4).data(64), "tensor `t`: needed an offset that is a multiple of 32; found 4"),
        (
            one(&[100], 12, 0).data(64),
            "tensor `t`: needed rows of a multiple of 256 elements; found 100 of GGUF type 12 (Q4_K)",
        ),
        (
            one(&[1 << 40, 1 << 40], 0, 0),
            "tensor `t`: needed a size below 2^64 bytes; found axes [1099511627776, 1099511627776]",
        ),
        (
            one(&[8], 0, long - 31).data(64),
            "tensor `t`: needed an offset inside the file; found 18446744073709551584",
        ),
        (one(&[1; 9], 0, 0), "header: needed at most 8 axes of tensor `t`; found 9"),
        (one(&[16], 0, 0).data(63), "truncated: the header describes 128 bytes, the file has 127"),
    ] {
        assert_eq!(refusal(&file.0), format!("m.gguf: {message}"));
    }
    let big = fs::read(sample("big-endian.gguf")).expect("committed");
    assert_eq!(refusal(&big), "m.gguf: header: needed little-endian GGUF; found big-endian GGUF version 3");
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    assert_eq!(refusal(pointer), "m.gguf: a Git LFS pointer (12 B are elsewhere), not the file itself");
}

#[test]
fn every_truncation_is_refused() {
    let whole = fs::read(sample("sample.gguf")).expect("committed");
    // The last tensor is padded to the alignment; its own bytes end here.
    let checkpoint = Checkpoint::open(&sample("sample.gguf")).expect("it is whole");
    let end = checkpoint
        .tensors()
        .map(|tensor| tensor.offset_bytes + tensor.len_bytes)
        .max()
        .expect("it has tensors");
    for kept in (0..end as usize).step_by(997).chain([end as usize - 1]) {
        let message = refusal(&whole[..kept]);
        assert!(message.starts_with("m.gguf: truncated"), "{kept}: {message}");
    }
}
