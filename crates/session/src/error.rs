//! Why a session cannot be had, or an answer not be given.

/// What a caller can do about it is in the variant; the hint for people is the command line's business.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The checkpoint cannot be opened or read.
    #[error(transparent)]
    Checkpoint(#[from] checkpoint::Error),
    /// The checkpoint's configuration is not one that is known.
    #[error(transparent)]
    Model(#[from] models::Error),
    /// A tensor is not as its description needs it, or an expert cannot be read.
    #[error(transparent)]
    Layers(#[from] layers::Error),
    /// A file cannot be read.
    #[error(transparent)]
    Storage(#[from] storage::Error),
    /// The expert store cannot be made.
    #[error(transparent)]
    Experts(#[from] tiers::Error),
    /// There is no tokenizer, or it cannot be used.
    #[error(transparent)]
    Text(#[from] text::Error),
    /// The model does not fit under the ceiling even with the smallest cache.
    #[error("the model needs {needed} bytes of memory, the ceiling is {ceiling} ({from}): {arithmetic}")]
    DoesNotFit {
        /// Bytes that would do.
        needed: u64,
        /// Bytes that there are.
        ceiling: u64,
        /// Who set the ceiling.
        from: String,
        /// The sum, term by term.
        arithmetic: String,
    },
    /// The machine does not say how much memory it has.
    #[error("neither /proc/meminfo nor a control group says how much memory there is; needed a ceiling")]
    MemoryUnknown,
    /// More context than the model was trained for, or none.
    #[error(
        "a context of {found} tokens was asked for; needed 1 to {most}, which is what the model was trained for"
    )]
    Context {
        /// What was asked for.
        found: usize,
        /// What the model has.
        most: usize,
    },
    /// A kernel table that this processor cannot run or that does not exist.
    #[error("kernel table `{found}` is not available; needed one of {known}")]
    Kernels {
        /// What was asked for.
        found: String,
        /// What there is.
        known: String,
    },
    /// A prompt that does not fit the context.
    #[error("the prompt has {found} tokens; the context of {context} has room for at most {most}")]
    ContextFull {
        /// Tokens of the prompt.
        found: usize,
        /// Most tokens of a prompt.
        most: usize,
        /// Positions of the context.
        context: usize,
    },
    /// A prompt without tokens.
    #[error("the prompt has no tokens; needed at least one")]
    EmptyPrompt,
    /// A token that the model does not have.
    #[error("token {found} at position {position} is not in the vocabulary of {vocab}")]
    Token {
        /// The id.
        found: u32,
        /// Where it stands.
        position: usize,
        /// Size of the vocabulary.
        vocab: usize,
    },
    /// A stop string without a tokenizer to make text.
    #[error("a stop string needs text, and this checkpoint has no usable tokenizer")]
    StopsNeedText,
}
