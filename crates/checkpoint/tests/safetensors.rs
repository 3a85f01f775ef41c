//! Directories of safetensors files as users have them, whole and damaged.

#![allow(missing_docs)]
#![cfg(unix)]

mod write;

use std::{fs, os::unix::fs::symlink, path::Path};

use checkpoint::{AbsentFile, Checkpoint, Error, FileIdx, Kind};
use units::Dtype;
use write::{index, model, put, safetensors, single, vectors};

/// The message of the error that opening gives, with the directory written as `m`.
fn refusal(directory: &Path) -> String {
    match Checkpoint::open(directory) {
        Ok(_) => "it opened".to_string(),
        Err(error) => error.to_string().replace(&directory.display().to_string(), "m"),
    }
}

fn check_refused(bytes: Vec<u8>, message: &str) {
    assert_eq!(refusal(single(bytes).path()), format!("m/model.safetensors: {message}"));
}

#[test]
fn a_file_as_the_reference_library_writes_it() {
    use safetensors::tensor::{Dtype as Theirs, TensorView, serialize};
    let data: Vec<u8> = (0..48).collect();
    let view =
        |dtype, shape: &[usize], data| TensorView::new(dtype, shape.to_vec(), data).expect("sizes agree");
    let tensors = [
        ("wide", view(Theirs::F32, &[2, 3], &data[..24])),
        ("half", view(Theirs::BF16, &[4], &data[24..32])),
        ("byte", view(Theirs::U8, &[2, 2, 2], &data[32..40])),
        ("eight", view(Theirs::F8_E8M0, &[3], &data[40..43])),
        ("four", view(Theirs::F4, &[2, 4], &data[43..47])),
        ("none", view(Theirs::F16, &[0, 7], &[])),
        ("one", view(Theirs::I8, &[], &data[47..48])),
    ];
    let metadata = [("colibri.fmt".to_string(), "int4-g64".to_string())].into_iter().collect();
    let bytes = serialize(tensors.iter().map(|(name, view)| (*name, view)), Some(metadata))
        .expect("they can be written");
    let directory = single(bytes.clone());

    let checkpoint = Checkpoint::open(directory.path()).expect("it is whole");
    assert_eq!((checkpoint.kind(), checkpoint.files().len()), (Kind::Safetensors, 1));
    assert_eq!(checkpoint.file_bytes(FileIdx(0)), bytes.len() as u64);
    assert_eq!(checkpoint.metadata_stamp(FileIdx(0)), Some("int4-g64"));
    assert_eq!(checkpoint.tensors().len(), tensors.len());
    assert!(checkpoint.notes().is_empty());
    for (name, view) in &tensors {
        let tensor = checkpoint.tensor(name).expect("every name is there");
        assert_eq!(tensor.dtype.name(), view.dtype().to_string(), "{name}");
        assert_eq!(tensor.shape, view.shape().iter().map(|&axis| axis as u64).collect::<Vec<_>>(), "{name}");
        assert_eq!(checkpoint.read(tensor).expect("it can be read"), view.data(), "{name}");
    }
    assert_eq!(checkpoint.tensor("other"), None);
}

#[test]
fn case_1_every_absent_shard_is_named_with_its_tensors() {
    let names = [
        "model-00001-of-00003.safetensors",
        "model-00002-of-00003.safetensors",
        "model-00003-of-00003.safetensors",
    ];
    let map = index(&[("a", names[0]), ("b", names[1]), ("c", names[2]), ("d", names[2])]);
    let directory = model(&[("model.safetensors.index.json", map), (names[0], vectors(&["a"]))]);
    let Err(error) = Checkpoint::open(directory.path()) else { panic!("two shards are absent") };
    let Error::Absent { files, of, .. } = &error else { panic!("another error: {error}") };
    let absent = |name: &str, tensors| AbsentFile { name: name.to_string(), tensors: Some(tensors) };
    assert_eq!((files.as_slice(), *of), ([absent(names[1], 1), absent(names[2], 2)].as_slice(), 3));
    assert_eq!(
        error.to_string().replace(&directory.path().display().to_string(), "m"),
        "m: 2 of 3 files that model.safetensors.index.json names are absent: \
         model-00002-of-00003.safetensors (1 tensor), model-00003-of-00003.safetensors (2 tensors)"
    );
    let hint = error.hint().expect("it can be fetched");
    assert!(hint.contains(names[1]) && hint.contains(names[2]) && !hint.contains(names[0]), "{hint}");

    put(directory.path(), names[1], vectors(&["b"]));
    put(directory.path(), names[2], vectors(&["c", "d"]));
    let checkpoint = Checkpoint::open(directory.path()).expect("now it is whole");
    assert_eq!((checkpoint.files().len(), checkpoint.tensor("d").map(|d| d.file)), (3, Some(FileIdx(2))));
}

#[test]
fn case_1_without_an_index_the_numbers_tell() {
    let directory = model(&[
        ("model-00001-of-00002.safetensors", vectors(&["a"])),
        ("extra.safetensors", vectors(&["x"])),
    ]);
    assert_eq!(
        refusal(directory.path()),
        "m: 1 of 2 files that the numbering names are absent: model-00002-of-00002.safetensors"
    );
    put(directory.path(), "model-00002-of-00002.safetensors", vectors(&["b"]));
    put(directory.path(), "._model-00002-of-00002.safetensors", "left by another system");
    let checkpoint = Checkpoint::open(directory.path()).expect("all three files");
    assert_eq!(checkpoint.tensors().len(), 3);
}

#[test]
fn an_index_and_its_shards_must_agree() {
    let shard = "model-00001-of-00001.safetensors";
    let lacking = index(&[("a", shard), ("b", shard), ("c", shard)]);
    for (map, message) in [
        (
            lacking,
            "m/model-00001-of-00001.safetensors: tensor `b`: needed what the index promises; found it and 1 more are not in this file",
        ),
        (
            index(&[]),
            "m/model.safetensors.index.json: field `weight_map`: needed at least one tensor; found none",
        ),
        (
            index(&[("a", "../a")]),
            "m/model.safetensors.index.json: field `weight_map.a`: needed a file inside the directory; found `../a`",
        ),
        (
            b"{}".to_vec(),
            "m/model.safetensors.index.json: field `weight_map`: needed an object of tensor and file names; found none",
        ),
        (
            br#"{"weight_map":{"a":1}}"#.to_vec(),
            "m/model.safetensors.index.json: field `weight_map.a`: needed a file name; found 1",
        ),
        (
            b"{\n\"weight_map\": nope}".to_vec(),
            "m/model.safetensors.index.json: line 2, column 16: expected ident",
        ),
    ] {
        let directory = model(&[("model.safetensors.index.json", map), (shard, vectors(&["a"]))]);
        assert_eq!(refusal(directory.path()), message);
    }
}

#[test]
fn one_file_wins_over_a_left_over_index_unless_that_names_it() {
    let stale = index(&[("a", "model-00001-of-00002.safetensors")]);
    let directory = model(&[("model.safetensors", vectors(&["a"])), ("model.safetensors.index.json", stale)]);
    put(directory.path(), "other.safetensors", vectors(&["a"]));
    assert_eq!(Checkpoint::open(directory.path()).expect("one file").files().len(), 1);
    put(
        directory.path(),
        "model.safetensors.index.json",
        index(&[("a", "model.safetensors"), ("b", "extra.safetensors")]),
    );
    put(directory.path(), "extra.safetensors", vectors(&["b"]));
    assert_eq!(Checkpoint::open(directory.path()).expect("two files").files().len(), 2);
}

#[test]
fn a_name_in_two_files_is_refused() {
    let directory =
        model(&[("one.safetensors", vectors(&["a", "b"])), ("two.safetensors", vectors(&["c", "b"]))]);
    assert_eq!(
        refusal(directory.path()),
        "tensor `b` is in m/one.safetensors and again in m/two.safetensors; needed once"
    );
}

#[test]
fn case_2_pointers_are_called_pointers() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 4900000000\n";
    check_refused(pointer.into(), "a Git LFS pointer (4.90 GB are elsewhere), not the file itself");
    let directory = single(vectors(&["a"]));
    put(directory.path(), "config.json", pointer);
    assert_eq!(
        refusal(directory.path()),
        "m/config.json: a Git LFS pointer (4.90 GB are elsewhere), not the file itself"
    );
}

#[test]
fn case_3_truncation_is_seen_at_open() {
    let whole = vectors(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    for kept in [whole.len() - 1, whole.len() - 100] {
        let message = format!("truncated: the header describes {} bytes, the file has {kept}", whole.len());
        check_refused(whole[..kept].to_vec(), &message);
    }
    check_refused(
        whole[..20].to_vec(),
        &format!("truncated: the header describes {} bytes, the file has 20", whole.len() - 160),
    );
    check_refused(whole[..5].to_vec(), "truncated: the header describes 8 bytes, the file has 5");
    check_refused(Vec::new(), "truncated: the header describes 8 bytes, the file has 0");
}

#[test]
fn case_4_odd_headers_are_refused_with_the_reason() {
    let with_length = |length: u64| [&length.to_le_bytes()[..], b"{}"].concat();
    for (bytes, message) in [
        (with_length(0), "header: needed a length of at least 2 bytes; found a length of 0"),
        (
            with_length(1 << 63),
            "header: needed a length of at most 100000000 bytes; found 9223372036854775808, so the file is no safetensors \
             file or damaged",
        ),
        (with_length(3), "truncated: the header describes 11 bytes, the file has 10"),
        (
            safetensors("nonsense", &[]),
            "header: needed a JSON object of tensors; found expected ident at line 1 column 2",
        ),
        (
            safetensors("[1]", &[]),
            "header: needed a JSON object of tensors; found invalid type: sequence, expected an object of tensors at \
             line 1 column 0",
        ),
        (
            safetensors(r#"{"__metadata__":{"format":1}}"#, &[]),
            "header: needed a JSON object of tensors; found `__metadata__`: invalid type: integer `1`, expected a \
             string at line 1 column 27",
        ),
        (
            safetensors(r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}"#, &[]),
            "header: needed a JSON object of tensors; found tensor `a`: invalid value: integer `-1`, expected u64 at \
             line 1 column 31",
        ),
        (
            safetensors(r#"{"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}}"#, &[]),
            "header: needed a JSON object of tensors; found tensor `a`: invalid length 9, expected a list of at most 8 \
             whole numbers at line 1 column 47",
        ),
    ] {
        check_refused(bytes, message);
    }
    // A map keeps the last of two equal keys in silence; this reader sees both.
    let a = r#""a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}"#;
    let twice = single(safetensors(&format!("{{{a},{a}}}"), &[0; 8]));
    let message = "tensor `a` is in m/model.safetensors and again in m/model.safetensors; needed once";
    assert_eq!(refusal(twice.path()), message);
}

#[test]
fn case_4_a_header_of_126_mb_is_refused_without_reading_it() {
    let directory = single((126_000_000u64).to_le_bytes().to_vec());
    let file = fs::OpenOptions::new().write(true).open(directory.path().join("model.safetensors"));
    file.and_then(|file| file.set_len(130_000_000)).expect("a sparse file");
    assert_eq!(
        refusal(directory.path()),
        "m/model.safetensors: header: needed a length of at most 100000000 bytes; found 126000000, so the file is no \
         safetensors file or damaged"
    );
}

#[test]
fn case_4_padding_is_accepted() {
    let a = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
    let gap = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}"#;
    for (header, data_bytes, notes) in [
        (format!("{a}       "), 8, 0),
        (format!("{a}\n\t "), 8, 0),
        (a.to_string(), 9, 1),
        (gap.to_string(), 12, 1),
    ] {
        let directory = single(safetensors(&header, &vec![1; data_bytes]));
        let checkpoint = Checkpoint::open(directory.path()).expect("padding does no harm");
        assert_eq!(checkpoint.notes().len(), notes, "{header}");
        let a = checkpoint.tensor("a").expect("it is there");
        assert_eq!(checkpoint.read(a).expect("it can be read"), [1; 8]);
    }
}

#[test]
fn tensors_that_cannot_be_are_refused_by_name() {
    let entry = |dtype: &str, shape: &str, offsets: &str| {
        let header = format!(r#"{{"w":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#);
        safetensors(&header, &[0; 16])
    };
    let huge = u64::MAX;
    for (bytes, message) in [
        (entry("F32", "[4]", "[0,12]"), "needed 16 bytes for [4] F32; found 12 bytes".to_string()),
        (entry("F32", "[4]", "[16,0]"), "needed offsets that do not run backwards; found [16, 0]".to_string()),
        (entry("F4", "[3]", "[0,2]"), "needed a whole number of bytes below 2^64; found [3] F4".to_string()),
        (
            entry("F32", &format!("[{huge},{huge}]"), "[0,16]"),
            format!("needed a whole number of bytes below 2^64; found [{huge}, {huge}] F32"),
        ),
        (
            entry("U8", "[16]", &format!("[{},{huge}]", huge - 16)),
            format!("needed offsets inside the file; found [{}, {huge}]", huge - 16),
        ),
        (
            entry("C64", "[2]", "[0,16]"),
            "needed a dtype out of BOOL, U8, I8, U16, I16, U32, I32, U64, I64, F16, BF16, F32, F64, F8_E4M3, F8_E5M2, \
             F8_E8M0, F4; found `C64`"
                .to_string(),
        ),
    ] {
        check_refused(bytes, &format!("tensor `w`: {message}"));
    }
    // A block type of the other format is no element type of this one.
    assert!(refusal(single(entry("Q4_K", "[256]", "[0,144]")).path()).ends_with("found `Q4_K`"));
}

#[test]
fn shared_bytes_are_refused() {
    let b = |offsets: &str| {
        let a = r#""a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]}"#;
        let len = if offsets == "[0,8]" { 8 } else { 4 };
        safetensors(
            &format!(r#"{{{a},"b":{{"dtype":"U8","shape":[{len}],"data_offsets":{offsets}}}}}"#),
            &[0; 16],
        )
    };
    for offsets in ["[7,11]", "[2,6]", "[0,8]"] {
        let refused = refusal(single(b(offsets)).path());
        assert!(refused.contains("needed bytes of its own; found byte"), "{offsets}: {refused}");
    }
    assert!(Checkpoint::open(single(b("[8,12]")).path()).is_ok());
}

#[test]
fn case_7_placeholders_are_visible() {
    let header = r#"{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"b":{"dtype":"F32","shape":[8,8],"data_offsets":[0,0]}}"#;
    let directory = single(safetensors(header, &[]));
    let checkpoint = Checkpoint::open(directory.path()).expect("placeholders are legal");
    for name in ["a", "b"] {
        let tensor = checkpoint.tensor(name).expect("it is there");
        assert_eq!((tensor.len_bytes, checkpoint.read(tensor).expect("nothing to read").len()), (0, 0));
    }
}

#[test]
fn case_11_dtypes_mix_freely() {
    let header = r#"{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]},"b":{"dtype":"F16","shape":[2],"data_offsets":[4,8]},
        "c":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[8,10]},"d":{"dtype":"U8","shape":[2],"data_offsets":[10,12]},
        "e":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}"#;
    let directory = single(safetensors(header, &[0; 16]));
    let checkpoint = Checkpoint::open(directory.path()).expect("a mixture is legal");
    let dtypes: Vec<Dtype> = checkpoint.tensors().map(|tensor| tensor.dtype).collect();
    assert_eq!(dtypes, [Dtype::Bf16, Dtype::F16, Dtype::F8E4M3, Dtype::U8, Dtype::F32]);
}

#[test]
fn case_13_shards_may_be_links_to_other_places() {
    let elsewhere = tempfile::tempdir().expect("a temporary directory");
    let directory = model(&[]);
    for name in ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"] {
        put(elsewhere.path(), name, vectors(&[name]));
        symlink(elsewhere.path().join(name), directory.path().join(name)).expect("links can be made");
    }
    let checkpoint = Checkpoint::open(directory.path()).expect("links are followed");
    assert_eq!(checkpoint.tensors().len(), 2);

    let gone = elsewhere.path().join("model-00002-of-00002.safetensors");
    fs::remove_file(&gone).expect("it was there");
    let message = format!("m/model-00002-of-00002.safetensors: dangling link to {}", gone.display());
    assert_eq!(refusal(directory.path()), message);
    let link = directory.path().join("model-00002-of-00002.safetensors");
    assert!(Checkpoint::open(&link).is_err_and(|error| matches!(error, Error::Dangling { .. })));
}

#[test]
fn case_13_a_hub_cache_opens_by_repository_and_by_snapshot() {
    let cache = tempfile::tempdir().expect("a temporary directory");
    let repository = cache.path().join("models--some--toy");
    let (blobs, refs) = (repository.join("blobs"), repository.join("refs"));
    let snapshot = |revision: &str| repository.join("snapshots").join(revision);
    for path in [&blobs, &refs, &snapshot("aaaa"), &snapshot("bbbb")] {
        fs::create_dir_all(path).expect("directories can be made");
    }
    put(&blobs, "1", vectors(&["a"]));
    put(&blobs, "2", r#"{"model_type":"toy"}"#);
    for (blob, name) in [("1", "model.safetensors"), ("2", "config.json")] {
        let target = Path::new("../../blobs").join(blob);
        symlink(target, snapshot("bbbb").join(name)).expect("links can be made");
    }
    assert!(refusal(&repository).contains("needed one snapshot, or refs/main to choose; found 2 snapshots"));
    put(&refs, "main", "bbbb\n");
    for path in [&repository, &snapshot("bbbb")] {
        let checkpoint = Checkpoint::open(path).expect("a snapshot is a directory like others");
        assert_eq!((checkpoint.directory(), checkpoint.tensors().len()), (snapshot("bbbb").as_path(), 1));
    }
    put(
        &snapshot("bbbb"),
        "model.safetensors.index.json",
        index(&[("a", "model.safetensors"), ("b", "gone.safetensors")]),
    );
    let hint = Checkpoint::open(&repository).err().and_then(|error| error.hint());
    assert_eq!(hint.as_deref(), Some("fetch only what is absent: hf download some/toy gone.safetensors"));
}

#[test]
fn case_14_a_read_only_directory_is_enough() {
    use std::os::unix::fs::PermissionsExt;
    let directory = single(vectors(&["a"]));
    let allow = |mode| fs::set_permissions(directory.path(), fs::Permissions::from_mode(mode));
    allow(0o555).expect("it is ours");
    let count = || fs::read_dir(directory.path()).map(Iterator::count).ok();
    let before = count();
    let opened = Checkpoint::open(directory.path()).map(|checkpoint| checkpoint.tensors().len());
    allow(0o755).expect("it is ours");
    assert_eq!((opened.ok(), count()), (Some(1), before));
}

#[test]
fn configurations_and_what_stands_beside_them() {
    let directory = single(vectors(&["a"]));
    put(directory.path(), "generation_config.json", "\u{feff}{\"eos_token_id\": [1, 2], \"top_k\": null}");
    put(directory.path(), "tokenizer_config.json", "{\n  \"a\": 1,\n}");
    let checkpoint = Checkpoint::open(directory.path()).expect("it is whole");
    assert_eq!(checkpoint.config().str("model_type").ok(), Some("toy"));
    let generation = checkpoint.sidecar("generation_config.json").expect("it is JSON").expect("it is there");
    assert_eq!(generation["eos_token_id"], serde_json::json!([1, 2]));
    assert_eq!(checkpoint.sidecar("special_tokens_map.json").expect("absent is no error"), None);
    let broken = checkpoint.sidecar("tokenizer_config.json").expect_err("a comma too many");
    let place = directory.path().join("tokenizer_config.json");
    assert_eq!(broken.to_string(), format!("{}: line 3, column 1: trailing comma", place.display()));

    for (config, message) in [
        ("[]", "m/config.json: line 1, column 1: needed a JSON object"),
        ("{\"a\": ", "m/config.json: line 1, column 6: EOF while parsing a value"),
        ("", "m/config.json: line 1, column 0: EOF while parsing a value"),
    ] {
        put(directory.path(), "config.json", config);
        assert_eq!(refusal(directory.path()), message);
    }
    fs::remove_file(directory.path().join("config.json")).expect("it was there");
    assert!(refusal(directory.path()).starts_with("m/config.json: No such file or directory"));
}

#[test]
fn places_without_a_model_say_what_is_there() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let needed = "m: needed *.safetensors with a config.json, or one .gguf model; found";
    assert_eq!(refusal(directory.path()), format!("{needed} nothing"));
    put(directory.path(), "pytorch_model.bin", "x");
    assert_eq!(refusal(directory.path()), format!("{needed} pytorch_model.bin"));
    assert!(refusal(&directory.path().join("nowhere")).starts_with("m: No such file or directory"));
    fs::create_dir(directory.path().join("model.safetensors")).expect("a directory can be made");
    put(directory.path(), "config.json", "{}");
    assert_eq!(refusal(directory.path()), "m/model.safetensors: not a regular file");
}
