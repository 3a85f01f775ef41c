//! What the tests of the command line share: the program in an environment of its own, and the fixtures.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::{
    env, fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A home of its own for one test: no configuration, no history, an empty cache.
pub struct Home(TempDir);

impl Home {
    /// An empty home.
    pub fn new() -> Home {
        Home(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The program with these arguments, in this home and without any setting from outside.
    pub fn coli(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coli"));
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("COLI_") || name.starts_with("XDG_") {
                command.env_remove(&*name);
            }
        }
        command.args(arguments).env("HOME", self.0.path()).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs the program to its end.
    pub fn run(&self, arguments: &[&str]) -> Run {
        Run::of(self.coli(arguments).output().expect("the program starts"))
    }

    /// Runs the program with this on standard input.
    pub fn feed(&self, arguments: &[&str], input: &str) -> Run {
        let mut command = self.coli(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe was asked for");
        // A program that refuses its arguments does not read; then this fails, which is no matter.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Run::of(child.wait_with_output().expect("the program ends"))
    }
}

/// What a run left behind.
#[derive(Debug)]
pub struct Run {
    /// Exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Run {
    fn of(output: Output) -> Run {
        Run {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            err: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }

    /// The run, if it ended well.
    #[track_caller]
    pub fn good(self) -> Run {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// Standard output as one JSON object and nothing else.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Checks code, the line of the error and the hint: exactly one line each.
    #[track_caller]
    pub fn fails(&self, code: i32, error: &str, hint: &str) {
        assert_eq!(self.code, Some(code), "{self:?}");
        let lines: Vec<&str> = self.err.lines().collect();
        let [found_error, found_hint] = lines[..] else { panic!("needed an error and a hint: {self:?}") };
        assert!(found_error.starts_with("error: ") && found_error.contains(error), "{self:?}");
        assert!(found_hint.starts_with("hint: ") && found_hint.contains(hint), "{self:?}");
        assert_eq!(self.out, "", "{self:?}");
    }
}

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// A checkpoint of the oracle with routed experts in f32, one tensor for each, and a head of its own.
pub fn fixture() -> PathBuf {
    let wanted = |path: &Path| {
        let config: Value = serde_json::from_str(&fs::read_to_string(path.join("config.json")).ok()?).ok()?;
        let has_experts = config["num_experts"].as_u64() > Some(2) && config["tie_word_embeddings"] == false;
        let weights = fs::metadata(path.join("model.safetensors")).ok()?.len();
        (has_experts && config["decoder_sparse_step"].is_null() && weights > 700_000)
            .then(|| path.to_path_buf())
    };
    let mut folders: Vec<PathBuf> = fs::read_dir(repository().join("oracle"))
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    folders.sort();
    folders.iter().find_map(|folder| wanted(folder)).expect("a fixture with experts")
}

/// Reference ids of a fixture: the prompt and its greedy continuation.
pub fn reference(fixture: &Path) -> (Vec<u64>, Vec<u64>) {
    let text = fs::read_to_string(fixture.join("ref.json")).expect("a reference");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    let ids = |name: &str| {
        value[name].as_array().expect(name).iter().map(|id| id.as_u64().expect("an id")).collect()
    };
    (ids("input_ids"), ids("greedy_ids"))
}

/// Ids as the command line takes them.
pub fn words(ids: &[u64]) -> String {
    ids.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

/// Text of a path.
pub fn text(path: &Path) -> &str {
    path.to_str().expect("a UTF-8 path")
}
