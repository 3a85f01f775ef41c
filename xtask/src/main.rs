//! Work on the project itself: `cargo xtask tidy`, `cargo xtask ci`, `cargo xtask oracle`.
//!
//! Nothing here is part of the engine, and the engine knows nothing of it.

#![forbid(unsafe_code)]

mod ci;
mod oracle;
mod tidy;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  tidy                                   rules that the compiler does not check: ranks, family names, unsafe, links
  ci                                     everything a change must pass: format, lints, tests, docs, tidy
  oracle [NAME] [--seed N] [--out DIR]   make fixtures again (all, or one of `oracle --list`), into oracle/ or DIR
         [--python PROGRAM]";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => bail!("{USAGE}"),
    };
    match (command, rest) {
        ("tidy", []) => tidy::run(&root()),
        ("ci", []) => ci::run(&root()),
        ("oracle", rest) => oracle::run(&root(), rest),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("unknown command `{}`\n{USAGE}", arguments.join(" ")),
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("xtask lies in the workspace").to_path_buf()
}
