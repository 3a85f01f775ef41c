//! Only `cli` reads arguments and the environment, and only `cli` prints. Everyone else is told, and returns.

use super::{files::RustFile, finding::Finding, source::has_word};

/// Words of code that belong to the edge of the program.
const EDGE: &[&str] = &[
    "env::args",
    "env::args_os",
    "env::var",
    "env::var_os",
    "env::vars",
    "println!",
    "print!",
    "eprintln!",
    "eprint!",
    "io::stdout",
    "io::stderr",
    "io::stdin",
    "process::exit",
];

/// Looks at code outside tests.
pub fn check(file: &RustFile) -> Vec<Finding> {
    if file.package == "cli" {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.lines.iter().enumerate().filter(|(_, line)| !line.is_test) {
        if let Some(word) = EDGE.iter().find(|word| has_word(&line.code, word)) {
            findings.push(file.finding(index, format!("`{word}` belongs to `cli` alone")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::{super::files::sample, *};

    #[test]
    fn keeps_the_edge_in_one_crate() {
        for (package, text, count) in [
            ("storage", "let v = std::env::var(\"X\");", 1),
            ("storage", "// never println!(\"x\")", 0),
            ("storage", "let s = \"println!\";", 0),
            ("storage", "let p = env!(\"CARGO_MANIFEST_DIR\");", 0),
            ("storage", "eprintln!(\"x\");", 1),
            ("storage", "#[cfg(test)]\nmod tests {\n    fn a() { println!(); }\n}", 0),
            ("cli", "println!(\"x\");", 0),
        ] {
            assert_eq!(check(&sample(package, text)).len(), count, "{package}: {text}");
        }
    }
}
