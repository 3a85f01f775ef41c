//! What somebody may have meant.

use crate::{Setting, TABLE};

/// The setting whose name is closest to `name`, if one is close. Case and underscores do not matter.
#[must_use]
pub fn setting(name: &str) -> Option<&'static Setting> {
    let name = name.to_ascii_lowercase().replace('_', "-");
    closest(&name, TABLE.iter().map(|setting| setting.name)).and_then(crate::find)
}

/// The word closest to `name`, if one needs at most a third of its letters changed (and one for the shortest). The first
/// of equals.
#[must_use]
pub fn closest<'a>(name: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = words.map(|word| (distance(name, word), word));
    let (edits, word) = scored.min_by_key(|(edits, _)| *edits)?;
    (edits <= (word.chars().count() / 3).max(1)).then_some(word)
}

/// Insertions, deletions, replacements and exchanges of neighbours that turn `a` into `b` (optimal string alignment).
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (a, b, edits) in [
            ("", "", 0),
            ("ram", "ram", 0),
            ("rma", "ram", 1),
            ("", "ctx", 3),
            ("thread", "threads", 1),
            ("kitten", "sitting", 3),
            ("größe", "grösse", 2),
        ] {
            assert_eq!(distance(a, b), edits, "{a} {b}");
            assert_eq!(distance(b, a), edits, "{b} {a}");
        }
    }

    #[test]
    fn suggests_what_is_near_and_nothing_else() {
        for (written, meant) in [
            ("RMA", Some("ram")),
            ("thread", Some("threads")),
            ("TEMPERATUR", Some("temperature")),
            ("max_token", Some("max-tokens")),
            ("topp", Some("top-p")),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(setting(written).map(|setting| setting.name), meant, "{written}");
        }
    }
}
