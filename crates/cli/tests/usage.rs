//! What is written wrongly: one line, one hint, exit code 2.

mod support;

use std::fs;

use support::{Home, fixture, text};

#[test]
fn mistakes_on_the_command_line() {
    let home = Home::new();
    for (arguments, error, hint) in [
        (&["--rma", "1G"][..], "unexpected argument '--rma'", "did you mean `--ram`?"),
        (&["run", "--thread", "2", "x"], "unexpected argument '--thread'", "did you mean `--threads`?"),
        (&["rnu", "x"], "unrecognized subcommand 'rnu'", "did you mean `run`?"),
        (
            &["run", "--temperature", "-1", "x"],
            "--temperature: needed a number from 0 to 100; found `-1`",
            "without it: 0",
        ),
        (&["run", "--threads", "0", "x"], "--threads: needed 1 to 1024 threads", "without it"),
        (&["run", "--ram", "lots", "x"], "--ram: needed a size such as 24G", "without it"),
        (
            &["run", "--storage", "floppy", "x"],
            "--storage: needed one of auto, uring, pread, mmap",
            "without it: auto",
        ),
        (&["run"], "needed a PROMPT", "coli run [MODEL] PROMPT"),
        (&["run", "a", "b", "c"], "unexpected value 'c'", "coli COMMAND --help"),
        (&["run", "m", "p", "--ids", "1"], "a prompt and --ids", "--ids 1,2,3"),
        (&["run", "-m", "a", "b", "c"], "two models", "name the model once"),
        (&["run", "-m", "a", "b", "--ids", "1"], "two models", "name the model once"),
        (&["run", "m", "--ids", "1,x"], "--ids: needed token ids such as 1,2,3; found `x`", "whole numbers"),
        (&["run", "m", "--ids", ","], "--ids: needed token ids", "whole numbers"),
        (&["run", "m", "--ids", "-1"], "--ids: needed token ids", "whole numbers"),
        (&["score", "m"], "--ids", "coli COMMAND --help"),
        (&["convert", "a", "b", "--format", "int5"], "invalid value 'int5'", "did you mean"),
        (&["man", "rnu"], "there is no command `rnu`", "coli --help"),
    ] {
        home.run(arguments).fails(2, error, hint);
    }
}

#[test]
fn mistakes_in_variables_and_files() {
    let home = Home::new();
    let run = |variable: (&str, &str)| {
        let output =
            home.coli(&["plan", "m"]).env(variable.0, variable.1).output().expect("the program starts");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, err) = run(("COLI_RMA", "1G"));
    assert_eq!(code, Some(2));
    assert_eq!(
        err,
        "error: environment variable `COLI_RMA` is not a setting\nhint: did you mean `COLI_RAM`?\n"
    );
    assert_eq!(run(("COLI_THREADS", "none")).0, Some(2));

    fs::create_dir_all(home.path(".config/colibri")).expect("a folder");
    fs::write(home.path(".config/colibri/config.toml"), "thread = 2\n").expect("a file");
    home.run(&["plan", "m"]).fails(
        2,
        "config.toml: key `thread` is not a setting",
        "did you mean `threads`?",
    );
    fs::write(home.path("other.toml"), "ram = 5\n").expect("a file");
    home.run(&["plan", "m", "--config", "other.toml"]).fails(
        2,
        "other.toml: key `ram`: needed a size",
        "without it",
    );
    home.run(&["plan", "m", "--config", "absent.toml"]).fails(1, "absent.toml", "exists");
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    let home = Home::new();
    let model = fixture();
    home.run(&["run", text(&model), "--ids", "1", "--numerics", "fast"]).fails(
        1,
        "`fast` is not available",
        "--numerics",
    );
    home.run(&["run", text(&model), "--ids", "1", "--mirror", "m"]).fails(
        1,
        "mirror is not available",
        "--mirror",
    );
    home.run(&["doctor", text(&model), "--deep"]).fails(1, "deep check is not available", "--deep");
    home.run(&["run", text(&model), "--ids", "1", "--kernels", "neon"]).fails(
        1,
        "kernel table `neon`",
        "--kernels",
    );
}

#[test]
fn models_that_cannot_be_opened() {
    let home = Home::new();
    home.run(&["run", "absent", "--ids", "1"]).fails(1, "absent", "folder or a .gguf file");
    fs::create_dir(home.path("empty")).expect("a folder");
    home.run(&["info", "empty"]).fails(1, "empty", "");
    let model = fixture();
    home.run(&["run", text(&model), "--ids", "99999999"]).fails(1, "token 99999999", "vocabulary");
    home.run(&["run", text(&model), "hello"]).fails(1, "tokenizer", "--ids");
    home.run(&["plan", text(&model), "--ram", "1M"]).fails(1, "ceiling", "--ram");
}
