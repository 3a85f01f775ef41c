//! Amounts of memory as people write them.

use std::{fmt, str::FromStr};

/// A number of bytes.
///
/// Parsing takes `512M`, `24G`, `1.5G` (powers of 1000), `24GiB`, `512Mi` (powers of 1024) or plain bytes.
/// The decimal reading is the smaller one, so a ceiling written as `24G` holds under either reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteSize(pub u64);

/// Why a text is not an amount of memory.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{text}` is not a size; needed a number with K, M, G, T (powers of 1000) or KiB, MiB, GiB, TiB")]
pub struct NotASize {
    /// What was written.
    pub text: String,
}

impl FromStr for ByteSize {
    type Err = NotASize;

    fn from_str(text: &str) -> Result<Self, NotASize> {
        let refuse = || NotASize { text: text.to_string() };
        let trimmed = text.trim();
        let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
        let (number, unit) = trimmed.split_at(split);
        let number: f64 = number.parse().map_err(|_| refuse())?;
        let factor = unit_bytes(unit.trim()).ok_or_else(refuse)?;
        let bytes = number * factor;
        if !(bytes.is_finite() && bytes < 1e19) {
            return Err(refuse());
        }
        // Below 2^53 the product is exact for whole numbers; above, a few bytes of rounding do not matter.
        Ok(ByteSize(bytes as u64))
    }
}

fn unit_bytes(unit: &str) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    let (letter, rest) = match lower.chars().next() {
        None => return Some(1.0),
        Some(letter) => (letter, &lower[letter.len_utf8()..]),
    };
    let power = match letter {
        'b' if rest.is_empty() => return Some(1.0),
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        _ => return None,
    };
    match rest {
        "" | "b" => Some(1000f64.powi(power)),
        "i" | "ib" => Some(1024f64.powi(power)),
        _ => None,
    }
}

impl fmt::Display for ByteSize {
    /// Decimal units with two digits after the point: `3.90 GB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1_000 => write!(f, "{} B", self.0),
            1_000..1_000_000 => write!(f, "{:.2} kB", bytes / 1e3),
            1_000_000..1_000_000_000 => write!(f, "{:.2} MB", bytes / 1e6),
            _ => write!(f, "{:.2} GB", bytes / 1e9),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, bytes) in [
            ("24G", 24_000_000_000),
            ("512M", 512_000_000),
            ("1.5g", 1_500_000_000),
            ("2GiB", 2 << 30),
            ("64Ki", 65_536),
            ("1000", 1000),
            ("7 GB", 7_000_000_000),
            ("12b", 12),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize(bytes)), "{text}");
        }
    }

    #[test]
    fn refuses_the_rest() {
        for text in ["", "G", "-1G", "1X", "1e30T", "nan", "1..2G", "12 Gi B"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }
}
