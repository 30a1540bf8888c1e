#!/usr/bin/env python3
"""Writes cases.json: our templates for every construct, with the text (or the refusal) of jinja2.

  make_cases.py            writes the file anew
  make_cases.py --verify   checks that the file is what would be written; exit code 1: it is not
  make_cases.py --seeds D  writes every template to a file of its own in D: seeds for the fuzzer
"""
import argparse
import json
import pathlib
import sys

import case_templates
import jinja2_oracle

FILE = pathlib.Path(__file__).with_name("cases.json")


def make_case(name, template, mutable):
    case = {"name": name, "template": template}
    text, error = jinja2_oracle.render(template, case_templates.DATA, mutable)
    case.update({"expected": text} if error is None else {"error": error.split("\n")[0]})
    return case


def make_text():
    cases = [make_case(*row) for row in case_templates.rows()]
    names = [case["name"] for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    assert not repeated, f"cases of the same name: {repeated}"
    lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
    variables = json.dumps(case_templates.DATA, ensure_ascii=False)
    return f'{{"variables": {variables},\n "cases": [\n{lines}\n]}}\n'


def write_seeds(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for i, (_, template, _) in enumerate(case_templates.rows()):
        (folder / f"case{i:04d}").write_bytes(template.encode())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--seeds", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.seeds:
        return write_seeds(arguments.seeds)
    text = make_text()
    if not arguments.verify:
        FILE.write_text(text, encoding="utf-8")
        print(f"{FILE}: {text.count(chr(10)) - 3} cases")
    elif FILE.read_text(encoding="utf-8") != text:
        sys.exit(f"{FILE} is not what jinja2 gives now; run make_cases.py")


if __name__ == "__main__":
    main()
