#!/usr/bin/env python3
"""The built program is hardened: what readelf tells of the file, and how each source was compiled.

usage: hardening_test.py CHAT COMPILE_COMMANDS PROCESSOR [unittest arguments]
"""
import json
import re
import shutil
import subprocess
import sys
import unittest

CHAT, COMMANDS, PROCESSOR = sys.argv[1:4]
# Their inner loops index by the value, and their innermost ones end too soon for a guard of the stack.
WITHOUT_ASSERTIONS = re.compile(r"/(engine/cpu|ptx/emulator)/")
WITHOUT_STACK_GUARD = re.compile(r"/engine/cpu/kernels/\w+\.cpp$")


def readelf(flags):
    return subprocess.run(["readelf", "-W", flags, CHAT], check=True, capture_output=True, text=True).stdout


def last_of(command, name):
    """What the last -D or -U of a macro in a command says: its value, or None."""
    found = re.findall(rf"-(D|U){name}(?:=(\S+))?(?=\s|$)", command)
    return (found[-1][1] or "1") if found and found[-1][0] == "D" else None


class File(unittest.TestCase):
    def setUp(self):
        if not shutil.which("readelf"):
            self.skipTest("readelf is not installed")

    def test_addresses_are_random_and_the_linker_s_tables_read_only(self):
        self.assertRegex(readelf("-h"), r"Type:\s+DYN")
        segments = readelf("-l")
        self.assertIn("GNU_RELRO", segments)
        self.assertRegex(segments, r"GNU_STACK\s.*\sRW\s")
        self.assertRegex(readelf("-d"), r"BIND_NOW|\bNOW\b")

    def test_copies_stacks_and_indexes_are_checked(self):
        symbols = readelf("--dyn-syms")
        self.assertIn("__stack_chk_fail", symbols)
        self.assertRegex(symbols, r"__(read|memcpy|memset|snprintf|vsnprintf)_chk@")
        self.assertRegex(readelf("-s"), r"__glibcxx_assert_fail|__replacement_assert")


class Commands(unittest.TestCase):
    def setUp(self):
        with open(COMMANDS, encoding="utf-8") as file:
            self.commands = [(entry["file"], entry["command"]) for entry in json.load(file)]
        self.assertGreater(len(self.commands), 100)

    def test_every_source_is_compiled_with_each_flag(self):
        flags = ["-fstack-clash-protection"]
        flags += ["-fcf-protection"] if PROCESSOR in ("x86_64", "AMD64") else ["-mbranch-protection=standard"]
        for file, command in self.commands:
            for flag in flags:
                self.assertIn(f" {flag} ", command, file)
            guards = re.findall(r" -f(no-stack-protector|stack-protector-strong)(?= )", command)
            is_hot = WITHOUT_STACK_GUARD.search(file)
            self.assertEqual(guards[-1:], ["no-stack-protector" if is_hot else "stack-protector-strong"], file)

    def test_indexes_are_checked_outside_of_the_hot_loops(self):
        for file, command in self.commands:
            is_hot = WITHOUT_ASSERTIONS.search(file) and "/tests/" not in file
            self.assertEqual(last_of(command, "_GLIBCXX_ASSERTIONS"), None if is_hot else "1", file)

    def test_optimised_sources_check_their_copies(self):
        for file, command in self.commands:
            if re.search(r" -O[123s] ", command):
                self.assertEqual(last_of(command, "_FORTIFY_SOURCE"), "3", file)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
