//! OLMoE: multi-head attention with norms over the full width of queries and keys, experts in every layer, softmax router
//! that keeps its probabilities (Muennighoff et al., "OLMoE: Open Mixture-of-Experts Language Models", 2024).

use checkpoint::{Checkpoint, Config};
use device::{Activation, RopeStyle};
use layers::{
    Description, Ffn, Layer, Mixer,
    embed::Embed,
    head::{Head, HeadWeights},
    mixer::gqa::{Gqa, QkNorm},
    moe::{Moe, router::Router},
    names::Names,
    residual::Residual,
    rope::Rope,
};

use crate::{
    Error,
    read::{self, Decoder, Experts},
    rope, spelling,
};

/// What is the same whichever file it was read from.
struct Olmoe {
    decoder: Decoder,
    experts: Experts,
    router: Router,
    activation: Activation,
    rope: Rope,
    clip: Option<f32>,
    head: HeadWeights,
    names: Names,
}

pub(crate) fn from_config(_: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_config(config)?;
    let renormalised = config.bool_or("norm_topk_prob", false)?;
    Ok(describe(Olmoe {
        experts: Experts::from_config(config, "intermediate_size")?,
        router: if renormalised { Router::SoftmaxRenormalised } else { Router::Softmax },
        activation: read::activation(config, "hidden_act")?,
        rope: rope::from_config(config, "full_attention", decoder.head_dim)?,
        clip: config.opt_f64("clip_qkv")?.map(|bound| bound as f32),
        head: read::head(config, false)?,
        names: spelling::hugging_face("model."),
        decoder,
    }))
}

pub(crate) fn from_gguf(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_gguf(checkpoint, config, "olmoe")?;
    Ok(describe(Olmoe {
        experts: Experts::from_gguf(config, "olmoe")?,
        router: Router::Softmax,
        activation: Activation::Silu,
        rope: rope::from_gguf(config, "olmoe", decoder.head_dim, RopeStyle::HalfSplit)?,
        clip: config.opt_f64("olmoe.attention.clamp_kqv")?.map(|bound| bound as f32),
        head: HeadWeights::OwnIfPresent,
        names: spelling::gguf(),
        decoder,
    }))
}

fn describe(olmoe: Olmoe) -> Description {
    let Olmoe { decoder, experts, router, activation, rope, clip, head, names } = olmoe;
    let layer = Layer {
        mixer: Mixer::Gqa(Gqa {
            heads: decoder.heads,
            kv_heads: decoder.kv_heads,
            head_dim: decoder.head_dim,
            qk_norm: QkNorm::Full(decoder.norm()),
            rope,
            window: None,
            scale: decoder.scale(),
            clip,
        }),
        ffn: Ffn::Moe(Moe {
            experts: experts.experts,
            active: experts.active,
            inner: experts.inner,
            activation,
            router,
        }),
        residual: Residual::Plain { norm: decoder.norm() },
    };
    Description {
        family: "olmoe",
        hidden: decoder.hidden,
        vocab: decoder.vocab,
        context: decoder.context,
        embed: Embed { scale: 1.0 },
        final_norm: decoder.norm(),
        head: Head { weights: head, softcap: None },
        names,
        layers: vec![layer; decoder.layers],
    }
}
