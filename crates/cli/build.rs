//! Embeds the demo model: checks that its files are there and whole, and writes a table of them with their hashes.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// The files that the model needs to run.
const FILES: [&str; 6] = [
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "model.safetensors",
];

fn main() {
    if env::var_os("CARGO_FEATURE_DEMO").is_none() {
        return;
    }
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).expect("cargo sets CARGO_MANIFEST_DIR");
    let out = env::var_os("OUT_DIR").map(PathBuf::from).expect("cargo sets OUT_DIR");
    let demo = manifest.join("../../demo");
    let mut rows = String::new();
    let mut all = Xxh3::new();
    for name in FILES {
        let path = demo.join(name);
        println!("cargo::rerun-if-changed={}", path.display());
        let Some(bytes) = whole(&path) else { return };
        all.update(name.as_bytes());
        all.update(&bytes);
        let _ = writeln!(
            rows,
            "    Embedded {{ name: {name:?}, bytes: include_bytes!({path:?}), hash: {} }},",
            xxh3_64(&bytes)
        );
    }
    let table = format!("const FILES: &[Embedded] = &[\n{rows}];\nconst HASH: u64 = {};\n", all.digest());
    fs::write(out.join("demo.rs"), table).expect("OUT_DIR can be written");
}

/// The bytes of a file of the demo; complains where it is absent or only stands for one.
fn whole(path: &Path) -> Option<Vec<u8>> {
    let complaint = match fs::read(path) {
        Ok(bytes) if bytes.starts_with(b"version https://git-lfs") => {
            "a Git LFS pointer, not the file".to_string()
        }
        Ok(bytes) if bytes.is_empty() => "empty".to_string(),
        Ok(bytes) => return Some(bytes),
        Err(error) => error.to_string(),
    };
    println!("cargo::error=the demo model is incomplete: {}: {complaint}", path.display());
    println!("cargo::error=demo/README.md tells how it is made; --no-default-features builds without it");
    None
}
