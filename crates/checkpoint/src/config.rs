//! A configuration: a JSON object that knows where it came from, with getters that say so when a field will not do.

use serde_json::{Map, Value};

use crate::Error;

/// `config.json`, or the metadata of a GGUF file as one flat object (`general.architecture`, …).
///
/// A field that is `null` counts as absent everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    source: String,
    /// Path of this object inside the file, with a trailing point; empty for the whole.
    prefix: String,
    value: Value,
}

impl Config {
    /// A configuration from an object; anything else becomes an empty one. `source` is how messages name it.
    #[must_use]
    pub fn new(source: impl Into<String>, value: Value) -> Config {
        let value = if value.is_object() { value } else { Value::Object(Map::new()) };
        Config { source: source.into(), prefix: String::new(), value }
    }

    /// How messages name it: the path of its file.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The whole object.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The field `key` of this object itself; a point in a key is part of its name.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// The error for `field` of this object.
    #[must_use]
    pub fn error(&self, field: &str, needed: &str, found: &str) -> Error {
        Error::Field {
            origin: self.source.clone(),
            field: format!("{}{field}", self.prefix),
            needed: needed.to_string(),
            found: found.to_string(),
        }
    }

    /// A whole number, 0 or more. A float without a fraction counts (some writers make `4096.0`).
    ///
    /// # Errors
    /// Absent or of another type, as for every getter below that does not take a default.
    pub fn usize(&self, key: &str) -> Result<usize, Error> {
        self.required(key, WHOLE, whole)
    }

    /// As [`Config::usize`]; `default` when absent.
    ///
    /// # Errors
    /// Of another type, as for every getter below.
    pub fn usize_or(&self, key: &str, default: usize) -> Result<usize, Error> {
        Ok(self.opt_usize(key)?.unwrap_or(default))
    }

    /// As [`Config::usize`]; none when absent.
    ///
    /// # Errors
    /// Of another type.
    pub fn opt_usize(&self, key: &str) -> Result<Option<usize>, Error> {
        self.optional(key, WHOLE, whole)
    }

    /// A number.
    ///
    /// # Errors
    /// Absent or of another type.
    pub fn f64(&self, key: &str) -> Result<f64, Error> {
        self.required(key, NUMBER, Value::as_f64)
    }

    /// A number; `default` when absent.
    ///
    /// # Errors
    /// Of another type.
    pub fn f64_or(&self, key: &str, default: f64) -> Result<f64, Error> {
        Ok(self.opt_f64(key)?.unwrap_or(default))
    }

    /// A number; none when absent.
    ///
    /// # Errors
    /// Of another type.
    pub fn opt_f64(&self, key: &str) -> Result<Option<f64>, Error> {
        self.optional(key, NUMBER, Value::as_f64)
    }

    /// A truth value; `default` when absent.
    ///
    /// # Errors
    /// Of another type.
    pub fn bool_or(&self, key: &str, default: bool) -> Result<bool, Error> {
        Ok(self.optional(key, "true or false", Value::as_bool)?.unwrap_or(default))
    }

    /// A string.
    ///
    /// # Errors
    /// Absent or of another type.
    pub fn str(&self, key: &str) -> Result<&str, Error> {
        self.required(key, "a string", Value::as_str)
    }

    /// A string; none when absent.
    ///
    /// # Errors
    /// Of another type.
    pub fn opt_str(&self, key: &str) -> Result<Option<&str>, Error> {
        self.optional(key, "a string", Value::as_str)
    }

    /// A list of whole numbers; none when absent.
    ///
    /// # Errors
    /// No list, or an element of another type.
    pub fn usize_list(&self, key: &str) -> Result<Option<Vec<usize>>, Error> {
        self.list(key, WHOLE, whole)
    }

    /// A list of truth values; none when absent.
    ///
    /// # Errors
    /// No list, or an element of another type.
    pub fn bool_list(&self, key: &str) -> Result<Option<Vec<bool>>, Error> {
        self.list(key, "true or false", Value::as_bool)
    }

    /// A list of numbers; none when absent.
    ///
    /// # Errors
    /// No list, or an element of another type.
    pub fn f64_list(&self, key: &str) -> Result<Option<Vec<f64>>, Error> {
        self.list(key, NUMBER, Value::as_f64)
    }

    /// A list of strings; none when absent.
    ///
    /// # Errors
    /// No list, or an element of another type.
    pub fn str_list(&self, key: &str) -> Result<Option<Vec<&str>>, Error> {
        self.list(key, "a string", Value::as_str)
    }

    /// The object `key` as a configuration of its own, whose messages name the whole path; none when absent.
    ///
    /// # Errors
    /// No object.
    pub fn object(&self, key: &str) -> Result<Option<Config>, Error> {
        let object = |value: &Value| value.is_object().then(|| value.clone());
        Ok(self.optional(key, "an object", object)?.map(|value| Config {
            source: self.source.clone(),
            prefix: format!("{}{key}.", self.prefix),
            value,
        }))
    }

    fn required<'a, T>(
        &'a self,
        key: &str,
        needed: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.optional(key, needed, read)?.ok_or_else(|| self.error(key, needed, "nothing"))
    }

    fn optional<'a, T>(
        &'a self,
        key: &str,
        needed: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        read(value).map(Some).ok_or_else(|| self.error(key, needed, &shown(value)))
    }

    fn list<'a, T>(
        &'a self,
        key: &str,
        needed: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<Vec<T>>, Error> {
        let Some(values) = self.optional(key, "a list", Value::as_array)? else { return Ok(None) };
        let element = |(at, value)| {
            read(value).ok_or_else(|| self.error(&format!("{key}[{at}]"), needed, &shown(value)))
        };
        values.iter().enumerate().map(element).collect::<Result<Vec<T>, Error>>().map(Some)
    }
}

const WHOLE: &str = "a whole number, 0 or more";
const NUMBER: &str = "a number";

fn whole(value: &Value) -> Option<usize> {
    /// Up to here a double holds every whole number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Some(number) = value.as_u64() {
        return usize::try_from(number).ok();
    }
    let number = value.as_f64().filter(|number| (0.0..=EXACT).contains(number) && number.fract() == 0.0)?;
    Some(number as usize)
}

/// A value as it stands in the file, short enough for a message.
fn shown(value: &Value) -> String {
    const SHOWN_CHARS: usize = 60;
    match value {
        Value::Array(values) => format!("a list of {}", values.len()),
        Value::Object(_) => "an object".to_string(),
        _ => {
            let text = value.to_string();
            let mut short: String = text.chars().take(SHOWN_CHARS).collect();
            if short.len() < text.len() {
                short.push('…');
            }
            short
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config() -> Config {
        Config::new(
            "m/config.json",
            json!({"n": 8, "float": 4096.0, "half": 0.5, "minus": -1, "none": null, "flag": true, "text": "8",
                   "list": [1, 2], "mixed": [1, "x"], "flags": [true, false], "inner": {"theta": 1e4, "deep": {"x": "y"}}}),
        )
    }

    #[test]
    fn reads_each_type() -> Result<(), Error> {
        let config = config();
        assert_eq!((config.usize("n")?, config.usize("float")?), (8, 4096));
        assert_eq!((config.usize_or("none", 3)?, config.opt_usize("nowhere")?), (3, None));
        assert_eq!((config.f64("n")?, config.f64("half")?), (8.0, 0.5));
        assert!(config.bool_or("flag", false)? && config.bool_or("none", true)?);
        assert_eq!((config.str("text")?, config.opt_str("none")?), ("8", None));
        assert_eq!(config.usize_list("list")?, Some(vec![1, 2]));
        assert_eq!(config.bool_list("flags")?, Some(vec![true, false]));
        assert_eq!(config.object("none")?, None);
        let inner = config.object("inner")?.expect("it is there");
        assert_eq!(inner.f64("theta")?, 1e4);
        Ok(())
    }

    #[test]
    fn messages_name_file_field_needed_and_found() {
        let config = config();
        let deep = || config.object("inner")?.expect("present").object("deep")?.expect("present").f64("x");
        for (result, message) in [
            (config.usize("gone").err(), "field `gone`: needed a whole number, 0 or more; found nothing"),
            (config.usize("minus").err(), "field `minus`: needed a whole number, 0 or more; found -1"),
            (config.usize("half").err(), "field `half`: needed a whole number, 0 or more; found 0.5"),
            (config.usize("text").err(), "field `text`: needed a whole number, 0 or more; found \"8\""),
            (
                config.usize_list("mixed").err(),
                "field `mixed[1]`: needed a whole number, 0 or more; found \"x\"",
            ),
            (config.object("list").err(), "field `list`: needed an object; found a list of 2"),
            (deep().err(), "field `inner.deep.x`: needed a number; found \"y\""),
        ] {
            assert_eq!(result.map(|error| error.to_string()), Some(format!("m/config.json: {message}")));
        }
    }
}
