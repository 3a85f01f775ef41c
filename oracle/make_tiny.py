#!/usr/bin/env python3
"""Tiny random checkpoints with reference values from PyTorch, one folder per entry of FIXTURES.

    make_tiny.py --list
    make_tiny.py NAME OUT [--seed 7] [--tokens 16] [--new 12]
    make_tiny.py --all ROOT

A family's class comes from transformers, its weights from a seeded generator. OUT receives

    config.json, generation_config.json, model.safetensors     or
    model.gguf                                                 the checkpoint, spelt as published ones are
    ref.safetensors     input_ids [T], logits [T, V] of the whole prompt, hidden.N [T, D] (the residual stream after
                        layer N), greedy_ids [12], greedy_logits [12, V]
    ref.json            the same ids, the smallest margin of a greedy step, seed and versions

The reference runs in float32 on one thread, with eager attention and the plain loop over experts, on the values that
the bytes of the file stand for. So a reader that decodes the file correctly sees the same numbers.

Needs torch, transformers 5.24.0, safetensors; gguf 0.19.0 for the fixtures in that format. A CPU is enough.
"""
import argparse
import json
import os
import re
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")

import torch

torch.set_num_threads(1)

VOCAB = 320
# Prompts stay below the ids that published vocabularies keep for special tokens.
PROMPT_VOCAB = VOCAB - 32
# A greedy step whose two best logits lie closer than this could be decided by float noise (about 1e-4).
MARGIN_MIN = 0.02


# ------------------------------------------------------------------ families: (class, configuration)

def olmoe(**more):
    """Multi-head attention, q/k norms over the full width, softmax router that is not renormalised."""
    from transformers import OlmoeConfig, OlmoeForCausalLM
    return OlmoeForCausalLM, OlmoeConfig(**dict(
        vocab_size=VOCAB, hidden_size=64, intermediate_size=32, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, num_experts=8, num_experts_per_tok=2, norm_topk_prob=False, rms_norm_eps=1e-5,
        max_position_embeddings=512, rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        eos_token_id=1, pad_token_id=0) | more)


def qwen3_moe(**more):
    """Grouped-query attention, q/k norms per head, renormalised softmax router."""
    from transformers import Qwen3MoeConfig, Qwen3MoeForCausalLM
    return Qwen3MoeForCausalLM, Qwen3MoeConfig(**dict(
        vocab_size=VOCAB, hidden_size=64, intermediate_size=96, moe_intermediate_size=32, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=2, head_dim=32, num_experts=8, num_experts_per_tok=2,
        norm_topk_prob=True, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, eos_token_id=1) | more)


def qwen3(**more):
    """The dense sibling of qwen3_moe."""
    from transformers import Qwen3Config, Qwen3ForCausalLM
    return Qwen3ForCausalLM, Qwen3Config(**dict(
        vocab_size=VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, eos_token_id=1) | more)


def llama(**more):
    """Dense, with the banded rope scaling of the third generation."""
    from transformers import LlamaConfig, LlamaForCausalLM
    return LlamaForCausalLM, LlamaConfig(**dict(
        vocab_size=VOCAB, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=512,
        rope_parameters={"rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0, "original_max_position_embeddings": 64},
        bos_token_id=None, eos_token_id=1) | more)


def gemma3(**more):
    """Windows of 5 with a rope of their own, linear scaling on the global layers, norms around each sublayer, scaled
    embeddings, tied head. Widths are no multiples of 16, so that the tails of sums are seen."""
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig
    local, full = "sliding_attention", "full_attention"
    return Gemma3ForCausalLM, Gemma3TextConfig(**dict(
        vocab_size=VOCAB, hidden_size=72, intermediate_size=104, num_hidden_layers=6, num_attention_heads=4,
        num_key_value_heads=2, head_dim=24, query_pre_attn_scalar=20, sliding_window=5,
        layer_types=[local, local, full, local, local, full], max_position_embeddings=512,
        rope_parameters={full: {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
                         local: {"rope_type": "default", "rope_theta": 10000.0}},
        bos_token_id=2, eos_token_id=1, pad_token_id=0) | more)


def gemma3_gguf():
    """What GGUF can say of this family: the score divisor is the head's width and every sixth layer is global."""
    local, full = "sliding_attention", "full_attention"
    return gemma3(head_dim=16, query_pre_attn_scalar=16, layer_types=[local] * 5 + [full])


def olmoe_tied_clip():
    # 1.5 standard deviations of a projection of normalised inputs: about one value in eight is clipped.
    return olmoe(tie_word_embeddings=True, clip_qkv=2.5)


def qwen3_moe_dense_layers():
    # The step keeps experts in layers 1 and 3; the list takes them from layer 3 again.
    return qwen3_moe(num_hidden_layers=4, decoder_sparse_step=2, mlp_only_layers=[3])


def qwen3_moe_wide():
    # Blocks of the k-quants hold 256 elements.
    return qwen3_moe(hidden_size=256, moe_intermediate_size=256, num_hidden_layers=2, num_experts=4, head_dim=64,
                     max_position_embeddings=256)


# ------------------------------------------------------------------ weights

def randomise(model, seed):
    """Draws every parameter, so that none keeps a neutral value (1, 0) that would hide a missing operation."""
    generator = torch.Generator().manual_seed(seed)

    def normal(parameter, mean, deviation):
        values = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        parameter.copy_(values * deviation + mean)

    is_gemma = type(model).__name__.startswith("Gemma")  # its norms multiply by 1 + w, its embeddings by sqrt(hidden)
    # A tied head meets its own row again in the residual stream; a large embedding would repeat one token for ever.
    embedding = 0.05 if is_gemma else 0.2 if model.config.tie_word_embeddings else 0.6
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            if is_gemma and name == "model.norm.weight":
                normal(parameter, 3.0, 0.2)  # small embeddings need a large last norm for logits that lie apart
            elif "norm" in name and parameter.dim() == 1:
                normal(parameter, 0.0 if is_gemma else 1.0, 0.2)
            elif name.endswith("gate.weight"):
                normal(parameter, 0.0, 0.35)
            elif "embed" in name:
                normal(parameter, 0.0, embedding)
            else:
                normal(parameter, 0.0, 1.6 / (parameter.shape[-1] ** 0.5))


def build(family, seed):
    cls, config = family()
    torch.manual_seed(seed)
    config._attn_implementation = "eager"
    model = cls(config).to(torch.float32).eval()
    with_plain_experts(model)
    randomise(model, seed)
    return model


def with_plain_experts(model):
    if getattr(model.config, "num_experts", None):
        model.set_experts_implementation("eager")


def tensors_of(model):
    """The model's tensors, experts fused as the class holds them; a tied head is left out."""
    tensors = {name: value.detach().clone().contiguous() for name, value in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    return tensors


def split_experts(tensors):
    """One matrix per expert and projection, as published files of these families have them."""
    split = {}
    for name, value in tensors.items():
        if name.endswith("experts.gate_up_proj"):
            for expert, both in enumerate(value):
                gate, up = both.chunk(2, 0)
                split[name.replace("gate_up_proj", f"{expert}.gate_proj.weight")] = gate.contiguous()
                split[name.replace("gate_up_proj", f"{expert}.up_proj.weight")] = up.contiguous()
        elif name.endswith("experts.down_proj"):
            for expert, down in enumerate(value):
                split[name.replace("down_proj", f"{expert}.down_proj.weight")] = down.contiguous()
        else:
            split[name] = value
    return split


# ------------------------------------------------------------------ stores: tensors -> (bytes for the file, their values)
# A store returns the names and tensors that go to disk, and the float32 values they stand for under the class's names.

def store_f32(tensors):
    tensors = split_experts(tensors)
    return tensors, tensors


def store_fused(tensors):
    return tensors, tensors


def store_bf16(tensors):
    disk = {name: value.to(torch.bfloat16) for name, value in split_experts(tensors).items()}
    return disk, {name: value.float() for name, value in disk.items()}


def store_container(kinds):
    """The container `docs/formats/container.md` describes; `kinds` are rows of (pattern, kind), the first match counts."""
    def store(tensors):
        disk, values = {}, {}
        for name, value in split_experts(tensors).items():
            kind = next((kind for pattern, kind in kinds if re.search(pattern, name)), "f32")
            if kind == "f32":
                disk[name] = values[name] = value
                continue
            encode = {"int8-row": int8_row, "int4-row": int4, "int4-g64": lambda w: int4(w, 64)}[kind]
            disk[name], disk[name + ".qs"], values[name] = encode(value)
        return disk, values
    return store


def int8_row(weight):
    """[O, I] -> bytes [O, I], one scale per row, values."""
    scale = weight.abs().amax(1) / 127.0
    q = (weight / scale[:, None]).round().clamp(-127, 127)
    return q.to(torch.int8).view(torch.uint8), scale, q * scale[:, None]


def int4(weight, group=None):
    """[O, I] -> bytes [O, I / 2] with the even column in the low nibble, scales [O] or [O, ceil(I / group)], values."""
    rows, cols = weight.shape
    width = group or cols
    padded = torch.nn.functional.pad(weight, (0, -cols % width)).reshape(rows, -1, width)
    scale = padded.abs().amax(2) / 7.0
    q = (padded / scale[..., None]).round().clamp(-8, 7)
    values = (q * scale[..., None]).reshape(rows, -1)[:, :cols].contiguous()
    nibbles = (q.reshape(rows, -1)[:, :cols] + 8).to(torch.uint8)
    packed = nibbles[:, 0::2] | (nibbles[:, 1::2] << 4)
    return packed.contiguous(), (scale if group else scale[:, 0]).contiguous(), values


# ------------------------------------------------------------------ GGUF, with the conventions of llama.cpp

GGUF_NAMES = [
    (r"^model\.embed_tokens\.", "token_embd."), (r"^model\.norm\.", "output_norm."), (r"^lm_head\.", "output."),
    (r"^model\.layers\.(\d+)\.", r"blk.\1."), (r"\.input_layernorm\.", ".attn_norm."),
    (r"\.self_attn\.([qkv])_norm\.", r".attn_\1_norm."), (r"\.self_attn\.([qkv])_proj\.", r".attn_\1."),
    (r"\.self_attn\.o_proj\.", ".attn_output."), (r"\.mlp\.gate\.", ".ffn_gate_inp."),
    (r"\.mlp\.experts\.(gate|up|down)_proj$", r".ffn_\1_exps.weight"),
    (r"\.mlp\.(gate|up|down)_proj\.", r".ffn_\1."), (r"\.pre_feedforward_layernorm\.", ".ffn_norm."),
    (r"\.post_feedforward_layernorm\.", ".post_ffw_norm."),
]


def gguf_name(name, architecture):
    post = "post_attention_norm" if architecture == "gemma3" else "ffn_norm"
    for pattern, replacement in GGUF_NAMES + [(r"\.post_attention_layernorm\.", f".{post}.")]:
        name = re.sub(pattern, replacement, name)
    return name


def interleave(weight, heads):
    """Rows of a projection for half-split rope, in the order that interleaved rope wants."""
    rows, cols = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, cols).swapaxes(1, 2).reshape(rows, cols)


def deinterleave(weight, heads):
    rows, cols = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, cols).swapaxes(1, 2).reshape(rows, cols)


def to_gguf(name, value, config, architecture):
    if architecture == "llama" and name.endswith("q_proj.weight"):
        return interleave(value, config.num_attention_heads)
    if architecture == "llama" and name.endswith("k_proj.weight"):
        return interleave(value, config.num_key_value_heads)
    return value + 1.0 if architecture == "gemma3" and "norm" in name else value


def from_gguf(name, value, config, architecture):
    if architecture == "llama" and name.endswith("q_proj.weight"):
        return deinterleave(value, config.num_attention_heads)
    if architecture == "llama" and name.endswith("k_proj.weight"):
        return deinterleave(value, config.num_key_value_heads)
    return value - 1.0 if architecture == "gemma3" and "norm" in name else value


def rope_factors(config):
    """The divisors of the frequencies that llama.cpp stores instead of the banded scaling's four numbers."""
    p = config.rope_parameters
    head_dim = config.hidden_size // config.num_attention_heads
    frequency = 1.0 / (p["rope_theta"] ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim))
    turns = p["original_max_position_embeddings"] * frequency / (2 * torch.pi)
    smooth = (turns - p["low_freq_factor"]) / (p["high_freq_factor"] - p["low_freq_factor"])
    return 1.0 / ((1.0 - smooth.clamp(0, 1)) / p["factor"] + smooth.clamp(0, 1))


def drawn_blocks(kind, shape, generator):
    """Random blocks of a format that the package cannot encode: any bytes are valid, only the scales are chosen, so that
    the values have mean about 0 and the deviation that a projection should have."""
    import gguf
    import numpy as np
    block, size = gguf.GGML_QUANT_SIZES[kind]
    count = int(np.prod(shape)) // block
    data = torch.randint(0, 256, (count, size), generator=generator, dtype=torch.uint8).numpy()
    # Where the f16 scale is, and where the scale of the minima with the mean code that they have to balance.
    scale_at, minimum = {"Q2_K": (80, (82, 1.5)), "Q3_K": (108, None), "Q4_K": (0, (2, 7.5)), "Q5_K": (0, (2, 15.5)),
                         "Q6_K": (208, None), "IQ4_NL": (0, None), "IQ4_XS": (0, None)}[kind.name]

    def with_scale(scale):
        f16 = lambda x: np.frombuffer(np.float16(x).tobytes(), dtype=np.uint8)
        data[:, scale_at:scale_at + 2] = f16(scale)
        if minimum:
            data[:, minimum[0]:minimum[0] + 2] = f16(scale * minimum[1])
        return gguf.quants.dequantize(data, kind)

    deviation = 1.6 / (shape[-1] ** 0.5)
    values = with_scale(deviation / with_scale(1.0).std())
    row_bytes = shape[-1] // block * size
    return data.reshape(*shape[:-1], row_bytes), torch.from_numpy(values.reshape(shape).copy())


def encoded(kind, value, generator):
    """(bytes or floats for the file, their values as float32)."""
    import gguf
    if kind in (gguf.GGMLQuantizationType.F32, gguf.GGMLQuantizationType.F16):
        data = value.numpy().astype("float32" if kind == gguf.GGMLQuantizationType.F32 else "float16")
        return data, torch.from_numpy(data.astype("float32"))
    if kind.name.endswith("_K") or kind.name.startswith("IQ"):
        return drawn_blocks(kind, tuple(value.shape), generator)
    data = gguf.quants.quantize(value.numpy(), kind)
    return data, torch.from_numpy(gguf.quants.dequantize(data, kind).reshape(value.shape).copy())


def split_fused(tensors):
    """Gate and up apart, experts still stacked."""
    split = {}
    for name, value in tensors.items():
        if name.endswith("gate_up_proj"):
            gate, up = value.chunk(2, 1)
            split[name.replace("gate_up", "gate")] = gate.contiguous()
            split[name.replace("gate_up", "up")] = up.contiguous()
        else:
            split[name] = value
    return split


def join_fused(tensors):
    joined = {}
    for name, value in tensors.items():
        if name.endswith("experts.gate_proj"):
            joined[name.replace("gate", "gate_up")] = torch.cat([value, tensors[name.replace("gate", "up")]], 1)
        elif not name.endswith("experts.up_proj"):
            joined[name] = value
    return joined


def write_gguf(path, architecture, model, tensors, kinds, seed):
    """Writes the file; returns the values its tensors stand for. `kinds`: rows of (pattern, type) on GGUF names."""
    import gguf
    config = model.config
    generator = torch.Generator().manual_seed(seed + 5)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(f"tiny {architecture}")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if not kinds else gguf.LlamaFileType.GUESSED)
    gguf_metadata(writer, architecture, config)
    values = {}
    for name, value in split_fused(tensors).items():
        stored_name = gguf_name(name, architecture)
        wanted = next((kind for pattern, kind in kinds if re.search(pattern, stored_name)), "F32")
        kind = gguf.GGMLQuantizationType["F32" if value.dim() == 1 else wanted]
        data, meaning = encoded(kind, to_gguf(name, value, config, architecture).contiguous(), generator)
        writer.add_tensor(stored_name, data, raw_dtype=kind)
        values[name] = from_gguf(name, meaning, config, architecture).contiguous()
    if architecture == "llama":
        writer.add_tensor("rope_freqs.weight", rope_factors(config).numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return join_fused(values)


def gguf_metadata(writer, architecture, config):
    import gguf
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_vocab_size(config.vocab_size)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if architecture == "llama":
        writer.add_rope_dimension_count(head_dim)
    elif architecture != "olmoe":
        writer.add_key_length(head_dim)
        writer.add_value_length(head_dim)
    if architecture == "gemma3":
        rope = config.rope_parameters
        writer.add_sliding_window(config.sliding_window)
        writer.add_rope_freq_base(rope["full_attention"]["rope_theta"])
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(rope["full_attention"]["factor"])
    else:
        writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    if getattr(config, "num_experts", None):
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
    if architecture == "qwen3moe":
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_eos_token_id(config.eos_token_id)


# ------------------------------------------------------------------ reference

def load_values(model, out, values):
    """A fresh model of the class with exactly these values, read by its own loader."""
    import tempfile
    from safetensors.torch import save_file
    with tempfile.TemporaryDirectory() as folder:
        save_file(values, os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})
        model.config.save_pretrained(folder)
        loaded, report = type(model).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager",
                                                     output_loading_info=True)
    faults = [*report["missing_keys"], *report["unexpected_keys"], *report["mismatched_keys"]]
    assert not faults, f"{out}: the class does not accept {faults[:5]}"
    with_plain_experts(loaded)
    return loaded.eval()


def prompt(tokens, seed):
    generator = torch.Generator().manual_seed(seed + 77)
    return torch.randint(3, PROMPT_VOCAB, (1, tokens), generator=generator)


@torch.no_grad()
def reference(model, tokens, new, seed):
    ids = prompt(tokens, seed)
    hidden, hooks = {}, []
    for index, layer in enumerate(model.model.layers):
        def keep(_module, _inputs, output, index=index):
            hidden[f"hidden.{index}"] = (output[0] if isinstance(output, tuple) else output).detach().clone()
        hooks.append(layer.register_forward_hook(keep))
    run = lambda ids: model(input_ids=ids, use_cache=False).logits[0]
    logits = run(ids)
    for hook in hooks:
        hook.remove()
    # Without a cache: the plain definition of what decoding has to give.
    sequence, steps = ids, []
    for _ in range(new):
        steps.append(run(sequence)[-1])
        sequence = torch.cat([sequence, steps[-1].argmax().view(1, 1)], dim=1)
    greedy, steps = sequence[0, tokens:], torch.stack(steps)
    best = steps.topk(2, dim=-1).values
    info = {"input_ids": ids[0].tolist(), "greedy_ids": greedy.tolist(), "distinct_greedy": len(set(greedy.tolist())),
            "min_top1_margin": (best[:, 0] - best[:, 1]).min().item()}
    tensors = {"input_ids": ids[0].int(), "logits": logits.contiguous(), "greedy_ids": greedy.int(),
               "greedy_logits": steps.contiguous()}
    tensors.update({name: value[0].contiguous() for name, value in hidden.items()})
    return tensors, info


# ------------------------------------------------------------------ fixtures: (family, store, or (architecture, kinds))

MIXED = [
    (r"token_embd", "Q8_0"), (r"^output\.", "Q6_K"), (r"ffn_gate_inp", "F32"),
    (r"blk\.0\.attn_q\.", "Q4_K"), (r"blk\.0\.attn_k\.", "Q5_0"), (r"blk\.0\.attn_v\.", "Q5_K"),
    (r"blk\.0\.attn_output", "Q3_K"), (r"blk\.0\.ffn_gate_exps", "Q4_K"), (r"blk\.0\.ffn_up_exps", "Q2_K"),
    (r"blk\.0\.ffn_down_exps", "Q6_K"),
    (r"blk\.1\.attn_q\.", "IQ4_NL"), (r"blk\.1\.attn_k\.", "F16"), (r"blk\.1\.attn_v\.", "Q5_1"),
    (r"blk\.1\.attn_output", "Q4_1"), (r"blk\.1\.ffn_gate_exps", "IQ4_XS"), (r"blk\.1\.ffn_up_exps", "MXFP4"),
    (r"blk\.1\.ffn_down_exps", "Q4_0"),
]
Q8_0 = [(r"ffn_gate_inp", "F32"), (r".", "Q8_0")]
PROJECTIONS = r"(_proj|lm_head|embed_tokens)\.weight$"

FIXTURES = {
    "olmoe-f32": (olmoe, store_f32),
    "olmoe-bf16": (olmoe, store_bf16),
    "olmoe-tied-clip": (olmoe_tied_clip, store_f32),
    "olmoe-int8-row": (olmoe, store_container([(PROJECTIONS, "int8-row")])),
    "olmoe-int4": (olmoe, store_container([(r"experts\.\d+\.(gate|up)_proj", "int4-g64"), (r"experts", "int4-row"),
                                           (PROJECTIONS, "int8-row")])),
    "olmoe-gguf-q8_0": (olmoe, ("olmoe", Q8_0)),
    "qwen3_moe-f32": (qwen3_moe, store_f32),
    "qwen3_moe-fused": (qwen3_moe_dense_layers, store_fused),
    "qwen3_moe-gguf-mixed": (qwen3_moe_wide, ("qwen3moe", MIXED)),
    "qwen3-f32": (qwen3, store_f32),
    "qwen3-tied": (lambda: qwen3(tie_word_embeddings=True), store_f32),
    "qwen3-gguf": (qwen3, ("qwen3", [])),
    "llama-f32": (llama, store_f32),
    "llama-gguf": (llama, ("llama", [])),
    "gemma3-f32": (gemma3, store_f32),
    "gemma3-gguf": (gemma3_gguf, ("gemma3", [])),
}


def make(name, out, seed=7, tokens=16, new=12, tries=25):
    """Seeds are tried upwards until no greedy step is a near tie and the answer is not one repeated token."""
    import transformers
    from safetensors.torch import save_file
    family, store = FIXTURES[name]
    os.makedirs(out, exist_ok=True)
    for seed in range(seed, seed + tries):
        model = build(family, seed)
        if isinstance(store, tuple):
            path = os.path.join(out, "model.gguf")
            values = write_gguf(path, store[0], model, tensors_of(model), store[1], seed)
        else:
            model.save_pretrained(out)
            disk, values = store(tensors_of(model))
            disk = {key: value.contiguous() for key, value in disk.items()}
            save_file(disk, os.path.join(out, "model.safetensors"), metadata={"format": "pt"})
        model = load_values(model, name, values)
        ref, info = reference(model, tokens, new, seed)
        if info["min_top1_margin"] >= MARGIN_MIN and info["distinct_greedy"] >= min(6, new):
            break
    else:
        raise SystemExit(f"{name}: none of {tries} seeds gives a greedy run without near ties")
    if store is store_bf16:
        path = os.path.join(out, "config.json")
        config = json.load(open(path))
        config["dtype"] = "bfloat16"
        json.dump(config, open(path, "w"), indent=1)
    save_file(ref, os.path.join(out, "ref.safetensors"))
    info |= {"fixture": name, "class": type(model).__name__, "transformers": transformers.__version__,
             "torch": torch.__version__, "seed": seed}
    json.dump(info, open(os.path.join(out, "ref.json"), "w"), indent=1)
    return info


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?")
    parser.add_argument("out", nargs="?")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--all", metavar="ROOT")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--new", type=int, default=12)
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(FIXTURES))
        return 0
    if arguments.all:
        todo = [(name, os.path.join(arguments.all, name)) for name in FIXTURES]
    elif arguments.name in FIXTURES and arguments.out:
        todo = [(arguments.name, arguments.out)]
    else:
        parser.error("needs a NAME of --list and OUT, or --all ROOT")
    for name, out in todo:
        info = make(name, out, arguments.seed, arguments.tokens, arguments.new)
        print(f"{name}: {info['class']}, seed {info['seed']}, margin {info['min_top1_margin']:.3f}, "
              f"greedy {info['greedy_ids']}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
