//! Links between documents lead somewhere, and every dependency has its reason written down.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::{files, finding::Finding};

const REASONS: &str = "docs/decisions/dependencies.md";

/// Reads every Markdown file and the manifest of the workspace.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut paths = Vec::new();
    files::walk(root, &mut paths)?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "md"));
    paths.sort();
    let mut findings = Vec::new();
    for path in paths {
        findings.extend(broken_links(root, &path)?);
    }
    findings.extend(unexplained(root)?);
    Ok(findings)
}

fn broken_links(root: &Path, path: &Path) -> Result<Vec<Finding>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let folder = path.parent().unwrap_or(root);
    let inner: PathBuf = path.strip_prefix(root).expect("found below the root").to_path_buf();
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for target in link_targets(line).filter(|target| !folder.join(target).exists()) {
            let message = format!("the link to `{target}` leads nowhere");
            findings.push(Finding { path: inner.clone(), line: index + 1, message });
        }
    }
    Ok(findings)
}

/// Files that the Markdown links of `line` point to; anchors are cut off, addresses left out.
fn link_targets(line: &str) -> impl Iterator<Item = &str> {
    let inside = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = inside.map(|target| target.split('#').next().unwrap_or_default());
    files.filter(|target| !target.is_empty() && !target.contains("://") && !target.starts_with("mailto:"))
}

fn unexplained(root: &Path) -> Result<Vec<Finding>> {
    let manifest = fs::read_to_string(root.join("Cargo.toml")).context("Cargo.toml")?;
    let reasons = fs::read_to_string(root.join(REASONS)).context(REASONS)?;
    let names = foreign_dependencies(&manifest.parse::<Table>().context("Cargo.toml")?);
    let lacking = names.into_iter().filter(|name| !reasons.contains(&format!("`{name}`")));
    let finding = |name| Finding {
        path: REASONS.into(),
        line: 0,
        message: format!("says nothing about `{name}`: need, choice, why, what it saves, licence"),
    };
    Ok(lacking.map(finding).collect())
}

/// Names in `[workspace.dependencies]` that are no crates of this workspace.
fn foreign_dependencies(manifest: &Table) -> Vec<String> {
    let table = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    let foreign = table.into_iter().flatten().filter(|(_, value)| value.get("path").is_none());
    foreign.map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_to_files() {
        let line = "see [a](docs/a.md#part), [b](https://example.org/b), [c](#here) and [d](../d.md)";
        assert_eq!(link_targets(line).collect::<Vec<_>>(), ["docs/a.md", "../d.md"]);
    }

    #[test]
    fn finds_foreign_dependencies() {
        let manifest = "[workspace.dependencies]\nunits = { path = 'crates/units' }\nserde = '1'\nhalf = { version = '2' }";
        assert_eq!(foreign_dependencies(&manifest.parse().unwrap()), ["half", "serde"]);
    }
}
