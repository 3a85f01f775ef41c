//! Answers: the contract of `--json`, where model and prompt may stand, how an answer ends.

mod support;

use std::{
    io::{BufRead, BufReader, Read},
    process::Stdio,
};

use serde_json::Value;
use support::{Home, fixture, reference, text, words};

/// Keys of an object, in order.
fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn ids(value: &Value) -> Vec<u64> {
    value.as_array().expect("ids").iter().map(|id| id.as_u64().expect("an id")).collect()
}

#[test]
fn run_keeps_its_contract() {
    let (home, model) = (Home::new(), fixture());
    let (prompt, greedy) = reference(&model);
    let run = home
        .run(&["run", text(&model), "--ids", &words(&prompt), "--json", "--ignore-eos", "--max-tokens", "12"])
        .good();
    let answer = run.json();
    assert_eq!(keys(&answer), ["model", "prompt_ids", "token_ids", "text", "finish_reason", "stats"]);
    assert_eq!(answer["model"], model.file_name().expect("a name").to_str().expect("UTF-8"));
    assert_eq!(ids(&answer["prompt_ids"]), prompt);
    assert_eq!(ids(&answer["token_ids"]), greedy);
    assert_eq!((&answer["text"], &answer["finish_reason"]), (&Value::Null, &Value::from("length")));
    let stats = &answer["stats"];
    assert_eq!(
        keys(stats),
        [
            "prefill_tokens_per_s",
            "decode_tokens_per_s",
            "ttft_s",
            "expert_requests",
            "expert_hits",
            "expert_misses",
            "disk_read_bytes",
            "peak_rss_bytes",
            "ram_limit_bytes",
            "phases_us",
        ]
    );
    let count = |name: &str| stats[name].as_u64().expect(name);
    assert_eq!(count("expert_hits") + count("expert_misses"), count("expert_requests"));
    assert!(count("expert_misses") > 0 && count("disk_read_bytes") > 0 && count("peak_rss_bytes") > 0);
    assert!(stats["phases_us"]["unaccounted"].is_u64());
}

#[test]
fn model_and_prompt_may_stand_in_every_place() {
    let (home, model) = (Home::new(), fixture());
    let model = text(&model);
    let common = ["--ids", "1,2,3", "--max-tokens", "3", "--json"];
    let plain = home.run(&[&["run", model][..], &common].concat()).good().json();
    for arguments in [&["run", "-m", model][..], &["run", "--model", model], &["--model", model, "run"]] {
        let other = home.run(&[arguments, &common].concat()).good().json();
        assert_eq!(other["token_ids"], plain["token_ids"], "{arguments:?}");
    }
    let output =
        home.coli(&[&["run"][..], &common].concat()).env("COLI_MODEL", model).output().expect("a start");
    let other: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(other["token_ids"], plain["token_ids"]);
}

#[test]
fn without_a_tokenizer_the_ids_are_the_answer() {
    let (home, model) = (Home::new(), fixture());
    let (prompt, greedy) = reference(&model);
    let run = home
        .run(&["run", text(&model), "--ids", &words(&prompt), "--ignore-eos", "--max-tokens", "4"])
        .good();
    assert_eq!(run.out, format!("{}\n", words(&greedy[..4])));
    assert!(run.err.contains("4 tokens"), "{run:?}");
}

#[test]
fn score_keeps_its_contract() {
    let (home, model) = (Home::new(), fixture());
    let (prompt, greedy) = reference(&model);
    let run = home.run(&["score", text(&model), "--ids", &words(&prompt), "--top", "2", "--json"]).good();
    let scored = run.json();
    assert_eq!(keys(&scored), ["model", "positions"]);
    let positions = scored["positions"].as_array().expect("positions");
    assert_eq!(positions.len(), prompt.len());
    for (position, id) in positions.iter().zip(&prompt) {
        assert_eq!(keys(position), ["id", "top", "next_logprob"]);
        assert_eq!((position["id"].as_u64(), position["top"].as_array().map(Vec::len)), (Some(*id), Some(2)));
    }
    let last = positions.last().expect("a position");
    assert_eq!((&last["top"][0]["id"], &last["next_logprob"]), (&Value::from(greedy[0]), &Value::Null));
    assert!(positions[0]["next_logprob"].as_f64().is_some_and(|logprob| logprob < 0.0));
    assert!(home.run(&["score", text(&model), "--ids", "1,2"]).good().out.lines().count() == 3);
}

#[test]
fn every_report_is_one_object() {
    let (home, model) = (Home::new(), fixture());
    for (command, key) in [("info", "family"), ("plan", "memory"), ("doctor", "checks")] {
        assert!(!home.run(&[command, text(&model), "--json"]).good().json()[key].is_null(), "{command}");
        assert!(home.run(&[command, text(&model)]).good().out.lines().count() > 3, "{command}");
    }
    let bench =
        ["bench", text(&model), "--json", "--prompt-tokens", "8", "--decode-tokens", "4", "--threads", "1"];
    let report = home.run(&bench).good().json();
    for part in ["prefill", "decode"] {
        assert!(report[part]["share_of_bound"].as_f64().is_some_and(|share| share > 0.0), "{report}");
        assert!(["memory", "drive"].contains(&report[part]["bound"].as_str().expect("a bound")), "{report}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let (home, model) = (Home::new(), fixture());
    let mut command = home.coli(&["score", text(&model), "--ids", &words(&[1; 60])]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
    let mut first = String::new();
    let mut out = BufReader::with_capacity(16, child.stdout.take().expect("a pipe"));
    out.read_line(&mut first).expect("a line");
    drop(out);
    let mut err = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut err).expect("UTF-8");
    assert_eq!((child.wait().expect("an end").code(), err.as_str()), (Some(0), ""));
}
