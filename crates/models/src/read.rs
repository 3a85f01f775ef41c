//! Reading the numbers that all decoders have in common, range-checked, from either kind of configuration.

use checkpoint::{Checkpoint, Config};
use device::Activation;
use layers::{head::HeadWeights, mixer::gqa::QkNorm, norm::RmsNorm};
use units::limits::{ACTIVE_MAX, CONTEXT_MAX, EXPERTS_MAX, LAYERS_MAX, VOCAB_MAX, WIDTH_MAX};

use crate::Error;

/// Numbers of a decoder with softmax attention.
#[derive(Clone, Debug)]
pub struct Decoder {
    /// Width of the residual stream.
    pub hidden: usize,
    /// Layers.
    pub layers: usize,
    /// Vocabulary.
    pub vocab: usize,
    /// Positions trained for.
    pub context: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads.
    pub kv_heads: usize,
    /// Components of a head.
    pub head_dim: usize,
    /// Epsilon of the norms.
    pub eps: f32,
}

/// Numbers of a mixture of experts.
#[derive(Clone, Copy, Debug)]
pub struct Experts {
    /// Routed experts of a layer.
    pub experts: usize,
    /// Chosen for each token.
    pub active: usize,
    /// Width of one.
    pub inner: usize,
}

impl Decoder {
    /// From `config.json`.
    ///
    /// # Errors
    /// A number is absent, out of range, or contradicts another.
    pub fn from_config(config: &Config) -> Result<Decoder, Error> {
        let heads = within(config, "num_attention_heads", 1, WIDTH_MAX)?;
        let hidden = within(config, "hidden_size", 1, WIDTH_MAX)?;
        refuse_bias(config)?;
        Decoder {
            hidden,
            layers: within(config, "num_hidden_layers", 1, LAYERS_MAX)?,
            vocab: within(config, "vocab_size", 1, VOCAB_MAX)?,
            context: within(config, "max_position_embeddings", 1, CONTEXT_MAX)?,
            heads,
            kv_heads: within_or(config, "num_key_value_heads", 1, heads, heads)?,
            head_dim: within_or(config, "head_dim", 2, WIDTH_MAX, hidden / heads)?,
            eps: epsilon(config, "rms_norm_eps")?,
        }
        .checked(config, "num_key_value_heads")
    }

    /// From GGUF metadata of `architecture`.
    ///
    /// # Errors
    /// As [`Decoder::from_config`].
    pub fn from_gguf(checkpoint: &Checkpoint, config: &Config, architecture: &str) -> Result<Decoder, Error> {
        let key = |name: &str| format!("{architecture}.{name}");
        let heads = within(config, &key("attention.head_count"), 1, WIDTH_MAX)?;
        let hidden = within(config, &key("embedding_length"), 1, WIDTH_MAX)?;
        let head_dim = within_or(config, &key("attention.key_length"), 2, WIDTH_MAX, hidden / heads)?;
        let value_dim = within_or(config, &key("attention.value_length"), 2, WIDTH_MAX, head_dim)?;
        if value_dim != head_dim {
            return Err(config
                .error(&key("attention.value_length"), &head_dim.to_string(), &value_dim.to_string())
                .into());
        }
        Decoder {
            hidden,
            layers: within(config, &key("block_count"), 1, LAYERS_MAX)?,
            vocab: gguf_vocab(checkpoint, config, &key("vocab_size"))?,
            context: within(config, &key("context_length"), 1, CONTEXT_MAX)?,
            heads,
            kv_heads: within_or(config, &key("attention.head_count_kv"), 1, heads, heads)?,
            head_dim,
            eps: epsilon(config, &key("attention.layer_norm_rms_epsilon"))?,
        }
        .checked(config, &key("attention.head_count_kv"))
    }

    fn checked(self, config: &Config, field: &str) -> Result<Decoder, Error> {
        if !self.heads.is_multiple_of(self.kv_heads) {
            let needed = format!("a divisor of the {} query heads", self.heads);
            return Err(config.error(field, &needed, &self.kv_heads.to_string()).into());
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(config.error("head_dim", "an even number", &self.head_dim.to_string()).into());
        }
        Ok(self)
    }

    /// The norm that stands everywhere in these families.
    #[must_use]
    pub fn norm(&self) -> RmsNorm {
        RmsNorm::new(self.eps)
    }

    /// `1 / sqrt(head_dim)`.
    #[must_use]
    pub fn scale(&self) -> f32 {
        1.0 / (self.head_dim as f32).sqrt()
    }

    /// A norm of queries and keys over each head.
    #[must_use]
    pub fn per_head(&self) -> QkNorm {
        QkNorm::PerHead(self.norm())
    }
}

impl Experts {
    /// From `config.json`; the expert count has three spellings, the width of an expert stands under `inner`.
    ///
    /// # Errors
    /// A number is absent, out of range, or contradicts another.
    pub fn from_config(config: &Config, inner: &str) -> Result<Experts, Error> {
        let spellings = ["num_experts", "n_routed_experts", "num_local_experts"];
        let key = spellings.into_iter().find(|key| config.get(key).is_some()).unwrap_or(spellings[0]);
        let experts = within(config, key, 1, EXPERTS_MAX)?;
        let active = within(config, "num_experts_per_tok", 1, ACTIVE_MAX.min(experts))?;
        Ok(Experts { experts, active, inner: within(config, inner, 1, WIDTH_MAX)? })
    }

    /// From GGUF metadata of `architecture`; the width of an expert is that of a dense layer where it has no key of its own.
    ///
    /// # Errors
    /// As [`Experts::from_config`].
    pub fn from_gguf(config: &Config, architecture: &str) -> Result<Experts, Error> {
        let key = |name: &str| format!("{architecture}.{name}");
        let own = key("expert_feed_forward_length");
        let inner = if config.get(&own).is_some() { own } else { key("feed_forward_length") };
        let experts = within(config, &key("expert_count"), 1, EXPERTS_MAX)?;
        let active = within(config, &key("expert_used_count"), 1, ACTIVE_MAX.min(experts))?;
        Ok(Experts { experts, active, inner: within(config, &inner, 1, WIDTH_MAX)? })
    }
}

/// A whole number between `least` and `most`.
///
/// # Errors
/// It is absent, no whole number, or out of range.
pub fn within(config: &Config, field: &str, least: usize, most: usize) -> Result<usize, Error> {
    let found = config.usize(field)?;
    if (least..=most).contains(&found) {
        return Ok(found);
    }
    Err(config.error(field, &format!("a whole number from {least} to {most}"), &found.to_string()).into())
}

/// As [`within`], with a default for an absent field.
///
/// # Errors
/// It is no whole number or out of range.
pub fn within_or(
    config: &Config,
    field: &str,
    least: usize,
    most: usize,
    default: usize,
) -> Result<usize, Error> {
    if config.get(field).is_none() { Ok(default) } else { within(config, field, least, most) }
}

fn epsilon(config: &Config, field: &str) -> Result<f32, Error> {
    let found = config.f64(field)?;
    if found > 0.0 && found < 1.0 {
        return Ok(found as f32);
    }
    Err(config.error(field, "a number between 0 and 1", &found.to_string()).into())
}

/// Projections with biases are another block than those written here.
fn refuse_bias(config: &Config) -> Result<(), Error> {
    for field in ["attention_bias", "mlp_bias"] {
        if config.bool_or(field, false)? {
            return Err(config.error(field, "false", "true").into());
        }
    }
    Ok(())
}

/// Where the output projection is, for a configuration whose `tie_word_embeddings` defaults to `default`.
///
/// # Errors
/// The field is no truth value.
pub fn head(config: &Config, default: bool) -> Result<HeadWeights, Error> {
    Ok(if config.bool_or("tie_word_embeddings", default)? { HeadWeights::Tied } else { HeadWeights::Own })
}

/// Whether each of `layers` layers has a window, where the configuration lists the kinds of its layers.
///
/// # Errors
/// The list has another length or an entry that is no text.
pub fn windowed(config: &Config, layers: usize) -> Result<Option<Vec<bool>>, Error> {
    let Some(kinds) = config.str_list("layer_types")? else { return Ok(None) };
    if kinds.len() != layers {
        return Err(config
            .error("layer_types", &format!("{layers} entries"), &kinds.len().to_string())
            .into());
    }
    Ok(Some(kinds.into_iter().map(|kind| kind == "sliding_attention").collect()))
}

/// The activation of gated units.
///
/// # Errors
/// It is not one of those written here.
pub fn activation(config: &Config, field: &str) -> Result<Activation, Error> {
    match config.str(field)? {
        "silu" | "swish" => Ok(Activation::Silu),
        "gelu_pytorch_tanh" => Ok(Activation::GeluTanh),
        other => Err(config.error(field, "silu or gelu_pytorch_tanh", other).into()),
    }
}

fn gguf_vocab(checkpoint: &Checkpoint, config: &Config, field: &str) -> Result<usize, Error> {
    match checkpoint.tensor("token_embd.weight").and_then(|tensor| tensor.shape.first()) {
        Some(&rows) if (1..=VOCAB_MAX as u64).contains(&rows) => Ok(rows as usize),
        Some(rows) => Err(config.error(field, &format!("at most {VOCAB_MAX}"), &rows.to_string()).into()),
        None => within(config, field, 1, VOCAB_MAX),
    }
}
