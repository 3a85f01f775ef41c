//! Qwen3, the dense models: grouped-query attention with norms on each query and key head, one gated unit a layer
//! (Yang et al., "Qwen3 Technical Report", 2025). The parts shared with the mixture-of-experts models live here.

use checkpoint::{Checkpoint, Config};
use device::{Activation, RopeStyle};
use layers::{
    Description, Ffn, Layer, Mixer,
    embed::Embed,
    ffn::glu::Glu,
    head::{Head, HeadWeights},
    mixer::gqa::Gqa,
    names::Names,
    residual::Residual,
    rope::Rope,
};
use units::limits::WIDTH_MAX;

use crate::{
    Error,
    read::{self, Decoder},
    rope, spelling,
};

pub(crate) fn from_config(_: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_config(config)?;
    let glu = dense(config)?;
    let rope = rope::from_config(config, "full_attention", decoder.head_dim)?;
    let windows = windows(config, decoder.layers)?;
    let layers = windows.into_iter().map(|window| layer(&decoder, &rope, window, Ffn::Dense(glu))).collect();
    Ok(describe("qwen3", &decoder, layers, read::head(config, false)?, spelling::hugging_face("model.")))
}

pub(crate) fn from_gguf(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_gguf(checkpoint, config, "qwen3")?;
    let inner = read::within(config, "qwen3.feed_forward_length", 1, WIDTH_MAX)?;
    let glu = Glu { inner, activation: Activation::Silu };
    let rope = rope::from_gguf(config, "qwen3", decoder.head_dim, RopeStyle::HalfSplit)?;
    let layers = vec![layer(&decoder, &rope, None, Ffn::Dense(glu)); decoder.layers];
    Ok(describe("qwen3", &decoder, layers, HeadWeights::OwnIfPresent, spelling::gguf()))
}

/// The dense unit of `config.json`.
pub(crate) fn dense(config: &Config) -> Result<Glu, Error> {
    let inner = read::within(config, "intermediate_size", 1, WIDTH_MAX)?;
    Ok(Glu { inner, activation: read::activation(config, "hidden_act")? })
}

/// The window of each layer: those named `sliding_attention`, else those from `max_window_layers` on, if windows are used.
fn windows(config: &Config, layers: usize) -> Result<Vec<Option<u32>>, Error> {
    if !config.bool_or("use_sliding_window", false)? || config.get("sliding_window").is_none() {
        return Ok(vec![None; layers]);
    }
    let window = read::within(config, "sliding_window", 1, u32::MAX as usize)? as u32;
    if let Some(listed) = read::windowed(config, layers)? {
        return Ok(listed.into_iter().map(|is_local| is_local.then_some(window)).collect());
    }
    let first = config.usize_or("max_window_layers", 0)?;
    Ok((0..layers).map(|layer| (layer >= first).then_some(window)).collect())
}

/// One layer with the family's attention.
pub(crate) fn layer(decoder: &Decoder, rope: &Rope, window: Option<u32>, ffn: Ffn) -> Layer {
    Layer {
        mixer: Mixer::Gqa(Gqa {
            heads: decoder.heads,
            kv_heads: decoder.kv_heads,
            head_dim: decoder.head_dim,
            qk_norm: decoder.per_head(),
            rope: rope.clone(),
            window,
            scale: decoder.scale(),
            clip: None,
        }),
        ffn,
        residual: Residual::Plain { norm: decoder.norm() },
    }
}

/// The whole model around its layers.
pub(crate) fn describe(
    family: &'static str,
    decoder: &Decoder,
    layers: Vec<Layer>,
    head: HeadWeights,
    names: Names,
) -> Description {
    Description {
        family,
        hidden: decoder.hidden,
        vocab: decoder.vocab,
        context: decoder.context,
        embed: Embed { scale: 1.0 },
        final_norm: decoder.norm(),
        head: Head { weights: head, softcap: None },
        names,
        layers,
    }
}
