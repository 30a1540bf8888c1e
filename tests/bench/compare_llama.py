#!/usr/bin/env python3
"""Tokens per second of `chat` beside llama.cpp, in turns on the same machine, so that other load affects both.

    compare_llama.py MODEL.gguf [--chat build/chat] [--threads 2] [--prompt 512] [--generate 128] [--rounds 7] [--record]
                     [--simd avx2] [--depth 8192]

Needs llama-cpp-python built for this machine. If its AMX code crashes, build it without:
    CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON -DGGML_AVX512_VBMI=ON -DGGML_AVX512_BF16=ON" \
        pip install --no-binary llama-cpp-python llama-cpp-python
Add -DGGML_AVX_VNNI=ON only if /proc/cpuinfo has avx_vnni; otherwise Q4_1 and Q8_0 end in an illegal instruction.
--simd: another instruction set for `chat` than the best one. llama-cpp-python must be built for it, too; for avx2:
CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON".
--depth: tokens in the cache before the timed ones.
Prints a Markdown table: the median of each side and the median of the rounds' ratios. --record adds them to
history/ratios.jsonl; history/slower.py says which got worse.
"""
import argparse
import ctypes
import json
import os
import platform
import statistics
import subprocess
import sys
import time

import llama_cpp

HERE = os.path.dirname(os.path.abspath(__file__))


def chat_rates(options, prompt, generate):
    """One `chat bench` run: tokens per second of its single test."""
    command = [options.chat, "bench", "-m", options.model, "-t", str(options.threads), "-p", str(prompt),
               "-n", str(generate), "-d", str(options.depth), "-r", "1", "-o", "json"]
    environment = os.environ | ({"WARPCHAT_SIMD": options.simd} if options.simd else {})
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)[0]["avg_ts"]


class Llama:
    """llama.cpp through its C functions, as llama-bench uses them: random tokens, logits of the last one only."""
    BATCH = 512

    def __init__(self, options):
        context = options.depth + options.prompt + options.generate
        self.model = llama_cpp.Llama(options.model, n_ctx=context, n_batch=max(self.BATCH, options.prompt),
                                     n_ubatch=max(self.BATCH, options.prompt), n_threads=options.threads,
                                     n_threads_batch=options.threads, flash_attn=options.flash_attention,
                                     verbose=False)
        self.n_vocab = self.model.n_vocab()
        self.depth = options.depth

    def decode(self, tokens):
        array = (llama_cpp.llama_token * len(tokens))(*tokens)
        if llama_cpp.llama_decode(self.model.ctx, llama_cpp.llama_batch_get_one(array, len(tokens))) != 0:
            sys.exit("llama_decode failed")
        llama_cpp.llama_synchronize(self.model.ctx)

    def rewind(self):
        """Keeps the first `depth` tokens in the cache; recomputes them if they cannot be kept."""
        memory = llama_cpp.llama_get_memory(self.model.ctx)
        n_kept = llama_cpp.llama_memory_seq_pos_max(memory, 0) + 1
        if n_kept >= self.depth and llama_cpp.llama_memory_seq_rm(memory, 0, self.depth, -1):
            return
        llama_cpp.llama_memory_clear(memory, True)
        for first in range(0, self.depth, self.BATCH):
            self.decode(self.tokens(min(self.BATCH, self.depth - first)))

    def tokens(self, count):
        return [i * 7919 % self.n_vocab for i in range(count)]

    def rate(self, prompt, generate):
        elapsed = 0.0
        for _ in ("warm-up", "timed"):
            self.rewind()
            start = time.perf_counter()
            if prompt:
                self.decode(self.tokens(prompt))
            else:
                for token in self.tokens(generate):  # warms up both programs: experts are read on first use
                    self.decode([token])
            elapsed = time.perf_counter() - start
        return (prompt or generate) / elapsed


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return names[0] if names else platform.processor()


def commit():
    def git(*arguments):
        return subprocess.run(["git", "-C", HERE, *arguments], capture_output=True, text=True, check=False).stdout
    return git("rev-parse", "--short", "HEAD").strip() + ("+" if git("status", "--porcelain", "-uno") else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--chat", default="build/chat")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--generate", type=int, default=128)
    parser.add_argument("--depth", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--flash-attention", action="store_true", help="in llama.cpp")
    parser.add_argument("--simd", default="", help="an instruction set, as in WARPCHAT_SIMD")
    parser.add_argument("--record", action="store_true", help="add the ratios to the history")
    options = parser.parse_args()

    llama = Llama(options)
    depth = f"@d{options.depth}" if options.depth else ""
    tests = {f"pp{options.prompt}{depth}": (options.prompt, 0), f"tg{options.generate}{depth}": (0, options.generate)}
    tests = {name: sizes for name, sizes in tests.items() if any(sizes)}
    rates = {name: ([], []) for name in tests}
    for _ in range(options.rounds):
        for name, (prompt, generate) in tests.items():
            rates[name][0].append(chat_rates(options, prompt, generate))
            rates[name][1].append(llama.rate(prompt, generate))
            time.sleep(0.05)  # its threads spin before they sleep

    simd = f"{options.simd}, " if options.simd else ""
    print(f"{processor()}, {simd}{options.threads} threads, {time.strftime('%Y-%m-%d')}, "
          f"llama-cpp-python {llama_cpp.__version__}, medians of {options.rounds} rounds in turns\n")
    print("| test | chat, t/s | llama.cpp, t/s | ratio |\n| --- | ---: | ---: | ---: |")
    for name, (ours, theirs) in rates.items():
        ratio = statistics.median(a / b for a, b in zip(ours, theirs))
        print(f"| {name} | {statistics.median(ours):.1f} | {statistics.median(theirs):.1f} | {ratio:.2f} |")
        if options.record:
            record = {"date": time.strftime("%Y-%m-%d"), "commit": commit(), "machine": processor(),
                      "simd": options.simd, "threads": options.threads, "model": os.path.basename(options.model),
                      "test": name,
                      "chat": round(statistics.median(ours), 1), "llama.cpp": round(statistics.median(theirs), 1),
                      "ratio": round(ratio, 3)}
            with open(os.path.join(HERE, "history", "ratios.jsonl"), "a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
