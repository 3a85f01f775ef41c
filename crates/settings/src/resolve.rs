//! Who wins: flag over variable over file over default.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use crate::{
    Default, Error, Setting, Settings, TABLE, file, setting::VARIABLE_PREFIX, suggest, value::Value,
};

/// Everything that was written, before anything is checked.
#[derive(Clone, Debug, std::default::Default)]
pub struct Sources {
    /// Name of a setting and what its flags say.
    pub flags: BTreeMap<String, Vec<OsString>>,
    /// The environment; only names with the prefix `COLI_` matter. An empty value counts as absent.
    pub environment: Vec<(OsString, OsString)>,
    /// Path and text of the configuration file.
    pub file: Option<(PathBuf, String)>,
}

/// Who decided a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// The environment.
    Variable,
    /// A configuration file.
    File(PathBuf),
    /// Nobody.
    Default,
}

impl Origin {
    /// Setting and place, as people would point at them.
    fn of(&self, setting: &Setting) -> String {
        match self {
            Origin::Flag | Origin::Default => setting.flag(),
            Origin::Variable => setting.variable(),
            Origin::File(path) => format!("{}: key `{}`", path.display(), setting.name),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("command line"),
            Origin::Variable => f.write_str("environment"),
            Origin::File(path) => path.display().fmt(f),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// The settings that `sources` add up to.
///
/// Every source is checked as a whole, also where a higher one decides, so that a mistake does not wait for the day on
/// which the flag is left out.
///
/// # Errors
/// A variable or key that is no setting, a value out of range, or a file that cannot be parsed.
pub fn resolve(sources: &Sources) -> Result<Settings, Error> {
    let mut written: Vec<(Origin, BTreeMap<&'static str, Vec<OsString>>)> = Vec::new();
    if let Some((path, text)) = &sources.file {
        written.push((Origin::File(path.clone()), file::read(path, text)?));
    }
    written.push((Origin::Variable, variables(&sources.environment)?));
    written.push((Origin::Flag, flags(&sources.flags)));

    let mut values: BTreeMap<&'static str, Option<Value>> = BTreeMap::new();
    let mut origins = BTreeMap::new();
    for (origin, texts) in written {
        for setting in TABLE {
            let Some(texts) = texts.get(setting.name) else { continue };
            values.insert(setting.name, checked(setting, texts, &origin)?);
            origins.insert(setting.name, origin.clone());
        }
    }
    let value = |setting: &Setting| match (values.remove(setting.name).flatten(), setting.default) {
        (None, Default::Is(text)) => checked(setting, &[text.into()], &Origin::Default),
        (value, _) => Ok(value),
    };
    Settings::from_values(value, origins)
}

fn checked(setting: &Setting, texts: &[OsString], origin: &Origin) -> Result<Option<Value>, Error> {
    setting.read(texts).map_err(|found| Error::Range {
        origin: origin.of(setting),
        needed: setting.range(),
        found,
        setting: setting.name,
    })
}

fn flags(flags: &BTreeMap<String, Vec<OsString>>) -> BTreeMap<&'static str, Vec<OsString>> {
    TABLE.iter().filter_map(|setting| Some((setting.name, flags.get(setting.name)?.clone()))).collect()
}

fn variables(environment: &[(OsString, OsString)]) -> Result<BTreeMap<&'static str, Vec<OsString>>, Error> {
    let mut found = BTreeMap::new();
    for (variable, value) in environment {
        let variable = variable.to_string_lossy();
        if !variable.starts_with(VARIABLE_PREFIX) {
            continue;
        }
        let setting =
            TABLE.iter().find(|setting| setting.variable() == variable).ok_or_else(|| unknown(&variable))?;
        if !value.is_empty() {
            found.insert(setting.name, vec![value.clone()]);
        }
    }
    Ok(found)
}

fn unknown(variable: &str) -> Error {
    let suggestion = suggest::setting(variable.trim_start_matches(VARIABLE_PREFIX)).map(Setting::variable);
    Error::UnknownVariable { variable: variable.to_string(), suggestion }
}

/// Where the configuration file is unless `--config` names one: in the folder for configurations of this user.
#[must_use]
pub fn default_file(config_folder: &Path) -> PathBuf {
    config_folder.join("colibri").join("config.toml")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(flags: &[(&str, &str)], variables: &[(&str, &str)], file: &str) -> Sources {
        Sources {
            flags: flags.iter().map(|(name, text)| (name.to_string(), vec![text.into()])).collect(),
            environment: variables.iter().map(|(name, text)| (name.into(), text.into())).collect(),
            file: Some((PathBuf::from("c.toml"), file.to_string())),
        }
    }

    #[test]
    fn the_nearest_source_wins() {
        let file = "threads = 3\nram = \"3G\"\nctx = 300\n";
        let variables = [("COLI_THREADS", "2"), ("COLI_RAM", "2G"), ("COLI_SEED", ""), ("OTHER", "x")];
        let settings = resolve(&sources(&[("threads", "1")], &variables, file)).expect("good settings");
        assert_eq!(
            (settings.threads, settings.ram, settings.context),
            (Some(1), Some(2_000_000_000), Some(300))
        );
        assert_eq!(settings.origin("threads"), &Origin::Flag);
        assert_eq!(settings.origin("ram"), &Origin::Variable);
        assert_eq!(settings.origin("ctx"), &Origin::File(PathBuf::from("c.toml")));
        assert_eq!(settings.origin("seed"), &Origin::Default);
    }

    #[test]
    fn auto_undoes_a_lower_source() {
        let settings =
            resolve(&sources(&[("ram", "auto")], &[("COLI_RAM", "2G")], "")).expect("good settings");
        assert_eq!((settings.ram, settings.origin("ram")), (None, &Origin::Flag));
    }

    fn check(sources: &Sources, message: &str, hint: &str) {
        let error = resolve(sources).expect_err("something is wrong");
        assert_eq!((error.to_string().as_str(), error.hint().as_str()), (message, hint));
    }

    #[test]
    fn mistakes_are_named_wherever_they_are() {
        check(
            &sources(&[], &[("COLI_RMA", "1G")], ""),
            "environment variable `COLI_RMA` is not a setting",
            "did you mean `COLI_RAM`?",
        );
        check(
            &sources(&[], &[("COLI_XYZZY", "")], ""),
            "environment variable `COLI_XYZZY` is not a setting",
            "unset COLI_XYZZY; docs/settings.md lists all settings",
        );
        check(
            &sources(&[], &[], "thread = 1"),
            "c.toml: key `thread` is not a setting",
            "did you mean `threads`?",
        );
        check(
            &sources(&[("threads", "2")], &[("COLI_THREADS", "none")], ""),
            "COLI_THREADS: needed 1 to 1024 threads; found `none`",
            "without it: as many as the process may use",
        );
        check(
            &sources(&[("top-p", "2")], &[], ""),
            "--top-p: needed a number from 0 to 1; found `2`",
            "without it: 1",
        );
        check(
            &sources(&[], &[], "temperature = -1"),
            "c.toml: key `temperature`: needed a number from 0 to 100; found `-1`",
            "without it: 0",
        );
        check(
            &sources(&[], &[], "\n[ram]\nx = 1"),
            "c.toml: key `ram`: needed a size such as 24G or 512M, at least 1.00 MB; found a value of type table",
            "write it as on the command line: ram = \"…\"",
        );
        let error = resolve(&sources(&[], &[], "ram = \"1G\"\nctx = = 2\n")).expect_err("not TOML");
        assert!(error.to_string().starts_with("c.toml: line 2: "), "{error}");
    }

    #[test]
    fn the_file_has_the_types_of_toml() {
        let file =
            "temperature = 0.5\nno-prefetch = true\nstop = [\"a\", \"b\"]\ntop-k = 40\nstorage = \"pread\"\n";
        let settings = resolve(&sources(&[], &[], file)).expect("good settings");
        assert_eq!((settings.temperature, settings.no_prefetch, settings.top_k), (0.5, true, 40));
        assert_eq!(
            (settings.stop, settings.storage),
            (vec!["a".to_string(), "b".to_string()], crate::Storage::Pread)
        );
    }
}
