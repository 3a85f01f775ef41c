//! Llama: grouped-query attention without norms on queries and keys, one gated unit a layer (Grattafiori et al., "The
//! Llama 3 Herd of Models", 2024).

use checkpoint::{Checkpoint, Config};
use device::{Activation, RopeStyle};
use layers::{
    Description, Ffn, Layer,
    ffn::glu::Glu,
    head::HeadWeights,
    mixer::gqa::{Gqa, QkNorm},
    names::Names,
    rope::Rope,
};
use units::limits::WIDTH_MAX;

use crate::{
    Error, qwen3,
    read::{self, Decoder},
    rope, spelling,
};

pub(crate) fn from_config(_: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_config(config)?;
    let glu = qwen3::dense(config)?;
    let rope = rope::from_config(config, "full_attention", decoder.head_dim)?;
    Ok(describe(&decoder, glu, rope, read::head(config, false)?, spelling::hugging_face("model.")))
}

/// GGUF files hold queries and keys with their rows permuted, so that neighbours are rotated together.
pub(crate) fn from_gguf(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_gguf(checkpoint, config, "llama")?;
    if config.usize_or("llama.expert_count", 0)? > 0 {
        return Err(config.error("llama.expert_count", "0", "a mixture of experts under this name").into());
    }
    let inner = read::within(config, "llama.feed_forward_length", 1, WIDTH_MAX)?;
    let glu = Glu { inner, activation: Activation::Silu };
    let rope = rope::from_gguf(config, "llama", decoder.head_dim, RopeStyle::Interleaved)?;
    Ok(describe(&decoder, glu, rope, HeadWeights::OwnIfPresent, spelling::gguf()))
}

fn describe(decoder: &Decoder, glu: Glu, rope: Rope, head: HeadWeights, names: Names) -> Description {
    let mut layer = qwen3::layer(decoder, &rope, None, Ffn::Dense(glu));
    let layers::Mixer::Gqa(attention) = &layer.mixer;
    let attention = Gqa { qk_norm: QkNorm::None, ..attention.clone() };
    layer = Layer { mixer: layers::Mixer::Gqa(attention), ..layer };
    qwen3::describe("llama", decoder, vec![layer; decoder.layers], head, names)
}
