"""Writes rope.json: frequencies and angles as transformers and PyTorch compute them in f32.

Needs torch and transformers 5; run from this folder: python rope.py
"""

import json
from types import SimpleNamespace

import torch
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

POSITIONS = [0, 1, 777, 131071]

# The banded scheme is the only one that transformers names after a family and its release.
BANDED = next(name for name in ROPE_INIT_FUNCTIONS if name.endswith("3"))

CASES = [
    ("none", 10000.0, 64, {}),
    ("none", 500000.0, 128, {}),
    ("none", 1000000.0, 20, {}),
    ("linear", 10000.0, 64, {"factor": 2.5}),
    ("banded", 500000.0, 128, {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}),
    ("banded", 500000.0, 64, {
        "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}),
    ("yarn", 1000000.0, 128, {"factor": 4.0, "original_max_position_embeddings": 32768}),
    ("yarn", 10000.0, 64, {
        "factor": 40.0, "original_max_position_embeddings": 4096, "beta_fast": 32, "beta_slow": 1,
        "mscale": 0.707, "mscale_all_dim": 1.0}),
    ("yarn", 150000.0, 64, {
        "factor": 32.0, "original_max_position_embeddings": 4096, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False}),
    ("yarn", 160000.0, 64, {
        "factor": 16.0, "original_max_position_embeddings": 65536, "beta_fast": 32, "beta_slow": 1,
        "attention_factor": 1.0}),
]


def frequencies(kind, theta, rotary, parameters):
    if kind == "none":
        return 1.0 / (theta ** (torch.arange(0, rotary, 2, dtype=torch.float) / rotary)), 1.0
    config = SimpleNamespace(
        rope_parameters={"rope_theta": theta, **parameters},
        head_dim=rotary,
        hidden_size=rotary,
        num_attention_heads=1,
        max_position_embeddings=1 << 20,
        standardize_rope_params=lambda: None,
    )
    return ROPE_INIT_FUNCTIONS[BANDED if kind == "banded" else kind](config)


def main():
    cases = []
    for kind, theta, rotary, parameters in CASES:
        inverse, magnitude = frequencies(kind, theta, rotary, parameters)
        angles = torch.tensor(POSITIONS)[:, None].float() * inverse
        table = torch.cat((angles.cos() * magnitude, angles.sin() * magnitude), dim=-1)
        cases.append({
            "kind": kind, "theta": theta, "rotary": rotary, "parameters": parameters, "magnitude": magnitude,
            "frequencies": inverse.tolist(), "table": table.flatten().tolist(),
        })
    with open("rope.json", "w") as file:
        json.dump({"torch": torch.__version__, "positions": POSITIONS, "cases": cases}, file)
        file.write("\n")


main()
