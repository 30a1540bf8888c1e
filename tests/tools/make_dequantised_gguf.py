#!/usr/bin/env python3
"""Writes tests/models/data/dequantised.gguf: random blocks, and their weights as the PyPI package `gguf` computes them.

For every quantised format NAME the file has a tensor NAME (the blocks, with finite scales) and a tensor NAME.weights
(float32, from gguf.quants.dequantize). Usage: make_dequantised_gguf.py OUT.gguf [weights per format, default 512]
"""
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

FORMATS = [Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0,
           Type.Q2_K, Type.Q3_K, Type.Q4_K, Type.Q5_K, Type.Q6_K, Type.IQ4_NL, Type.IQ4_XS, Type.MXFP4,
           Type.IQ2_XXS, Type.IQ2_XS, Type.IQ2_S, Type.IQ3_XXS, Type.IQ3_S]
# Byte offsets of the binary16 fields of a block.
HALVES = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
          Type.Q2_K: [80, 82], Type.Q3_K: [108], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
          Type.IQ2_XXS: [0], Type.IQ2_XS: [0], Type.IQ2_S: [0], Type.IQ3_XXS: [0], Type.IQ3_S: [0],
          Type.IQ4_NL: [0], Type.IQ4_XS: [0], Type.MXFP4: [], Type.F16: [0], Type.BF16: []}


def random_blocks(kind, weights, rng):
    size, n_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (weights // size, n_bytes), dtype=np.uint8)
    for at in HALVES[kind]:
        # Both signs and every exponent from subnormal (0) to the largest finite one (30).
        sign, mantissa = rng.integers(0, 2, len(blocks)), rng.integers(0, 1024, len(blocks))
        halves = (sign << 15 | rng.integers(0, 31, len(blocks)) << 10 | mantissa).astype("<u2")
        blocks[:, at:at + 2] = halves.view(np.uint8).reshape(-1, 2)
    if kind == Type.BF16:
        blocks[:, 1] &= 0xBF  # no infinity, no NaN
    if kind == Type.MXFP4:
        # The smallest exponents, which give subnormals, and the largest that leaves all weights finite.
        blocks[:, 0] = rng.choice([0, 1, 2, 3, 100, 127, 128, 252], len(blocks))
    return blocks.reshape(1, -1)


def main():
    out, weights = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 512
    rng = np.random.default_rng(20240229)
    writer = gguf.GGUFWriter(out, "dequantised")
    for kind in FORMATS:
        blocks = random_blocks(kind, weights, rng)
        expected = gguf.quants.dequantize(blocks, kind).astype(np.float32)
        writer.add_tensor(kind.name, blocks, raw_dtype=kind)
        writer.add_tensor(kind.name + ".weights", expected)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
