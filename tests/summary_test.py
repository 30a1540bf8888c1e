#!/usr/bin/env python3
"""Tests of tests/summary.py on real runs of ctest."""
import os
import subprocess
import sys
import tempfile
import unittest

SUMMARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "summary.py")


def summary_of(suites):
    """(exit code, output) of a run of {name: shell command}."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            for name, command in suites.items():
                file.write(f'add_test({name} sh -c "{command}")\n'
                           f"set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)\n")
        subprocess.run(["ctest", "--test-dir", folder], capture_output=True, check=False)
        done = subprocess.run([sys.executable, SUMMARY, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout


class Summary(unittest.TestCase):
    def test_what_passed_and_failed_is_counted(self):
        self.assertEqual((0, "1 passed, 0 failed, 0 skipped\n"), summary_of({"good": "true"}))
        self.assertEqual((1, "1 passed, 1 failed, 0 skipped\n"), summary_of({"good": "true", "bad": "false"}))

    def test_a_skipped_suite_is_named_with_its_reason_and_is_none_that_passed(self):
        self.assertEqual((3, "skipped, needs a moon: dark\n1 passed, 0 failed, 1 skipped\n"),
                         summary_of({"good": "true", "dark": "echo needs a moon; exit 77"}))

    def test_skipped_tests_of_a_suite_are_counted(self):
        code, text = summary_of({"some": "echo Ran 5 tests in 1.0s; echo 'OK (skipped=2)'"})
        self.assertEqual((3, "skipped, said in its own output: some, some\n3 passed, 0 failed, 2 skipped\n"), (code, text))

    def test_a_run_without_tests_is_no_success(self):
        self.assertEqual((1, "0 passed, 0 failed, 0 skipped\n"), summary_of({}))


if __name__ == "__main__":
    unittest.main()
