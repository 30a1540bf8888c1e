#!/usr/bin/env python3
"""Tests of tests/bench/history/slower.py."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

SLOWER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slower.py")


def said_of(*records, by="0.05"):
    """(exit code, output); a record: (machine, test, ratio), and an instruction set if it was not the best one."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for i, (machine, test, ratio, *simd) in enumerate(records):
            file.write(json.dumps({"machine": machine, "threads": 2, "model": "m.gguf", "test": test, "ratio": ratio,
                                   "commit": f"c{i}"} | ({"simd": simd[0]} if simd else {})) + "\n")
        file.flush()
        done = subprocess.run([sys.executable, SLOWER, file.name, "--by", by], capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout


class Slower(unittest.TestCase):
    def test_the_newest_is_held_against_the_median_of_those_before(self):
        self.assertEqual((1, "m.gguf tg64: 1.10 times llama.cpp at c3, 1.30 before (box, 2 threads)\n"),
                         said_of(("box", "tg64", 1.3), ("box", "tg64", 2.0), ("box", "tg64", 1.2), ("box", "tg64", 1.1)))

    def test_noise_is_not_slower(self):
        self.assertEqual((0, "nothing got slower\n"), said_of(("box", "tg64", 1.3), ("box", "tg64", 1.25)))
        self.assertEqual(1, said_of(("box", "tg64", 1.3), ("box", "tg64", 1.25), by="0.01")[0])

    def test_other_machines_and_tests_are_others(self):
        self.assertEqual((0, "nothing got slower\n"), said_of(("box", "tg64", 1.3), ("hut", "tg64", 1.0),
                                                              ("box", "pp512", 1.0), ("box", "tg64", 1.0, "avx2")))

    def test_what_is_kept_here_can_be_read(self):
        done = subprocess.run([sys.executable, SLOWER], capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
