//! Unsafe code stays in four places, and each block carries a proof in words.

use super::{files::RustFile, finding::Finding, source::has_word};

/// Crates that may hold unsafe code; `device-*` too.
const UNSAFE: &[&str] = &["units", "storage", "kernels"];
/// A proof names the obligation and where it was met; these words name neither.
const EMPTY_PROOFS: &[&str] =
    &["safe because valid", "parameters are valid", "arguments are valid", "trust me"];
/// A proof shorter than this cannot name an obligation.
const PROOF_MIN: usize = 24;

/// Looks at all code and comments, tests included.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let may = UNSAFE.contains(&file.package.as_str()) || file.package.starts_with("device-");
    let mut findings = Vec::new();
    for (index, line) in file.lines.iter().enumerate() {
        if !may && has_word(&line.code, "unsafe") {
            findings.push(file.finding(index, format!("`{}` may hold no unsafe code", file.package)));
        }
        if let Some(fault) = proof_fault(file, index) {
            findings.push(file.finding(index, fault));
        }
    }
    let is_root = file.path.ends_with("src/lib.rs") || file.path.ends_with("src/main.rs");
    if is_root && !may && !file.text.contains("#![forbid(unsafe_code)]") {
        findings.push(file.finding(0, "lacks `#![forbid(unsafe_code)]`"));
    }
    findings
}

fn proof_fault(file: &RustFile, index: usize) -> Option<String> {
    let comment = file.lines[index].comment.trim();
    let lower = comment.to_ascii_lowercase();
    if let Some(words) = EMPTY_PROOFS.iter().find(|words| lower.contains(**words)) {
        return Some(format!("\"{words}\" proves nothing; name the obligation and where it was met"));
    }
    let proof = comment.strip_prefix("SAFETY:")?.trim();
    let goes_on = file.lines.get(index + 1).is_some_and(|next| !next.comment.is_empty());
    (proof.len() < PROOF_MIN && !goes_on).then(|| "the proof is too short to name an obligation".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{super::files::sample, *};

    #[test]
    fn keeps_unsafe_where_it_belongs() {
        for (package, text, count) in [
            ("tiers", "unsafe { f() }", 1),
            ("tiers", "// unsafe would be faster", 0),
            ("tiers", "#![forbid(unsafe_code)]", 0),
            ("kernels", "// SAFETY: `row` has 32 bytes, asserted above.\nunsafe { f() }", 0),
            ("kernels", "// SAFETY: fine.\nunsafe { f() }", 1),
            ("kernels", "// SAFETY: this is safe because valid, as ever before.", 1),
            ("kernels", "// SAFETY:\n// `row` has 32 bytes.", 0),
            ("device-gpu", "unsafe { f() }", 0),
        ] {
            assert_eq!(check(&sample(package, text)).len(), count, "{package}: {text}");
        }
    }

    #[test]
    fn roots_forbid_it() {
        let root = |text: &str| {
            RustFile::new("tiers", std::path::Path::new("crates/tiers/src/lib.rs"), text.to_owned())
        };
        assert_eq!(check(&root("//! Tiers.")).len(), 1);
        assert_eq!(check(&root("//! Tiers.\n#![forbid(unsafe_code)]")).len(), 0);
    }
}
