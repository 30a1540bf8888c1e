#!/usr/bin/env python3
"""Compares how near the logits of `chat` and of llama.cpp are to the exact ones, on the same model and tokens.

    compare_closeness.py MODEL.gguf [--build build-tests] [--tokens 512] [--text FILE | --ids 1,2,...] [--threads 2]
                         [--flash-attention]

Prints a Markdown table with each program's relative error and mean KL divergence from the float64 decoder, and the
ratio of the two. The definitions are those of closeness.h. The text is the beginning of closeness_text.txt, the same
as closeness.sh uses. Both programs compute it as one prompt on the CPU, with a cache of keys and values in fp16.
assets/manual/accuracy.md states the results.

Needs `chat` and `reference_logits` (ninja -C build-tests chat reference_logits), and llama-cpp-python, which is built
from PyPI in an environment of its own:
    python3 -m venv llama && CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON \
        -DGGML_AVX512_VBMI=ON -DGGML_AVX512_BF16=ON" llama/bin/pip install --no-binary :all: llama-cpp-python==0.3.36
    llama/bin/python tests/reference/compare_closeness.py MODEL.gguf
tests/bench/compare_llama.py names the flags for other processors. The build takes 8 minutes of processor time.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import llama_cpp
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def tokenize(options):
    if options.ids:
        return [int(i) for i in options.ids.split(",")]
    ids = output_of(options.chat, "tokenize", "-m", options.model, "-f", options.text).split()[:options.tokens]
    if len(ids) < options.tokens:
        sys.exit(f"{options.text} has {len(ids)} tokens, fewer than {options.tokens}")
    return [int(i) for i in ids]


def llama_logits(options, tokens):
    """float32 [n_tokens, n_vocab]."""
    llama = llama_cpp.Llama(options.model, n_ctx=len(tokens), n_batch=len(tokens), n_ubatch=len(tokens),
                            n_threads=options.threads, n_threads_batch=options.threads, logits_all=True,
                            flash_attn=options.flash_attention, verbose=False)
    llama.eval(tokens)
    return numpy.array(llama.scores[:len(tokens)], dtype=numpy.float32)


def closeness(options, ids, file):
    """(relative error, mean KL) of a file of logits."""
    words = output_of(options.reference, "-m", options.model, "--tokens", ids, "--compare", file).split()
    values = dict(zip(words[::2], words[1::2]))
    return float(values["relative_error"]), float(values["mean_kl"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--build", default=os.path.join(ROOT, "build-tests"))
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--text", default=os.path.join(HERE, "closeness_text.txt"))
    parser.add_argument("--ids", help="these tokens in place of a text")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--flash-attention", action="store_true", help="in llama.cpp")
    options = parser.parse_args()
    options.chat, options.reference = (os.path.join(options.build, name) for name in ("chat", "reference_logits"))

    tokens = tokenize(options)
    ids = ",".join(map(str, tokens))
    with tempfile.TemporaryDirectory() as folder:
        chat_file, llama_file = (os.path.join(folder, name) for name in ("chat.f32", "llama.f32"))
        output_of(options.chat, "logits", "-m", options.model, "--device", "cpu", "--tokens", ids, "-o", chat_file)
        llama_logits(options, tokens).tofile(llama_file)
        results = {"chat": closeness(options, ids, chat_file), "llama.cpp": closeness(options, ids, llama_file)}

    print(f"{os.path.basename(options.model)}, {len(tokens)} tokens, llama-cpp-python {llama_cpp.__version__}\n")
    print("| program | relative error | mean KL |\n| --- | ---: | ---: |")
    for program, (error, kl) in results.items():
        print(f"| {program} | {error:.2e} | {kl:.2e} |")
    error, kl = (theirs / ours for ours, theirs in zip(*results.values()))
    print(f"| ratio | {error:.0f} | {kl:.0f} |")


if __name__ == "__main__":
    main()
