//! Stop strings in a stream of text: what may be shown now, and where the text ends.
//!
//! Text that could be the beginning of a stop is held back until it is one or is not. The shown text is always the
//! unstopped text cut before the earliest match, however it was cut into pieces.

/// Watches a growing text for stop strings.
#[derive(Clone, Debug)]
pub struct Stops {
    stops: Vec<String>,
    held: String,
}

/// What a piece of text led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// Text to show; more may come.
    Text(String),
    /// The last text to show: a stop string follows it.
    Stopped(String),
}

impl Stops {
    /// A watch for `stops`; empty ones are left out.
    #[must_use]
    pub fn new(stops: &[String]) -> Stops {
        Stops { stops: stops.iter().filter(|stop| !stop.is_empty()).cloned().collect(), held: String::new() }
    }

    /// Takes the next piece of text.
    pub fn push(&mut self, piece: &str) -> Seen {
        self.held.push_str(piece);
        let found = self.stops.iter().filter_map(|stop| self.held.find(stop.as_str())).min();
        if let Some(at) = found {
            self.held.truncate(at);
            return Seen::Stopped(std::mem::take(&mut self.held));
        }
        let keep = self.stops.iter().map(|stop| overlap(&self.held, stop)).max().unwrap_or(0);
        let rest = self.held.split_off(self.held.len() - keep);
        Seen::Text(std::mem::replace(&mut self.held, rest))
    }

    /// The text still held back, when nothing more will come.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }
}

/// Bytes of the longest end of `text` that begins `stop`.
fn overlap(text: &str, stop: &str) -> usize {
    let longest = stop.len().saturating_sub(1).min(text.len());
    (1..=longest).rev().find(|&len| text.as_bytes().ends_with(&stop.as_bytes()[..len])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `text` cut at every pair of character boundaries and checks what is shown.
    fn check(stops: &[&str], text: &str, shown: &str) {
        let stops: Vec<String> = stops.iter().map(ToString::to_string).collect();
        let cuts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        for &first in &cuts {
            for &second in cuts.iter().filter(|cut| **cut >= first) {
                let mut watch = Stops::new(&stops);
                let mut seen = String::new();
                let mut stopped = false;
                for piece in [&text[..first], &text[first..second], &text[second..]] {
                    match watch.push(piece) {
                        Seen::Text(text) => seen.push_str(&text),
                        Seen::Stopped(text) => {
                            seen.push_str(&text);
                            stopped = true;
                            break;
                        }
                    }
                }
                if !stopped {
                    seen.push_str(&watch.finish());
                }
                assert_eq!(seen, shown, "{stops:?} in {text:?} cut at {first}, {second}");
            }
        }
    }

    #[test]
    fn text_is_cut_at_the_first_match() {
        check(&["O P Q"], "M N O P Q R", "M N ");
        check(&["Alice:"], "Alice! Alice", "Alice! Alice");
        check(&["ab", "b"], "xxab", "xx");
        check(&["b", "ab"], "xaab", "xa");
        check(&["!"], "🐦!x", "🐦");
        check(&["🐦"], "a🐦b", "a");
        check(&[], "all", "all");
        check(&[""], "all", "all");
        check(&["aab"], "aaab", "a");
    }
}
