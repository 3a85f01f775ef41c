//! One row of the table.

use units::ByteSize;

/// Everything there is to say about a setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its one name, in lower case with hyphens.
    pub name: &'static str,
    /// A one-letter flag, for the few that deserve one.
    pub short: Option<char>,
    /// What it may be.
    pub kind: Kind,
    /// What it is when nobody says.
    pub default: Default,
    /// What it does, in a sentence or two.
    pub doc: &'static str,
    /// Why it exists and why its default is what it is.
    pub why: &'static str,
    /// What it is about.
    pub group: Group,
    /// Who should see it.
    pub show: Show,
}

/// The values that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// On or off; the bare flag means on.
    Switch,
    /// A file or folder.
    Path,
    /// Texts; the flag may be repeated.
    Texts,
    /// Bytes.
    Size {
        /// The least that makes sense.
        least_bytes: u64,
    },
    /// A whole number.
    Count {
        /// The least.
        least: u64,
        /// The most.
        most: u64,
        /// What is counted; empty for a bare number.
        unit: &'static str,
    },
    /// A real number.
    Number {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
    },
    /// One of a few words.
    Choice(&'static [&'static str]),
}

/// What a setting is when nobody says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Default {
    /// This value.
    Is(&'static str),
    /// No value; the words say what happens then.
    Absent(&'static str),
}

/// What a setting is about; the sections of help and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Which model.
    Model,
    /// Memory, threads, the drive, arithmetic: speed and space, never the answer.
    Machine,
    /// How tokens are drawn and when an answer ends.
    Answer,
}

/// Who should see a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Everybody.
    Everyone,
    /// Those who read the documentation; left out of help texts.
    Experts,
}

impl Group {
    /// Every group, in the order of the documentation.
    pub const ALL: &[Group] = &[Group::Model, Group::Machine, Group::Answer];

    /// Its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Group::Model => "Model",
            Group::Machine => "Machine",
            Group::Answer => "Answer",
        }
    }
}

impl Setting {
    /// The flag, with its hyphens.
    #[must_use]
    pub fn flag(&self) -> String {
        format!("--{}", self.name)
    }

    /// The environment variable.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{VARIABLE_PREFIX}{}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// The word that stands for a value in help texts; none for a switch.
    #[must_use]
    pub fn placeholder(&self) -> Option<&'static str> {
        match self.kind {
            Kind::Switch => None,
            Kind::Path => Some("PATH"),
            Kind::Texts => Some("TEXT"),
            Kind::Size { .. } => Some("SIZE"),
            Kind::Count { .. } => Some("N"),
            Kind::Number { .. } => Some("X"),
            Kind::Choice(_) => Some("WORD"),
        }
    }

    /// The values that are taken, in words.
    #[must_use]
    pub fn range(&self) -> String {
        match self.kind {
            Kind::Switch => "on or off".to_string(),
            Kind::Path => "a path".to_string(),
            Kind::Texts => "texts that are not empty".to_string(),
            Kind::Size { least_bytes } => {
                format!("a size such as 24G or 512M, at least {}", ByteSize(least_bytes))
            }
            Kind::Count { least, most, unit: "" } => format!("a whole number from {least} to {most}"),
            Kind::Count { least, most, unit } => format!("{least} to {most} {unit}"),
            Kind::Number { least, most } => format!("a number from {least} to {most}"),
            Kind::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }

    /// The default in words.
    #[must_use]
    pub fn default_words(&self) -> &'static str {
        match self.default {
            Default::Is(text) | Default::Absent(text) => text,
        }
    }
}

/// How every variable of this program begins.
pub const VARIABLE_PREFIX: &str = "COLI_";
