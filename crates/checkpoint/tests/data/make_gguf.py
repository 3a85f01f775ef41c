"""Writes the GGUF samples of this directory and what the reference reader says about them.

Needs the PyPI packages `gguf` (0.17 or later) and `numpy`; run in this directory: python make_gguf.py
"""

import json

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf.constants import GGML_QUANT_SIZES

TYPES = [
    "F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0",
    "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS", "MXFP4", "IQ2_XXS", "TQ1_0",
]  # fmt: skip


def raw(rng, type_name, rows, cols):
    """Random bytes of `rows` rows of `cols` elements, in the shape that the writer wants."""
    block, size = GGML_QUANT_SIZES[Type[type_name]]
    return rng.integers(0, 256, (rows, cols // block * size), dtype=np.uint8)


def metadata(writer):
    writer.add_uint8("toy.u8", 200)
    writer.add_int8("toy.i8", -100)
    writer.add_uint16("toy.u16", 60000)
    writer.add_int16("toy.i16", -30000)
    writer.add_uint32("toy.block_count", 4_000_000_000)
    writer.add_int32("toy.i32", -2_000_000_000)
    writer.add_uint64("toy.u64", 2**64 - 1)
    writer.add_int64("toy.i64", -(2**63))
    writer.add_float32("toy.epsilon", 1e-5)
    writer.add_float64("toy.f64", 0.1)
    writer.add_bool("toy.yes", True)
    writer.add_bool("toy.no", False)
    writer.add_string("toy.text", "größer 世界")
    writer.add_array("toy.heads", [4, 4, 0, 2])
    writer.add_array("toy.flags", [True, False])
    writer.add_array("toy.words", ["a", "", "ü"])
    writer.add_array("tokenizer.ggml.tokens", ["<s>", "▁a", "世"])
    writer.add_array("tokenizer.ggml.scores", [0.0, -1.5, 0.25])
    writer.add_array("tokenizer.ggml.token_type", [3, 1, 1])
    writer.add_array("toy.long", list(range(5000)))


def described(path):
    reader = gguf.GGUFReader(path)
    tensors = [
        {
            "name": t.name,
            "type": t.tensor_type.name,
            "shape": [int(d) for d in reversed(t.shape)],
            "offset_bytes": int(t.data_offset),
            "len_bytes": int(t.n_bytes),
            "first_bytes": [int(b) for b in np.asarray(t.data).reshape(-1).view(np.uint8)[:4]],
        }
        for t in reader.tensors
    ]
    fields = {k: f.contents() for k, f in reader.fields.items() if k.startswith("toy.") and k != "toy.long"}
    return {"tensors": tensors, "metadata": fields}


def main():
    rng = np.random.default_rng(7)
    writer = gguf.GGUFWriter("sample.gguf", "toy")
    writer.add_custom_alignment(64)
    metadata(writer)
    for name in TYPES:
        writer.add_tensor(f"w.{name}", raw(rng, name, 2, 256), raw_dtype=Type[name])
    writer.add_tensor("stack", rng.standard_normal((2, 3, 5)).astype(np.float32))
    finish(writer)

    writer = gguf.GGUFWriter("split.gguf", "toy", split_max_tensors=2)
    writer.add_uint32("toy.block_count", 2)
    for at in range(5):
        writer.add_tensor(f"t{at}", np.full((2, 4), at, dtype=np.float32))
    finish(writer)

    writer = gguf.GGUFWriter("big-endian.gguf", "toy", endianess=gguf.GGUFEndian.BIG)
    writer.add_tensor("t", np.zeros((2, 4), dtype=np.float32))
    finish(writer)

    with open("sample.json", "w") as file:
        said = described("sample.gguf")
        lines = ",\n".join(json.dumps(t) for t in said["tensors"])
        meta = json.dumps(said["metadata"], ensure_ascii=False)
        file.write(f'{{"metadata": {meta},\n"tensors": [\n{lines}\n]}}\n')


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


main()
