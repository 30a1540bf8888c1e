#!/usr/bin/env python3
"""Thoughts of other machines' models through the chat program, however a server writes them.

usage: endpoint_thoughts_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from fake_endpoint import FakeEndpoint  # noqa: E402
from program import FOLDER, environment  # noqa: E402
from program_case import Case  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402


class Thoughts(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)

    def server(self, **more):
        return self.enterContext(FakeEndpoint(**more))

    def ask(self, server, script, *flags):
        env = environment(self.home, DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
        return self.run_well("--endpoint", f"{server.origin}/{script}/v1", "-p", "Hi", *flags, env=env)

    def assert_answers(self, run, text):
        self.assertEqual(run.out.decode(), text + "\n", run)

    def terminal(self, *arguments):
        return Terminal(*arguments, home=self.home, DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")

    def test_thoughts_are_separate(self):
        server = self.server()
        for script in ("reasoning", "tags"):
            self.assert_answers(self.ask(server, script), "<think>\nHmm.\n</think>\n\nYes.")
            self.assert_answers(self.ask(server, script, "--hide-thinking"), "Yes.")

    def test_an_ended_thought_is_continued_with_the_answer(self):
        server = self.server(owner="vllm")
        arguments = ("--endpoint", server.origin + "/thinks_until_cut/v1")
        terminal = self.terminal(*arguments)
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("2+2?\r")
        terminal.wait_for("(the answer was cut at the server's limit; /continue resumes it)")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        terminal = self.terminal(*arguments, "--resume")  # it is stored, too
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("/continue\r")
        terminal.wait_for("Four.")
        terminal.type("Thanks\r")
        terminal.wait_for("Four.")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(server.bodies()[1]["messages"][-1]["content"], "<think>\nHm.\n</think>\n\n")
        self.assertEqual(server.bodies()[2]["messages"][1]["content"], "Four.")

    def test_a_thought_that_the_prompt_opens_is_found_at_its_end(self):
        server = self.server()
        ask = lambda *flags: self.ask(server, "opens_thoughts", *flags)
        self.assert_answers(ask(), "Two and two, so add.\n</think>\n\nFour.")
        self.assert_answers(ask("--hide-thinking"), "Four.")
        self.assert_answers(ask("--hide-thinking"), "Bye.")
        answer = json.loads(ask("--json").out)
        self.assertEqual((answer["reasoning"], answer["answer"]), ("Two and two, so add.", "Four."))

    def test_a_server_that_opens_thoughts_is_known_from_its_first_answer(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/opens_thoughts/v1", "--hide-thinking", "--titles")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("2+2?\r")
        terminal.wait_for("Two and two, so add.\n\nFour.")  # it is not known yet
        end = time.monotonic() + 60
        while "A sum" not in terminal.plain():
            self.assertLess(time.monotonic(), end)
            terminal.type("/list\r")
            terminal.read_some(0.3)
        terminal.type("Again\r")
        self.assertNotIn("so add", terminal.wait_for("Four."))
        terminal.type("Goodbye\r")
        terminal.wait_for("\nBye.")
        export = os.path.join(self.home, "thoughts.json")
        terminal.type(f"/export {export}\r")
        terminal.wait_for("wrote ")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        with open(export) as file:
            answers = [m for m in json.load(file)["messages"] if m["role"] == "assistant"]
        self.assertEqual([(m.get("reasoning", ""), m["content"]) for m in answers],
                         [("Two and two, so add.", "Four.")] * 2 + [("", "Bye.")])
        self.assertEqual([m["content"] for m in server.bodies()[-1]["messages"]], ["2+2?", "Four.", "Again", "Four.", "Goodbye"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
