#!/usr/bin/env python3
"""The window over an endpoint instead of a model of this machine.

usage: window_endpoint_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "gui")]
from fake_endpoint import HELLO, TEXT, FakeEndpoint  # noqa: E402
from desktop import DisplayCase, Window  # noqa: E402


def last(state):
    messages = state["conversation"]["messages"]
    return messages[-1] if messages else {}


class WindowEndpoint(DisplayCase):
    def setUp(self):
        super().setUp()
        self.server = FakeEndpoint().__enter__()
        self.addCleanup(self.server.__exit__)

    def open(self, script="well", *flags):
        self.window = Window(self.display, "--endpoint", f"{self.server.origin}/{script}/v1", *flags, home=self.home,
                             DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
        self.addCleanup(self.window.kill)

    def ask(self, text="Hi"):
        self.window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        self.window.key("ctrl+l")
        self.window.type(text)
        self.window.wait_for(lambda s: s["composer"] == text, "the typed text")
        self.window.key("Return")

    def ended(self, status):
        return self.window.wait_for(lambda s: s["phase"] == "idle" and last(s).get("status") == status, status)

    def test_a_question_is_answered_and_stored_with_who_answered(self):
        self.open()
        self.ask()
        self.assertEqual(self.ended("complete")["conversation"]["last_text"], TEXT)
        self.ask("More")
        self.window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 4, "the second")
        self.assertEqual([message["content"] for message in self.server.bodies()[1]["messages"]], ["Hi", TEXT, "More"])
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        rows = self.rows("SELECT extra FROM turns WHERE role = 'assistant'")
        self.assertEqual(len(rows), 2)
        for extra, in rows:
            by = json.loads(extra)
            self.assertEqual((by["model"], by["endpoint"], by["timings"]["generated_tokens"]),
                             ("qwen3-4b", self.server.origin + "/well/v1", len(HELLO)))

    def test_an_answer_is_stopped(self):
        self.open("endless")
        self.ask()
        self.window.wait_for(lambda s: last(s).get("status") == "streaming" and s["conversation"]["last_text"], "text")
        self.window.key("Escape")
        self.assertTrue(self.ended("stopped")["conversation"]["last_text"].startswith("a "))
        self.assertTrue(self.server.cancelled.wait(10))

    def test_an_answer_that_breaks_keeps_its_text(self):
        self.open("closes")
        self.ask()
        self.assertEqual(self.ended("failed")["conversation"]["last_text"], "".join(HELLO[:2]))

    def test_nobody_there(self):
        self.window = Window(self.display, "--endpoint", "http://127.0.0.1:1", home=self.home, no_proxy="*")
        self.addCleanup(self.window.kill)
        state = self.window.wait_for(lambda s: s["notices"], "a notice")
        self.assertIn("cannot reach 127.0.0.1:1", str(state["notices"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
