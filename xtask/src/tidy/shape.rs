//! What a file looks like: it says what it is for, is named for what it holds, and its tests all run.

use super::{files::RustFile, finding::Finding};

/// Names that say nothing about the contents.
const NAMELESS: &[&str] = &["util.rs", "utils.rs", "common.rs", "misc.rs", "helper.rs", "helpers.rs"];

/// Looks at the whole file.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    if NAMELESS.contains(&name.as_ref()) {
        findings.push(file.finding(0, "a file is named for the one idea it holds"));
    }
    let first = file.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if name != "tests.rs" && !first.starts_with("//!") {
        findings.push(file.finding(0, "begins with no `//!` that says what it is for"));
    }
    for (index, line) in file.lines.iter().enumerate() {
        if line.code.trim_start().starts_with("#[ignore") {
            findings.push(file.finding(index, "an ignored test; assert today's behaviour and say why"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::files::sample, *};

    #[test]
    fn looks_at_the_shape() {
        for (text, count) in
            [("//! Bytes.\n", 0), ("use std::fs;\n", 1), ("//! Bytes.\n#[ignore]\nfn a() {}", 1)]
        {
            assert_eq!(check(&sample("units", text)).len(), count, "{text}");
        }
        let file =
            RustFile::new("units", std::path::Path::new("crates/units/src/utils.rs"), "//! x".to_owned());
        assert_eq!(check(&file).len(), 1);
    }
}
