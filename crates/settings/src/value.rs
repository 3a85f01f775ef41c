//! From what people write to checked values.

use std::{
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use units::ByteSize;

use crate::{Kind, Setting, setting};

/// The word that undoes a setting of a lower rank where a setting may be absent.
const AUTO: &str = "auto";

/// A value that lies in its setting's range.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// On or off.
    Switch(bool),
    /// A path.
    Path(PathBuf),
    /// Texts.
    Texts(Vec<String>),
    /// Bytes or a count.
    Whole(u64),
    /// A number.
    Number(f64),
    /// One of the words of a choice.
    Word(&'static str),
}

impl Setting {
    /// Reads what was written for this setting: one text, or several for a setting that may be repeated. `None` where the
    /// setting may be absent and the text is `auto`.
    ///
    /// # Errors
    /// What was found instead of a value in range.
    pub fn read(&self, written: &[OsString]) -> Result<Option<Value>, String> {
        if self.kind == Kind::Path {
            let path = written.last().filter(|path| !path.is_empty()).ok_or("nothing")?;
            return Ok(Some(Value::Path(PathBuf::from(path))));
        }
        let texts: Vec<&str> = written.iter().map(|text| utf8(text)).collect::<Result<_, _>>()?;
        if self.kind == Kind::Texts {
            return if texts.iter().any(|text| text.is_empty()) {
                Err("an empty text".to_string())
            } else {
                Ok(Some(Value::Texts(texts.into_iter().map(str::to_string).collect())))
            };
        }
        let text = *texts.last().ok_or("nothing")?;
        if text == AUTO && matches!(self.default, setting::Default::Absent(_)) {
            return Ok(None);
        }
        self.read_one(text).map(Some).ok_or_else(|| format!("`{text}`"))
    }

    fn read_one(&self, text: &str) -> Option<Value> {
        match self.kind {
            Kind::Path | Kind::Texts => None,
            Kind::Switch => switch(text).map(Value::Switch),
            Kind::Size { least_bytes } => text
                .parse::<ByteSize>()
                .ok()
                .filter(|size| size.0 >= least_bytes)
                .map(|size| Value::Whole(size.0)),
            Kind::Count { least, most, .. } => {
                text.parse().ok().filter(|count| (least..=most).contains(count)).map(Value::Whole)
            }
            Kind::Number { least, most } => {
                text.parse().ok().filter(|number| (least..=most).contains(number)).map(Value::Number)
            }
            Kind::Choice(words) => words.iter().find(|word| **word == text).map(|word| Value::Word(word)),
        }
    }
}

fn utf8(text: &OsStr) -> Result<&str, String> {
    text.to_str().ok_or_else(|| format!("{text:?}, which is not UTF-8"))
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "true" | "on" | "yes" => Some(true),
        "0" | "false" | "off" | "no" => Some(false),
        _ => None,
    }
}

/// A type of a field of [`crate::Settings`], made from a checked value.
pub(crate) trait Field: Sized {
    /// The field; `None` for a setting that is absent. A value of another kind than the table declares counts as absent,
    /// and a test holds the table to that never happening.
    fn from_value(value: Option<Value>) -> Self;
}

impl Field for bool {
    fn from_value(value: Option<Value>) -> bool {
        matches!(value, Some(Value::Switch(true)))
    }
}

impl Field for Vec<String> {
    fn from_value(value: Option<Value>) -> Vec<String> {
        match value {
            Some(Value::Texts(texts)) => texts,
            _ => Vec::new(),
        }
    }
}

impl Field for f32 {
    fn from_value(value: Option<Value>) -> f32 {
        match value {
            Some(Value::Number(number)) => number as f32,
            _ => 0.0,
        }
    }
}

impl Field for usize {
    fn from_value(value: Option<Value>) -> usize {
        Option::<usize>::from_value(value).unwrap_or(0)
    }
}

impl Field for Option<usize> {
    fn from_value(value: Option<Value>) -> Option<usize> {
        Option::<u64>::from_value(value).and_then(|whole| usize::try_from(whole).ok())
    }
}

impl Field for Option<u64> {
    fn from_value(value: Option<Value>) -> Option<u64> {
        match value {
            Some(Value::Whole(whole)) => Some(whole),
            _ => None,
        }
    }
}

impl Field for Option<PathBuf> {
    fn from_value(value: Option<Value>) -> Option<PathBuf> {
        match value {
            Some(Value::Path(path)) => Some(path),
            _ => None,
        }
    }
}

impl Field for Option<&'static str> {
    fn from_value(value: Option<Value>) -> Option<&'static str> {
        match value {
            Some(Value::Word(word)) => Some(word),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::find;

    use super::*;

    fn check(name: &str, written: &[&str], expected: Result<Option<Value>, &str>) {
        let setting = find(name).expect(name);
        let written: Vec<OsString> = written.iter().map(OsString::from).collect();
        assert_eq!(setting.read(&written), expected.map_err(str::to_string), "{name} {written:?}");
    }

    #[test]
    fn reads_values_in_range_and_refuses_the_rest() {
        check("ram", &["24G"], Ok(Some(Value::Whole(24_000_000_000))));
        check("ram", &["auto"], Ok(None));
        check("ram", &["12"], Err("`12`"));
        check("ram", &["lots"], Err("`lots`"));
        check("threads", &["0"], Err("`0`"));
        check("threads", &["2"], Ok(Some(Value::Whole(2))));
        check("threads", &["-2"], Err("`-2`"));
        check("temperature", &["0.7"], Ok(Some(Value::Number(0.7))));
        check("temperature", &["NaN"], Err("`NaN`"));
        check("temperature", &["inf"], Err("`inf`"));
        check("temperature", &["auto"], Err("`auto`"));
        check("top-p", &["1.01"], Err("`1.01`"));
        check("storage", &["mmap"], Ok(Some(Value::Word("mmap"))));
        check("storage", &["MMAP"], Err("`MMAP`"));
        check("no-prefetch", &["on"], Ok(Some(Value::Switch(true))));
        check("no-prefetch", &["0"], Ok(Some(Value::Switch(false))));
        check("no-prefetch", &["maybe"], Err("`maybe`"));
        check("stop", &["a", "b"], Ok(Some(Value::Texts(vec!["a".to_string(), "b".to_string()]))));
        check("stop", &[""], Err("an empty text"));
        check("model", &["auto"], Ok(Some(Value::Path(PathBuf::from("auto")))));
        check("seed", &["18446744073709551615"], Ok(Some(Value::Whole(u64::MAX))));
        check("seed", &["18446744073709551616"], Err("`18446744073709551616`"));
    }

    #[cfg(unix)]
    #[test]
    fn only_paths_may_be_other_than_utf8() {
        use std::os::unix::ffi::OsStringExt;
        let odd = OsString::from_vec(vec![b'a', 0xFF]);
        assert_eq!(
            find("model").expect("a model").read(std::slice::from_ref(&odd)),
            Ok(Some(Value::Path(PathBuf::from(&odd))))
        );
        assert!(find("ram").expect("a size").read(&[odd]).is_err_and(|found| found.contains("not UTF-8")));
    }
}
