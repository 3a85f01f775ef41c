#!/usr/bin/env python3
"""Write tiny random mixture-of-experts models as GGUF, each with reference values from PyTorch.

    make_models.py OUT_DIR [SEED]            one file per architecture and format (about 100 MB)
    make_models.py --mixed OUT_DIR [SEED]    the compact set that is kept in this folder: all formats in four files

Beside NAME.gguf lies NAME.ref.json: `input_ids` [12], `logits` [12, vocab] of all positions, `greedy_ids` [12] that
follow, the smallest distance between the two best logits of a greedy step, and the smallest distance between a chosen
and a rejected expert's router logit. Seeds are tried until both are large enough that float noise cannot decide.

The reference is transformers in float32 on one CPU thread, with eager attention and the plain loop over experts, on the
weights as gguf.quants.dequantize reads them back. Formats that the package cannot write get random block bytes: every
code is valid, and the block scales are chosen for a sane deviation, with random signs, because random codes have a mean
a little off zero, and without the signs that mean grows into one direction shared by all tokens.

Needs torch, transformers 5.24.0, gguf 0.19.0."""
import argparse
import json
import os
import pathlib

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Q
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize, quantize

torch.set_num_threads(1)

FORMATS = [Q.F32, Q.F16, Q.BF16, Q.Q8_0, Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K,
           Q.IQ4_NL, Q.IQ4_XS, Q.MXFP4]
SMALL_BLOCKS = [kind for kind in FORMATS if GGML_QUANT_SIZES[kind][0] <= 32]
LARGE_BLOCKS = [kind for kind in FORMATS if GGML_QUANT_SIZES[kind][0] == 256]
# Formats the package reads but does not write: where d is, where dmin is, and the mean code that dmin has to balance.
DRAWN = {Q.Q2_K: (80, 82, 1.5), Q.Q3_K: (108, None, 0), Q.Q4_K: (0, 2, 7.5), Q.Q5_K: (0, 2, 15.5),
         Q.Q6_K: (208, None, 0), Q.IQ4_NL: (0, None, 0), Q.IQ4_XS: (0, None, 0)}
TOKENS, NEW = 12, 12
MARGIN_MIN, ROUTER_GAP_MIN = 0.02, 0.005
END_TOKEN = 257
WIDE = dict(hidden=256, layers=2, heads=4, head_dim=64, experts=4, active=2, inner=256, vocab=320, tied=False)
OLMOE = dict(arch="olmoe", eps=1e-5, theta=1e4)
QWEN3 = dict(arch="qwen3moe", eps=1e-6, theta=1e6)
NARROW = dict(WIDE, hidden=64, layers=4, head_dim=32, inner=64)
MIXED = [
    ("mixed-1", dict(NARROW, **OLMOE, heads=2, kv_heads=2), SMALL_BLOCKS),
    ("mixed-2", dict(NARROW, **QWEN3, heads=4, kv_heads=2, tied=True), SMALL_BLOCKS[::-1]),
    ("mixed-3", dict(WIDE, **QWEN3, heads=4, kv_heads=1, experts=2, active=1), LARGE_BLOCKS),
    ("mixed-4", dict(WIDE, **OLMOE, layers=1, kv_heads=4, experts=3), LARGE_BLOCKS[::-1]),
]


def drawn_blocks(rng, kind, dims, deviation):
    """Random blocks whose values have mean about 0 and standard deviation `deviation`."""
    elements, size = GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (int(np.prod(dims)) // elements, size), np.uint8)
    d_at, dmin_at, mean_code = DRAWN[kind]
    sign = np.where(rng.integers(0, 2, len(blocks)) == 1, 1, -1)

    def set_scales(d):
        for at, scale in ((d_at, d), (dmin_at, d * mean_code)):
            if at is not None:
                blocks[:, at:at + 2] = (sign * scale).astype("<f2").view(np.uint8).reshape(-1, 2)
        return dequantize(blocks, kind)

    set_scales(deviation / set_scales(1.0).std())
    return blocks.reshape(*dims[:-1], -1)


def stored_tensor(rng, name, dims, kind):
    """The bytes of a tensor and the float32 values that they stand for. Projections keep the size of what they are
    given; norms differ from 1, so that a norm left out is seen; the head is large, so that logits lie apart."""
    if len(dims) == 1:
        values = (1 + 0.2 * rng.standard_normal(dims)).astype(np.float32)
        return values, values
    deviation = {"token_embd.weight": 1.0, "output.weight": 3 * dims[-1] ** -0.5}.get(name, 1.5 * dims[-1] ** -0.5)
    if kind in DRAWN:
        data = drawn_blocks(rng, kind, dims, deviation)
    else:
        data = quantize((rng.standard_normal(dims) * deviation).astype(np.float32), kind)
    return data, dequantize(data, kind).reshape(dims).astype(np.float32)


def tensors(s, kinds):
    """Names as llama.cpp has them, dims (rows, inputs), formats. Dense and expert matrices go through `kinds` each on
    their own, so that every format occurs among both when there are enough of them."""
    dense, expert = 0, 0
    hidden, inner, wide, kv_wide = s["hidden"], s["inner"], s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
    per_head = s["arch"] == "qwen3moe"
    rows = [("token_embd.weight", (s["vocab"], hidden))]
    for layer in range(s["layers"]):
        block = [
            ("attn_norm", (hidden,)), ("attn_q", (wide, hidden)), ("attn_k", (kv_wide, hidden)),
            ("attn_v", (kv_wide, hidden)), ("attn_output", (hidden, wide)),
            ("attn_q_norm", (s["head_dim"] if per_head else wide,)),
            ("attn_k_norm", (s["head_dim"] if per_head else kv_wide,)),
            ("ffn_norm", (hidden,)), ("ffn_gate_inp", (s["experts"], hidden)),
            ("ffn_gate_exps", (s["experts"], inner, hidden)), ("ffn_up_exps", (s["experts"], inner, hidden)),
            ("ffn_down_exps", (s["experts"], hidden, inner)),
        ]
        rows += [(f"blk.{layer}.{name}.weight", dims) for name, dims in block]
    rows.append(("output_norm.weight", (hidden,)))
    if not s["tied"]:
        rows.append(("output.weight", (s["vocab"], hidden)))
    for name, dims in rows:
        if len(dims) == 1 or "gate_inp" in name:
            yield name, dims, Q.F32
        elif len(dims) == 3:
            yield name, dims, kinds[expert % len(kinds)]
            expert += 1
        else:
            yield name, dims, kinds[dense % len(kinds)]
            dense += 1


def byte_tokens():
    """The 256 printable stand-ins that byte-level BPE uses for bytes."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spare = iter(range(256, 512))
    return [chr(b) if b in keep else chr(next(spare)) for b in range(256)]


def add_metadata(w, s):
    w.add_file_type(gguf.LlamaFileType.GUESSED)
    w.add_block_count(s["layers"])
    w.add_context_length(256)
    w.add_embedding_length(s["hidden"])
    w.add_feed_forward_length(s["inner"])
    w.add_head_count(s["heads"])
    w.add_head_count_kv(s["kv_heads"])
    w.add_layer_norm_rms_eps(s["eps"])
    w.add_rope_freq_base(s["theta"])
    w.add_vocab_size(s["vocab"])
    w.add_expert_count(s["experts"])
    w.add_expert_used_count(s["active"])
    if s["arch"] == "qwen3moe":
        w.add_key_length(s["head_dim"])
        w.add_value_length(s["head_dim"])
        w.add_expert_feed_forward_length(s["inner"])
    base = byte_tokens() + ["\u0120t", "<|end|>"]
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("gpt-2")
    w.add_token_list(base + [f"<|{i}|>" for i in range(len(base), s["vocab"])])
    w.add_token_types([gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL]
                      + [gguf.TokenType.UNUSED] * (s["vocab"] - 258))
    w.add_token_merges(["\u0120 t"])
    w.add_eos_token_id(END_TOKEN)
    w.add_bos_token_id(END_TOKEN)
    w.add_add_bos_token(False)


def reference_model(s, values):
    """The transformers model with these weights."""
    from transformers import OlmoeConfig, OlmoeForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM
    common = dict(
        vocab_size=s["vocab"], hidden_size=s["hidden"], intermediate_size=s["inner"], num_hidden_layers=s["layers"],
        num_attention_heads=s["heads"], num_key_value_heads=s["kv_heads"], num_experts=s["experts"],
        num_experts_per_tok=s["active"], rms_norm_eps=s["eps"], max_position_embeddings=256,
        tie_word_embeddings=s["tied"], rope_parameters={"rope_type": "default", "rope_theta": s["theta"]},
        bos_token_id=None, eos_token_id=END_TOKEN, pad_token_id=None)
    if s["arch"] == "olmoe":
        cls, config = OlmoeForCausalLM, OlmoeConfig(**common, norm_topk_prob=False)
    else:
        cls, config = Qwen3MoeForCausalLM, Qwen3MoeConfig(
            **common, head_dim=s["head_dim"], moe_intermediate_size=s["inner"], norm_topk_prob=True)
    config._attn_implementation = "eager"
    model = cls(config).float().eval()
    model.set_experts_implementation("eager")
    state = {"model.embed_tokens.weight": "token_embd", "model.norm.weight": "output_norm",
             "lm_head.weight": "token_embd" if s["tied"] else "output"}
    for i in range(s["layers"]):
        a, b = f"model.layers.{i}.", f"blk.{i}."
        state |= {a + "input_layernorm.weight": b + "attn_norm", a + "post_attention_layernorm.weight": b + "ffn_norm",
                  a + "self_attn.o_proj.weight": b + "attn_output", a + "mlp.gate.weight": b + "ffn_gate_inp",
                  a + "mlp.experts.down_proj": b + "ffn_down_exps"}
        state |= {f"{a}self_attn.{x}_proj.weight": f"{b}attn_{x}" for x in "qkv"}
        state |= {f"{a}self_attn.{x}_norm.weight": f"{b}attn_{x}_norm" for x in "qk"}
        state[a + "mlp.experts.gate_up_proj"] = (b + "ffn_gate_exps", b + "ffn_up_exps")
    tensor = lambda name: torch.from_numpy(values[name + ".weight"])
    load = lambda source: tensor(source) if isinstance(source, str) else torch.cat([tensor(x) for x in source], 1)
    model.load_state_dict({name: load(source) for name, source in state.items()}, strict=True)
    return model


@torch.no_grad()
def reference(model, input_ids, active):
    ids, margins = list(input_ids), []
    out = model(torch.tensor([ids]), use_cache=False, output_router_logits=True)
    logits = out.logits[0]
    for _ in range(NEW):
        out = model(torch.tensor([ids]), use_cache=False, output_router_logits=True)
        best = out.logits[0, -1].topk(2)
        margins.append((best.values[0] - best.values[1]).item())
        ids.append(best.indices[0].item())
    ranked = torch.cat([x.reshape(-1, x.shape[-1]) for x in out.router_logits]).sort(dim=-1, descending=True).values
    gap = (ranked[:, active - 1] - ranked[:, active]).min().item()
    return logits, ids[TOKENS:], min(margins), gap


def attempt(s, kinds, seed):
    rng = np.random.default_rng(seed)
    stored = [(name, kind, *stored_tensor(rng, name, dims, kind)) for name, dims, kind in tensors(s, kinds)]
    input_ids = rng.integers(0, 256, TOKENS).tolist()
    model = reference_model(s, {name: values for name, _, _, values in stored})
    return stored, input_ids, *reference(model, input_ids, s["active"])


def write(out, name, s, kinds, seed):
    for seed in range(seed, seed + 200):
        stored, input_ids, logits, greedy, margin, gap = attempt(s, kinds, seed)
        if margin >= MARGIN_MIN and gap >= ROUTER_GAP_MIN and END_TOKEN not in greedy and len(set(greedy)) >= 6:
            break
    else:
        raise SystemExit(f"{name}: no seed has margins that noise cannot decide")
    w = gguf.GGUFWriter(str(out / f"{name}.gguf"), s["arch"])
    w.add_name(name)
    add_metadata(w, s)
    for tensor, kind, data, _ in stored:
        w.add_tensor(tensor, data, raw_dtype=kind)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    ref = dict(seed=seed, greedy_margin_min=margin, router_gap_min=gap, input_ids=input_ids, greedy_ids=greedy)
    rows = ",\n".join("  [" + ", ".join(f"{x:.9g}" for x in row) + "]" for row in logits.tolist())
    text = json.dumps(ref)[:-1] + f',\n "logits": [\n{rows}\n ]}}\n'
    (out / f"{name}.ref.json").write_text(text)
    size = (out / f"{name}.gguf").stat().st_size
    print(f"{name}: seed {seed}, {size} bytes, margin {margin:.3f}, router gap {gap:.4f}", flush=True)


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", type=pathlib.Path)
    ap.add_argument("seed", type=int, nargs="?", default=1)
    ap.add_argument("--mixed", action="store_true")
    a = ap.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    if a.mixed:
        for name, s, kinds in MIXED:
            write(a.out, name, s, kinds, a.seed)
        return
    for family in (dict(OLMOE, kv_heads=4), dict(QWEN3, kv_heads=2)):
        for kind in FORMATS:
            write(a.out, f"{family['arch']}-{kind.name.lower()}", dict(WIDE, **family), [kind], a.seed)


if __name__ == "__main__":
    main()
