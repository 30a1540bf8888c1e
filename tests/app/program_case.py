"""Shared by tests of the program without a terminal: runs that must go well, or be refused in a sentence."""
import unittest

from program import Run


class Case(unittest.TestCase):
    def run_well(self, *arguments, **more):
        run = Run(*arguments, **more)
        self.assertEqual(run.code, 0, run)
        return run

    def assert_refused(self, run, code, *words):
        """One line "chat: sentence" on stderr that has all the words, nothing on stdout."""
        self.assertEqual(run.code, code, run)
        self.assertEqual(run.out, b"", run)
        self.assertRegex(run.err.decode(), r"\Achat: [^\n]+[^.\n]\n\Z", run)
        for word in words:
            self.assertIn(word, run.err.decode(), run)
