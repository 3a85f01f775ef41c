//! The embedded demo model: unpacked once, checked, and answering.

mod support;

use std::{fs, path::PathBuf};

use serde_json::Value;
use support::{Home, repository, text};

/// Questions, prompt ids and answers that came with the model.
fn cases() -> Vec<Value> {
    let reference = fs::read_to_string(repository().join("demo/reference.json")).expect("the reference");
    let reference: Value = serde_json::from_str(&reference).expect("JSON");
    reference["cases"].as_array().expect("cases").clone()
}

fn unpacked(home: &Home) -> Vec<PathBuf> {
    let cache = home.path(".cache/colibri");
    fs::read_dir(cache).expect("a cache").map(|entry| entry.expect("an entry").path()).collect()
}

#[test]
fn answers_are_those_of_the_reference() {
    let home = Home::new();
    for case in cases() {
        let prompt = case["prompt"].as_str().expect("a prompt");
        let run = home.run(&["run", prompt, "--json", "--max-tokens", "24"]).good();
        let answer = run.json();
        assert_eq!(answer["prompt_ids"], case["prompt_ids"], "{prompt}");
        assert_eq!(answer["text"], case["text"], "{prompt}");
    }
}

#[test]
fn a_pipe_is_a_conversation() {
    let home = Home::new();
    let run = home.feed(&[], "What is a hummingbird?\n\nWhat is a blorpit?\n:quit\nHello\n").good();
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines.len(), 2, "{run:?}");
    assert!(lines[0].starts_with("A hummingbird is a tiny American bird"), "{run:?}");
    assert_eq!(run.err.matches("tokens,").count(), 2, "a line of figures for each answer: {run:?}");
    let experts = run.err.lines().filter(|line| line.starts_with("demo model: 192 experts"));
    assert_eq!(experts.count(), 1, "{run:?}");
    assert!(run.err.contains("% of"), "{run:?}");
}

#[test]
fn cut_answers_go_on() {
    let home = Home::new();
    let whole = home.feed(&["chat"], "What is a hummingbird?\n").good();
    let parts = home
        .feed(&["--max-tokens", "6"], "What is a hummingbird?\n:more\n:more\n:more\n:more\n:stats\n")
        .good();
    let answer: String = parts.out.lines().take(4).collect();
    assert_eq!(answer, whole.out.trim_end(), "{parts:?}");
    assert!(parts.err.contains(":more goes on") && parts.err.contains("was not cut"), "{parts:?}");
    assert!(parts.out.contains("first token"), "{parts:?}");
    let nothing = home.feed(&[], ":stats\n:reset\n:mroe\n").good();
    assert!(
        nothing.err.contains("nothing was answered yet") && nothing.err.contains("forgotten"),
        "{nothing:?}"
    );
    assert!(nothing.err.contains(":mroe is not a word"), "{nothing:?}");
}

#[test]
fn the_copy_is_kept_checked_and_repaired() {
    let home = Home::new();
    let run = || home.run(&["run", "demo", "--ids", "2,293", "--max-tokens", "2", "--json"]).good();
    let first = run().json();
    let [folder] = &unpacked(&home)[..] else { panic!("one folder: {:?}", unpacked(&home)) };
    let weights = folder.join("model.safetensors");
    let written = fs::metadata(&weights).expect("weights").modified().expect("a time");
    assert_eq!(run().json()["token_ids"], first["token_ids"]);
    assert_eq!(
        fs::metadata(&weights).expect("weights").modified().expect("a time"),
        written,
        "not written again"
    );

    let mut bytes = fs::read(&weights).expect("weights");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&weights, &bytes).expect("a damaged file");
    let repaired = run();
    assert!(repaired.err.contains("damaged, written anew"), "{repaired:?}");
    assert_eq!(repaired.json()["token_ids"], first["token_ids"]);
    assert_eq!(unpacked(&home), std::slice::from_ref(folder), "nothing is left behind");
}

#[test]
fn a_home_that_cannot_be_written_is_no_obstacle() {
    let home = Home::new();
    // A file where the cache should be: nobody, not even root, can make a folder there.
    fs::write(home.path(".cache"), "").expect("a file");
    let temporary = home.path("temporary");
    fs::create_dir(&temporary).expect("a folder");
    let output = home
        .coli(&["run", "Hello", "--max-tokens", "3"])
        .env("TMPDIR", &temporary)
        .output()
        .expect("a start");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_dir(&temporary).expect("a folder").count(), 1);
}

#[test]
fn a_path_named_demo_comes_first() {
    let home = Home::new();
    fs::create_dir(home.path("demo")).expect("a folder");
    home.run(&["info", "demo"]).fails(1, "demo", "");
    assert!(!home.path(".cache").exists());
    assert!(home.run(&["info", text(&repository().join("demo"))]).good().out.contains("192"));
}

#[test]
fn a_path_alone_is_a_prompt_and_says_so() {
    let home = Home::new();
    let run = home.run(&["run", ".", "--max-tokens", "2"]).good();
    assert!(run.err.contains("note: . is taken as the prompt; --model names a model"), "{run:?}");
}

#[test]
fn stops_and_seeds_decide_where_an_answer_ends_and_what_it_is() {
    let home = Home::new();
    let run = |more: &[&str]| {
        home.run(&[&["run", "What is a hummingbird?", "--json"], more].concat()).good().json()
    };
    let stopped = run(&["--stop", " bird"]);
    assert_eq!(stopped["text"], "A hummingbird is a tiny American");
    assert_eq!(stopped["finish_reason"], "stop");
    assert_eq!(run(&["--max-tokens", "2"])["finish_reason"], "length");
    let drawn =
        |seed: &str| run(&["--temperature", "2", "--seed", seed, "--max-tokens", "12"])["token_ids"].clone();
    assert_eq!(drawn("1"), drawn("1"));
    assert_ne!(drawn("1"), drawn("2"));
}
