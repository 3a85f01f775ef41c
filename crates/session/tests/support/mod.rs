//! What the tests of the engine share: fixtures on disk, their references, and sessions opened in many ways.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod edit;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use safetensors::{Dtype, SafeTensors};
use session::{Options, Request, Sampling, Session};

/// Where the fixtures of this repository are.
pub fn oracle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../oracle")
}

/// Every checkpoint with a reference: those of the repository, and those below the folders in `COLI_ORACLE` (separated by
/// colons), where fixtures of other seeds may lie.
pub fn fixtures() -> Vec<Fixture> {
    let more = std::env::var_os("COLI_ORACLE").unwrap_or_default();
    let roots: Vec<PathBuf> = std::iter::once(oracle())
        .chain(std::env::split_paths(&more).filter(|root| !root.as_os_str().is_empty()))
        .collect();
    let mut found = Vec::new();
    for root in roots {
        find(&root, 3, &mut found);
    }
    found.sort_by(|a, b| a.checkpoint.cmp(&b.checkpoint));
    assert!(found.len() >= 5, "the repository holds fixtures, found {}", found.len());
    found
}

fn find(folder: &Path, depth: usize, found: &mut Vec<Fixture>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("a readable entry").path()) {
        let reference = path.join("ref.safetensors");
        if reference.is_file() {
            let gguf = path.join("model.gguf");
            let checkpoint = if gguf.is_file() { gguf } else { path };
            found.push(Fixture { checkpoint, reference });
        } else if path.is_dir() && depth > 0 {
            find(&path, depth - 1, found);
        }
    }
}

/// A checkpoint and what another implementation says about it.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Folder or GGUF file.
    pub checkpoint: PathBuf,
    /// Reference values.
    pub reference: PathBuf,
}

impl Fixture {
    /// The reference values.
    pub fn reference(&self) -> Reference {
        Reference::read(&self.reference)
    }
}

/// Reference values by name, as f32 (integers too: they are small).
pub struct Reference(HashMap<String, (Vec<usize>, Vec<f32>)>);

impl Reference {
    fn read(path: &Path) -> Reference {
        let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let tensors = SafeTensors::deserialize(&bytes).expect("a reference file");
        let values = tensors.tensors().into_iter().map(|(name, tensor)| {
            let words = tensor.data().chunks_exact(4).map(|word| [word[0], word[1], word[2], word[3]]);
            let values = match tensor.dtype() {
                Dtype::F32 => words.map(f32::from_le_bytes).collect(),
                Dtype::I32 => words.map(|word| i32::from_le_bytes(word) as f32).collect(),
                other => panic!("{name} is {other:?}"),
            };
            (name, (tensor.shape().to_vec(), values))
        });
        Reference(values.collect())
    }

    /// A tensor's values.
    pub fn values(&self, name: &str) -> &[f32] {
        &self.0.get(name).unwrap_or_else(|| panic!("no {name} in the reference")).1
    }

    /// A tensor's values, if it is there.
    pub fn optional(&self, name: &str) -> Option<&[f32]> {
        self.0.get(name).map(|(_, values)| values.as_slice())
    }

    /// A tensor's values as token ids.
    pub fn ids(&self, name: &str) -> Vec<u32> {
        self.values(name).iter().map(|id| *id as u32).collect()
    }
}

/// Opens a session; a failure is the test's failure.
pub fn open(path: &Path, options: &Options) -> Session {
    Session::open(path, options, &mut |_| {}).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Options that let a tiny model run quickly: a ceiling that does not depend on the machine.
pub fn options() -> Options {
    Options { ram: Some(2_000_000_000), threads: Some(1), ..Options::default() }
}

/// A greedy request for `count` tokens that goes on after end tokens.
pub fn greedy(prompt: &[u32], count: usize) -> Request {
    Request {
        prompt: prompt.to_vec(),
        max_tokens: Some(count),
        sampling: Sampling::greedy(),
        ignore_end: true,
        stop: Vec::new(),
    }
}

/// The greedy continuation of `prompt`.
pub fn continue_greedily(session: &mut Session, prompt: &[u32], count: usize) -> Vec<u32> {
    let cancel = AtomicBool::new(false);
    session.generate(&greedy(prompt, count), &cancel, &mut |_| {}).expect("an answer").token_ids
}

/// Copies a checkpoint folder so that a test can damage it.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a fixture") {
        let path = entry.expect("an entry").path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().expect("a name"))).expect("a copy");
        }
    }
}

/// The first fixture in this repository whose folder has a `config.json` that satisfies `wanted`.
pub fn fixture_where(wanted: impl Fn(&serde_json::Value) -> bool) -> Fixture {
    let config = |fixture: &Fixture| {
        let text = fs::read_to_string(fixture.checkpoint.join("config.json")).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()
    };
    let found = fixtures().into_iter().find(|fixture| config(fixture).is_some_and(|config| wanted(&config)));
    found.expect("a fixture with the wanted property")
}

/// A fixture with experts and an output projection of its own.
pub fn with_experts() -> Fixture {
    fixture_where(|config| {
        config.get("num_experts").is_some_and(|count| count.as_u64() > Some(2))
            && config["tie_word_embeddings"] == false
            && config["dtype"] == "float32"
    })
}
