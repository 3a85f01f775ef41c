//! Control tokens: entries of the vocabulary that are commands, not text.

use std::collections::HashMap;

/// One control token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// How it is written.
    pub content: String,
    /// Its id.
    pub id: u32,
    /// Whether it swallows the white space before it.
    pub is_left_stripping: bool,
    /// Whether it swallows the white space after it.
    pub is_right_stripping: bool,
    /// Whether it is left out of decoded text.
    pub is_special: bool,
}

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Ordinary text, never empty.
    Text(&'a str),
    /// A control token that is written out.
    Control(u32),
}

/// All control tokens of a tokenizer.
#[derive(Debug, Default)]
pub struct Controls {
    all: Vec<Control>,
    /// Indices of `all` by first byte, longest first.
    by_first_byte: HashMap<u8, Vec<usize>>,
}

impl Controls {
    /// Of tokens that are each at least two characters long; shorter ones are left out, for they cannot be broken up.
    pub fn new(all: Vec<Control>) -> Controls {
        let all: Vec<Control> =
            all.into_iter().filter(|control| control.content.chars().nth(1).is_some()).collect();
        let mut by_first_byte: HashMap<u8, Vec<usize>> = HashMap::new();
        for (at, control) in all.iter().enumerate() {
            by_first_byte.entry(control.content.as_bytes()[0]).or_default().push(at);
        }
        for list in by_first_byte.values_mut() {
            list.sort_by_key(|&at| std::cmp::Reverse(all[at].content.len()));
        }
        Controls { all, by_first_byte }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Control> {
        self.all.iter()
    }

    /// The longest control token that `text` begins with.
    pub fn at_start(&self, text: &str) -> Option<&Control> {
        let list = self.by_first_byte.get(text.as_bytes().first()?)?;
        list.iter().map(|&at| &self.all[at]).find(|control| text.starts_with(&control.content))
    }

    /// Whether `text` ends inside of what could become a control token.
    pub fn is_open_at_end(&self, text: &str) -> bool {
        self.all.iter().any(|control| {
            let inner = control.content.char_indices().skip(1).map(|(at, _)| at);
            inner.into_iter().any(|at| text.ends_with(&control.content[..at]))
        })
    }

    /// Cuts `text` at its control tokens: from the left, the longest first.
    pub fn split<'a>(&self, text: &'a str) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let mut start = 0;
        let mut at = 0;
        while at < text.len() {
            let Some(control) = self.at_start(&text[at..]) else {
                at += text[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            let mut before = &text[start..at];
            if control.is_left_stripping {
                before = before.trim_end();
            }
            if !before.is_empty() {
                pieces.push(Piece::Text(before));
            }
            pieces.push(Piece::Control(control.id));
            at += control.content.len();
            if control.is_right_stripping {
                at = text.len() - text[at..].trim_start().len();
            }
            start = at;
        }
        if start < text.len() {
            pieces.push(Piece::Text(&text[start..]));
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(content: &str, id: u32, left: bool, right: bool) -> Control {
        let content = content.to_string();
        Control { content, id, is_left_stripping: left, is_right_stripping: right, is_special: true }
    }

    #[test]
    fn cuts_from_the_left_and_longest_first() {
        use Piece::{Control as C, Text as T};
        let controls = Controls::new(vec![
            control("<a>", 1, false, false),
            control("<a><b>", 2, false, false),
            control("<l>", 3, true, true),
            control("x", 4, false, false),
        ]);
        for (text, pieces) in [
            ("", vec![]),
            ("é<", vec![T("é<")]),
            ("<a>", vec![C(1)]),
            ("1<a>2", vec![T("1"), C(1), T("2")]),
            ("<a><b><a>", vec![C(2), C(1)]),
            ("<<a>x", vec![T("<"), C(1), T("x")]),
            ("1 \n<l> 2 ", vec![T("1"), C(3), T("2 ")]),
            (" <l> ", vec![C(3)]),
        ] {
            assert_eq!(controls.split(text), pieces, "{text:?}");
        }
        for (text, is_open) in
            [("", false), ("a", false), ("a<", true), ("<a", true), ("<a>", true), ("<l>", false)]
        {
            assert_eq!(controls.is_open_at_end(text), is_open, "{text:?}");
        }
    }
}
