#!/usr/bin/env python3
"""Compares real chat templates with jinja2, over fixed and random conversations.

  compare_jinja2.py --renderer BUILD/render_template [--random 300] [--seed 1] TEMPLATE.jinja...
  compare_jinja2.py --chat BUILD/chat TEMPLATE.jinja...     through `chat template --template F --messages J`

Without templates: those of the reference data ($WARPCHAT_REFERENCE_DATA, or ../shared/data beside the source tree).
Each template must give jinja2's text, or be refused if jinja2 refuses it. Exit code 1: there are differences.
"""
import argparse
import difflib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import conversations
import jinja2_oracle


REFERENCE_DATA = pathlib.Path(os.environ.get("WARPCHAT_REFERENCE_DATA")
                              or pathlib.Path(__file__).resolve().parents[2] / "../shared/data")


class LineRenderer:
    """render_template --lines: one process, one JSON line per rendering. Stops at the first wrong content range."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "--lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, template, variables):
        self.process.stdin.write(json.dumps({"template": template, "variables": variables}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"render_template ended with code {self.process.wait()} on {variables}")
        answer = json.loads(line)
        if "text" in answer:
            fault = conversations.fault_of_content(answer["text"], answer["content"], variables)
            if fault:
                sys.exit(f"{template!r}\n{fault}\n{answer} of {variables}")
        return answer.get("text"), answer.get("error")


class ChatRenderer:
    """chat template --template FILE --messages FILE: one process per rendering."""

    def __init__(self, program):
        self.program, self.folder = program, tempfile.TemporaryDirectory()

    def __call__(self, template, variables):
        folder = pathlib.Path(self.folder.name)
        (folder / "template.jinja").write_bytes(template.encode())
        (folder / "messages.json").write_text(json.dumps(variables))
        done = subprocess.run([self.program, "template", "--template", folder / "template.jinja", "--messages",
                               folder / "messages.json"], capture_output=True, timeout=60)
        if done.returncode not in (0, 1):
            sys.exit(f"chat ended with code {done.returncode} on {variables}")
        return (done.stdout.decode(), None) if done.returncode == 0 else (None, done.stderr.decode().strip())


def describe(ours, theirs):
    if ours[0] is None or theirs[0] is None:
        return f"  ours:   {ours[1] or 'rendered'}\n  jinja2: {theirs[1] or 'rendered'}"
    lines = difflib.unified_diff(theirs[0].splitlines(True), ours[0].splitlines(True), "jinja2", "ours", n=1)
    return "".join("  " + repr(line) + "\n" for line in lines)


def compare(path, renderer, cases, arguments):
    template = path.read_bytes().decode()
    differences = refused = 0
    for name, variables in cases:
        theirs = jinja2_oracle.render(template, variables, arguments.mutable)
        ours = renderer(template, variables)
        refused += theirs[0] is None
        if ours[0] != theirs[0]:
            differences += 1
            if differences <= arguments.show:
                print(f"{path.name}: {name}\n{describe(ours, theirs)}")
        elif arguments.errors and ours[1]:
            print(f"{path.name}: {name}\n{describe(ours, theirs)}")
    print(f"{path.name}: {len(cases)} renderings, {refused} refused by both, {differences} differences", flush=True)
    return differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", help="the program render_template")
    parser.add_argument("--chat", help="the program chat")
    parser.add_argument("--random", type=int, default=100, help="random conversations per template")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=2, help="differences to show per template")
    parser.add_argument("--errors", action="store_true", help="show the errors of both, too")
    parser.add_argument("--mutable", action="store_true", help="let jinja2 change lists and dicts")
    parser.add_argument("templates", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    templates = arguments.templates or sorted(REFERENCE_DATA.glob("templates/*.jinja"))
    if not templates:
        print("needs the reference data: set WARPCHAT_REFERENCE_DATA to its folder", file=sys.stderr)
        sys.exit(77)
    if bool(arguments.renderer) == bool(arguments.chat):
        parser.error("give either --renderer or --chat")
    renderer = LineRenderer(arguments.renderer) if arguments.renderer else ChatRenderer(arguments.chat)
    cases = list(conversations.fixed()) + list(conversations.random_conversations(arguments.random, arguments.seed))
    sys.exit(1 if sum(compare(path, renderer, cases, arguments) for path in templates) else 0)


if __name__ == "__main__":
    main()
