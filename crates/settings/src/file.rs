//! The configuration file: TOML, one key for each setting, no sections.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use toml::Value;

use crate::{Error, Kind, Setting, find, suggest};

/// What the file says: the texts written for each setting.
pub(crate) type Written = BTreeMap<&'static str, Vec<OsString>>;

/// Reads the `text` of the file at `path`.
///
/// # Errors
/// It is not TOML, a key names no setting, or a value is of a type that no setting has.
pub(crate) fn read(path: &Path, text: &str) -> Result<Written, Error> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        Error::Toml { path: path.to_path_buf(), line, reason: error.message().replace('\n', " ") }
    })?;
    table
        .iter()
        .map(|(key, value)| Ok((known(path, key)?, value)))
        .map(|row| {
            let (setting, value) = row?;
            let written = written(setting, value).ok_or_else(|| Error::FileType {
                path: path.to_path_buf(),
                key: setting.name,
                needed: setting.range(),
                found: value.type_str(),
            })?;
            Ok((setting.name, written))
        })
        .collect()
}

fn known(path: &Path, key: &str) -> Result<&'static Setting, Error> {
    find(key).ok_or_else(|| Error::UnknownKey {
        path: path.to_path_buf(),
        key: key.to_string(),
        suggestion: suggest::setting(key).map(|setting| setting.name.to_string()),
    })
}

/// A value as it would be written on the command line.
fn written(setting: &Setting, value: &Value) -> Option<Vec<OsString>> {
    match value {
        Value::Array(values) if setting.kind == Kind::Texts => {
            values.iter().map(|value| value.as_str().map(OsString::from)).collect()
        }
        Value::String(text) => Some(vec![text.into()]),
        Value::Integer(number) => Some(vec![number.to_string().into()]),
        Value::Float(number) => Some(vec![number.to_string().into()]),
        Value::Boolean(is_on) => Some(vec![is_on.to_string().into()]),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
