//! A crate depends only on crates of a lower rank, so the tree can be read from top to bottom.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};
use toml::{Table, Value};

use super::finding::Finding;

/// Every crate and its rank, in reading order. Crates that are only planned have a place already.
const RANKS: &[(&str, u8)] = &[
    ("units", 0),
    ("settings", 1),
    ("telemetry", 1),
    ("checkpoint", 1),
    ("quant", 1),
    ("storage", 2),
    ("kernels", 2),
    ("text", 2),
    ("device", 3),
    ("device-gpu", 4),
    ("tiers", 4),
    ("layers", 5),
    ("models", 6),
    ("session", 7),
    ("cluster", 8),
    ("server", 8),
    ("cli", 9),
];

fn rank(package: &str) -> Option<u8> {
    RANKS.iter().find(|(name, _)| *name == package).map(|(_, rank)| *rank)
}

/// Reads every manifest below `crates/`.
pub fn check(root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(root.join("crates")).context("crates")? {
        folders.push(entry?.path());
    }
    folders.sort();
    for folder in folders {
        let manifest = folder.join("Cargo.toml");
        let path = manifest.strip_prefix(root).expect("found below the root").to_path_buf();
        let text = fs::read_to_string(&manifest).with_context(|| path.display().to_string())?;
        let table: Table = text.parse().with_context(|| path.display().to_string())?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let messages = manifest_faults(&name, &table);
        findings.extend(messages.into_iter().map(|message| Finding { path: path.clone(), line: 0, message }));
    }
    Ok(findings)
}

fn manifest_faults(folder: &str, manifest: &Table) -> Vec<String> {
    let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    if name != Some(folder) {
        return vec![format!("the folder is `{folder}`, the crate `{}`", name.unwrap_or("?"))];
    }
    let Some(own) = rank(folder) else {
        return vec![format!("`{folder}` has no rank; give it one in xtask/src/tidy/ranks.rs")];
    };
    let mut faults = Vec::new();
    for dependency in dependencies(manifest) {
        match rank(&dependency) {
            Some(other) if other >= own => {
                faults.push(format!("`{folder}` (rank {own}) depends on `{dependency}` (rank {other})"));
            }
            _ => (),
        }
    }
    faults
}

/// Names in all dependency tables, those of tests and of single targets too.
fn dependencies(manifest: &Table) -> Vec<String> {
    let mut tables = vec![manifest];
    if let Some(targets) = manifest.get("target").and_then(Value::as_table) {
        tables.extend(targets.values().filter_map(Value::as_table));
    }
    let mut names = Vec::new();
    for table in tables {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let inner = table.get(kind).and_then(Value::as_table);
            names.extend(inner.into_iter().flat_map(|inner| inner.keys().cloned()));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(folder: &str, manifest: &str, wanted: &[&str]) {
        assert_eq!(manifest_faults(folder, &manifest.parse().unwrap()), wanted, "{manifest}");
    }

    #[test]
    fn only_lower_ranks() {
        let tiers = "[package]\nname = 'tiers'\n";
        check("tiers", &format!("{tiers}[dependencies]\nstorage.workspace = true\nthiserror = '2'"), &[]);
        check(
            "tiers",
            &format!("{tiers}[dependencies]\nlayers.workspace = true"),
            &["`tiers` (rank 4) depends on `layers` (rank 5)"],
        );
        check(
            "quant",
            "[package]\nname = 'quant'\n[dev-dependencies]\ncheckpoint.workspace = true",
            &["`quant` (rank 1) depends on `checkpoint` (rank 1)"],
        );
        check(
            "storage",
            "[package]\nname = 'storage'\n[target.\"cfg(unix)\".dependencies]\ncli = { path = '../cli' }",
            &["`storage` (rank 2) depends on `cli` (rank 9)"],
        );
    }

    #[test]
    fn every_crate_has_a_rank_and_its_folder_s_name() {
        check(
            "misc",
            "[package]\nname = 'misc'",
            &["`misc` has no rank; give it one in xtask/src/tidy/ranks.rs"],
        );
        check("tiers", "[package]\nname = 'cache'", &["the folder is `tiers`, the crate `cache`"]);
    }

    #[test]
    fn ranks_rise() {
        assert!(RANKS.is_sorted_by_key(|(_, rank)| *rank));
    }
}
