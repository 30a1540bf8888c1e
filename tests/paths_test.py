#!/usr/bin/env python3
"""Every path in `backticks` on the contributors' pages exists.

usage: paths_test.py [unittest arguments]
"""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ("CONTRIBUTING.md", "SECURITY.md", "tests/README.md")
PATH = re.compile(r"(?:[\w.-]+/)+[\w.-]*|\w[\w.-]*\.(?:cpp|h|md|py|sh|txt)|\.clang-\w+|\.editorconfig")
NO_PATH = re.compile(r"build|NAME|VERSION|^<")  # made by a build, or a placeholder


def paths_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = re.sub(r"^```.*?^```", "", file.read(), flags=re.M | re.S)
    spans = re.findall(r"`([^`\n]+)`", text)
    return [span for span in spans if PATH.fullmatch(span) and not NO_PATH.search(span)]


class Paths(unittest.TestCase):
    def test_named_paths_are_there(self):
        for page in PAGES:
            paths = paths_of(page)
            self.assertGreater(len(paths), 1, page)
            folders = (ROOT, os.path.dirname(os.path.join(ROOT, page)))
            for path in paths:
                self.assertTrue(any(os.path.exists(os.path.join(folder, path)) for folder in folders), f"{page}: {path}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
