//! The environment: its variables, and the folders that it says are this user's.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

/// The variables of the process, read once.
#[derive(Clone, Debug)]
pub struct Environment(Vec<(OsString, OsString)>);

impl Environment {
    /// The variables now.
    pub fn read() -> Environment {
        Environment(env::vars_os().collect())
    }

    /// All variables.
    pub fn variables(&self) -> &[(OsString, OsString)] {
        &self.0
    }

    fn get(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.0.iter().find(|(variable, value)| variable == name && !value.is_empty())?;
        Some(value)
    }

    /// Where configuration files are.
    pub fn config_folder(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    /// Where files are that can be made again.
    pub fn cache_folder(&self) -> Option<PathBuf> {
        self.folder("XDG_CACHE_HOME", ".cache")
    }

    /// Where files are that are worth keeping but not worth a backup.
    pub fn state_folder(&self) -> Option<PathBuf> {
        self.folder("XDG_STATE_HOME", ".local/state")
    }

    /// A folder by the XDG Base Directory Specification: the variable if it is an absolute path, else below the home.
    fn folder(&self, variable: &str, below_home: &str) -> Option<PathBuf> {
        let stated = self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        stated.or_else(|| Some(PathBuf::from(self.get("HOME")?).join(below_home)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_follow_the_specification() {
        let with = |variables: &[(&str, &str)]| {
            Environment(variables.iter().map(|(name, value)| (name.into(), value.into())).collect())
                .cache_folder()
        };
        assert_eq!(with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]), Some(PathBuf::from("/c")));
        assert_eq!(with(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]), Some(PathBuf::from("/h/.cache")));
        assert_eq!(with(&[("XDG_CACHE_HOME", ""), ("HOME", "/h")]), Some(PathBuf::from("/h/.cache")));
        assert_eq!(with(&[("HOME", "")]), None);
    }
}
