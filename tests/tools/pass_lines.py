#!/usr/bin/env python3
"""Lists the files that describe a pass through the model, and counts their lines.

A file describes the pass if its code names at least six of the operations below: whoever adds an operation has to
read it. Comments do not count as naming. Tests of other things name operations too, so test sources are left out.

usage: pass_lines.py [ROOT]
"""
import os
import re
import sys

FOLDERS = ("app", "engine", "kernels", "tests/gpu", "tests/speed_model")
OPERATIONS = {
    "embed": r"embed",
    "norm": r"norm",
    "qkv": r"qkv|q_gate",
    "attention": r"attention|attend",
    "output": r"(?<![a-z])output(?![a-z])|Output(?![a-z])",
    "gate_up": r"gate_up|GateUp",
    "down": r"(?<![a-z])down(?![a-z])|Down(?![a-z])",
    "router": r"rout",
    "experts": r"[eE]xpert",
    "conv": r"conv(?![a-uw-z])|Conv",
    "delta": r"[dD]elta",
    "logits": r"[lL]ogits",
}
MIN_OPERATIONS = 6


def operations_in(text):
    code = re.sub(r"//[^\n]*", "", text)
    return [name for name, pattern in OPERATIONS.items() if re.search(pattern, code)]


def describing_files(root):
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(root, folder)):
            for name in sorted(names):
                if not name.endswith((".h", ".cpp")) or name.endswith("_test.cpp"):
                    continue
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                if len(operations_in(text)) >= MIN_OPERATIONS:
                    yield os.path.relpath(path, root), text.count("\n")


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    rows = sorted(describing_files(root), key=lambda row: -row[1])
    for path, lines in rows:
        print(f"{lines:6} {path}")
    print(f"{sum(lines for _, lines in rows):6} lines in {len(rows)} files")


if __name__ == "__main__":
    main()
