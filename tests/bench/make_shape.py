#!/usr/bin/env python3
"""Writes a GGUF file for benchmarks: the widths of a well-known model, fewer layers, random weights.

    make_shape.py SHAPE OUT.gguf --vocabulary VOCABULARY.gguf [--layers N]

Formats are Q4_K_M's. The vocabulary comes from any GGUF file with a Qwen tokenizer; missing rows are unused tokens.
Needs `gguf` and `numpy` (PyPI). Weights are random blocks of the format, so nothing is quantised here.
"""
import argparse
import sys

import gguf
import numpy as np

Type = gguf.GGMLQuantizationType
F32, Q4, Q6 = Type.F32, Type.Q4_K, Type.Q6_K
INSTEAD = {Q4: Type.Q5_0, Q6: Type.Q8_0}  # for rows that are not whole blocks of 256

# Sizes from the models' config.json.
DENSE = {"arch": "qwen2", "heads": 12, "kv_heads": 2, "head_dim": 128, "vocab": 151936, "bias": True, "layers": 28}
HYBRID = {"arch": "qwen35", "head_dim": 256, "rope_dims": 64, "vocab": 248320, "k_heads": 16, "delta_dim": 128,
          "interval": 4}
SHAPES = {
    "qwen2.5-0.5b": DENSE | {"hidden": 896, "ffn": 4864, "layers": 24, "heads": 14, "head_dim": 64},
    "qwen2.5-1.5b": DENSE | {"hidden": 1536, "ffn": 8960},
    "qwen2.5-3b": DENSE | {"hidden": 2048, "ffn": 11008, "layers": 36, "heads": 16},
    "qwen2.5-7b": DENSE | {"hidden": 3584, "ffn": 18944, "heads": 28, "kv_heads": 4, "vocab": 152064,
                             "output": True},
    "qwen3-30b-a3b": {"arch": "qwen3moe", "hidden": 2048, "layers": 48, "heads": 32, "kv_heads": 4, "head_dim": 128,
                      "vocab": 151936, "experts": 128, "used": 8, "expert_ffn": 768, "qk_norm": True,
                      "output": True},
    "qwen3.5-4b": HYBRID | {"hidden": 2560, "ffn": 9216, "layers": 32, "heads": 16, "kv_heads": 4, "v_heads": 32},
    "qwen3.5-35b-a3b": HYBRID | {"arch": "qwen35moe", "hidden": 2048, "layers": 40, "heads": 16, "kv_heads": 2,
                                 "v_heads": 32, "experts": 256, "used": 8, "expert_ffn": 512, "shared_ffn": 512,
                                 "output": True},
}


class Model:
    def __init__(self, path, shape, n_layers):
        self.shape, self.n_layers = shape, n_layers
        self.writer = gguf.GGUFWriter(path, shape["arch"], use_temp_file=True)
        self.random = np.random.default_rng(1)

    def blocks(self, kind, rows, k):
        """Random blocks of these rows, with weights of about 1 / sqrt(k)."""
        size, n_bytes = gguf.GGML_QUANT_SIZES[kind]
        data = self.random.integers(0, 256, (rows * k // size, n_bytes), dtype=np.uint8)
        if kind == Q4:  # d, dmin, 12 bytes of scales, 128 of codes
            spread = np.float16(1 / (32 * 4.6 * np.sqrt(k)))
            data[:, 0:2] = np.frombuffer(spread.tobytes(), np.uint8)
            data[:, 2:4] = np.frombuffer(np.float16(spread * 7.5).tobytes(), np.uint8)
        elif kind in INSTEAD.values():  # d, then bits of codes
            spread = 9.2 if kind == Type.Q5_0 else 74
            data[:, 0:2] = np.frombuffer(np.float16(1 / (spread * np.sqrt(k))).tobytes(), np.uint8)
        else:  # 128 and 64 bytes of codes, 16 scales, d
            data[:, 208:210] = np.frombuffer(np.float16(1 / (74 * 18.5 * np.sqrt(k))).tobytes(), np.uint8)
        return data.reshape(rows, -1)

    def matrix(self, name, rows, k, kind=Q4, n=None):
        if kind == F32:
            values = self.random.standard_normal((rows, k), dtype=np.float32) / np.float32(np.sqrt(k))
            return self.writer.add_tensor(name, values)
        if k % gguf.GGML_QUANT_SIZES[kind][0] != 0:
            kind = INSTEAD[kind]
        data = self.blocks(kind, rows * (n or 1), k)
        shape = (rows, data.shape[1]) if n is None else (n, rows, data.shape[1])
        self.writer.add_tensor(name, data.reshape(shape), raw_shape=shape, raw_dtype=kind)

    def vector(self, name, values):
        self.writer.add_tensor(name, np.asarray(values, np.float32))

    def metadata(self, vocabulary):
        s, w = self.shape, self.writer
        w.add_context_length(32768), w.add_embedding_length(s["hidden"]), w.add_block_count(self.n_layers)
        w.add_feed_forward_length(s.get("ffn", s.get("expert_ffn")))
        w.add_head_count(s["heads"]), w.add_head_count_kv(s["kv_heads"])
        w.add_key_length(s["head_dim"]), w.add_value_length(s["head_dim"])
        w.add_layer_norm_rms_eps(1e-6), w.add_rope_freq_base(1e7 if "interval" in s else 1e6)
        w.add_vocab_size(s["vocab"])
        if "experts" in s:
            w.add_expert_count(s["experts"]), w.add_expert_used_count(s["used"])
            w.add_expert_feed_forward_length(s["expert_ffn"])
            if "shared_ffn" in s:
                w.add_expert_shared_feed_forward_length(s["shared_ffn"])
        if "interval" in s:
            w.add_rope_dimension_count(s["rope_dims"])
            w.add_array(f"{s['arch']}.rope.dimension_sections", [11, 11, 10, 0])
            w.add_uint32(f"{s['arch']}.full_attention_interval", s["interval"])
            w.add_ssm_conv_kernel(4), w.add_ssm_state_size(s["delta_dim"]), w.add_ssm_group_count(s["k_heads"])
            w.add_ssm_time_step_rank(s["v_heads"]), w.add_ssm_inner_size(s["v_heads"] * s["delta_dim"])
        fields = gguf.GGUFReader(vocabulary).fields
        tokens = fields["tokenizer.ggml.tokens"].contents()[:s["vocab"]]
        types = fields["tokenizer.ggml.token_type"].contents()[:s["vocab"]]
        missing = s["vocab"] - len(tokens)
        w.add_tokenizer_model("gpt2"), w.add_tokenizer_pre("qwen35" if "interval" in s else "qwen2")
        w.add_token_list(tokens + [f"[unused{i}]" for i in range(missing)])
        w.add_token_types(types + [gguf.TokenType.UNUSED] * missing)
        w.add_token_merges(fields["tokenizer.ggml.merges"].contents())
        w.add_eos_token_id(151645)

    def attention(self, block):
        s, hidden = self.shape, self.shape["hidden"]
        q, kv = s["heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
        for name, rows, kind in (("q", 2 * q if "interval" in s else q, Q4), ("k", kv, Q4), ("v", kv, Q6)):
            self.matrix(f"{block}.attn_{name}.weight", rows, hidden, kind)
            if "bias" in s:
                self.vector(f"{block}.attn_{name}.bias", np.zeros(rows))
        if "qk_norm" in s or "interval" in s:
            for name in ("q", "k"):
                self.vector(f"{block}.attn_{name}_norm.weight", np.ones(s["head_dim"]))
        self.matrix(f"{block}.attn_output.weight", hidden, q)

    def delta_net(self, block):
        s, hidden = self.shape, self.shape["hidden"]
        inner = s["v_heads"] * s["delta_dim"]
        channels = 2 * s["k_heads"] * s["delta_dim"] + inner
        self.matrix(f"{block}.attn_qkv.weight", channels, hidden)
        self.matrix(f"{block}.attn_gate.weight", inner, hidden)
        self.matrix(f"{block}.ssm_alpha.weight", s["v_heads"], hidden, F32)
        self.matrix(f"{block}.ssm_beta.weight", s["v_heads"], hidden, F32)
        self.matrix(f"{block}.ssm_conv1d.weight", channels, 4, F32)
        self.vector(f"{block}.ssm_dt.bias", np.zeros(s["v_heads"]))
        self.vector(f"{block}.ssm_a", -np.ones(s["v_heads"]))
        self.vector(f"{block}.ssm_norm.weight", np.ones(s["delta_dim"]))
        self.matrix(f"{block}.ssm_out.weight", hidden, inner)

    def feed_forward(self, block, more_bits):
        s, hidden = self.shape, self.shape["hidden"]
        down = Q6 if more_bits else Q4
        if "experts" not in s:
            self.matrix(f"{block}.ffn_gate.weight", s["ffn"], hidden)
            self.matrix(f"{block}.ffn_up.weight", s["ffn"], hidden)
            return self.matrix(f"{block}.ffn_down.weight", hidden, s["ffn"], down)
        self.matrix(f"{block}.ffn_gate_inp.weight", s["experts"], hidden, F32)
        parts = [("exps", s["expert_ffn"], s["experts"])]
        if "shared_ffn" in s:
            parts.append(("shexp", s["shared_ffn"], None))
            self.vector(f"{block}.ffn_gate_inp_shexp.weight", np.zeros(hidden))
        for part, ffn, n in parts:
            self.matrix(f"{block}.ffn_gate_{part}.weight", ffn, hidden, Q4, n)
            self.matrix(f"{block}.ffn_up_{part}.weight", ffn, hidden, Q4, n)
            self.matrix(f"{block}.ffn_down_{part}.weight", hidden, ffn, down, n)

    def tensors(self):
        s, hidden = self.shape, self.shape["hidden"]
        self.matrix("token_embd.weight", s["vocab"], hidden, Q4 if "output" in s else Q6)
        if "output" in s:
            self.matrix("output.weight", s["vocab"], hidden, Q6)
        self.vector("output_norm.weight", np.ones(hidden))
        for layer in range(self.n_layers):
            block = f"blk.{layer}"
            more_bits = layer < self.n_layers // 8 or layer >= 7 * self.n_layers // 8 or layer % 3 == 2
            self.vector(f"{block}.attn_norm.weight", np.ones(hidden))
            if "interval" in s and (layer + 1) % s["interval"] != 0:
                self.delta_net(block)
            else:
                self.attention(block)
            norm = "post_attention_norm" if "interval" in s else "ffn_norm"
            self.vector(f"{block}.{norm}.weight", np.ones(hidden))
            self.feed_forward(block, more_bits)

    def write(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=sorted(SHAPES))
    parser.add_argument("out")
    parser.add_argument("--vocabulary", required=True)
    parser.add_argument("--layers", type=int)
    options = parser.parse_args()
    shape = SHAPES[options.shape]
    n_layers = options.layers or shape["layers"]
    if "interval" in shape and n_layers % shape["interval"] != 0:
        sys.exit(f"--layers {n_layers}: a hybrid has a multiple of {shape['interval']}")
    model = Model(options.out, shape, n_layers)
    model.metadata(options.vocabulary)
    model.tensors()
    model.write()


if __name__ == "__main__":
    main()
