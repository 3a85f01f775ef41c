//! What can be typed in a chat besides questions.

/// One typed line.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    /// Nothing.
    Nothing,
    /// A question.
    Question(&'a str),
    /// One of the words below.
    Word(Word),
    /// A word that is none.
    Unknown(&'a str),
}

macro_rules! words {
    ($($(#[$doc:meta])* $variant:ident = $names:expr, $help:literal;)*) => {
        /// A command of the chat.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Word { $($(#[$doc])* $variant),* }

        /// Names, meaning and help of every word.
        const WORDS: &[(&[&str], Word, &str)] = &[$((&$names, Word::$variant, $help)),*];
    };
}

words! {
    /// Lists the words.
    Help = [":help", ":h"], "this list";
    /// Forgets the conversation.
    Reset = [":reset"], "forgets the conversation";
    /// Continues the last answer.
    More = [":more"], "goes on with the last answer where it was cut";
    /// Shows what the last answer cost.
    Stats = [":stats"], "what the last answer cost, by phase";
    /// Leaves.
    Quit = [":quit", ":q"], "leaves (also Ctrl-D; Ctrl-C stops an answer, twice leaves)";
}

/// Reads a line.
pub fn read(line: &str) -> Typed<'_> {
    let line = line.trim();
    if line.is_empty() {
        return Typed::Nothing;
    }
    // A colon within a question is no command: only a line that is one word with a colon before it.
    if !line.starts_with(':') || line.contains(char::is_whitespace) {
        return Typed::Question(line);
    }
    match WORDS.iter().find(|(names, ..)| names.contains(&line)) {
        Some((_, word, _)) => Typed::Word(*word),
        None => Typed::Unknown(line),
    }
}

/// The list of words.
pub fn help() -> String {
    let row = |(names, _, help): &(&[&str], Word, &str)| format!("{:8} {help}", names[0]);
    WORDS.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_words_from_questions() {
        for (line, typed) in [
            ("", Typed::Nothing),
            ("  \n", Typed::Nothing),
            (" :q \n", Typed::Word(Word::Quit)),
            (":more", Typed::Word(Word::More)),
            (":mroe", Typed::Unknown(":mroe")),
            (":) is a smile", Typed::Question(":) is a smile")),
            ("what is :quit?", Typed::Question("what is :quit?")),
        ] {
            assert_eq!(read(line), typed, "{line:?}");
        }
    }
}
