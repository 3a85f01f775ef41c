//! How files spell the tensors of decoders: the names that Hugging Face classes use, and those of GGUF.

use layers::names::{Names, Role};

/// Names inside the layers and around them, after a prefix such as `model.`.
const HUGGING_FACE: &[(Role, &str)] = &[
    (Role::Embed, "embed_tokens.weight"),
    (Role::FinalNorm, "norm.weight"),
    (Role::MixerNorm, "layers.{layer}.input_layernorm.weight"),
    (Role::Query, "layers.{layer}.self_attn.q_proj.weight"),
    (Role::Key, "layers.{layer}.self_attn.k_proj.weight"),
    (Role::Value, "layers.{layer}.self_attn.v_proj.weight"),
    (Role::Output, "layers.{layer}.self_attn.o_proj.weight"),
    (Role::QueryNorm, "layers.{layer}.self_attn.q_norm.weight"),
    (Role::KeyNorm, "layers.{layer}.self_attn.k_norm.weight"),
    (Role::Gate, "layers.{layer}.mlp.gate_proj.weight"),
    (Role::Up, "layers.{layer}.mlp.up_proj.weight"),
    (Role::Down, "layers.{layer}.mlp.down_proj.weight"),
    (Role::Router, "layers.{layer}.mlp.gate.weight"),
    (Role::ExpertGate, "layers.{layer}.mlp.experts.{expert}.gate_proj.weight"),
    (Role::ExpertUp, "layers.{layer}.mlp.experts.{expert}.up_proj.weight"),
    (Role::ExpertDown, "layers.{layer}.mlp.experts.{expert}.down_proj.weight"),
    (Role::AllGateUp, "layers.{layer}.mlp.experts.gate_up_proj"),
    (Role::AllDown, "layers.{layer}.mlp.experts.down_proj"),
    (Role::AllGateUp, "layers.{layer}.mlp.experts.gate_up_proj.weight"),
    (Role::AllDown, "layers.{layer}.mlp.experts.down_proj.weight"),
];

/// The one norm between the sublayers of most families.
const ONE_NORM_BETWEEN: &[(Role, &str)] =
    &[(Role::FfnNorm, "layers.{layer}.post_attention_layernorm.weight")];

/// Norms before and after each sublayer.
const SANDWICH: &[(Role, &str)] = &[
    (Role::MixerPostNorm, "layers.{layer}.post_attention_layernorm.weight"),
    (Role::FfnNorm, "layers.{layer}.pre_feedforward_layernorm.weight"),
    (Role::FfnPostNorm, "layers.{layer}.post_feedforward_layernorm.weight"),
];

const GGUF: &[(Role, &str)] = &[
    (Role::Embed, "token_embd.weight"),
    (Role::FinalNorm, "output_norm.weight"),
    (Role::Head, "output.weight"),
    (Role::RopeFactors, "rope_freqs.weight"),
    (Role::MixerNorm, "blk.{layer}.attn_norm.weight"),
    (Role::MixerPostNorm, "blk.{layer}.post_attention_norm.weight"),
    (Role::Query, "blk.{layer}.attn_q.weight"),
    (Role::Key, "blk.{layer}.attn_k.weight"),
    (Role::Value, "blk.{layer}.attn_v.weight"),
    (Role::Output, "blk.{layer}.attn_output.weight"),
    (Role::QueryNorm, "blk.{layer}.attn_q_norm.weight"),
    (Role::KeyNorm, "blk.{layer}.attn_k_norm.weight"),
    (Role::FfnNorm, "blk.{layer}.ffn_norm.weight"),
    (Role::FfnPostNorm, "blk.{layer}.post_ffw_norm.weight"),
    (Role::Gate, "blk.{layer}.ffn_gate.weight"),
    (Role::Up, "blk.{layer}.ffn_up.weight"),
    (Role::Down, "blk.{layer}.ffn_down.weight"),
    (Role::Router, "blk.{layer}.ffn_gate_inp.weight"),
    (Role::AllGate, "blk.{layer}.ffn_gate_exps.weight"),
    (Role::AllUp, "blk.{layer}.ffn_up_exps.weight"),
    (Role::AllDown, "blk.{layer}.ffn_down_exps.weight"),
    (Role::ExpertGate, "blk.{layer}.ffn_gate.{expert}.weight"),
    (Role::ExpertUp, "blk.{layer}.ffn_up.{expert}.weight"),
    (Role::ExpertDown, "blk.{layer}.ffn_down.{expert}.weight"),
];

const HEAD: &[(Role, &str)] = &[(Role::Head, "lm_head.weight")];

/// Hugging Face names with one norm between the sublayers; `prefix` as in `model.`.
#[must_use]
pub fn hugging_face(prefix: &str) -> Names {
    Names::new(prefix, HUGGING_FACE).with_prefix(prefix, ONE_NORM_BETWEEN).with(HEAD)
}

/// Hugging Face names with norms on both sides of each sublayer.
#[must_use]
pub fn hugging_face_sandwich(prefix: &str, head: &str) -> Names {
    Names::new(prefix, HUGGING_FACE).with_prefix(prefix, SANDWICH).with_prefix(head, HEAD)
}

/// GGUF names.
#[must_use]
pub fn gguf() -> Names {
    Names::new("", GGUF)
}
