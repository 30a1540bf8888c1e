#!/usr/bin/env python3
"""Compares two results of tests/gpu/run.sh in Markdown: each figure, B divided by A, limits and predictions.

  tests/gpu/compare.py RUN RUN    RUN: a folder that run.sh wrote, or a RESULTS.json
"""
import json
import os
import signal
import sys

# For each table: the columns that name a row, the figure, and the columns with its limits and predictions.
TABLES = {
    "probe": (("check", "unit"), "value", ("expected",)),
    "logits": (("of",), "relative error", ()),
    "read ceiling": (("target",), "GB/s", ("GB/s by clock and bus width",)),
    "decode": (("shape", "depth", "launch"), "tokens/s",
               ("at the read ceiling", "expected tokens/s", "harsh tokens/s")),
    "prefill": (("shape", "tokens"), "tokens/s", ("expected tokens/s", "harsh tokens/s")),
    "batches": (("shape", "sequences", "launch"), "tokens/s of all", ("by bytes at the read ceiling, tokens/s",)),
    "chat": (("launch", "run"), "tokens/s", ()),
    "contention": (("call",), "ms beside a kernel", ("ms alone", "ms that the kernel ran")),
    "decoder contention": (("shape", "call"), "longest gap between tokens, ms", ("ms of the call",)),
    "phases": (("shape", "depth", "phase"), "first begin to last end, us", ()),
    "products": (("shape", "kernel"), "us", ("at the read ceiling", "expected us", "harsh us")),
    "kernels in a stream": (("shape", "depth", "kernel"), "us",
                            ("at the read ceiling", "expected us in a graph", "harsh us in a graph")),
    "constants": (("constant", "how", "unit"), "value", ("expected",)),
    "read rate": (("blocks a multiprocessor", "threads", "loads ahead"), "GB/s", ()),
    "start": (("shape", "start", "part"), "ms", ()),
    "counters": (("part", "metric", "unit"), "value", ()),
    "llama.cpp": (("shape", "test"), "tokens/s", ("llama.cpp, tokens/s",)),
    "parts": (("part", "verdict"), "seconds", ()),
}


def read_rows(run):
    """The rows of a run. A last line that was cut short, as by a kill, is dropped."""
    if not os.path.isdir(run):
        with open(run) as file:
            return json.load(file)["rows"]
    rows = []
    with open(os.path.join(run, "rows.jsonl")) as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines[:-1], 1):
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise SystemExit(f"compare.py: {run}/rows.jsonl line {number} is no JSON: {error}")
    return rows


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def with_ceiling(rows):
    """Adds the time that the bytes alone would take at the read rate measured in the same run."""
    rate = None
    for row in rows:
        if row["table"] == "read ceiling":
            rate = number(row.get("GB/s"))
        share = number(row.get("of the read ceiling, %"))
        if row["table"] == "decode" and share:
            row["at the read ceiling"] = 100 * row["tokens/s"] / share
        if row["table"] in ("products", "kernels in a stream") and rate and number(row.get("bytes")):
            row["at the read ceiling"] = row["bytes"] / rate * 1e-3
    return rows


def keyed(rows, table):
    """Rows by name, in order; the n-th row of one name gets n appended."""
    names, _, _ = TABLES[table]
    found = {}
    for row in rows:
        if row["table"] != table:
            continue
        key = tuple(str(row.get(name, "")) for name in names)
        n = 1
        while key + ((f"#{n}",) if n > 1 else ()) in found:
            n += 1
        found[key + ((f"#{n}",) if n > 1 else ())] = row
    return found


def text(value):
    value = number(value)
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def print_table(table, a, b):
    names, figure, limits = TABLES[table]
    rows_a, rows_b = keyed(a, table), keyed(b, table)
    keys = list(rows_a) + [key for key in rows_b if key not in rows_a]
    if not keys:
        return
    print(f"\n## {table}: {figure}\n")
    head = [", ".join(names), "A", "B", "B / A", *limits]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for key in keys:
        row_a, row_b = rows_a.get(key, {}), rows_b.get(key, {})
        value_a, value_b = number(row_a.get(figure)), number(row_b.get(figure))
        ratio = f"{value_b / value_a:.2f}" if value_a and value_b is not None else ""
        bounds = [" / ".join(dict.fromkeys(t for t in (text(row_a.get(limit)), text(row_b.get(limit))) if t))
                  for limit in limits]
        print("| " + " | ".join([", ".join(part for part in key if part), text(value_a), text(value_b), ratio, *bounds])
              + " |")


def device_of(rows):
    devices = dict.fromkeys(row["device"] for row in rows if row["table"] not in ("parts", "logits", "chat"))
    return ", ".join(devices) or "no device"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # a pager may stop reading
    a, b = (with_ceiling(read_rows(run)) for run in sys.argv[1:])
    print(f"A: {sys.argv[1]}, {device_of(a)}\nB: {sys.argv[2]}, {device_of(b)}")
    print("\nWhere A and B have other limits, both stand there.")
    for table in TABLES:
        print_table(table, a, b)


if __name__ == "__main__":
    main()
