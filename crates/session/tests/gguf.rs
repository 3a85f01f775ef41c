//! GGUF files written by the format's own reference package score as their dequantised weights do elsewhere.

mod support;

use std::{fs, path::PathBuf};

use serde_json::Value;
use support::{continue_greedily, open, options, oracle};

/// Largest difference of a logit.
const LOGIT_ABSOLUTE: f32 = 3e-4;

/// Every `NAME.gguf` with a `NAME.ref.json`: those of the repository, and those in the folders of `COLI_ORACLE_GGUF`.
fn files() -> Vec<PathBuf> {
    let more = std::env::var_os("COLI_ORACLE_GGUF").unwrap_or_default();
    let more = std::env::split_paths(&more).filter(|folder| !folder.as_os_str().is_empty());
    let mut files = Vec::new();
    for folder in std::iter::once(oracle().join("gguf")).chain(more) {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        files.extend(entries.map(|entry| entry.expect("an entry").path()));
    }
    files.retain(|path| path.extension().is_some_and(|end| end == "gguf"));
    files.sort();
    assert!(files.len() >= 4, "the repository holds four files, found {}", files.len());
    files
}

fn ids(reference: &Value, name: &str) -> Vec<u32> {
    reference[name].as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id") as u32).collect()
}

#[test]
fn every_file_agrees_with_its_reference() {
    for path in files() {
        let name = path.display().to_string();
        let text = fs::read_to_string(path.with_extension("ref.json")).expect("a reference");
        let reference: Value = serde_json::from_str(&text).expect("JSON");
        let prompt = ids(&reference, "input_ids");
        let mut session = open(&path, &options());
        session.forward(&prompt, None).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut apart = 0f32;
        for (row, expected) in reference["logits"].as_array().expect("rows").iter().enumerate() {
            let expected = expected
                .as_array()
                .expect("a row")
                .iter()
                .map(|logit| logit.as_f64().expect("a number") as f32);
            let found = session.logits_of(row);
            assert_eq!(found.len(), expected.len(), "{name}");
            apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(apart, f32::max);
        }
        assert!(apart <= LOGIT_ABSOLUTE, "{name}: logits are {apart} from the reference");
        session.reset();
        let expected = ids(&reference, "greedy_ids");
        assert_eq!(continue_greedily(&mut session, &prompt, expected.len()), expected, "{name}");
        println!("{name}: logits within {apart:.1e}, {} greedy tokens", expected.len());
    }
}
