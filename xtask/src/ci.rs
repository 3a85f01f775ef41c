//! Everything a change must pass, in the order in which a fault is cheapest to find.

use std::{path::Path, process::Command, time::Instant};

use anyhow::{Context, Result, bail};

use crate::tidy;

/// Name, arguments of cargo, and flags for the documentation compiler.
const STEPS: &[(&str, &[&str], &str)] = &[
    ("format", &["fmt", "--all", "--check"], ""),
    ("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], ""),
    ("tests", &["test", "--workspace"], ""),
    ("docs", &["doc", "--workspace", "--no-deps", "--document-private-items"], "-D warnings"),
];

/// Runs every step; the first that fails ends the run.
///
/// # Errors
/// A step failed or could not be started.
pub fn run(root: &Path) -> Result<()> {
    step("tidy", || tidy::run(root))?;
    for (name, arguments, doc_flags) in STEPS {
        step(name, || cargo(root, arguments, doc_flags))?;
    }
    Ok(())
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("== {name}");
    let start = Instant::now();
    work().with_context(|| format!("step `{name}`"))?;
    println!("== {name}: passed in {} s", start.elapsed().as_secs());
    Ok(())
}

fn cargo(root: &Path, arguments: &[&str], doc_flags: &str) -> Result<()> {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments);
    if !doc_flags.is_empty() {
        command.env("RUSTDOCFLAGS", doc_flags);
    }
    let status = command.status().context("cargo could not be started")?;
    if !status.success() {
        bail!("`cargo {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}
