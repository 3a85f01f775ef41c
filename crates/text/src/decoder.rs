//! From tokens to text, one at a time.

use crate::Tokenizer;

/// Collects the bytes of tokens and gives out whole characters.
///
/// Special tokens have no text. Bytes that cannot be UTF-8 become U+FFFD as soon as that is certain, one for each
/// maximal invalid stretch (as in [`String::from_utf8_lossy`]); the beginning of a character is held back. So the
/// pieces joined are always the lossy text of all bytes.
#[derive(Clone, Debug)]
pub struct Decoder {
    held: Vec<u8>,
    /// Whether the next text is the first, and loses the space that the tokenizer puts before every text.
    is_start_stripped: bool,
}

impl Decoder {
    pub(crate) fn new(is_start_stripped: bool) -> Decoder {
        Decoder { held: Vec::new(), is_start_stripped }
    }

    /// Takes one more token; the text that is certain now. An id outside the vocabulary has no text.
    pub fn push(&mut self, tokenizer: &Tokenizer, id: u32) -> String {
        if tokenizer.is_special(id) {
            return String::new();
        }
        let mut bytes = tokenizer.bytes(id);
        if self.is_start_stripped && !bytes.is_empty() {
            bytes = bytes.strip_prefix(b" ").unwrap_or(bytes);
            self.is_start_stripped = false;
        }
        self.held.extend_from_slice(bytes);
        self.certain()
    }

    /// Ends the text: an incomplete character at the very end becomes one U+FFFD.
    pub fn finish(&mut self) -> String {
        let rest = String::from_utf8_lossy(&self.held).into_owned();
        self.held.clear();
        rest
    }

    fn certain(&mut self) -> String {
        let mut text = String::new();
        let mut done = 0;
        for chunk in self.held.utf8_chunks() {
            text.push_str(chunk.valid());
            done += chunk.valid().len();
            let invalid = chunk.invalid();
            let is_last = done + invalid.len() == self.held.len();
            if invalid.is_empty() || (is_last && is_beginning(invalid)) {
                break;
            }
            text.push(char::REPLACEMENT_CHARACTER);
            done += invalid.len();
        }
        self.held.drain(..done);
        text
    }
}

/// Whether more bytes could make these a character.
fn is_beginning(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
}
