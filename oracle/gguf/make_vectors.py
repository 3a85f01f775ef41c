#!/usr/bin/env python3
"""Write reference values for every stored weight format: random blocks with what they decode to, and random rows with
what they encode to. GGUF formats are computed by the PyPI package `gguf`, the row and group formats by the few lines
of numpy below.

Usage: make_vectors.py [--seed N] [OUT_DIR]     (needs: pip install numpy gguf)

OUT_DIR/manifest.json lists the cases; a case is `decode` or `encode` of a matrix [rows, cols] in raw little-endian files
NAME.bytes (weights), NAME.scales (f32 scales beside them, if the format has them) and NAME.values (f32)."""
import argparse
import json
import pathlib

import numpy as np
from gguf import GGMLQuantizationType as Q
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize, quantize

ROWS, COLS, NARROW = 2, 768, 512
F16_SPECIAL = np.array([0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x7C00, 0x7E00], np.uint16)
# Where the f16 scales lie in a block; None: the block is nothing but numbers of the type.
F16_AT = {Q.F32: None, Q.F16: None, Q.BF16: None, Q.Q8_0: [0], Q.Q4_0: [0], Q.Q4_1: [0, 2], Q.Q5_0: [0],
          Q.Q5_1: [0, 2], Q.Q2_K: [80, 82], Q.Q3_K: [108], Q.Q4_K: [0, 2], Q.Q5_K: [0, 2], Q.Q6_K: [208],
          Q.IQ4_NL: [0], Q.IQ4_XS: [0], Q.MXFP4: []}
GROUPS = {"int4-g32": 32, "int4-g64": 64, "int4-g128": 128, "int4-g256": 256}


def random_blocks(rng, kind):
    """Every code and every group scale is random; half of the block scales are special values."""
    elements, size = GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (ROWS * COLS // elements, size), np.uint8)
    if kind == Q.MXFP4:
        blocks[:6, 0] = [0, 1, 2, 127, 254, 255]
    for at in F16_AT[kind] or []:
        scale = rng.standard_normal(len(blocks)).astype(np.float16).view(np.uint16)
        special = np.resize(rng.permutation(F16_SPECIAL), len(blocks))
        scale = np.where(rng.integers(0, 2, len(blocks)) == 1, special, scale)
        blocks[:, at:at + 2] = scale.astype("<u2").view(np.uint8).reshape(-1, 2)
    return blocks.reshape(ROWS, -1)


def pack(q):
    """Nibbles of codes -8..=7, even column low, stored + 8; an odd row ends with an empty high nibble."""
    u = (q + 8).astype(np.uint8)
    if u.shape[1] % 2:
        u = np.pad(u, ((0, 0), (0, 1)))
    return u[:, 0::2] | (u[:, 1::2] << 4)


def per_column(scales, group, cols):
    return np.repeat(scales, group, axis=1)[:, :cols]


def encode_int(x, top, bottom, group):
    """Codes and scales: scale = absmax / top of a group, code = x / scale to nearest even."""
    cols = x.shape[1]
    padded = np.pad(x, ((0, 0), (0, -cols % group))).reshape(len(x), -1, group)
    scales = (np.abs(padded).max(axis=2) / np.float32(top)).astype(np.float32)
    each = per_column(scales, group, cols)
    q = np.divide(x, each, out=np.zeros_like(x), where=each != 0)
    return np.clip(np.rint(q), bottom, top).astype(np.int8), scales


def decode_int(q, scales, group):
    return per_column(scales, group, q.shape[1]) * q.astype(np.float32)


def random_row(rng, cols):
    """Blocks of 32 of very different size, with zeros, equal magnitudes and exact halves among them."""
    x = rng.standard_normal((ROWS, cols)).astype(np.float32)
    x *= np.repeat(np.exp2(rng.integers(-20, 12, (ROWS, -(-cols // 32)))), 32, axis=1)[:, :cols].astype(np.float32)
    x[0, 32:64] = 0
    x[0, 64:96] = np.tile([-1, 1], 16)
    x[0, 96:128] = np.arange(32) / 2 - 8
    x[1, 0:16] = -0.0
    return x


class Writer:
    def __init__(self, out):
        self.out, self.cases = out, []

    def case(self, what, name, fmt, cols, data, values, scales=None):
        for part, array in (("bytes", data), ("scales", scales), ("values", values)):
            if array is not None:
                (self.out / f"{name}.{part}").write_bytes(np.ascontiguousarray(array).tobytes())
        self.cases.append(dict(what=what, name=name, format=fmt, rows=ROWS, cols=cols))


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent / "vectors")
    ap.add_argument("--seed", type=int, default=1)
    a = ap.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    rng, w = np.random.default_rng(a.seed), Writer(a.out)
    np.seterr(all="ignore")
    for kind in F16_AT:
        data = random_blocks(rng, kind)
        w.case("decode", kind.name.lower(), kind.name.lower(), COLS, data, dequantize(data, kind).astype(np.float32))
    for fmt, group in {"int8-row": NARROW, "int4-row": NARROW, **GROUPS}.items():
        low = -128 if fmt == "int8-row" else -8
        q = rng.integers(low, -low, (ROWS, NARROW)).astype(np.int8)
        scales = rng.standard_normal((ROWS, NARROW // group)).astype(np.float32)
        data = q if fmt == "int8-row" else pack(q)
        w.case("decode", fmt, fmt, NARROW, data, decode_int(q, scales, group), scales)
    x = random_row(rng, NARROW)
    for kind in (Q.F16, Q.BF16, Q.Q8_0, Q.Q4_0):
        w.case("encode", f"{kind.name.lower()}-encode", kind.name.lower(), NARROW, quantize(x, kind), x)
    for fmt, group, cols in (("int8-row", 201, 201), ("int4-row", 201, 201), ("int4-g64", 64, 201), ("int4-g128", 128, 384)):
        x = random_row(rng, cols)
        top, bottom = (127, -127) if fmt == "int8-row" else (7, -8)
        q, scales = encode_int(x, top, bottom, group)
        w.case("encode", f"{fmt}-encode", fmt, cols, q if fmt == "int8-row" else pack(q), x, scales)
    lines = ",\n".join("  " + json.dumps(case) for case in w.cases)
    (a.out / "manifest.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
