#!/usr/bin/env python3
"""Names and texts from strangers on a terminal: whatever a command shows, the terminal gets no control character other
than the program's own, no bidirectional override and no invisible tag.

usage: hostile_text_test.py CHAT CLI_MODELS [unittest arguments]
"""
import codecs
import json
import os
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from fake_endpoint import END, FakeEndpoint, deltas  # noqa: E402
from program import FOLDER, TINY, Run, environment, path  # noqa: E402
from pseudo_terminal import Case, Terminal  # noqa: E402

# Clipboard, cursor, colour; C1, backspace, bell, delete; an override, an isolate, a hidden tag.
HOSTILE = ("\x1b]52;c;QUFB\x07", "\x1b[66;66H", "\x1b[66m", "\u009b66m", "\x08", "\x07", "\x7f", "\u202e", "\u2066",
           "\U000E0041")
TEXT = "evil" + "".join(HOSTILE) + "end"
FLAG = "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"
OWN = re.compile(r"\x1b(?:\[[?<>]?[0-9;]*[A-HJKhlmnu]|[78D])")  # the program's: looks, cursor, erasing, modes
REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000E0000-\U000E007F]")


class Hostile(Case):
    def assert_harmless(self, bytes_seen, *words):
        text = codecs.getincrementaldecoder("utf-8")().decode(bytes_seen)  # more of it may come
        for word in words:
            self.assertIn(word, text)
        self.assertNotRegex(text, r"\x1b\[\??[0-9;]*66")
        found = REFUSED.search(OWN.sub("", text).replace(FLAG, ""))
        self.assertIsNone(found, f"{found and found[0]!r} in {text[-1000:]!r}")

    def run_on_terminal(self, *arguments, words=("evil",), **more):
        """Of a command that ends by itself."""
        terminal = Terminal(*arguments, home=self.home, **more)
        self.addCleanup(self.end, terminal)
        terminal.wait()
        self.assert_harmless(terminal.bytes, *words)
        return terminal

    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.folder = tempfile.mkdtemp(dir=self.home)
        self.model = os.path.join(self.folder, TEXT + ".gguf")
        shutil.copy(TINY, self.model)

    def test_names_of_models(self):
        models = os.path.join(self.home, ".cache/warpchat/models")
        os.makedirs(models)
        shutil.copy(TINY, os.path.join(models, os.path.basename(self.model)))
        with open(os.path.join(self.folder, "evil\x1b[66m\udc9b.gguf"), "wb") as broken:
            broken.write(b"GGUF\x03")
        self.run_on_terminal("--list-models", HF_HUB_CACHE=self.folder, words=())
        text = os.path.join(self.folder, "evil\x1b[66m.txt")
        with open(text, "w") as file:
            file.write(TEXT + " a text of some words that is long enough to be measured" * 4)
        for command in (["inspect", self.model, "--json"], ["kernels", "-m", self.model, "--target", "sm_80"],
                        ["tokenize", "-m", self.model, "-f", text],
                        ["perplexity", "-m", self.model, "-f", text, "-c", "32"],
                        ["bench", "-m", self.model, "-p", "4", "-n", "1", "-r", "1", "-o", "json"]):
            self.run_on_terminal(*command, words=())
        self.run_on_terminal("inspect", self.model)
        self.run_on_terminal("inspect", broken.name)
        self.run_on_terminal("-m", broken.name, "-p", "hi")
        self.run_on_terminal("-m", self.model + "x", "-p", "hi")
        self.run_on_terminal("-m", self.model, "-p", "hi", "-n", "2", "-v", words=())
        self.run_on_terminal("-m", self.model, "-p", TEXT, "-n", "2", "--json", words=("answer",))

    def test_flags(self):
        for arguments in (["-m", TINY, "--temp", TEXT, "-p", "hi"], [TEXT + ".gguf"], ["bench", TEXT], ["-p", "hi", TEXT],
                          ["--" + TEXT], ["pull", TEXT],
                          ["--endpoint", TEXT, "-p", "hi"], ["-m", TINY, "-f", TEXT], ["help", TEXT],
                          ["endpoint", "add", TEXT, "http://127.0.0.1:9"], ["-m", TINY, "-p", "hi", "--export", TEXT]):
            self.run_on_terminal(*arguments, words=())

    def test_templates(self):
        messages = path("hostile_messages.json", json.dumps({"messages": [{"role": "user", "content": TEXT}]}).encode())
        source = "{{ '\\x1b]52;c;QUFB\\x07' }}evil" + TEXT + "{{ messages[0].content }}"
        template = path("hostile.jinja", source.encode())
        terminal = self.run_on_terminal("template", "--template", template, "--messages", messages)
        piped = Run("template", "--template", template, "--messages", messages)
        self.assertEqual(piped.code, 0, piped)
        self.assertIn(b"\x1b]52;c;QUFB\x07evil" + TEXT.encode(), piped.out)  # a pipe gets what was written
        self.assertEqual(terminal.status, 0)
        wrong = path("wrong.jinja", ("{{ raise_exception('" + TEXT.replace("\x1b", "\\x1b") + "') }}").encode())
        self.run_on_terminal("template", "--template", wrong, "--messages", messages)

    def imported(self):
        turns = [{"role": "system", "content": TEXT}]
        for i in range(3):
            answer = (f"# {TEXT}\n\n`{TEXT}`\n\n| {TEXT} | b |\n|--|--|\n| {TEXT} | 2 |\n\n```{TEXT}\n{TEXT}\n```\n"
                      f"$${TEXT}$$ $$x\\tag{{é}}$$ [{TEXT}](http://{TEXT})")
            turns += [{"role": "user", "content": f"{TEXT} {i} {FLAG} \u200f"}, {"role": "assistant", "content": answer}]
        return path("hostile_conversation.json", json.dumps({"title": TEXT, "messages": turns}).encode())

    def test_a_stored_conversation(self):
        file = self.imported()
        for flags in ([], ["--plain"], ["--no-wordwrap"]):
            terminal = self.start(*flags, home=self.home)
            for command in (f"/import {file}", "/history", "/list", "/search evil", "/show", "/set", "/title",
                            "/versions", "/perf", "/fork", "/undo", "/delete", "/trash", "/load nothing", "/help"):
                terminal.type(command + "\r")
                terminal.wait_for_one("\n> ", "You: ")
            terminal.type("/import " + file + "\r")
            terminal.wait_for_one("\n> ", "You: ")
            terminal.type("/edit\r")  # shows a message for editing
            terminal.wait_for("evil")
            terminal.wait_for("end")
            terminal.type("\x15" if not flags else "\r")
            terminal.type("\x03")
            self.assert_harmless(terminal.bytes, "evil", FLAG, "\u200f")
            self.end(terminal)

    def test_an_endpoint(self):
        with FakeEndpoint(models=(TEXT, "other" + TEXT), owner=TEXT) as server:
            more = {"DBUS_SESSION_BUS_ADDRESS": "", "no_proxy": "*", "WARPCHAT_ENDPOINT_WAIT_MS": "1"}
            self.run_on_terminal("--endpoint", server.url, "--list-models", **more)
            self.run_on_terminal("--endpoint", server.url, "-m", "evil", "-p", "hi", words=(), **more)
            self.run_on_terminal("--endpoint", server.url, "-m", "none of these", "-p", "hi", **more)
            self.run_on_terminal("--endpoint", server.url, "-m", TEXT, "-p", "hi", words=("wörld",), **more)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
