#!/usr/bin/env python3
"""A streaming answer in a terminal: the test controls when pieces come from its own endpoint.

usage: answer_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import queue
import sys
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
import fake_endpoint  # noqa: E402
from program import FOLDER  # noqa: E402
from pseudo_terminal import ESCAPES, Case, Terminal  # noqa: E402

ESCAPE = "\x1b"


class Answerer(fake_endpoint.FakeEndpoint):
    """Streams the items of `pieces` up to None."""

    def __init__(self):
        super().__init__()
        self.pieces = queue.Queue()


def script_well(handler, _):
    handler.begin()
    for piece in iter(handler.server.fake.pieces.get, None):
        handler.wfile.write(fake_endpoint.deltas([piece]))
        handler.wfile.flush()
    handler.wfile.write(fake_endpoint.END)


fake_endpoint.Handler.script_well = script_well


class Streaming(Case):
    def chat(self, *arguments, **more):
        self.server = self.enterContext(Answerer())
        terminal = Terminal("--endpoint", self.server.url, *arguments, home=FOLDER, **more)
        self.addCleanup(self.server.pieces.put, None)
        self.addCleanup(self.end, terminal)
        return terminal

    def ask(self, *arguments, **more):
        """A conversation with a question whose answer is still to come."""
        terminal = self.chat(*arguments, **more)
        plain = "--plain" in arguments or more.get("TERM") == "dumb"
        terminal.wait_for("leaves")
        terminal.wait_for("You: " if plain else "> ")
        terminal.type("Hello\n" if plain else "Hello\r")
        terminal.wait_for("Hello")
        return terminal

    def stream(self, *pieces):
        for piece in pieces:
            self.server.pieces.put(piece)

    def test_text_without_blanks_is_shown_as_it_comes(self):
        for text in ("A-" * 30, "https://host.org/" + "a" * 40, "QUJD" * 15, "ภาษาไทย" * 6, "文字化けは困る" * 5):
            terminal = self.ask()
            self.stream(text)
            terminal.wait_for(text[:20])  # nothing more comes
            self.stream(None)

    def test_words_are_not_broken(self):
        terminal = self.ask(columns=40)
        self.stream("The quick brown fox jumps over the lazy do", "g and the unmistakable hippopotamus", None)
        terminal.wait_for("the lazy\ndog and the unmistakable hippopotamus\n")

    def test_a_table_fits_the_terminal(self):
        terminal = self.ask(columns=40)
        self.stream("| Name | Use |\n|---|---|\n| tar | puts many files into one archive,", " and takes them out again |\n",
                    None)
        terminal.wait_for("|      | archive, and takes them out   |\n"
                          "|      | again                         |\n")

    def test_a_plain_terminal_reads_well(self):
        for more in ({"TERM": "dumb"}, {}):
            terminal = self.ask(*([] if more else ["--plain"]), **more)
            self.stream("See:\n\n| Name | Use |\n|---|---|\n| tar | archives |\n", "| sed | edits |\n", None)
            terminal.wait_for("\nAnswer:\nSee:\n\nName: tar\nUse: archives\n\nName: sed\nUse: edits\n\nYou: ")
            self.assertNotIn(ESCAPE, terminal.seen)
            self.assertNotIn("\r", terminal.seen)

    def test_a_single_answer_has_no_roles(self):
        terminal = self.chat("--plain", "-p", "Hello")
        self.stream("Yes.", None)
        terminal.wait_for("Yes.\n")
        self.assertNotIn("Answer:", terminal.read_to_end() + terminal.seen)

    def test_nothing_is_wider_than_the_terminal(self):
        for columns in (20, 40, 80):
            terminal = self.ask(columns=columns)
            self.stream(None)
            for line in ("/help", "/list", "/show", "/set", "/device", "/set temp hot", "/load no such conversation"):
                terminal.type(line + "\r")
            terminal.type("/exit\r")
            text = ESCAPES.sub("", terminal.read_to_end().split("Hello", 1)[-1]).replace("\r", "")
            for row in text.split("\n"):
                if not row.startswith("> "):
                    self.assertLessEqual(len(row), columns, text)

    def test_resizing_breaks_no_line_again(self):
        terminal = self.ask(columns=60)
        self.stream("one two three four five six seven ")
        terminal.wait_for("six seven")
        terminal.resize(20)
        self.stream("eight nine ten eleven twelve", None)
        terminal.wait_for("\neight nine ten\neleven twelve\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
