//! Rules of the project that the compiler does not check. They run as a test of this package too, so that `cargo test`
//! holds them.

mod documents;
mod edges;
mod files;
mod finding;
mod names;
mod ranks;
mod shape;
mod source;
mod unsafety;

use std::path::Path;

use anyhow::{Result, bail};

use finding::Finding;

/// Prints every finding; having any is an error.
///
/// # Errors
/// A rule is broken, or a file cannot be read.
pub fn run(root: &Path) -> Result<()> {
    let findings = check(root)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        count => bail!("{count} places break a rule of the project"),
    }
}

/// All findings in the workspace at `root`.
fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = ranks::check(root)?;
    for file in files::rust_files(root)? {
        findings.extend(names::check(&file));
        findings.extend(edges::check(&file));
        findings.extend(unsafety::check(&file));
        findings.extend(shape::check(&file));
    }
    findings.extend(documents::check(root)?);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        let findings = check(&crate::root()).expect("a readable workspace");
        let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "\n{}", lines.join("\n"));
    }
}
