//! One call of a command: its arguments, the settings they add up to, and the process around it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use clap::ArgMatches;
use settings::{Settings, Sources};

use crate::{arguments, environment::Environment, failure::Failure, signals::Signals};

/// What a command has to work with.
#[derive(Debug)]
pub struct Call<'a> {
    /// Arguments of the command.
    pub matches: &'a ArgMatches,
    /// All settings.
    pub settings: Settings,
    /// The environment.
    pub environment: Environment,
    /// Signals.
    pub signals: Signals,
}

impl<'a> Call<'a> {
    /// Puts flags before and after the command's name, `model` where it stands without a flag, environment and
    /// configuration file together.
    ///
    /// # Errors
    /// A setting is unknown, out of range or given twice, or the configuration file cannot be read.
    pub fn new(
        all: &ArgMatches,
        matches: &'a ArgMatches,
        model: Option<OsString>,
        environment: Environment,
    ) -> Result<Call<'a>, Failure> {
        let mut flags = arguments::flags(all);
        flags.extend(arguments::flags(matches));
        add_model(&mut flags, model)?;
        let stated = config_flag(matches).or_else(|| config_flag(all));
        let sources = Sources {
            flags,
            environment: environment.variables().to_vec(),
            file: config_file(stated, &environment)?,
        };
        Ok(Call { matches, settings: settings::resolve(&sources)?, environment, signals: Signals::listen()? })
    }

    /// Whether a switch of the command's own is on.
    pub fn is_on(&self, switch: &str) -> bool {
        matches!(self.matches.try_get_one::<bool>(switch), Ok(Some(true)))
    }

    /// The token ids of `--ids`.
    ///
    /// # Errors
    /// They are not numbers with commas between them.
    pub fn ids(&self) -> Result<Option<Vec<u32>>, Failure> {
        let Some(text) = self.matches.get_one::<String>("ids") else { return Ok(None) };
        let parts = text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty());
        let ids =
            parts.map(|part| part.parse::<u32>().map_err(|_| bad_id(part))).collect::<Result<Vec<_>, _>>()?;
        if ids.is_empty() { Err(bad_id(text)) } else { Ok(Some(ids)) }
    }
}

fn bad_id(found: &str) -> Failure {
    Failure::usage(
        format!("--ids: needed token ids such as 1,2,3; found `{found}`"),
        "ids are whole numbers from 0 on, commas between them",
    )
}

fn add_model(flags: &mut BTreeMap<String, Vec<OsString>>, model: Option<OsString>) -> Result<(), Failure> {
    let Some(model) = model else { return Ok(()) };
    match flags.insert("model".to_string(), vec![model]) {
        None => Ok(()),
        Some(flag) => Err(Failure::usage(
            format!("two models: {:?} and {:?}", flag[0], flags["model"][0]),
            "name the model once, with --model or without",
        )),
    }
}

fn config_flag(matches: &ArgMatches) -> Option<PathBuf> {
    matches.try_get_one::<PathBuf>("config").ok().flatten().cloned()
}

/// The stated configuration file, or the usual one if it is there.
fn config_file(
    stated: Option<PathBuf>,
    environment: &Environment,
) -> Result<Option<(PathBuf, String)>, Failure> {
    if let Some(path) = stated {
        return read(&path).map(|text| Some((path, text)));
    }
    let Some(folder) = environment.config_folder() else { return Ok(None) };
    let path = settings::resolve::default_file(&folder);
    match read(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(Failure::Io { source, .. }) if is_absent(&source) => Ok(None),
        Err(failure) => Err(failure),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|source| Failure::io(path, source))
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
