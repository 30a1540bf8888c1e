#!/usr/bin/env python3
"""Tokens per second of an answer that repeats a file, with drafts and without, in turns on the same machine.

    drafts.py MODEL.gguf [--chat build/chat] [--file FILE] [--generate 256] [--rounds 5]

The file is a short list by default, which even a small model repeats. Prints a Markdown table: the median of each side
and the median of the rounds' ratios; and how many draft tokens were accepted. Both answers must be the same.
"""
import argparse
import json
import statistics
import subprocess
import sys

QUESTION = "Repeat this list."
WORDS = "apple bread candle door engine forest garden house island jacket kitchen lamp mirror needle orange paper"
LIST = "\n".join(f"{i}. {word}" for i, word in enumerate(WORDS.split(), 1))


def answer(options, text, *flags):
    command = [options.chat, "-m", options.model, "--device", "cpu", "--temp", "0", "-n", str(options.generate),
               "-p", QUESTION, "--json", "--no-history", *flags]
    return json.loads(subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--chat", default="build/chat")
    parser.add_argument("--file")
    parser.add_argument("--generate", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    text = LIST
    if options.file:
        with open(options.file, encoding="utf-8") as file:
            text = file.read()

    rounds = []
    for _ in range(options.rounds):
        rounds.append([answer(options, text), answer(options, text, "--no-drafts")])
        if rounds[-1][0]["answer"] != rounds[-1][1]["answer"]:
            sys.exit("the answers differ, with drafts and without")
    rates = [[side["timings"]["generated_per_second"] for side in pair] for pair in rounds]
    drafts, plain = (statistics.median(side) for side in zip(*rates))
    timings, usage = rounds[0][0]["timings"], rounds[0][0]["usage"]
    print(f"{usage['completion_tokens']} tokens, {timings['accepted_tokens']} of {timings['drafted_tokens']} draft "
          f"tokens accepted, medians of {options.rounds} rounds in turns\n")
    print("| with drafts, t/s | without, t/s | ratio |\n| ---: | ---: | ---: |")
    print(f"| {drafts:.0f} | {plain:.0f} | {statistics.median(a / b for a, b in rates):.2f} |")


if __name__ == "__main__":
    main()
