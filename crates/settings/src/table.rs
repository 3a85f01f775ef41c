//! The settings themselves. To add one, add its row here; flag, variable, file key, help and documentation follow.

use std::{collections::BTreeMap, path::PathBuf};

use units::limits::{CONTEXT_MAX, VOCAB_MAX};

use crate::{
    Default, Error, Group, Kind, Origin, Setting, Show,
    value::{Field, Value},
};

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $word:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            const WORDS: &[&'static str] = &[$($word),*];
        }

        impl Field for $name {
            fn from_value(value: Option<Value>) -> $name {
                match value {
                    $(Some(Value::Word($word)) => $name::$variant,)*
                    _ => $name::default(),
                }
            }
        }
    )*};
}

choices! {
    /// Which arithmetic computes.
    Numerics {
        /// 32-bit floats in one canonical order: the same bits on every machine.
        #[default]
        Exact = "exact",
        /// Integer activations.
        Fast = "fast",
    }
    /// How experts are read.
    Storage {
        /// The best that the system allows.
        #[default]
        Auto = "auto",
        /// Submission queues of the kernel.
        Uring = "uring",
        /// Threads that read.
        Pread = "pread",
        /// Memory maps.
        Mmap = "mmap",
    }
    /// Whether reads go around the page cache.
    Direct {
        /// Where the file system can.
        #[default]
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}

macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty = $name:literal $($short:literal)?, $kind:expr, $default:expr,
       $group:ident, $show:ident, $why:expr;)*) => {
        /// Every setting, in the order of the documentation.
        pub static TABLE: &[Setting] = &[$(Setting {
            name: $name,
            short: [$(Some($short),)? None][0],
            kind: $kind,
            default: $default,
            doc: concat!($($doc),+).trim_ascii(),
            why: $why,
            group: Group::$group,
            show: Show::$show,
        }),*];

        /// The values of all settings.
        #[derive(Clone, Debug)]
        pub struct Settings {
            $($(#[doc = $doc])+ pub $field: $type,)*
            pub(crate) origins: BTreeMap<&'static str, Origin>,
        }

        impl Settings {
            /// Settings from a source of checked values.
            pub(crate) fn from_values(
                mut value: impl FnMut(&Setting) -> Result<Option<Value>, Error>,
                origins: BTreeMap<&'static str, Origin>,
            ) -> Result<Settings, Error> {
                let mut rows = TABLE.iter();
                // The fields stand in the order of the table, so each takes the next row.
                let mut next = move || rows.next().map_or(Ok(None), &mut value);
                Ok(Settings { $($field: Field::from_value(next()?),)* origins })
            }
        }
    };
}

settings! {
    /// The model: a folder (Hugging Face checkpoint, converted or packed container) or a `.gguf` file. `demo` is the embedded demo model.
    model: Option<PathBuf> = "model" 'm', Kind::Path, Default::Absent("the embedded demo model"), Model, Everyone,
        "One engine runs every model, so the model is a setting like any other.";

    /// Ceiling for everything the process holds: weights, expert cache, state, buffers. `24G` is 24,000,000,000 bytes, `24GiB` a little more.
    ram: Option<u64> = "ram", Kind::Size { least_bytes: 1_000_000 },
        Default::Absent("nine tenths of what the machine and the control group leave"), Machine, Everyone,
        "Less memory makes an answer slower, never different. A ceiling that is too low is refused with the arithmetic.";

    /// Tokens that a conversation may have, prompt and answers together.
    context: Option<usize> = "ctx", Kind::Count { least: 1, most: CONTEXT_MAX as u64, unit: "tokens" },
        Default::Absent("4096, or what the model was trained for if that is less; less again where memory is short"), Machine, Everyone,
        "State for the whole context is set aside before the first token, so that a long answer cannot run out of memory half way.";

    /// Threads that compute.
    threads: Option<usize> = "threads", Kind::Count { least: 1, most: 1024, unit: "threads" },
        Default::Absent("as many as the process may use"), Machine, Everyone,
        "Any number gives the same bits. Fewer leave the machine usable for other work.";

    /// `exact` computes in 32-bit floats in one canonical order; `fast` (integer activations) is not available yet and is refused.
    numerics: Numerics = "numerics", Kind::Choice(Numerics::WORDS), Default::Is("exact"), Machine, Everyone,
        "An approximation is something to ask for by name, never a default.";

    /// How experts are read: `uring` (kernel queues), `pread` (reading threads), `mmap` (memory maps), or the best of these that works.
    storage: Storage = "storage", Kind::Choice(Storage::WORDS), Default::Is("auto"), Machine, Everyone,
        "Changes speed alone. A way that was asked for by name and does not work is an error; a fallback of `auto` is reported by `doctor`.";

    /// Reads only experts that a layer has asked for, none that it is predicted to ask for. Nothing is predicted yet, so today it changes nothing.
    no_prefetch: bool = "no-prefetch", Kind::Switch, Default::Is("off"), Machine, Everyone,
        "For measuring what prediction is worth.";

    /// A second copy of the model on another drive, to read from both. Not available yet and refused.
    mirror: Option<PathBuf> = "mirror", Kind::Path, Default::Absent("none"), Machine, Everyone,
        "Two drives read twice as fast as one.";

    /// Most tokens of the prompt that are computed in one pass.
    prefill_chunk: Option<usize> = "prefill-chunk", Kind::Count { least: 1, most: 65_536, unit: "tokens" },
        Default::Absent("up to 512, as memory allows"), Machine, Experts,
        "An expert is read once for each pass, so longer passes read less; they need more scratch memory. Any length gives the same bits.";

    /// Whether reads go around the page cache: always, never, or where the file system can.
    direct: Direct = "direct", Kind::Choice(Direct::WORDS), Default::Is("auto"), Machine, Experts,
        "Experts have a cache of their own under the ceiling; a second copy in the page cache would count against it.";

    /// The instruction set of the kernels.
    kernels: Option<&'static str> = "kernels", Kind::Choice(&["plain", "avx2", "avx512", "neon"]),
        Default::Absent("the best that the processor has"), Machine, Experts,
        "Every instruction set gives the same bits; this is for proving it and for measuring.";

    /// Divides the logits before a token is drawn; 0 always takes the likeliest token.
    temperature: f32 = "temperature", Kind::Number { least: 0.0, most: 100.0 }, Default::Is("0"), Answer, Everyone,
        "At 0 an answer can be repeated and compared bit by bit; chance is something to ask for.";

    /// Draws only from the likeliest tokens whose probabilities add up to this.
    top_p: f32 = "top-p", Kind::Number { least: 0.0, most: 1.0 }, Default::Is("1"), Answer, Everyone,
        "1 leaves every token in. Without effect at temperature 0.";

    /// Draws only from so many of the likeliest tokens; 0 for all.
    top_k: usize = "top-k", Kind::Count { least: 0, most: VOCAB_MAX as u64, unit: "tokens" }, Default::Is("0"), Answer, Everyone,
        "About the draw, not about the experts: routing is never changed. Without effect at temperature 0.";

    /// Draws only from tokens at least so likely as this share of the likeliest; 0 for all.
    min_p: f32 = "min-p", Kind::Number { least: 0.0, most: 1.0 }, Default::Is("0"), Answer, Everyone,
        "Follows the model's certainty better than a fixed count. Without effect at temperature 0.";

    /// Decides every draw: the same seed and prompt give the same answer.
    seed: Option<u64> = "seed", Kind::Count { least: 0, most: u64::MAX, unit: "" }, Default::Absent("from the clock"), Answer, Everyone,
        "Without effect at temperature 0, where nothing is drawn.";

    /// Ends an answer after so many tokens.
    max_tokens: Option<usize> = "max-tokens", Kind::Count { least: 1, most: CONTEXT_MAX as u64, unit: "tokens" },
        Default::Absent("the end of the context"), Answer, Everyone,
        "Models end their answers by themselves; this bounds the time that one may take.";

    /// Ends an answer where this text would come; the text is not shown. May be repeated.
    stop: Vec<String> = "stop", Kind::Texts, Default::Absent("none"), Answer, Everyone,
        "For prompts without a chat template, where no token means the end.";
}

/// The setting with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    TABLE.iter().find(|setting| setting.name == name)
}

impl Settings {
    /// Who decided the setting with this name.
    #[must_use]
    pub fn origin(&self, name: &str) -> &Origin {
        self.origins.get(name).unwrap_or(&Origin::Default)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_default_is_in_its_range_and_of_its_fields_type() {
        for setting in TABLE {
            if let Default::Is(text) = setting.default {
                assert!(matches!(setting.read(&[text.into()]), Ok(Some(_))), "{}", setting.name);
            }
        }
        let settings = crate::resolve(&crate::Sources::default()).expect("defaults");
        assert_eq!((settings.temperature, settings.top_p, settings.min_p), (0.0, 1.0, 0.0));
        assert_eq!((settings.top_k, settings.seed, settings.context), (0, None, None));
        assert_eq!(
            (settings.numerics, settings.storage, settings.direct),
            (Numerics::Exact, Storage::Auto, Direct::Auto)
        );
    }

    #[test]
    fn names_are_unique_and_well_formed() {
        let names: BTreeSet<&str> = TABLE.iter().map(|setting| setting.name).collect();
        assert_eq!(names.len(), TABLE.len());
        let shorts: Vec<char> = TABLE.iter().filter_map(|setting| setting.short).collect();
        assert_eq!(shorts.iter().collect::<BTreeSet<_>>().len(), shorts.len());
        for setting in TABLE {
            assert!(setting.name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", setting.name);
            assert!(
                setting.doc.ends_with('.') && setting.why.ends_with('.'),
                "{} speaks in sentences",
                setting.name
            );
        }
    }
}
