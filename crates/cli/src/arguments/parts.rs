//! The kinds of arguments that commands have of their own.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ValueHint, builder::RangedU64ValueParser, value_parser};

/// The configuration file.
pub fn config_argument() -> Arg {
    path_flag(
        "config",
        "FILE",
        "Configuration file [default: colibri/config.toml in the configuration folder]",
    )
}

/// The model where it stands without a flag.
pub fn model_argument() -> Arg {
    words("positional-model", "MODEL")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath)
        .help("Folder or .gguf file; the embedded demo model when absent")
}

/// Token ids.
pub fn ids_argument(help: &'static str) -> Arg {
    value("ids", "1,2,3", help).allow_hyphen_values(true)
}

/// Output for programs.
pub fn json_argument() -> Arg {
    switch("json", "Prints one JSON object (docs/json.md) and nothing else")
}

/// A positional argument.
pub fn words(id: &'static str, name: &'static str) -> Arg {
    Arg::new(id).value_name(name)
}

/// A positional path.
pub fn path(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    words(id, name).help(help).value_parser(value_parser!(PathBuf)).value_hint(ValueHint::AnyPath)
}

/// A flag with a path.
pub fn path_flag(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    path(id, name, help).long(id)
}

/// A flag with a value.
pub fn value(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).value_name(name).help(help)
}

/// A flag without a value.
pub fn switch(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).help(help).action(ArgAction::SetTrue)
}

/// A whole number in a range.
pub fn count(least: u64, most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(least..=most)
}
