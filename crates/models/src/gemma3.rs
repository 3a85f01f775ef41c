//! Gemma 3, text: windows in five of six layers with a rope of their own, norms around every sublayer, scaled embeddings
//! (Gemma Team, "Gemma 3 Technical Report", 2025).

use checkpoint::{Checkpoint, Config};
use device::{Activation, RopeScaling, RopeStyle};
use layers::{
    Description, Ffn, Layer, Mixer,
    embed::Embed,
    ffn::glu::Glu,
    head::{Head, HeadWeights},
    mixer::gqa::{Gqa, QkNorm},
    names::Names,
    norm::RmsNorm,
    residual::Residual,
    rope::Rope,
};
use units::limits::WIDTH_MAX;

use crate::{
    Error,
    read::{self, Decoder},
    rope, spelling,
};

/// One layer in so many sees all positions, unless the configuration lists the layers.
const GLOBAL_EVERY: usize = 6;
/// Base frequency of the layers with a window, in files that do not name one.
const LOCAL_THETA: f64 = 10_000.0;

/// What is the same whichever file it was read from.
struct Gemma {
    decoder: Decoder,
    norm: RmsNorm,
    glu: Glu,
    scale: f32,
    softcap: Option<f32>,
    window: u32,
    is_local: Vec<bool>,
    local: Rope,
    global: Rope,
    head: HeadWeights,
    names: Names,
}

pub(crate) fn from_config(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let nested = config.object("text_config")?;
    let config = nested.as_ref().unwrap_or(config);
    let decoder = Decoder::from_config(config)?;
    if let Some(cap) = config.opt_f64("attn_logit_softcapping")? {
        return Err(config.error("attn_logit_softcapping", "null", &cap.to_string()).into());
    }
    let scalar = config.f64_or("query_pre_attn_scalar", 256.0)?;
    Ok(describe(Gemma {
        norm: RmsNorm::one_plus(decoder.eps),
        glu: Glu {
            inner: read::within(config, "intermediate_size", 1, WIDTH_MAX)?,
            activation: read::activation(config, "hidden_activation")?,
        },
        scale: (1.0 / scalar.sqrt()) as f32,
        softcap: config.opt_f64("final_logit_softcapping")?.map(|cap| cap as f32),
        window: read::within(config, "sliding_window", 1, u32::MAX as usize)? as u32,
        is_local: local_layers(config, decoder.layers)?,
        local: local_rope(config, decoder.head_dim)?,
        global: rope::from_config(config, "full_attention", decoder.head_dim)?,
        head: read::head(config, true)?,
        names: names(checkpoint),
        decoder,
    }))
}

pub(crate) fn from_gguf(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_gguf(checkpoint, config, "gemma3")?;
    let global = rope::from_gguf(config, "gemma3", decoder.head_dim, RopeStyle::HalfSplit)?;
    let local_theta = config.f64_or("gemma3.rope.freq_base_swa", LOCAL_THETA)?;
    // The largest model of the family divides by the width per head instead of the head's own size.
    let divisor = if decoder.layers == 62 { decoder.hidden / decoder.heads } else { decoder.head_dim };
    Ok(describe(Gemma {
        norm: decoder.norm(),
        glu: Glu {
            inner: read::within(config, "gemma3.feed_forward_length", 1, WIDTH_MAX)?,
            activation: Activation::GeluTanh,
        },
        scale: 1.0 / (divisor as f32).sqrt(),
        softcap: config.opt_f64("gemma3.final_logit_softcapping")?.map(|cap| cap as f32),
        window: read::within(config, "gemma3.attention.sliding_window", 1, u32::MAX as usize)? as u32,
        is_local: pattern(decoder.layers, GLOBAL_EVERY),
        local: Rope { theta: local_theta, scaling: RopeScaling::None, ..global.clone() },
        global,
        head: HeadWeights::OwnIfPresent,
        names: spelling::gguf(),
        decoder,
    }))
}

fn pattern(layers: usize, global_every: usize) -> Vec<bool> {
    (0..layers).map(|layer| !(layer + 1).is_multiple_of(global_every)).collect()
}

fn local_layers(config: &Config, layers: usize) -> Result<Vec<bool>, Error> {
    if let Some(listed) = read::windowed(config, layers)? {
        return Ok(listed);
    }
    let every = read::within_or(config, "sliding_window_pattern", 1, layers.max(GLOBAL_EVERY), GLOBAL_EVERY)?;
    Ok(pattern(layers, every))
}

fn local_rope(config: &Config, head_dim: usize) -> Result<Rope, Error> {
    match config.opt_f64("rope_local_base_freq")? {
        Some(theta) => rope::unscaled(config, theta, head_dim),
        None => rope::from_config(config, "sliding_attention", head_dim),
    }
}

/// The text part may stand alone or inside a model that also sees images.
fn names(checkpoint: &Checkpoint) -> Names {
    let prefixes = [("language_model.model.", "language_model."), ("model.language_model.", "")];
    let (prefix, head) = prefixes
        .into_iter()
        .find(|(prefix, _)| checkpoint.tensor(&format!("{prefix}embed_tokens.weight")).is_some())
        .unwrap_or(("model.", ""));
    spelling::hugging_face_sandwich(prefix, head)
}

fn describe(gemma: Gemma) -> Description {
    let Gemma { decoder, norm, glu, scale, softcap, window, is_local, local, global, head, names } = gemma;
    let layer = |is_local: bool| Layer {
        mixer: Mixer::Gqa(Gqa {
            heads: decoder.heads,
            kv_heads: decoder.kv_heads,
            head_dim: decoder.head_dim,
            qk_norm: QkNorm::PerHead(norm),
            rope: if is_local { local.clone() } else { global.clone() },
            window: is_local.then_some(window),
            scale,
            clip: None,
        }),
        ffn: Ffn::Dense(glu),
        residual: Residual::Sandwich { norm },
    };
    Description {
        family: "gemma3",
        hidden: decoder.hidden,
        vocab: decoder.vocab,
        context: decoder.context,
        embed: Embed { scale: (decoder.hidden as f32).sqrt() },
        final_norm: norm,
        head: Head { weights: head, softcap },
        names,
        layers: is_local.into_iter().map(layer).collect(),
    }
}
