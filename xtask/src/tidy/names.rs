//! Only `models` knows a family's name; everything else is written against blocks.

use super::{files::RustFile, finding::Finding};

/// Names that occur in no other word.
const LONG: &[&str] = &["olmoe", "qwen", "llama", "gemma", "deepseek", "inkling", "minimax"];
/// Names so short that they count only as a whole part of an identifier: `glm_dsa` and `GlmDsa`, not `kimimaro`.
const SHORT: &[&str] = &["glm", "kimi", "mimo"];
/// A project whose file format is read here and has to be cited.
const CITED: &str = "llama.cpp";

/// Looks at code, comments and strings alike, tests included.
pub fn check(file: &RustFile) -> Vec<Finding> {
    if file.package == "models" {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if let Some(name) = family(line) {
            findings.push(
                file.finding(index, format!("`{name}` is a family's name, which only `models` may know")),
            );
        }
    }
    findings
}

fn family(line: &str) -> Option<&'static str> {
    let lower = line.to_ascii_lowercase().replace(CITED, "");
    let long = LONG.iter().find(|name| lower.contains(**name));
    long.or_else(|| SHORT.iter().find(|name| has_part(line, name))).copied()
}

/// Is `name` a part of an identifier in `line`, between non-letters or changes from lower to upper case?
fn has_part(line: &str, name: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    lower.match_indices(name).any(|(at, _)| {
        let (before, rest) = line.split_at(at);
        let (part, after) = rest.split_at(name.len());
        let starts = !before.ends_with(|last: char| last.is_alphabetic())
            || (part.starts_with(|first: char| first.is_uppercase())
                && before.ends_with(|last: char| last.is_lowercase()));
        let ends = !after.starts_with(|first: char| first.is_alphabetic())
            || (part.ends_with(|last: char| last.is_lowercase())
                && after.starts_with(|first: char| first.is_uppercase()));
        starts && ends
    })
}

#[cfg(test)]
mod tests {
    use super::{super::files::sample, *};

    #[test]
    fn knows_names_and_ordinary_words() {
        for (line, wanted) in [
            ("let x = \"Qwen3MoeForCausalLM\";", Some("qwen")),
            ("// as OLMoE does", Some("olmoe")),
            ("struct GlmDsa;", Some("glm")),
            ("fn glm_dsa() {}", Some("glm")),
            ("MimoV2", Some("mimo")),
            ("/// k-quants of llama.cpp", None),
            ("/// k-quants of llama", Some("llama")),
            ("let kimimaro = mimosa(bglmx);", None),
            ("a gemm with a min and a max", None),
        ] {
            assert_eq!(family(line), wanted, "{line}");
        }
    }

    #[test]
    fn models_may_know() {
        assert_eq!(check(&sample("models", "fn llama() {}")).len(), 0);
        assert_eq!(check(&sample("layers", "fn llama() {}")).len(), 1);
    }
}
