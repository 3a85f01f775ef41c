//! How much memory the process may use, and how much it uses: `/proc`, and both versions of control groups.

use std::{fs, path::Path};

use crate::Error;

/// Share of the available memory that an automatic ceiling takes; the rest is left for everyone else.
const AUTO_SHARE: f64 = 0.9;

/// A ceiling, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Ceiling {
    /// Bytes that the process may hold.
    pub bytes: u64,
    /// Who said so.
    pub from: String,
}

impl Ceiling {
    /// `wished`, or nine tenths of what the machine and the control group leave.
    ///
    /// # Errors
    /// There is no wish, and the machine does not say how much memory it has.
    pub fn find(wished: Option<u64>) -> Result<Ceiling, Error> {
        if let Some(bytes) = wished {
            return Ok(Ceiling { bytes, from: "asked for".to_string() });
        }
        let available = meminfo("MemAvailable").filter(|bytes| *bytes > 0);
        let group = group_limit();
        let held = resident_bytes();
        match (available, group) {
            (None, None) => Err(Error::MemoryUnknown),
            (Some(bytes), Some(limit)) if limit <= bytes + held => {
                Ok(Ceiling::share(limit, "control group limit"))
            }
            (None, Some(limit)) => Ok(Ceiling::share(limit, "control group limit")),
            (Some(bytes), _) => Ok(Ceiling::share(bytes + held, "available memory")),
        }
    }

    fn share(bytes: u64, of: &str) -> Ceiling {
        Ceiling { bytes: (bytes as f64 * AUTO_SHARE) as u64, from: format!("90 % of the {of}") }
    }
}

/// Bytes resident now; 0 where the system does not say.
#[must_use]
pub fn resident_bytes() -> u64 {
    status("VmRSS").unwrap_or(0)
}

/// The most bytes that were ever resident; 0 where the system does not say.
#[must_use]
pub fn peak_resident_bytes() -> u64 {
    status("VmHWM").unwrap_or(0)
}

fn meminfo(field: &str) -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/meminfo").ok()?, field)
}

fn status(field: &str) -> Option<u64> {
    kilobytes(&fs::read_to_string("/proc/self/status").ok()?, field)
}

/// The value of a line like `MemAvailable:   123 kB`, in bytes.
fn kilobytes(text: &str, field: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The smallest limit of the process's control group and its parents, either version.
fn group_limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let (roots, file): (&[&str], _) = match controllers {
            "" => (&["/sys/fs/cgroup", "/sys/fs/cgroup/unified"], "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                (&["/sys/fs/cgroup/memory"], "memory.limit_in_bytes")
            }
            _ => return None,
        };
        roots.iter().filter_map(|root| smallest(Path::new(root), path, file)).min()
    });
    limits.min()
}

/// The smallest number in `file` of the group at `path` below `root` and of the groups around it. Inside a container the
/// group's path may not exist below the root; then the root itself is the group.
fn smallest(root: &Path, path: &str, file: &str) -> Option<u64> {
    let own = root.join(path.trim_start_matches('/'));
    let groups = own.ancestors().take_while(|group| group.starts_with(root));
    groups.filter_map(|group| limit(&fs::read_to_string(group.join(file)).ok()?)).min()
}

/// A limit as the kernel writes it; `max` and the page-rounded largest number of version 1 mean none.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse::<u64>().ok().filter(|bytes| *bytes < 1 << 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_tables() {
        assert_eq!(kilobytes("MemTotal:  10 kB\nMemAvailable:   2048 kB\n", "MemAvailable"), Some(2 << 20));
        assert_eq!(kilobytes("MemAvailable: 0 kB\n", "MemAvailable"), Some(0));
        assert_eq!(kilobytes("MemAvailableX: 7 kB\n", "MemAvailable"), None);
        assert_eq!(kilobytes("MemAvailable: many kB\n", "MemAvailable"), None);
        assert_eq!(limit("max\n"), None);
        assert_eq!(limit("9223372036854771712\n"), None);
        assert_eq!(limit("1600000000\n"), Some(1_600_000_000));
    }

    #[test]
    fn the_smallest_group_on_the_way_counts() {
        let root = tempfile::tempdir().expect("a temporary folder");
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).expect("folders");
        fs::write(root.path().join("a/memory.max"), "5000\n").expect("a file");
        fs::write(inner.join("memory.max"), "max\n").expect("a file");
        assert_eq!(smallest(root.path(), "/a/b", "memory.max"), Some(5000));
        fs::write(root.path().join("memory.max"), "300").expect("a file");
        assert_eq!(smallest(root.path(), "/not/here", "memory.max"), Some(300));
    }

    #[test]
    fn a_wish_is_taken_as_it_is() {
        let ceiling = Ceiling::find(Some(7)).expect("a wish needs no probe");
        assert_eq!((ceiling.bytes, ceiling.from.as_str()), (7, "asked for"));
    }

    #[test]
    fn this_process_is_resident() {
        assert!(peak_resident_bytes() > 0 && resident_bytes() > 0);
    }
}
