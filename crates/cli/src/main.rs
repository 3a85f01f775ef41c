//! `coli`: the command line of the engine. The only reader of arguments, environment and standard output.
//!
//! A command is a file in [`commands`]; which flags it takes is a row in [`arguments`]; what settings there are is a table
//! of the `settings` crate. Everything that can go wrong ends as a [`failure::Failure`]: one line, one hint, an exit code.

#![forbid(unsafe_code)]

mod answer;
mod arguments;
mod bounds;
mod call;
mod chat;
mod commands;
mod convert;
mod demo;
mod environment;
mod failure;
mod model;
mod output;
mod progress;
mod signals;
mod usage;

use std::{env, ffi::OsString, process::ExitCode};

use environment::Environment;
use failure::Failure;

fn main() -> ExitCode {
    let Err(failure) = run(env::args_os(), Environment::read()) else { return ExitCode::SUCCESS };
    failure.lines().into_iter().flatten().for_each(|line| output::note(&line));
    failure.exit_code()
}

fn run(arguments: impl Iterator<Item = OsString>, environment: Environment) -> Result<(), Failure> {
    // Help texts call the program by its name, not by the path it was started with.
    let arguments = std::iter::once(OsString::from("coli")).chain(arguments.skip(1));
    match arguments::command().try_get_matches_from(arguments) {
        Ok(matches) => commands::dispatch(&matches, environment),
        Err(error) => usage::explain(&error),
    }
}
