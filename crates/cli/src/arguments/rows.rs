//! The commands as data.

use std::ffi::OsString;

use clap::{Arg, ValueHint, value_parser};
use settings::Group::{self, Answer, Machine, Model};

use super::parts::{count, ids_argument, json_argument, model_argument, path, switch, value, words};

/// A command and which settings its help shows.
pub struct Row {
    /// What is typed.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What else there is to say.
    pub after: &'static str,
    /// How it is called, where the parser cannot tell.
    pub usage: &'static str,
    /// Settings that it heeds; with none, it takes no setting at all.
    pub groups: &'static [Group],
    /// Arguments of its own.
    pub own: fn() -> Vec<Arg>,
}

/// A command with nothing to say.
const ROW: Row = Row { name: "", about: "", after: "", usage: "", groups: &[], own: Vec::new };

/// The commands, in the order of `coli --help`.
pub const COMMANDS: &[Row] = &[
    Row {
        name: "chat",
        about: "Talk to a model; this is also what `coli` alone does",
        after: "While it answers, Ctrl-C stops the answer; twice quits. :help lists what else can be typed.\nWhen standard input is not a terminal, each line of it is answered.",
        groups: &[Model, Machine, Answer],
        own: || vec![model_argument()],
        ..ROW
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
        groups: &[Model, Machine],
        own: || {
            vec![
                model_argument(),
                ids_argument("The tokens").required(true),
                value("top", "N", "So many of the likeliest next tokens")
                    .default_value("5")
                    .value_parser(count(0, 1 << 20)),
                json_argument(),
            ]
        },
        ..ROW
    },
    Row {
        name: "info",
        about: "What a model is: family, files, formats, tokenizer",
        groups: &[Model],
        own: || vec![model_argument(), json_argument()],
        ..ROW
    },
    Row {
        name: "plan",
        about: "What will be in memory and what on the drive, before anything is loaded",
        groups: &[Model, Machine],
        own: || vec![model_argument(), json_argument()],
        ..ROW
    },
    Row {
        name: "doctor",
        about: "Check a model and this machine; changes nothing",
        after: "Exits with 1 when a check fails.",
        groups: &[Model, Machine],
        own: || {
            vec![
                model_argument(),
                switch("deep", "Reads every weight too (not available yet)"),
                json_argument(),
            ]
        },
        ..ROW
    },
    Row {
        name: "convert",
        about: "Write a checkpoint in another format; can be interrupted and goes on where it was",
        after: "Norms, routers, biases and other small tensors become f32; the embedding and the output projection stay at int8-row when\nthe format is int4. SRC is only read.",
        own: || {
            vec![
                path("source", "SRC", "Folder of the checkpoint to read").required(true),
                path("destination", "DST", "Folder to write").required(true),
                value("format", "FORMAT", "Format of the weights").required(true).value_parser(FORMATS),
                value(
                    "io-format",
                    "FORMAT",
                    "Format of embedding and output projection [default: int8-row for int4, else FORMAT]",
                )
                .value_parser(FORMATS),
            ]
        },
        ..ROW
    },
    Row {
        name: "bench",
        about: "Measure prefill and decode beside the bounds of memory and drive",
        groups: &[Model, Machine],
        own: || {
            vec![
                model_argument(),
                value("prompt-tokens", "N", "Tokens of the prompt")
                    .default_value("128")
                    .value_parser(count(1, 1 << 24)),
                value("decode-tokens", "N", "Tokens of the answer")
                    .default_value("32")
                    .value_parser(count(2, 1 << 24)),
                json_argument(),
            ]
        },
        ..ROW
    },
    Row {
        name: "completions",
        about: "Print a completion script for a shell",
        own: || {
            vec![words("shell", "SHELL").required(true).value_parser(value_parser!(clap_complete::Shell))]
        },
        ..ROW
    },
    Row {
        name: "man",
        about: "Print the manual page of coli or of one of its commands",
        own: || vec![words("command", "COMMAND")],
        ..ROW
    },
];

/// The formats that `convert` writes.
const FORMATS: [&str; 6] = ["int8-row", "int4-g64", "int4-row", "bf16", "f16", "f32"];
