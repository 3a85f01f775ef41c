//! Ctrl-C: the first stops the answer, the second the program.

#![cfg(unix)]

mod support;

use std::{
    io::{Read, Write},
    process::{Child, Command, Stdio},
};

use support::Home;

fn send(child: &Child, signal: &str) {
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

/// Starts a long answer and waits for its first bytes.
fn answering(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.coli(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a start");
    if !arguments.contains(&"run") {
        child.stdin.as_mut().expect("a pipe").write_all(b"Tell me about bread.\n").expect("a question");
    }
    child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("the answer has begun");
    child
}

fn end(mut child: Child) -> (Option<i32>, String) {
    drop(child.stdin.take());
    let output = child.wait_with_output().expect("an end");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_signal_stops_an_answer_and_keeps_what_there_is() {
    let home = Home::new();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let child = answering(&home, &["run", "Tell me about bread.", "--ignore-eos"]);
        send(&child, signal);
        let (found, err) = end(child);
        assert_eq!(found, Some(code), "{err}");
        assert!(err.contains("tokens,") && !err.contains("error"), "{err}");
    }
}

#[test]
fn in_a_conversation_only_the_turn_stops() {
    let home = Home::new();
    // Never stopping by itself: a stop text cannot come, and the end is a token that temperature makes unlikely.
    let child = answering(&home, &["chat", "--temperature", "100", "--seed", "1"]);
    send(&child, "-INT");
    let (code, err) = end(child);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("stopped: :more goes on"), "{err}");
}

#[test]
fn being_asked_to_end_ends_a_conversation() {
    let home = Home::new();
    let mut child = answering(&home, &["chat", "--temperature", "100", "--seed", "1"]);
    send(&child, "-TERM");
    // Standard input stays open: it is the signal that ends it.
    assert_eq!(child.wait().expect("an end").code(), Some(0));
}
