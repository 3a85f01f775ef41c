//! The commands, one a file, in the order of `coli --help`.

mod bench;
mod doctor;
mod info;
mod plan;
mod run;
mod score;
mod scripts;

use std::{ffi::OsString, path::PathBuf};

use clap::ArgMatches;

use crate::{call::Call, chat, convert, demo, environment::Environment, failure::Failure};

/// Runs the command that `matches` names.
///
/// # Errors
/// Whatever ends it early.
pub fn dispatch(matches: &ArgMatches, environment: Environment) -> Result<(), Failure> {
    if let Some(folder) = matches.get_one::<PathBuf>(demo::UNPACK) {
        return demo::unpack(folder);
    }
    let (name, own) = matches.subcommand().unwrap_or(("chat", matches));
    let call = |model: Option<OsString>| Call::new(matches, own, model, environment);
    match name {
        "run" => {
            let words = run::Words::of(own)?;
            run::run(&call(words.model.clone())?, words)
        }
        "score" => score::score(&call(model(own))?),
        "info" => info::info(&call(model(own))?),
        "plan" => plan::plan(&call(model(own))?),
        "doctor" => doctor::doctor(&call(model(own))?),
        "bench" => bench::bench(&call(model(own))?),
        "convert" => convert::convert(&call(None)?),
        "completions" => scripts::completions(own),
        "man" => scripts::man(own),
        _ => chat::chat(&call(model(own))?),
    }
}

/// The model where it stands without a flag.
fn model(matches: &ArgMatches) -> Option<OsString> {
    let stated = matches.try_get_one::<PathBuf>("positional-model").ok().flatten();
    stated.map(|path| path.clone().into_os_string())
}
