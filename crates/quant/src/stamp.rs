//! The optional stamp of a container, `__metadata__["colibri.fmt"]`: which tensor claims which format.
//!
//! Two spellings are read. A JSON object maps exact tensor names to format names, which is what existing containers
//! carry; it need not name every tensor. A bare format name speaks for every packed tensor of the file. This project
//! writes the object, with [`crate::Format::name`] as the value.
//!
//! A stamp never decides alone what bytes mean: [`crate::Format::deduce`] holds it against the byte count.

use std::{collections::BTreeMap, fmt};

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

use crate::Error;

/// Tensors that one stamp may name. Stamps are meant for a few hundred tensors; existing readers refuse more.
pub const ENTRIES_MAX: usize = 4096;

/// The claims of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamps {
    /// One claim for every packed tensor.
    All(String),
    /// Claims by tensor name.
    Named(BTreeMap<String, String>),
}

impl Stamps {
    /// Reads the metadata value.
    ///
    /// # Errors
    /// It is neither a name nor an object of strings, names more than [`ENTRIES_MAX`] tensors, or makes two different
    /// claims for one tensor.
    pub fn parse(text: &str) -> Result<Stamps, Error> {
        let text = text.trim();
        if text.starts_with('{') {
            let claims = serde_json::from_str::<Claims>(text).map_err(|error| Error::StampMalformed {
                needed: "a JSON object of tensor names and format names",
                found: error.to_string(),
            })?;
            return Ok(Stamps::Named(claims.0));
        }
        if text.is_empty() || text.len() > NAME_BYTES_MAX || text.contains(char::is_control) {
            return Err(Error::StampMalformed {
                needed: "a format name or a JSON object",
                found: format!("{} bytes of another kind", text.len()),
            });
        }
        Ok(Stamps::All(text.to_owned()))
    }

    /// What `tensor` is claimed to be, if anything.
    #[must_use]
    pub fn of(&self, tensor: &str) -> Option<&str> {
        match self {
            Stamps::All(name) => Some(name),
            Stamps::Named(claims) => claims.get(tensor).map(String::as_str),
        }
    }

    /// The metadata value to write.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Stamps::All(name) => name.clone(),
            Stamps::Named(claims) => {
                serde_json::to_string(claims).expect("a map of strings is always representable as JSON")
            }
        }
    }
}

/// Longer strings cannot be a format name.
const NAME_BYTES_MAX: usize = 64;

struct Claims(BTreeMap<String, String>);

/// A map visitor of its own, because a plain map would keep the last of two claims in silence.
impl<'de> Deserialize<'de> for Claims {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ClaimsVisitor;
        impl<'de> Visitor<'de> for ClaimsVisitor {
            type Value = Claims;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of strings")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Claims, A::Error> {
                let mut claims = BTreeMap::new();
                while let Some((tensor, claim)) = map.next_entry::<String, String>()? {
                    match claims.get(&tensor) {
                        Some(other) if *other != claim => {
                            return Err(A::Error::custom(format!(
                                "`{tensor}` is both `{other}` and `{claim}`"
                            )));
                        }
                        _ => claims.insert(tensor, claim),
                    };
                    if claims.len() > ENTRIES_MAX {
                        return Err(A::Error::custom(format!("more than {ENTRIES_MAX} tensors")));
                    }
                }
                Ok(Claims(claims))
            }
        }
        deserializer.deserialize_map(ClaimsVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_spellings() {
        // Stamp, tensor, claim.
        let rows = [
            ("int4-g64", "a", Some("int4-g64")),
            (" int8-row\n", "b", Some("int8-row")),
            (r#"{"a": "int4-row", "b": "int8-row"}"#, "a", Some("int4-row")),
            (r#"{"a": "int4-row", "b": "int8-row"}"#, "c", None),
            (r#"{"a": "int4-row", "a": "int4-row"}"#, "a", Some("int4-row")), // agreeing duplicates are harmless
            ("{}", "a", None),
        ];
        for (text, tensor, claim) in rows {
            let stamps = Stamps::parse(text).expect(text);
            assert_eq!(stamps.of(tensor), claim, "{text}");
            assert_eq!(Stamps::parse(&stamps.to_text()).expect(text), stamps);
        }
    }

    #[test]
    fn refuses_what_is_no_stamp() {
        let many = format!(
            "{{{}}}",
            (0..=ENTRIES_MAX).map(|i| format!("\"{i}\":\"f\"")).collect::<Vec<_>>().join(",")
        );
        let long = "x".repeat(5000);
        let rows = [
            ("", "0 bytes"),
            ("a\0b", "3 bytes"),
            (&long, "5000 bytes"),
            (r#"{"a": 4}"#, "expected a string"),
            (r#"{"a": "int4-row""#, "EOF"),
            (r#"{"a": "int4-row", "a": "int8-row"}"#, "`a` is both `int4-row` and `int8-row`"),
            (&many, "more than 4096 tensors"),
        ];
        for (text, reason) in rows {
            let error = Stamps::parse(text).expect_err(reason).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
