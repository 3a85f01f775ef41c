//! From the tables to the parser.

use clap::{Arg, ArgAction, Command, ValueHint, builder::ValueParser};
use settings::{Kind, Setting, Show, TABLE};

use super::{
    parts::{config_argument, path_flag},
    rows::{COMMANDS, Row},
};
use crate::demo;

/// Columns of help texts.
const HELP_WIDTH: usize = 100;

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
        .arg(path_flag(demo::UNPACK, "FOLDER", "Unpacks the demo model").hide(true))
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
    let mut command = Command::new(row.name)
        .about(row.about)
        .term_width(HELP_WIDTH)
        .args((row.own)())
        .arg(config_argument());
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

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_consistent() {
        super::command().debug_assert();
    }
}
