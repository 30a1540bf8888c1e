#!/usr/bin/env python3
"""Foreign text comes in and goes out by one door each: only engine/untrusted_json.cpp parses JSON, and only
app/platform/output.cpp writes to a terminal.

usage: doors_test.py [unittest arguments]
"""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDERS = ("app", "engine", "kernels", "models", "ptx")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
JSON = re.compile(r"\b(?:json|ordered_json|Json)\s*::\s*(?:parse|accept|sax_parse|from_\w+)\b|\b_json\b(?!_pointer)|"
                  r">>\s*json\b")
STREAMS = re.compile(r"\bstd::(?:cout|cerr|clog|puts|putchar|printf|perror)\b|"
                     r"(?<![\w:.>])(?:printf|puts|putchar|perror)\s*\(|\b(?:stdout|stderr|STDOUT_FILENO|STDERR_FILENO)\b|/dev/tty")
STYLED = re.compile(r"\bwrite_styled_(?:output|error)\b")

PARSERS = {"engine/untrusted_json.cpp"}
# Only the first writes; the others ask about a terminal, or end the process.
WRITERS = {
    "app/platform/output.cpp",
    "app/platform/process_start.cpp",  # a child's standard streams
    "app/platform/signals.cpp",  # restores the terminal in a signal handler
    "app/platform/terminal.h",  # size
    "app/platform/spinner.cpp", "app/model_choice/model_download.cpp",  # size
    "engine/driver/device_watch.cpp",  # the last sentence of a process that hangs in a driver
}
# Views, whose texts have passed WordWrap, PromptView or StatusLine.
STYLERS = {"app/platform/output.h", "app/platform/output.cpp", "app/terminal/answer_printer.cpp",
           "app/terminal/conversation.cpp", "app/model_choice/model_download.cpp", "app/terminal/pager.cpp",
           "app/terminal/editor/prompt_reader.cpp", "app/platform/spinner.cpp"}
DOORS = ((JSON, PARSERS), (STREAMS, WRITERS), (STYLED, STYLERS))


def code_of(text):
    return COMMENT_OR_TEXT.sub(lambda match: " " * len(match[0]), text)


def faults(path, text):
    code = code_of(text)
    return [f"{path}:{code.count(chr(10), 0, match.start()) + 1}: {match[0]}"
            for pattern, allowed in DOORS if path not in allowed for match in pattern.finditer(code)]


class Doors(unittest.TestCase):
    maxDiff = None

    def test_sources(self):
        found, n, used = [], 0, set()
        for folder in FOLDERS:
            for where, _, names in os.walk(os.path.join(ROOT, folder)):
                for name in names:
                    if not name.endswith((".cpp", ".h")):
                        continue
                    path = os.path.relpath(os.path.join(where, name), ROOT)
                    if path.startswith("ptx/emulator/"):
                        continue  # a library of its own, which prints what a GPU's kernels print
                    with open(os.path.join(where, name), encoding="utf-8") as file:
                        text = file.read()
                    n += 1
                    found += faults(path, text)
                    used |= {(pattern, path) for pattern, allowed in DOORS if path in allowed
                             and pattern.search(code_of(text))}
        self.assertGreater(n, 700)
        self.assertEqual(found, [])
        unused = [path for pattern, allowed in DOORS for path in allowed if (pattern, path) not in used]
        self.assertEqual(unused, [], "allowed, but not needed")

    def test_faults_are_found(self):
        for line in ("const json j = json::parse(text);", "nlohmann::ordered_json::parse(x)", "file >> json;",
                     "std::cout << text;", "fwrite(a, 1, n, stdout);", "write(STDERR_FILENO, a, n);", 'printf("x");',
                     'std::fprintf(stderr, "x");', "write_styled_output(text);"):
            self.assertEqual(len(faults("x.cpp", line)), 1, line)
        for line in ("// json::parse", 'say("std::cout");', "std::snprintf(a, n, f);", "try_parse_untrusted_json(x)"):
            self.assertEqual(faults("x.cpp", line), [], line)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
