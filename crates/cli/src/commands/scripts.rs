//! `coli completions` and `coli man`: made from the command line's own description.

use clap::ArgMatches;
use clap_complete::Shell;

use crate::{arguments, failure::Failure, output};

/// Prints a completion script.
///
/// # Errors
/// Standard output is closed.
pub fn completions(matches: &ArgMatches) -> Result<(), Failure> {
    let shell = matches.get_one::<Shell>("shell").copied().unwrap_or(Shell::Bash);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "coli", &mut script);
    output::answer(&String::from_utf8_lossy(&script))
}

/// Prints a manual page.
///
/// # Errors
/// There is no such command, or standard output is closed.
pub fn man(matches: &ArgMatches) -> Result<(), Failure> {
    let mut all = arguments::command();
    all.build();
    let command = match matches.get_one::<String>("command") {
        None => all,
        Some(name) => all.find_subcommand(name).cloned().ok_or_else(|| {
            Failure::usage(format!("there is no command `{name}`"), "`coli --help` lists the commands")
        })?,
    };
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page).map_err(Failure::Output)?;
    output::answer(&String::from_utf8_lossy(&page))
}
