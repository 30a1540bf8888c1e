#!/usr/bin/env python3
"""Sources use the field's words: what CONTRIBUTING.md asks of names and comments, as far as a pattern can tell.

usage: words_test.py [unittest arguments]
"""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("app", "engine", "kernels", "models", "ptx", "tests")
# A comment, or a string, in which // is no comment.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*')
RULES = (
    ("a comment is a sentence or a noun phrase, and does not begin with \"Of\"", re.compile(r"^//+ *Of ")),
    ("data is a thing: which, it or none", re.compile(r"\b(?:who|whom|nobody|somebody)\b", re.I)),
)
NAMES = (
    ("a bound is called kMax or kMin", re.compile(r"\bk(?:Most|Least)(?:[A-Z]|\b)")),
    ("a name says what happens: pop, apply, allocate, on_event", re.compile(r"\b(?:take|give)\(")),
)
# Outside of these, models/threads.h starts threads, so that no exception ends the program.
STARTS_THREADS = re.compile(r"\bstd::j?thread\s*[({]|\bstd::vector<std::jthread>")
MAY_START_THREADS = ("models/threads.cpp", "ptx/emulator/", "tests/")


def sources():
    found = []
    for folder in FOLDERS:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            found += [os.path.join(where, name) for name in names if name.endswith((".cpp", ".h"))]
    return found


def faults(path, text):
    comments = [match for match in COMMENT.finditer(text) if match[0].startswith("//")]
    found = [(match.start(), rule) for match in comments for rule, pattern in RULES if pattern.search(match[0])]
    code = COMMENT.sub(lambda match: " " * len(match[0]), text)
    found += [(match.start(), rule) for rule, pattern in NAMES for match in pattern.finditer(code)]
    return [f"{os.path.relpath(path, ROOT)}:{text.count(chr(10), 0, at) + 1}: {rule}" for at, rule in found]


class Words(unittest.TestCase):
    def test_sources(self):
        paths = sources()
        self.assertGreater(len(paths), 1000)
        found = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                found += faults(path, file.read())
        self.assertEqual(found, [])

    def test_threads_have_a_last_catch(self):
        found = []
        for path in sources():
            name = os.path.relpath(path, ROOT)
            if name.startswith(MAY_START_THREADS):
                continue
            with open(path, encoding="utf-8") as file:
                if STARTS_THREADS.search(COMMENT.sub("", file.read())):
                    found.append(name)
        self.assertEqual(found, [])

    def test_faults_are_found(self):
        for line in ("// Of a warp.", "int n;  // who is chosen", "constexpr int kMostRows = 2;", "const int n = take();"):
            self.assertEqual(len(faults("x", "int a;\n" + line)), 1, line)
        for line in ('say("// Of a warp; nobody");', "// One of them.", "int max_rows = pop();", "kMostlyQ4KM"):
            self.assertEqual(faults("x", line), [], line)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
