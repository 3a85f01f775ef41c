//! Opening files so that reads bypass the page cache, where a system and a file system allow it.

use std::{fmt, fs::File, path::Path, str::FromStr};

/// Whether reads bypass the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Direct {
    /// Where the file system takes it.
    #[default]
    Auto,
    /// Yes; a file system that refuses is a fallback that is reported.
    On,
    /// No; read pages are dropped from the cache after use.
    Off,
}

/// The names of [`Direct`], as settings spell them.
const NAMES: [(Direct, &str); 3] = [(Direct::Auto, "auto"), (Direct::On, "on"), (Direct::Off, "off")];

impl fmt::Display for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES.iter().find(|(direct, _)| direct == self).map_or("auto", |(_, name)| name))
    }
}

impl FromStr for Direct {
    type Err = String;

    fn from_str(text: &str) -> Result<Direct, String> {
        let found = NAMES.iter().find(|(_, name)| *name == text);
        found.map(|(direct, _)| *direct).ok_or_else(|| format!("`{text}` is not auto, on or off"))
    }
}

/// Opens `path` for direct reads and tries one: a file system may accept the open and refuse the read.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
pub(crate) fn open_direct(path: &Path) -> Result<File, String> {
    use units::{Arena, limits::PAGE_BYTES};
    let file = open(path).map_err(|error| error.to_string())?;
    let mut block = Arena::new(PAGE_BYTES).cut(PAGE_BYTES).ok_or("no memory for a page")?;
    crate::system::read_at(&file, &mut block, 0).map_err(|error| error.to_string())?;
    Ok(file)
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
pub(crate) fn open_direct(_: &Path) -> Result<File, String> {
    Err("not written for this system".to_string())
}

#[cfg(target_os = "linux")]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().read(true).custom_flags(rustix::fs::OFlags::DIRECT.bits() as i32).open(path)
}

#[cfg(target_vendor = "apple")]
fn open(path: &Path) -> std::io::Result<File> {
    let file = File::open(path)?;
    rustix::fs::fcntl_nocache(&file, true)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for (direct, name) in NAMES {
            assert_eq!((direct.to_string().as_str(), name.parse()), (name, Ok(direct)));
        }
        assert!("yes".parse::<Direct>().is_err());
    }
}
