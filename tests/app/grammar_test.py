#!/usr/bin/env python3
"""chat grammar: verdicts, exit codes, refusals and the line of --bench.

usage: grammar_test.py CHAT CLI_MODELS [unittest arguments]
"""
import re
import sys
import unittest

from program import TINY, VOCABULARY, Run, path

SCHEMA = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}'
GRAMMAR = 'root ::= "x" [0-9]+ "\\n"?'


class Grammar(unittest.TestCase):
    def check(self, code, out, *arguments, **more):
        run = Run("grammar", *arguments, **more)
        self.assertEqual((run.code, run.out.decode(), run.err.decode()), (code, out, ""))

    def refused(self, code, words, *arguments):
        run = Run("grammar", *arguments)
        self.assertEqual((run.code, run.out), (code, b""), run)
        self.assertEqual(run.err.count(b"\n"), 1, run)
        for word in words:
            self.assertIn(word, run.err.decode())

    def test_a_schema(self):
        file = path("schema.json", SCHEMA.encode())
        text = path("text.json", b'{"a": 12}')
        for flags in (("-j", SCHEMA), ("--json-schema", SCHEMA), ("-jf", file), ("--json-schema-file", file)):
            self.check(0, "accepted\n", *flags, "--check", stdin=b'{"a": 12}')
            self.check(0, "accepted\n", *flags, "--check", text)
            self.check(1, "rejected at byte 2: expected a\"\n", *flags, "--check", stdin=b'{"b": 12}')

    def test_every_byte_counts(self):
        self.check(1, "rejected at byte 2: expected the end\n", "-j", '{"enum": ["", [], {}]}', "--check", stdin=b'""\n')
        self.check(0, "accepted\n", "--grammar", GRAMMAR, "--check", stdin=b"x12\n")
        self.check(1, "rejected at byte 1: expected '0' to '9'\n", "--grammar", GRAMMAR, "--check", stdin=b"x")
        self.check(1, "rejected at byte 0: expected 'x'\n", "--grammar", GRAMMAR, "--check", stdin=b"\xff")

    def test_lines(self):
        self.check(1, "accepted\nrejected at byte 1: expected '0' to '9'\naccepted\n", "--grammar", GRAMMAR, "--check", "--lines",
                   stdin=b"x1\nxy\nx22")
        self.check(0, "accepted\n", "--grammar-file", path("g.gbnf", GRAMMAR.encode()), "--check", "--lines", stdin=b"x1\n")
        self.check(0, "", "--grammar", GRAMMAR, "--check", "--lines", stdin=b"")

    def test_bench(self):
        for model in (TINY, VOCABULARY):
            run = Run("grammar", "-j", SCHEMA, "--bench", "-m", model)
            self.assertEqual((run.code, run.err), (0, b""))
            speed = "" if model == VOCABULARY else r"decoding \d+ tokens held [\d.]+ t/s free [\d.]+ t/s ratio [\d.]+\n"
            found = re.fullmatch(r"masks (\d+) mean [\d.]+ us p99 [\d.]+ us max [\d.]+ us\n" + speed, run.out.decode())
            self.assertGreaterEqual(int(found[1]), 200)

    def test_wrong_usage(self):
        self.refused(2, ("--json-schema", "--grammar"), "--check")
        self.refused(2, ("--json-schema", "--grammar"), "-j", "{}", "--grammar", GRAMMAR, "--check")
        self.refused(2, ("--check", "--bench"), "-j", "{}")
        self.refused(2, ("--lines", "--check"), "-j", "{}", "--lines", "--bench", "-m", TINY)

    def test_what_cannot_be_held(self):
        self.refused(1, ("minLength", "#/items"), "-j", '{"items": {"minLength": -1}}', "--check")
        self.refused(1, ("no text satisfies",), "-j", "false", "--check")
        self.refused(1, ("JSON",), "-j", "{", "--check")
        self.refused(1, ("line 1",), "--grammar", "root ::= (", "--check")
        self.refused(1, ("no-such.json",), "-jf", "no-such.json", "--check")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
