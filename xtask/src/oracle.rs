//! Makes the fixtures of `oracle/` again, by the Python script that lies there.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

const NEEDS: &str = "\
make_tiny.py needs Python 3.11 with these packages:
  pip install --no-deps torch==2.15.0
  pip install numpy filelock typing_extensions sympy networkx jinja2 fsspec
  pip install transformers==5.24.0 safetensors gguf==0.19.0
Name that interpreter with `--python PROGRAM`.";

/// What was asked for.
#[derive(Debug, Default, PartialEq)]
struct Options {
    name: Option<String>,
    seed: Option<u64>,
    out: Option<PathBuf>,
    python: Option<PathBuf>,
    is_list: bool,
}

/// Makes one fixture, or all.
///
/// # Errors
/// The arguments are not understood, Python or a package is absent, or the script failed.
pub fn run(root: &Path, arguments: &[String]) -> Result<()> {
    let options = parse(arguments)?;
    let python = options.python.clone().unwrap_or_else(|| "python3".into());
    let script = root.join("oracle/make_tiny.py");
    check_packages(&python)?;
    let mut command = Command::new(&python);
    command.arg(script).args(script_arguments(&options, &root.join("oracle")));
    let status = command.status().with_context(|| format!("{} could not be started", python.display()))?;
    if !status.success() {
        bail!("make_tiny.py ended with {status}");
    }
    Ok(())
}

fn parse(arguments: &[String]) -> Result<Options> {
    let mut options = Options::default();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--list" => options.is_list = true,
            "--seed" => options.seed = Some(value()?.parse().context("`--seed` needs a whole number")?),
            "--out" => options.out = Some(value()?.into()),
            "--python" => options.python = Some(value()?.into()),
            name if !name.starts_with('-') && options.name.is_none() => options.name = Some(name.to_owned()),
            other => bail!("unexpected argument `{other}`"),
        }
    }
    Ok(options)
}

fn script_arguments(options: &Options, oracle: &Path) -> Vec<String> {
    if options.is_list {
        return vec!["--list".into()];
    }
    let folder = options.out.as_deref().unwrap_or(oracle);
    let mut arguments = match &options.name {
        Some(name) => vec![name.clone(), folder.join(name).display().to_string()],
        None => vec!["--all".into(), folder.display().to_string()],
    };
    if let Some(seed) = options.seed {
        arguments.extend(["--seed".into(), seed.to_string()]);
    }
    arguments
}

fn check_packages(python: &Path) -> Result<()> {
    let mut command = Command::new(python);
    command.args(["-c", "import torch, transformers, safetensors, gguf"]).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!("{} lacks a package\n{NEEDS}", python.display()),
        Err(error) => bail!("{}: {error}\n{NEEDS}", python.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Result<Vec<String>> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words).map(|options| script_arguments(&options, Path::new("o")))
    }

    #[test]
    fn says_to_the_script_what_was_asked() {
        for (line, wanted) in [
            ("", vec!["--all", "o"]),
            ("--seed 11", vec!["--all", "o", "--seed", "11"]),
            ("small", vec!["small", "o/small"]),
            ("small --out t --seed 3", vec!["small", "t/small", "--seed", "3"]),
            ("--list", vec!["--list"]),
        ] {
            assert_eq!(arguments(line).unwrap(), wanted, "{line}");
        }
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for line in ["--seed", "--seed x", "--sed 1", "one two"] {
            assert!(arguments(line).is_err(), "{line}");
        }
    }
}
