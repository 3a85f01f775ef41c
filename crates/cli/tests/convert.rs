//! Conversion: the values, what is kept, interruption, refusals. Files are read back with another implementation.

mod support;

use std::{
    collections::{BTreeMap, HashMap},
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
};

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use support::{Home, fixture, reference, text, words};

/// A tensor as stored: dtype, shape, bytes.
type Stored = (Dtype, Vec<usize>, Vec<u8>);

/// All tensors of the files in a folder.
fn tensors(folder: &Path) -> BTreeMap<String, Stored> {
    let mut all = BTreeMap::new();
    for path in files(folder) {
        if path.extension().is_some_and(|extension| extension == "safetensors") {
            let bytes = fs::read(&path).expect("a file");
            for (name, view) in SafeTensors::deserialize(&bytes).expect("safetensors").tensors() {
                all.insert(name, (view.dtype(), view.shape().to_vec(), view.data().to_vec()));
            }
        }
    }
    all
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Name and bytes of every file, to see whether anything changed.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    files(folder).into_iter().map(|path| (path.clone(), fs::read(path).expect("a file"))).collect()
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

/// The f32 checkpoint of the oracle without its reference files, so that only a checkpoint is there.
fn source(home: &Home) -> PathBuf {
    let folder = home.path("source");
    fs::create_dir(&folder).expect("a folder");
    for name in ["config.json", "generation_config.json", "model.safetensors"] {
        fs::copy(fixture().join(name), folder.join(name)).expect("a copy");
    }
    fs::write(folder.join("tokenizer_config.json"), "{}").expect("a file");
    folder
}

/// The same checkpoint in four shards.
fn sharded(home: &Home) -> PathBuf {
    let (whole, folder) = (source(home), home.path("sharded"));
    fs::create_dir(&folder).expect("a folder");
    let tensors = tensors(&whole);
    let mut shards: Vec<HashMap<String, TensorView<'_>>> = (0..4).map(|_| HashMap::new()).collect();
    for (index, (name, (dtype, shape, bytes))) in tensors.iter().enumerate() {
        let view = TensorView::new(*dtype, shape.clone(), bytes).expect("a view");
        shards[index * 4 / tensors.len()].insert(name.clone(), view);
    }
    for (index, shard) in shards.into_iter().enumerate() {
        let path = folder.join(format!("model-0000{}-of-00004.safetensors", index + 1));
        safetensors::serialize_to_file(shard, None, &path).expect("a shard");
    }
    for name in ["config.json", "generation_config.json", "tokenizer_config.json"] {
        fs::copy(whole.join(name), folder.join(name)).expect("a copy");
    }
    folder
}

fn is_kept(name: &str, shape: &[usize]) -> bool {
    shape.len() < 2 || name.ends_with("mlp.gate.weight")
}

/// Checks `format`: every value within half a step of the source, scales as documented, small tensors untouched.
fn check(format: &str, levels: f32, group: Option<usize>) {
    let home = Home::new();
    let (from, to) = (source(&home), home.path("out"));
    let before = contents(&from);
    home.run(&["convert", text(&from), text(&to), "--format", format]).good();
    assert_eq!(contents(&from), before, "the source is only read");
    let (old, new) = (tensors(&from), tensors(&to));
    for (name, (_, shape, bytes)) in &old {
        let (dtype, new_shape, new_bytes) = &new[name];
        if is_kept(name, shape) {
            assert_eq!((dtype, new_shape, new_bytes), (&Dtype::F32, shape, bytes), "{name}");
            continue;
        }
        let is_end = name == "lm_head.weight" || name == "model.embed_tokens.weight";
        let (levels, group) = if is_end { (127.0, None) } else { (levels, group) };
        let cols = shape[1];
        let group = group.unwrap_or(cols);
        let scales = floats(&new[&format!("{name}.qs")].2);
        let per_row = cols.div_ceil(group);
        assert_eq!(scales.len(), shape[0] * per_row, "{name}");
        for (row, values) in floats(bytes).chunks(cols).enumerate() {
            for (part, values) in values.chunks(group).enumerate() {
                let scale = scales[row * per_row + part];
                let highest = values.iter().fold(0f32, |most, value| most.max(value.abs()));
                assert!((scale - highest / levels).abs() <= 1e-6 * highest, "{name} row {row}");
                for (col, value) in values.iter().enumerate() {
                    let at = part * group + col;
                    let code = if levels == 127.0 {
                        new_bytes[row * cols + at] as i8 as f32
                    } else {
                        let byte = new_bytes[row * cols.div_ceil(2) + at / 2];
                        f32::from(if at % 2 == 0 { byte & 15 } else { byte >> 4 }) - 8.0
                    };
                    assert!((code * scale - value).abs() <= 0.501 * scale, "{name} [{row}, {at}]");
                }
            }
        }
    }
    // And the engine takes it for a model.
    let ids = words(&reference(&fixture()).0);
    home.run(&["run", text(&to), "--ids", &ids, "--max-tokens", "4", "--json"]).good();
}

#[test]
fn values_are_within_half_a_step() {
    check("int8-row", 127.0, None);
    check("int4-row", 7.0, None);
    check("int4-g64", 7.0, Some(64));
}

#[test]
fn floats_are_rounded_to_nearest_even() {
    let home = Home::new();
    let (from, to) = (source(&home), home.path("out"));
    home.run(&["convert", text(&from), text(&to), "--format", "bf16"]).good();
    let (old, new) = (tensors(&from), tensors(&to));
    assert_eq!(old.keys().collect::<Vec<_>>(), new.keys().collect::<Vec<_>>());
    for (name, (_, shape, bytes)) in old.iter().filter(|(name, (_, shape, _))| !is_kept(name, shape)) {
        assert_eq!((&new[name].0, &new[name].1), (&Dtype::BF16, shape), "{name}");
        for (value, half) in floats(bytes).iter().zip(new[name].2.as_chunks::<2>().0) {
            let bits = value.to_bits();
            // Nearest, ties to the even one, by the definition: add half a unit less one, and one more if odd.
            let expected = ((u64::from(bits) + 0x7FFF + u64::from(bits >> 16 & 1)) >> 16) as u16;
            assert_eq!(u16::from_le_bytes(*half), expected, "{name}");
        }
    }
}

#[test]
fn what_belongs_to_a_checkpoint_comes_along() {
    let home = Home::new();
    let (from, to) = (sharded(&home), home.path("out"));
    home.run(&["convert", text(&from), text(&to), "--format", "int8-row"]).good();
    for name in ["config.json", "generation_config.json", "tokenizer_config.json"] {
        assert_eq!(fs::read(from.join(name)).expect(name), fs::read(to.join(name)).expect(name), "{name}");
    }
    let index = fs::read_to_string(to.join("model.safetensors.index.json")).expect("an index");
    let index: serde_json::Value = serde_json::from_str(&index).expect("JSON");
    assert_eq!(index["weight_map"].as_object().expect("a map").len(), tensors(&to).len());
    assert!(
        files(&to).iter().all(|path| !text(path).ends_with(".part") && !text(path).ends_with(".partial"))
    );
}

#[test]
fn an_interrupted_conversion_goes_on_and_gives_the_same_bytes() {
    let home = Home::new();
    let (from, whole, to) = (sharded(&home), home.path("whole"), home.path("out"));
    home.run(&["convert", text(&from), text(&whole), "--format", "int4-g64"]).good();

    // As a kill after the second shard leaves it: two shards listed, a third begun, nothing else.
    fs::create_dir(&to).expect("a folder");
    let state = fs::read_to_string(whole.join("colibri-convert.json")).expect("a state");
    let mut state: serde_json::Value = serde_json::from_str(&state).expect("JSON");
    let shards: Vec<String> = (1..=2).map(|n| format!("model-0000{n}-of-00004.safetensors")).collect();
    state["shards_done"] = shards.clone().into();
    state["is_complete"] = false.into();
    fs::write(to.join("colibri-convert.json"), state.to_string()).expect("a state");
    for name in &shards {
        fs::copy(whole.join(name), to.join(name)).expect("a shard");
    }
    fs::write(to.join("model-00003-of-00004.safetensors.partial"), "half").expect("a file");
    home.run(&["run", text(&to), "--ids", "1"]).fails(1, "", "");

    let other = ["convert", text(&from), text(&to), "--format", "int8-row"];
    home.run(&other).fails(
        1,
        "format: needed int8-row; found a conversion with int4-g64",
        "another destination",
    );
    let rerun = home.run(&["convert", text(&from), text(&to), "--format", "int4-g64"]).good();
    assert!(!rerun.err.contains("model-00002") && rerun.err.contains("model-00003"), "{rerun:?}");
    let relative = |folder: &Path| -> BTreeMap<PathBuf, Vec<u8>> {
        let strip = |path: PathBuf| path.strip_prefix(folder).expect("inside").to_path_buf();
        contents(folder).into_iter().map(|(path, bytes)| (strip(path), bytes)).collect()
    };
    assert!(relative(&to) == relative(&whole), "the bytes are those of an uninterrupted conversion");
    assert!(
        home.run(&["convert", text(&from), text(&to), "--format", "int4-g64"])
            .good()
            .err
            .contains("already complete")
    );
}

#[test]
fn a_killed_conversion_leaves_nothing_half_done() {
    let home = Home::new();
    let (from, whole, to) = (sharded(&home), home.path("whole"), home.path("out"));
    home.run(&["convert", text(&from), text(&whole), "--format", "f16"]).good();
    // Killed after each of the first shards in turn; every run says when a shard is done.
    for _ in 0..3 {
        let mut command = home.coli(&["convert", text(&from), text(&to), "--format", "f16"]);
        let mut child = command.stderr(Stdio::piped()).spawn().expect("a start");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("a line");
        assert!(line.contains("shard"), "{line}");
        let _ = child.kill();
        child.wait().expect("an end");
    }
    home.run(&["convert", text(&from), text(&to), "--format", "f16"]).good();
    assert!(tensors(&to) == tensors(&whole));
}

#[test]
fn refusals_name_the_reason() {
    let home = Home::new();
    let from = source(&home);
    let convert =
        |from: &Path, to: &Path| home.run(&["convert", text(from), text(to), "--format", "int8-row"]);
    convert(&from, &from).fails(1, "outside of the source", "never written to");
    convert(&from, &from.join("deeper/still")).fails(1, "outside of the source", "never written to");
    let occupied = home.path("occupied");
    fs::create_dir(&occupied).expect("a folder");
    fs::write(occupied.join("letter.txt"), "dear").expect("a file");
    convert(&from, &occupied).fails(1, "found other files", "nothing is ever overwritten");
    convert(&home.path("absent"), &home.path("out")).fails(1, "absent", "");
    let packed = home.path("packed");
    convert(&from, &packed).good();
    convert(&packed, &home.path("again")).fails(1, "converted already", "original");
    assert!(!home.path("again").exists() && !from.join("deeper").exists());
}
