//! From the parser's findings to what was written for each setting.

use std::{collections::BTreeMap, ffi::OsString};

use clap::{ArgMatches, parser::ValueSource};
use settings::{Kind, TABLE};

/// What the flags of `matches` say of the settings.
pub fn flags(matches: &ArgMatches) -> BTreeMap<String, Vec<OsString>> {
    let mut flags = BTreeMap::new();
    for setting in TABLE {
        // Commands without settings do not know these arguments at all.
        if !matches!(matches.try_contains_id(setting.name), Ok(true))
            || matches.value_source(setting.name) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let written = match setting.kind {
            Kind::Switch => vec![OsString::from("on")],
            _ => matches.get_many::<OsString>(setting.name).into_iter().flatten().cloned().collect(),
        };
        flags.insert(setting.name.to_string(), written);
    }
    flags
}
