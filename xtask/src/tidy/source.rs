//! Tells code from comments and from the contents of strings, line by line.
//!
//! Not a parser: it knows comments, string and character literals, and where the test module at the foot of a file begins.

/// One line, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// Code, with the contents of strings and comments left out.
    pub code: String,
    /// Comments and documentation.
    pub comment: String,
    /// Is it part of the tests?
    pub is_test: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text { hashes: Option<usize> },
}

/// Takes `text` apart. `is_test_file`: all of it is test code.
pub fn lines(text: &str, is_test_file: bool) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut state = State::Code;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if next == '\n' {
            lines.push(Line::default());
            state = if state == State::LineComment { State::Code } else { state };
            rest = &rest[1..];
            continue;
        }
        let line = lines.last_mut().expect("there is always a line");
        let (taken, following) = step(rest, state, line);
        (rest, state) = (&rest[taken..], following);
    }
    mark_tests(&mut lines, is_test_file);
    lines
}

/// Consumes at least one character; returns how many bytes, and the state after them.
fn step(rest: &str, state: State, line: &mut Line) -> (usize, State) {
    let first = rest.chars().next().expect("the caller saw a character");
    let width = first.len_utf8();
    match state {
        State::Code => code_step(rest, first, line),
        State::LineComment => {
            line.comment.push(first);
            (width, state)
        }
        State::BlockComment { depth } if rest.starts_with("*/") => {
            (2, if depth == 1 { State::Code } else { State::BlockComment { depth: depth - 1 } })
        }
        State::BlockComment { depth } if rest.starts_with("/*") => {
            (2, State::BlockComment { depth: depth + 1 })
        }
        State::BlockComment { .. } => {
            line.comment.push(first);
            (width, state)
        }
        State::Text { hashes: None } if first == '\\' => {
            // The escaped character cannot end the text; a line break is left to the caller, which counts lines.
            let escaped = rest[1..].chars().next().filter(|escaped| *escaped != '\n');
            (1 + escaped.map_or(0, char::len_utf8), state)
        }
        State::Text { hashes } if closes(rest, hashes) => {
            line.code.push('"');
            (1 + hashes.unwrap_or(0), State::Code)
        }
        State::Text { .. } => (width, state),
    }
}

fn closes(rest: &str, hashes: Option<usize>) -> bool {
    let after = rest.strip_prefix('"');
    after.is_some_and(|after| after.bytes().take_while(|byte| *byte == b'#').count() >= hashes.unwrap_or(0))
}

fn code_step(rest: &str, first: char, line: &mut Line) -> (usize, State) {
    if rest.starts_with("//") {
        return (2, State::LineComment);
    }
    if rest.starts_with("/*") {
        return (2, State::BlockComment { depth: 1 });
    }
    let follows_word = line.code.ends_with(|last: char| last.is_alphanumeric() || last == '_');
    if let Some((taken, hashes)) = raw_text(rest).filter(|_| !follows_word) {
        line.code.push('"');
        return (taken, State::Text { hashes: Some(hashes) });
    }
    line.code.push(first);
    match first {
        '"' => (1, State::Text { hashes: None }),
        '\'' => (1 + character(rest), State::Code),
        _ => (first.len_utf8(), State::Code),
    }
}

/// Length of the opening of a raw string and its number of hashes.
fn raw_text(rest: &str) -> Option<(usize, usize)> {
    let letters = if rest.starts_with("br") { 2 } else { usize::from(rest.starts_with('r')) };
    let after = rest.get(letters..).filter(|_| letters > 0)?;
    let hashes = after.bytes().take_while(|byte| *byte == b'#').count();
    after[hashes..].starts_with('"').then_some((letters + hashes + 1, hashes))
}

/// Bytes of a character literal after its opening quote; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut inside = rest[1..].char_indices();
    match inside.next() {
        Some((_, '\\')) => inside.skip(1).find(|(_, end)| *end == '\'').map_or(0, |(at, _)| at + 1),
        Some((_, _)) => inside.next().filter(|(_, end)| *end == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

/// Test modules stand at the foot of a file, so everything after the attribute belongs to them.
fn mark_tests(lines: &mut [Line], is_test_file: bool) {
    let mut is_test = is_test_file;
    for index in 0..lines.len() {
        let is_attribute = lines[index].code.trim() == "#[cfg(test)]";
        let opens = |line: &Line| line.code.trim_start().starts_with("mod ") && line.code.contains('{');
        is_test |= is_attribute && lines.get(index + 1).is_some_and(opens);
        lines[index].is_test = is_test;
    }
}

/// Is `word` in `text`, not as a part of a longer identifier?
pub fn has_word(text: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    text.match_indices(word)
        .any(|(at, _)| !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: &[&str], comments: &[&str]) {
        let lines = lines(text, false);
        assert_eq!(lines.iter().map(|line| line.code.as_str()).collect::<Vec<_>>(), code, "{text}");
        assert_eq!(lines.iter().map(|line| line.comment.as_str()).collect::<Vec<_>>(), comments, "{text}");
    }

    #[test]
    fn tells_code_from_the_rest() {
        check("let a = 1; // one", &["let a = 1; "], &[" one"]);
        check("f(\"x // y\\\"\") /* a\nb */ + 1", &["f(\"\") ", " + 1"], &[" a", "b "]);
        check("r#\"a \" b\"# + br\"c\"", &["\"\" + \"\""], &[""]);
        check("let c = '\"'; let d: &'a str = '\\'';", &["let c = '; let d: &'a str = ';"], &[""]);
        check("/* a /* b */ c */ d", &[" d"], &[" a  b  c "]);
        check("\"two \\\n lines\" x", &["\"", "\" x"], &["", ""]);
    }

    #[test]
    fn finds_the_tests() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(
            lines(text, false).iter().map(|line| line.is_test).collect::<Vec<_>>(),
            [false, true, true, true, true]
        );
        let elsewhere = "#[cfg(test)]\nmod tests;\nfn a() {}";
        assert!(lines(elsewhere, false).iter().all(|line| !line.is_test));
        assert!(lines(elsewhere, true).iter().all(|line| line.is_test));
    }

    #[test]
    fn finds_whole_words() {
        for (text, is_there) in
            [("unsafe {", true), ("unsafe_code", false), ("an unsafe", true), ("xunsafe", false)]
        {
            assert_eq!(has_word(text, "unsafe"), is_there, "{text}");
        }
    }
}
