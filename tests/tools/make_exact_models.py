#!/usr/bin/env python3
"""Cuts models down to a size for the repository, and computes their exact logits.

    make_exact_models.py SOURCE_FOLDER TARGET_FOLDER

Reads NAME-q4km.gguf (random weights quantised by llama.cpp, see CUTS) and writes NAME.gguf with fewer layers, hidden
units and tokens. Blocks are dropped whole, so the rest are llama.cpp's bytes. NAME.logits.f32 has logits [15, n_vocab]
for TOKENS in one sequence, computed here in float64 from gguf's dequantisation and rounded to float32. If
SOURCE_FOLDER has logits of the uncut model, those are computed first and must agree.
Needs gguf and numpy from PyPI.
"""
import pathlib
import sys

import gguf
import numpy as np

N_VOCAB = 512
TOKENS = [10, 200, 130, 5, 77, 234, 432, 499, 42, 511, 1, 350, 175, 8, 64]
UNCUT_TOKENS = [10, 200, 1300, 5, 77, 1234, 432, 999, 42, 1999, 1, 1500, 1750, 8, 64]
CUTS = {"tiny2": (2, 512), "mini3": (2, 768), "odd2": (1, 288), "tinyll": (1, 512)}  # layers, feed-forward length


def value_of(reader, key):
    return reader.fields[key].contents()


def cut_tensor(tensor, n_ffn):
    """The tensor's bytes [rows, bytes per row] without the dropped rows and blocks."""
    data = tensor.data
    if tensor.name in ("token_embd.weight", "output.weight"):
        return data[:N_VOCAB]
    if "ffn_gate" in tensor.name or "ffn_up" in tensor.name:
        return data[:n_ffn]
    if "ffn_down" in tensor.name:
        block, n_bytes = gguf.GGML_QUANT_SIZES[tensor.tensor_type]
        return np.ascontiguousarray(data[:, : n_ffn // block * n_bytes])
    return data


def copied_value(key, field, tokens, layers, n_ffn):
    value = field.contents()
    if key.endswith(".block_count"):
        return layers
    if key.endswith(".feed_forward_length"):
        return n_ffn
    if key.endswith(".vocab_size"):
        return N_VOCAB
    if key in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type"):
        return value[:N_VOCAB]
    if key == "tokenizer.ggml.merges":
        return [merge for merge in value if merge.replace(" ", "") in tokens]
    return value


def cut(reader, path, layers, n_ffn):
    architecture = value_of(reader, "general.architecture")
    tokens = set(value_of(reader, "tokenizer.ggml.tokens")[:N_VOCAB])
    writer = gguf.GGUFWriter(path, architecture)
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        element = field.types[1] if len(field.types) > 1 else None
        writer.add_key_value(key, copied_value(key, field, tokens, layers, n_ffn), field.types[0], element)
    for tensor in reader.tensors:
        if tensor.name.startswith("blk.") and int(tensor.name.split(".")[1]) >= layers:
            continue
        writer.add_tensor(tensor.name, cut_tensor(tensor, n_ffn), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def rmsnorm(x, weight, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * weight


def rotate(x, base, interleaved):
    """x [tokens, heads, head_dim]."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[0])[:, None, None] * base ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    first, second = (x[..., 0::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])
    turned = np.empty_like(x)
    a, b = first * cos - second * sin, first * sin + second * cos
    if interleaved:
        turned[..., 0::2], turned[..., 1::2] = a, b
    else:
        turned[..., :half], turned[..., half:] = a, b
    return turned


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def exact_logits(reader, tokens):
    """float64 [tokens, n_vocab]."""
    weights = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float64) for t in reader.tensors}
    architecture = value_of(reader, "general.architecture")
    setting = lambda name: value_of(reader, f"{architecture}.{name}")
    n_heads, n_kv_heads = setting("attention.head_count"), setting("attention.head_count_kv")
    epsilon, base = np.float64(np.float32(setting("attention.layer_norm_rms_epsilon"))), setting("rope.freq_base")
    n = len(tokens)
    hidden = weights["token_embd.weight"][tokens]
    for layer in range(setting("block_count")):
        w = lambda name: weights.get(f"blk.{layer}.{name}")
        x = rmsnorm(hidden, w("attn_norm.weight"), epsilon)
        heads = {}
        for name, count in (("q", n_heads), ("k", n_kv_heads), ("v", n_kv_heads)):
            y = x @ w(f"attn_{name}.weight").T
            if w(f"attn_{name}.bias") is not None:
                y = y + w(f"attn_{name}.bias")
            y = y.reshape(n, count, -1)
            if w(f"attn_{name}_norm.weight") is not None:
                y = rmsnorm(y, w(f"attn_{name}_norm.weight"), epsilon)
            heads[name] = rotate(y, base, architecture == "llama") if name != "v" else y
        k, v = (np.repeat(heads[name], n_heads // n_kv_heads, axis=1) for name in "kv")
        scores = np.einsum("qhd,khd->hqk", heads["q"], k) / np.sqrt(k.shape[-1])
        scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
        mixed = np.einsum("hqk,khd->qhd", softmax(scores), v).reshape(n, -1)
        hidden = hidden + mixed @ w("attn_output.weight").T
        x = rmsnorm(hidden, w("ffn_norm.weight"), epsilon)
        gate = x @ w("ffn_gate.weight").T
        inner = gate / (1 + np.exp(-gate)) * (x @ w("ffn_up.weight").T)
        hidden = hidden + inner @ w("ffn_down.weight").T
    x = rmsnorm(hidden, weights["output_norm.weight"], epsilon)
    return x @ weights.get("output.weight", weights["token_embd.weight"]).T


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    for name, (layers, n_ffn) in CUTS.items():
        uncut = gguf.GGUFReader(source / f"{name}-q4km.gguf")
        known = source / f"{name}.logits.f32"
        if known.exists():
            expected = np.fromfile(known, np.float32).reshape(len(UNCUT_TOKENS), -1)
            error = np.linalg.norm(exact_logits(uncut, UNCUT_TOKENS) - expected) / np.linalg.norm(expected)
            print(f"{name}: {error:.1e} from the known logits of the uncut model")
            assert error < 1e-7
        cut(uncut, target / f"{name}.gguf", layers, n_ffn)
        exact_logits(gguf.GGUFReader(target / f"{name}.gguf"), TOKENS).astype(np.float32).tofile(
            target / f"{name}.logits.f32")


if __name__ == "__main__":
    main()
