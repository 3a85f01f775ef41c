//! Qwen3 with experts: the attention of the dense models, a softmax router that renormalises over the chosen, and dense
//! layers where the configuration says so.

use checkpoint::{Checkpoint, Config};
use device::{Activation, RopeStyle};
use layers::{
    Description, Ffn,
    head::HeadWeights,
    moe::{Moe, router::Router},
};

use crate::{
    Error, qwen3,
    read::{self, Decoder, Experts},
    rope, spelling,
};

pub(crate) fn from_config(_: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_config(config)?;
    let renormalised = config.bool_or("norm_topk_prob", false)?;
    let router = if renormalised { Router::SoftmaxRenormalised } else { Router::Softmax };
    let experts = Experts::from_config(config, "moe_intermediate_size")?;
    let moe = Ffn::Moe(mixture(experts, router, read::activation(config, "hidden_act")?));
    let rope = rope::from_config(config, "full_attention", decoder.head_dim)?;
    let window = match config.bool_or("use_sliding_window", false)? {
        true => config.opt_usize("sliding_window")?.map(|window| window as u32),
        false => None,
    };
    let dense_layers = config.usize_list("mlp_only_layers")?.unwrap_or_default();
    let step = read::within_or(config, "decoder_sparse_step", 1, usize::MAX, 1)?;
    let mut layers = Vec::with_capacity(decoder.layers);
    for index in 0..decoder.layers {
        let is_dense = dense_layers.contains(&index) || !(index + 1).is_multiple_of(step);
        let ffn = if is_dense { Ffn::Dense(qwen3::dense(config)?) } else { moe.clone() };
        layers.push(qwen3::layer(&decoder, &rope, window, ffn));
    }
    let head = read::head(config, false)?;
    Ok(qwen3::describe("qwen3_moe", &decoder, layers, head, spelling::hugging_face("model.")))
}

pub(crate) fn from_gguf(checkpoint: &Checkpoint, config: &Config) -> Result<Description, Error> {
    let decoder = Decoder::from_gguf(checkpoint, config, "qwen3moe")?;
    let experts = Experts::from_gguf(config, "qwen3moe")?;
    let moe = Ffn::Moe(mixture(experts, Router::SoftmaxRenormalised, Activation::Silu));
    let rope = rope::from_gguf(config, "qwen3moe", decoder.head_dim, RopeStyle::HalfSplit)?;
    let layers = vec![qwen3::layer(&decoder, &rope, None, moe); decoder.layers];
    Ok(qwen3::describe("qwen3_moe", &decoder, layers, HeadWeights::OwnIfPresent, spelling::gguf()))
}

fn mixture(experts: Experts, router: Router, activation: Activation) -> Moe {
    Moe { experts: experts.experts, active: experts.active, inner: experts.inner, activation, router }
}
