//! The families: from a checkpoint's configuration to a [`layers::Description`]. One file a family; nothing outside this
//! crate knows a family's name.
//!
//! To add a family of known blocks, write its file and add one row to `FAMILIES`.

#![forbid(unsafe_code)]

pub mod read;
pub mod rope;
pub mod spelling;

mod gemma3;
mod llama;
mod olmoe;
mod qwen3;
mod qwen3_moe;

use checkpoint::{Checkpoint, Config, Kind};
use layers::Description;

/// Why a checkpoint has no description.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration names a family that is not known.
    #[error("{origin}: field `{field}` is `{found}`; needed one of {known}")]
    UnknownFamily {
        /// The configuration.
        origin: String,
        /// Where the family is named.
        field: &'static str,
        /// The name.
        found: String,
        /// The names that would do.
        known: String,
    },
    /// A field is absent, of the wrong type or out of range.
    #[error(transparent)]
    Config(#[from] checkpoint::Error),
}

/// One family: how configurations name it, and how they become descriptions.
struct Family {
    /// `model_type` in `config.json`.
    model_types: &'static [&'static str],
    /// `general.architecture` in GGUF.
    architecture: &'static str,
    from_config: fn(&Checkpoint, &Config) -> Result<Description, Error>,
    from_gguf: fn(&Checkpoint, &Config) -> Result<Description, Error>,
}

const FAMILIES: &[Family] = &[
    Family {
        model_types: &["olmoe"],
        architecture: "olmoe",
        from_config: olmoe::from_config,
        from_gguf: olmoe::from_gguf,
    },
    Family {
        model_types: &["qwen3_moe"],
        architecture: "qwen3moe",
        from_config: qwen3_moe::from_config,
        from_gguf: qwen3_moe::from_gguf,
    },
    Family {
        model_types: &["qwen3"],
        architecture: "qwen3",
        from_config: qwen3::from_config,
        from_gguf: qwen3::from_gguf,
    },
    Family {
        model_types: &["llama"],
        architecture: "llama",
        from_config: llama::from_config,
        from_gguf: llama::from_gguf,
    },
    Family {
        model_types: &["gemma3_text", "gemma3"],
        architecture: "gemma3",
        from_config: gemma3::from_config,
        from_gguf: gemma3::from_gguf,
    },
];

/// What the model in `checkpoint` is.
///
/// # Errors
/// Its family is not known, or its configuration lacks or contradicts what the family needs.
pub fn describe(checkpoint: &Checkpoint) -> Result<Description, Error> {
    let config = checkpoint.config();
    let (field, names) = match checkpoint.kind() {
        Kind::Safetensors => {
            ("model_type", FAMILIES.iter().flat_map(|family| family.model_types).copied().collect())
        }
        Kind::Gguf => {
            ("general.architecture", FAMILIES.iter().map(|family| family.architecture).collect::<Vec<_>>())
        }
    };
    let found = config.str(field)?;
    for family in FAMILIES {
        match checkpoint.kind() {
            Kind::Safetensors if family.model_types.contains(&found) => {
                return (family.from_config)(checkpoint, config);
            }
            Kind::Gguf if family.architecture == found => return (family.from_gguf)(checkpoint, config),
            Kind::Safetensors | Kind::Gguf => {}
        }
    }
    Err(Error::UnknownFamily {
        origin: config.source().to_string(),
        field,
        found: found.to_string(),
        known: names.join(", "),
    })
}

/// The names of all known families, as `config.json` spells them.
pub fn known() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.model_types).copied()
}
