#!/usr/bin/env python3
"""README.md and assets/manual/: size, links, and named flags.

usage: manual_test.py CHAT [unittest arguments]
"""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

CHAT = os.path.abspath(sys.argv[1])
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
README = os.path.join(ROOT, "README.md")
PAGES = [README, *sorted(glob.glob(os.path.join(ROOT, "assets/manual/*.md")))]

MAX_LINES, MAX_COLUMNS = 170, 120

# Flags of other programs that the pages name.
OTHER_FLAGS = {
    "cmake": {"--preset", "--install"},
    "ctest": {"--test-dir"},
    "llama.cpp": {"--jinja", "--metrics"},
    "SGLang": {"--model-path", "--tp", "--host", "--enable-metrics", "--nnodes", "--api-key"},
    "compare_closeness.py": {"--ids"},
    "tests/run.sh": {"--full", "--sanitized", "--threads", "--fuzz"},
    "vLLM": {"--tensor-parallel-size", "--pipeline-parallel-size", "--api-key"},
}
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")


def contents(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def name_of(path):
    return os.path.relpath(path, ROOT)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def code_blocks(text):
    return re.findall(r"^```\w*\n(.*?)^```", text, flags=re.M | re.S)


def code_spans(text):
    return re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))


def anchor_of(heading):
    """GitHub's anchor for a heading."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def chat_help(*command):
    with tempfile.TemporaryDirectory() as home:
        environment = {"HOME": home, "PATH": os.environ.get("PATH", ""), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        return subprocess.run([CHAT, *command, "--help"], env=environment, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, check=True, timeout=60).stdout


def own_flags():
    """{command: its long flags}; "" is a conversation."""
    text = chat_help()
    commands = re.search(r"^Commands:\n(.*?)^\S", text, flags=re.M | re.S).group(1)
    names = re.findall(r"^  ([a-z][a-z-]+) ", commands, flags=re.M)
    own = {name: set(FLAG.findall(chat_help(name) if name else text)) for name in ["", *names]}
    own["assistant"] |= own[""]  # of which it is made
    return own


def chat_calls(line):
    """[(command, flags)] of the calls of chat in a shell line."""
    calls = []
    for part in re.split(r"[|;<>]", line.split(" #")[0]):
        call = re.match(r"\s*(?:[A-Z_]+=\S*\s+)*(?:(?:\S*/)?chat|app/quickstart\.sh)(?:\s+(.*))?$", part)
        if call:
            words = (call.group(1) or "").split()
            command = words[0] if words and re.fullmatch(r"[a-z][a-z-]+", words[0]) else ""
            calls.append((command, FLAG.findall(part)))
    return calls


class Manual(unittest.TestCase):
    def test_the_readme_is_short(self):
        lines = contents(README).splitlines()
        self.assertLessEqual(len(lines), MAX_LINES)
        self.assertEqual([], [line for line in lines if len(line) > MAX_COLUMNS])

    def test_links_lead_to_files_and_headings(self):
        for page in PAGES:
            for target in re.findall(r"\]\(([^)\s]+)\)", without_code(contents(page))):
                path, _, anchor = target.partition("#")
                file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if re.match(r"[a-z]+:", target):
                    continue
                with self.subTest(page=name_of(page), link=target):
                    self.assertTrue(os.path.exists(file), f"there is no {name_of(file)}")
                    self.assertFalse(name_of(file).startswith(".."), "it leaves the repository")
                    if anchor:
                        headings = re.findall(r"^#+ (.*)$", contents(file), flags=re.M)
                        self.assertIn(anchor, [anchor_of(heading) for heading in headings])

    def test_the_readme_and_the_index_link_every_page(self):
        pages = {os.path.basename(page) for page in PAGES} - {"README.md"}
        for index, folder in ((README, "assets/manual/"), (os.path.join(ROOT, "assets/manual/README.md"), "")):
            linked = re.findall(r"\]\(" + re.escape(folder) + r"([\w-]+\.md)\)", contents(index))
            self.assertEqual(set(), pages - set(linked), name_of(index))

    def test_flags_are_there(self):
        own = own_flags()
        known = set().union(*own.values(), *OTHER_FLAGS.values())
        for page in PAGES:
            text = contents(page)
            for code in code_blocks(text) + code_spans(text):
                with self.subTest(page=name_of(page), code=code):
                    self.assertEqual(set(), set(FLAG.findall(code)) - known)
            for line in [*"\n".join(code_blocks(text)).splitlines(), *code_spans(text)]:
                for command, flags in chat_calls(line):
                    with self.subTest(page=name_of(page), line=line):
                        self.assertIn(command, own, f"unknown command {command}")
                        self.assertEqual(set(), set(flags) - own[command])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
