//! The Rust files of the crates.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    finding::Finding,
    source::{self, Line},
};

/// One file of one crate.
pub struct RustFile {
    /// Name of the crate.
    pub package: String,
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// Its lines, taken apart.
    pub lines: Vec<Line>,
}

impl RustFile {
    /// A file with this text.
    pub fn new(package: &str, path: &Path, text: String) -> RustFile {
        let beside = ["tests", "benches", "examples"];
        let is_test = path.components().any(|part| beside.iter().any(|name| part.as_os_str() == *name))
            || path.file_name().is_some_and(|name| name == "tests.rs");
        let lines = source::lines(&text, is_test);
        RustFile { package: package.to_owned(), path: path.to_path_buf(), text, lines }
    }

    /// A finding on the line with this index.
    pub fn finding(&self, index: usize, message: impl Into<String>) -> Finding {
        Finding { path: self.path.clone(), line: index + 1, message: message.into() }
    }
}

/// Every `.rs` file below `crates/`, in the order of paths.
pub fn rust_files(root: &Path) -> Result<Vec<RustFile>> {
    let mut paths = Vec::new();
    walk(&root.join("crates"), &mut paths)?;
    paths.retain(|path| path.extension().is_some_and(|end| end == "rs"));
    paths.sort();
    paths.iter().map(|path| read(root, path)).collect()
}

fn read(root: &Path, path: &Path) -> Result<RustFile> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let inner = path.strip_prefix(root).expect("found below the root");
    let package = inner.components().nth(1).expect("a crate's folder").as_os_str().to_string_lossy();
    Ok(RustFile::new(&package, inner, text))
}

/// All files below `folder`, build outputs and hidden folders left out.
pub fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_skipped = name.starts_with('.') || name == "target" || name == "node_modules";
        if path.is_dir() && !is_skipped {
            walk(&path, found)?;
        } else if path.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
pub fn sample(package: &str, text: &str) -> RustFile {
    RustFile::new(package, Path::new("crates/x/src/file.rs"), text.to_owned())
}
