#!/usr/bin/env python3
"""Search as a user of the terminal meets it: pages of hits, and marks where the words are.

usage: search_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import shutil
import sys
import unittest

from program import TINY, path
from pseudo_terminal import StoreCase

MARK = "\x1b[7m{}\x1b[27m"


class SearchCase(StoreCase):
    def do(self, terminal, typed, seen):
        terminal.type(typed + "\r")
        return terminal.wait_for(seen)

    def bring(self, terminal, talks):
        """Imports conversations: title -> texts of user and assistant in turn."""
        file = path("talks.json", json.dumps([
            {"title": title, "messages": [{"role": ("user", "assistant")[i % 2], "content": text}
                                          for i, text in enumerate(texts)]}
            for title, texts in talks.items()]).encode())
        terminal.type(f"/import {file}\r")
        terminal.wait_for("takes the import back" if len(talks) > 1 else " messages")
        terminal.wait_for("\n> ")

    def since(self, terminal, typed, seen):
        """What has come for this line, with escape sequences."""
        begin = len(terminal.seen)
        self.do(terminal, typed, seen)
        terminal.wait_for("\n> ")
        return terminal.seen[begin:]


class Marks(SearchCase):
    TALKS = {"of fruit": ["Which Apples are red?", "Many apples are: red **Apples** grow here."],
             "of bread": ["What is bread?", "Flour and water."]}

    def test_words_are_marked_in_hits_and_where_a_hit_opens(self):
        terminal = self.chat()
        self.bring(terminal, self.TALKS)
        self.assertIn("Many " + MARK.format("apples"), self.since(terminal, "/search apples", "of fruit"))
        opened = self.since(terminal, "/load 1", '"of fruit", 2 messages')
        self.assertIn(MARK.format("Apples"), opened)
        self.assertIn("Many " + MARK.format("apples") + " are", opened)
        self.assertIn("\x1b[0;1m" + MARK.format("Apples") + "\x1b[0", opened, "within another look")
        self.assertIn(MARK.format("Apples"), self.since(terminal, "/history", "Many apples are"))
        self.do(terminal, "/new", "new conversation")
        self.send(terminal, "more apples")
        self.assertNotIn("\x1b[7m", self.since(terminal, "/history", "more apples"), "of another conversation")
        self.assertIn(MARK.format("Flour and"), self.since(terminal, '/search "flour and"', "of bread"))
        self.assertNotIn("\x1b[7m", self.since(terminal, "/list\r/load of fruit", '"of fruit", 2 messages'))
        self.assertNotIn("\x1b[7m", self.since(terminal, "/history", "Many apples are"), "no hit was opened")
        self.leave(terminal)

    def test_nothing_is_marked_without_looks(self):
        for arguments, variables in (((), {"NO_COLOR": "1"}), (("--plain",), {}), ((), {"TERM": "dumb"})):
            with self.subTest(arguments=arguments, variables=variables):
                self.setUp()
                terminal = self.chat(*arguments, **variables)
                file = path("talk.json", json.dumps([{"role": "user", "content": "Apples?"}]).encode())
                terminal.type(f"/import {file}\r")
                terminal.wait_for('"Apples?", 1 message')
                terminal.type("/search apples\r")
                terminal.wait_for("   1  ")
                terminal.type("/load 1\r")
                terminal.wait_for('"Apples?", 1 message')
                self.assertNotIn("\x1b[7m", terminal.seen)
                self.leave(terminal)

    def test_what_was_found_far_before_the_end_is_shown_first(self):
        texts = ["one", "two", "where is the needle?", "in a haystack " * 3]
        for i in range(20):
            texts += [f"question {i}", f"answer {i}"]
        terminal = self.chat(rows=24)
        self.bring(terminal, {"long": texts})
        terminal.type("/new\r/search needle\r")
        terminal.wait_for("   1  ")
        opened = self.since(terminal, "/load 1", '"long", 44 messages')
        self.assertLess(opened.index("(your message 2 has the words)"), opened.index(MARK.format("needle")))
        self.assertLess(opened.index(MARK.format("needle")), opened.index("answer 19"))
        terminal.type("/search haystack\r")
        terminal.wait_for("   1  ")
        self.do(terminal, "/load 1", "(the answer to your message 2 has the words)")
        terminal.wait_for("\n> ")
        terminal.type("/search \"answer 19\"\r")
        terminal.wait_for("   1  ")
        self.assertNotIn("has the words", self.since(terminal, "/load 1", '"long", 44 messages'), "the end has them")
        self.leave(terminal)


class Names(SearchCase):
    def test_a_model_of_ollama_has_its_name_there(self):
        ollama = os.path.join(self.home, "ollama")
        library, blobs = os.path.join(ollama, "manifests/registry.ollama.ai/library/wee"), os.path.join(ollama, "blobs")
        os.makedirs(library), os.makedirs(blobs)
        digest = "ab" * 32
        shutil.copy(TINY, os.path.join(blobs, "sha256-" + digest))
        with open(os.path.join(library, "1b"), "w") as file:
            json.dump({"layers": [{"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:" + digest}]},
                      file)
        terminal = self.chat(OLLAMA_MODELS=ollama)
        self.send(terminal, "one")
        self.do(terminal, "/model wee:1b", "wee:1b, ")
        self.send(terminal, "two")
        self.do(terminal, "/history", "(answered by wee:1b)")
        exported = os.path.join(self.home, "talk.md")
        self.do(terminal, f"/export {exported}", "wrote ")
        with open(exported) as file:
            self.assertEqual([line for line in file if line in ("## tiny\n", "## wee:1b\n")],
                             ["## tiny\n", "## wee:1b\n"])
        self.leave(terminal)


class Pages(SearchCase):
    def test_a_search_goes_on(self):
        terminal = self.chat()
        self.do(terminal, "/search", "/search needs words to find")
        self.bring(terminal, {f"number {i}": [f"apples {i}"] for i in range(130)})
        more = "(there are more; /search alone shows the next ones)"
        first = self.do(terminal, "/search apples", more)
        self.assertIn("  20  ", first)
        self.assertNotIn("  21  ", first)
        seen = first
        for page in range(5):
            seen += self.do(terminal, "/search", more)
        last = self.since(terminal, "/search", " 130  ")
        self.assertNotIn("there are more", last)
        for i in range(130):
            self.assertEqual((seen + last).count(f"  number {i}\n"), 1, i)
        self.do(terminal, "/search", "there are no more conversations with apples")
        self.do(terminal, "/load 130", '", 1 message')
        self.do(terminal, "/list 1", "   1  ")
        self.do(terminal, "/search", "/search needs words to find: /search WORDS; alone it shows more of the last search")
        self.leave(terminal)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
