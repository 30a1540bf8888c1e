#!/usr/bin/env python3
"""A streaming answer in a terminal: the test controls when pieces come from its own endpoint.

usage: answer_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import queue
import signal
import sys
import time
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

    def end_stream(self):
        """Of an answer that was stopped, before the next one is asked for."""
        self.stream(None)
        while not self.server.pieces.empty():
            time.sleep(0.01)

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

    def test_what_is_typed_meanwhile_is_shown_and_kept(self):
        """Below the answer, whose text goes on above it, and it is the next line also after Ctrl-C."""
        for columns, rows in ((60, 24), (60, 3)):
            terminal = self.ask(columns=columns, rows=rows)
            self.stream("one two ")
            terminal.wait_for("one two")
            terminal.type("nexr\x7ft qu")
            terminal.wait_for("> next qu")
            self.stream("three four ")
            terminal.wait_for("three four")
            terminal.type("estion")
            terminal.wait_for("> next question")
            terminal.type("\x03")
            terminal.wait_for("(stopped")
            self.end_stream()
            terminal.wait_for("> next question")
            terminal.type("\r")
            terminal.wait_for("> next question\n")
            self.stream("Yes.", None)
            terminal.wait_for("Yes.\n\n> ")
            roles = [content for role, content in self.messages(terminal) if role == "user"]
            self.assertEqual(roles, ["Hello", "next question"])

    def test_lines_typed_meanwhile_are_sent_one_by_one(self):
        terminal = self.ask()
        self.stream("one ")
        terminal.wait_for("one")
        terminal.type("second\rthird\rdraft")
        terminal.wait_for("(2 lines waiting) > draft")
        self.stream(None, "two", None, "three", None)
        for text in ("> second", "two", "> third", "three", "> draft"):
            terminal.wait_for(text)
        terminal.wait_until_it_edits()
        terminal.type("\x15")
        users = [content for role, content in self.messages(terminal) if role == "user"]
        self.assertEqual(users, ["Hello", "second", "third"])

    def test_a_row_that_is_full_is_not_returned_to(self):
        """Some terminals cannot put the cursor behind the last column again."""
        terminal = self.ask("--no-wordwrap", columns=20)
        terminal.type("x")
        terminal.wait_for("> x")
        begin = len(terminal.seen)
        self.stream("0123456789abcdefghij")
        terminal.wait_for("abcdefghij")
        terminal.type("y")
        self.stream("k")
        terminal.wait_for("k")
        terminal.wait_for("> xy")
        text = terminal.seen[begin:]
        self.assertNotIn("\x1b8", text[text.index("abcdefghij"):text.index("k")].replace("\x1bD\r\x1b[J\x1b8", ""))
        self.stream(None)

    def test_nothing_is_drawn_below_where_the_cursor_cannot_move(self):
        terminal = self.ask("--plain")
        self.stream("one ")
        terminal.wait_for("one")
        terminal.type("next")
        self.stream("two ", None)
        terminal.wait_for("You: next")
        self.assertNotIn("\x1b", terminal.seen)

    def test_a_signal_removes_what_is_drawn_below(self):
        terminal = self.ask()
        self.stream("one ")
        terminal.wait_for("one")
        terminal.type("next")
        terminal.wait_for("> next")
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.read_to_end()
        self.assertIn("\x1b[J", terminal.seen[terminal.seen.rindex("> next"):])
        self.assertEqual(terminal.wait(), -signal.SIGTERM)

    def test_resizing_breaks_no_line_again(self):
        terminal = self.ask(columns=60)
        self.stream("one two three four five six seven ")
        terminal.wait_for("six seven")
        terminal.resize(20)
        self.stream("eight nine ten eleven twelve", None)
        terminal.wait_for("\neight nine ten\neleven twelve\n")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
