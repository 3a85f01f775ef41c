//! The documentation page.

use std::fmt::Write;

use crate::{Group, Setting, Show, TABLE};

const HEAD: &str = "\
# Settings

<!-- Made from the table in crates/settings; `GOLDEN=update cargo test -p settings` writes it anew. -->

A setting has one name. `--name` is its flag, `COLI_NAME` its variable, `name` its key in the configuration file, which is
TOML: `$XDG_CONFIG_HOME/colibri/config.toml` (`~/.config/colibri/config.toml`), or what `--config FILE` names. A flag wins over a
variable, a variable over the file, the file over the default. An empty variable counts as absent; `auto` undoes what a lower source
says, for settings without a fixed default. A flag, variable (`COLI_…`) or key that is no setting is an error.
";

/// The whole page, as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut page = HEAD.to_string();
    for group in Group::ALL {
        let _ = write!(page, "\n## {}\n", group.title());
        TABLE
            .iter()
            .filter(|setting| setting.group == *group)
            .for_each(|setting| page.push_str(&section(setting)));
    }
    page
}

fn section(setting: &Setting) -> String {
    let value = setting.placeholder().map(|word| format!(" {word}")).unwrap_or_default();
    let short = setting.short.map(|letter| format!(", `-{letter}{value}`")).unwrap_or_default();
    let experts = if setting.show == Show::Experts { " For experts: not in help texts." } else { "" };
    format!(
        "\n### `{name}`\n\n{doc} {why}{experts}\n\n- flag `{flag}{value}`{short}; variable `{variable}`\n- range: {range}\n- default: {default}\n",
        name = setting.name,
        doc = setting.doc,
        why = setting.why,
        flag = setting.flag(),
        variable = setting.variable(),
        range = setting.range(),
        default = setting.default_words(),
    )
}
