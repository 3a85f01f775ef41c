//! The command line, made from the table of settings and a short table of commands.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, builder::ValueParser, parser::ValueSource, value_parser};
use settings::{Group, Kind, Setting, Show, TABLE};

/// Columns of help texts.
const HELP_WIDTH: usize = 100;

/// A command and which settings its help shows.
struct Row {
    name: &'static str,
    about: &'static str,
    after: &'static str,
    /// How it is called, where the parser cannot tell.
    usage: &'static str,
    groups: &'static [Group],
    own: fn() -> Vec<Arg>,
}

use Group::{Answer, Machine, Model};

const COMMANDS: &[Row] = &[
    Row {
        name: "chat",
        about: "Talk to a model; this is also what `coli` alone does",
        after: "While it answers, Ctrl-C stops the answer; twice quits. :help lists what else can be typed.\nWhen standard input is not a terminal, each line of it is answered.",
        usage: "",
        groups: &[Model, Machine, Answer],
        own: || vec![model_argument()],
    },
    Row {
        name: "run",
        about: "Answer one prompt",
        after: "With a single argument it is the prompt, or the model when --ids is given. Without a prompt, standard input is read.",
        usage: "coli run [OPTIONS] [MODEL] PROMPT\n       coli run [OPTIONS] [MODEL] --ids 1,2,3",
        groups: &[Model, Machine, Answer],
        own: || {
            vec![
                Arg::new("args")
                    .value_names(["MODEL", "PROMPT"])
                    .num_args(0..=2)
                    .value_parser(value_parser!(OsString))
                    .value_hint(ValueHint::AnyPath)
                    .help("Folder or .gguf file, the embedded demo model when absent; and what to answer"),
                switch("raw", "Takes the prompt as it is, without the chat template"),
                ids_argument("The prompt as token ids, instead of PROMPT; needs no tokenizer"),
                switch("ignore-eos", "Goes on where the model ends its answer"),
                json_argument(),
            ]
        },
    },
    Row {
        name: "score",
        about: "What a model would have said after each of the given tokens",
        after: "",
        usage: "",
        groups: &[Model, Machine],
        own: || {
            vec![
                model_argument(),
                ids_argument("The tokens").required(true),
                value("top", "N", "So many of the likeliest next tokens").default_value("5").value_parser(count(0, 1 << 20)),
                json_argument(),
            ]
        },
    },
    Row {
        name: "info",
        about: "What a model is: family, files, formats, tokenizer",
        after: "",
        usage: "",
        groups: &[Model],
        own: || vec![model_argument(), json_argument()],
    },
    Row {
        name: "plan",
        about: "What will be in memory and what on the drive, before anything is loaded",
        after: "",
        usage: "",
        groups: &[Model, Machine],
        own: || vec![model_argument(), json_argument()],
    },
    Row {
        name: "doctor",
        about: "Check a model and this machine; changes nothing",
        after: "Exits with 1 when a check fails.",
        usage: "",
        groups: &[Model, Machine],
        own: || vec![model_argument(), switch("deep", "Reads every weight too (not available yet)"), json_argument()],
    },
    Row {
        name: "convert",
        about: "Write a checkpoint in another format; can be interrupted and goes on where it was",
        after: "Norms, routers, biases and other small tensors become f32; the embedding and the output projection stay at int8-row when\nthe format is int4. SRC is only read.",
        usage: "",
        groups: &[],
        own: || {
            vec![
                path("source", "SRC", "Folder of the checkpoint to read").required(true),
                path("destination", "DST", "Folder to write").required(true),
                value("format", "FORMAT", "Format of the weights").required(true).value_parser(FORMATS),
                value("io-format", "FORMAT", "Format of embedding and output projection [default: int8-row for int4, else FORMAT]")
                    .value_parser(FORMATS),
            ]
        },
    },
    Row {
        name: "bench",
        about: "Measure prefill and decode beside the bounds of memory and drive",
        after: "",
        usage: "",
        groups: &[Model, Machine],
        own: || {
            vec![
                model_argument(),
                value("prompt-tokens", "N", "Tokens of the prompt").default_value("128").value_parser(count(1, 1 << 24)),
                value("decode-tokens", "N", "Tokens of the answer").default_value("32").value_parser(count(2, 1 << 24)),
                json_argument(),
            ]
        },
    },
    Row {
        name: "completions",
        about: "Print a completion script for a shell",
        after: "",
        usage: "",
        groups: &[],
        own: || vec![words("shell", "SHELL").required(true).value_parser(value_parser!(clap_complete::Shell))],
    },
    Row {
        name: "man",
        about: "Print the manual page of coli or of one of its commands",
        after: "",
        usage: "",
        groups: &[],
        own: || vec![words("command", "COMMAND")],
    },
];

/// The formats that `convert` writes.
const FORMATS: [&str; 6] = ["int8-row", "int4-g64", "int4-row", "bf16", "f16", "f32"];

/// The whole command line.
pub fn command() -> Command {
    // Settings may stand before the command too; they are listed by the commands that heed them.
    let hidden = TABLE.iter().map(|setting| setting_argument(setting, false));
    let mut command = Command::new("coli")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Run Mixture-of-Experts models that are larger than your memory, exactly")
        .after_help("Without a command, `coli` chats; without a model, it chats with the embedded demo model.\nEvery flag is also a variable (COLI_RAM) and a key of the configuration file: docs/settings.md.")
        .term_width(HELP_WIDTH)
        .arg(config_argument())
        .args(hidden)
        .disable_help_subcommand(true)
        .subcommand_value_name("COMMAND");
    for row in COMMANDS {
        command = command.subcommand(subcommand(row));
    }
    command
}

fn subcommand(row: &Row) -> Command {
    let shown = |setting: &Setting| row.groups.contains(&setting.group) && setting.show == Show::Everyone;
    let mut command = Command::new(row.name).about(row.about).term_width(HELP_WIDTH).args((row.own)()).arg(config_argument());
    if !row.after.is_empty() {
        command = command.after_help(row.after);
    }
    if !row.usage.is_empty() {
        command = command.override_usage(row.usage);
    }
    if !row.groups.is_empty() {
        command = command.args(TABLE.iter().map(|setting| setting_argument(setting, shown(setting))));
    }
    command
}

fn setting_argument(setting: &'static Setting, is_shown: bool) -> Arg {
    let default = match setting.default {
        settings::Default::Is(text) | settings::Default::Absent(text) => text,
    };
    let range = match setting.kind {
        Kind::Choice(words) => format!(" [{}]", words.join(", ")),
        _ => String::new(),
    };
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .help(format!("{}{range} [default: {default}]", setting.doc))
        .help_heading(setting.group.title())
        .hide(!is_shown);
    let arg = match setting.short {
        Some(letter) => arg.short(letter),
        None => arg,
    };
    match (setting.kind, setting.placeholder()) {
        (Kind::Switch, _) | (_, None) => arg.action(ArgAction::SetTrue),
        (kind, Some(placeholder)) => arg
            .action(if kind == Kind::Texts { ArgAction::Append } else { ArgAction::Set })
            .value_name(placeholder)
            .value_parser(ValueParser::os_string())
            .value_hint(if kind == Kind::Path { ValueHint::AnyPath } else { ValueHint::Other })
            // A negative number is out of range, which is said better than "unexpected argument".
            .allow_negative_numbers(true),
    }
}

fn config_argument() -> Arg {
    path_flag("config", "FILE", "Configuration file [default: colibri/config.toml in the configuration folder]")
}

fn model_argument() -> Arg {
    words("positional-model", "MODEL")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::AnyPath)
        .help("Folder or .gguf file; the embedded demo model when absent")
}

fn ids_argument(help: &'static str) -> Arg {
    value("ids", "1,2,3", help).allow_hyphen_values(true)
}

fn json_argument() -> Arg {
    switch("json", "Prints one JSON object (docs/json.md) and nothing else")
}

fn words(id: &'static str, name: &'static str) -> Arg {
    Arg::new(id).value_name(name)
}

fn path(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    words(id, name).help(help).value_parser(value_parser!(PathBuf)).value_hint(ValueHint::AnyPath)
}

fn path_flag(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    path(id, name, help).long(id)
}

fn value(id: &'static str, name: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).value_name(name).help(help)
}

fn switch(id: &'static str, help: &'static str) -> Arg {
    Arg::new(id).long(id).help(help).action(ArgAction::SetTrue)
}

fn count(least: u64, most: u64) -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(least..=most)
}

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

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
