#!/usr/bin/env python3
"""Lists what got slower, by the ratios that `compare_llama.py --record` has kept.

    slower.py [RATIOS.jsonl] [--by 0.05]

Compares the newest ratio of each machine, instruction set, model and test with the median of its predecessors. Times
of different days are not comparable, but ratios of two programs measured in turns are. Prints a line for each ratio
that fell by more than --by, and then exits with 1.
"""
import argparse
import json
import os
import statistics
import sys

RATIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ratios.jsonl")


def slower(records, by):
    """Sentences; records: oldest first."""
    ratios = {}
    for record in records:
        machine = ", ".join(filter(None, (record["machine"], record.get("simd"))))
        key = (machine, record["threads"], record["model"], record["test"])
        ratios.setdefault(key, []).append((record["ratio"], record["commit"]))
    for (machine, threads, model, test), measured in ratios.items():
        (newest, commit), before = measured[-1], [ratio for ratio, _ in measured[:-1]]
        if before and newest < (1 - by) * statistics.median(before):
            yield (f"{model} {test}: {newest:.2f} times llama.cpp at {commit}, {statistics.median(before):.2f} before "
                   f"({machine}, {threads} threads)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratios", nargs="?", default=RATIOS)
    parser.add_argument("--by", type=float, default=0.05)
    options = parser.parse_args()
    with open(options.ratios, encoding="utf-8") as file:
        found = list(slower([json.loads(line) for line in file], options.by))
    print("\n".join(found) if found else "nothing got slower")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
