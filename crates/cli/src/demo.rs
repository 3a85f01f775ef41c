//! The embedded demo model: unpacked into the cache folder at first use, checked at every later one.

use std::path::PathBuf;

use crate::{environment::Environment, failure::Failure};

/// Ceiling of the demo when nobody asks for another: below what all its experts would need, so that they stream.
pub const RAM_BYTES: u64 = 40_000_000;

/// The folder with the demo model.
///
/// # Errors
/// It cannot be written anywhere, or this program was built without it.
#[cfg(not(feature = "demo"))]
pub fn folder(_: &Environment) -> Result<PathBuf, Failure> {
    Err(Failure::refused(
        "this program was built without the demo model; needed a MODEL",
        "name a model, or build with default features",
    ))
}

/// Unpacks the demo model into a folder; what [`UNPACK`] asks for.
///
/// # Errors
/// As [`folder`].
#[cfg(not(feature = "demo"))]
pub fn unpack(_: &std::path::Path) -> Result<(), Failure> {
    Err(Failure::refused("this program was built without the demo model", "build with default features"))
}

/// The hidden flag under which the program calls itself to unpack the demo.
pub const UNPACK: &str = "unpack-demo";

#[cfg(feature = "demo")]
pub use embedded::{folder, unpack};

#[cfg(feature = "demo")]
mod embedded {
    use std::{
        fs::{self, File},
        io::{self, Read, Write},
        path::Path,
        process::{Command, Stdio},
    };

    use xxhash_rust::xxh3::Xxh3;

    use super::{Environment, Failure, PathBuf};
    use crate::output;

    /// A file of the model.
    struct Embedded {
        name: &'static str,
        bytes: &'static [u8],
        /// XXH3 of the bytes.
        hash: u64,
    }

    // FILES, and HASH over all of them; see build.rs.
    include!(concat!(env!("OUT_DIR"), "/demo.rs"));

    /// The folder with the demo model, unpacked if need be.
    ///
    /// # Errors
    /// It cannot be written anywhere.
    pub fn folder(environment: &Environment) -> Result<PathBuf, Failure> {
        let name = format!("demo-{HASH:016x}");
        let cache = environment.cache_folder().map(|folder| folder.join("colibri"));
        let temporary = std::env::temp_dir().join(format!("colibri{}", user()));
        let mut failure = None;
        for parent in cache.into_iter().chain([temporary]) {
            let folder = parent.join(&name);
            if is_whole(&folder) {
                return Ok(folder);
            }
            if folder.exists() {
                output::note(&format!("{}: damaged, written anew", folder.display()));
            }
            match unpack_apart(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.unwrap_or_else(|| {
            Failure::refused("there is no folder for the demo model", "set HOME or XDG_CACHE_HOME")
        }))
    }

    /// Tells users of one temporary folder apart, so that nobody depends on another's files.
    fn user() -> String {
        #[cfg(target_os = "linux")]
        return format!("-{}", rustix::process::getuid().as_raw());
        #[cfg(not(target_os = "linux"))]
        return String::new();
    }

    /// Whether every file is there with its size and hash.
    fn is_whole(folder: &Path) -> bool {
        FILES.iter().all(|file| {
            let path = folder.join(file.name);
            fs::metadata(&path).is_ok_and(|found| found.len() == file.bytes.len() as u64)
                && hash(&path).is_ok_and(|found| found == file.hash)
        })
    }

    fn hash(path: &Path) -> io::Result<u64> {
        let mut file = File::open(path)?;
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; 1 << 18];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        forget(&file);
        Ok(hasher.digest())
    }

    /// Takes a file out of the page cache, which would otherwise hold all experts that the ceiling keeps out.
    fn forget(file: &File) {
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
        #[cfg(not(target_os = "linux"))]
        let _ = file;
    }

    /// Unpacks in a process of its own: pages of the embedded files that were touched stay resident to the end, and the
    /// ceiling of the demo has no room for them.
    fn unpack_apart(folder: &Path) -> Result<(), Failure> {
        let apart = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            command
                .arg(format!("--{}", super::UNPACK))
                .arg(folder)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command.status()
        });
        // Whatever kept it from running, the folder decides.
        if apart.is_ok_and(|status| status.success()) && is_whole(folder) { Ok(()) } else { unpack(folder) }
    }

    /// Unpacks the demo model into `folder`.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn unpack(folder: &Path) -> Result<(), Failure> {
        let parent = folder.parent().unwrap_or(Path::new("."));
        write(parent, folder).map_err(|source| Failure::io(folder, source))
    }

    /// Writes all files into a folder beside the final one and renames it, so that the final one is whole or absent. A
    /// damaged one makes way.
    fn write(parent: &Path, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(parent)?;
        let draft = tempfile::Builder::new().prefix("demo-draft-").tempdir_in(parent)?;
        for file in FILES {
            let mut out = File::create(draft.path().join(file.name))?;
            out.write_all(file.bytes)?;
            out.sync_all()?;
            forget(&out);
        }
        if folder.exists() {
            fs::rename(folder, draft.path().join("damaged"))?;
        }
        let draft = draft.keep();
        fs::rename(&draft, folder).or_else(|error| {
            let _ = fs::remove_dir_all(&draft);
            // Another process may have been quicker.
            if is_whole(folder) { Ok(()) } else { Err(error) }
        })?;
        let _ = fs::remove_dir_all(folder.join("damaged"));
        Ok(())
    }
}
