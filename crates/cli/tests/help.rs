//! Help texts, byte for byte. `GOLDEN=update` writes them anew.

mod support;

use std::{env, fs, path::Path};

use support::Home;

const COMMANDS: [&str; 11] =
    ["", "chat", "run", "score", "info", "plan", "doctor", "convert", "bench", "completions", "man"];

#[test]
fn help_texts_are_as_reviewed() {
    let home = Home::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/help");
    for command in COMMANDS {
        let arguments: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let help = home.run(&arguments).good();
        assert_eq!(help.err, "");
        let name = if command.is_empty() { "coli" } else { command };
        let path = folder.join(format!("{name}.txt"));
        if env::var("GOLDEN").is_ok_and(|word| word == "update") {
            fs::create_dir_all(&folder).expect("a folder for golden files");
            fs::write(&path, &help.out).expect("a golden file");
        }
        let golden = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            help.out,
            golden,
            "{} is out of date; `GOLDEN=update cargo test -p cli --test help`",
            path.display()
        );
    }
}

#[test]
fn every_command_is_tested() {
    let help = Home::new().run(&["--help"]).good().out;
    let listed =
        help.split("Commands:\n").nth(1).expect("a list of commands").split("\n\n").next().expect("its end");
    let listed: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, COMMANDS[1..]);
}

#[test]
fn scripts_are_printed_for_every_shell_and_command() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(home.run(&["completions", shell]).good().out.contains("coli"), "{shell}");
    }
    assert!(home.run(&["man"]).good().out.starts_with(".ie"));
    for command in &COMMANDS[1..] {
        assert!(home.run(&["man", command]).good().out.contains(command), "{command}");
    }
}
