#!/usr/bin/env python3
"""The window with an endpoint instead of a local model.

usage: window_endpoint_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import stat
import subprocess
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

    def test_a_title_by_the_model_and_its_switch(self):
        arguments = ("--endpoint", self.server.origin + "/titled/v1")
        for is_on in (True, False):
            with self.subTest(is_on=is_on):
                self.window = Window(self.display, *arguments, home=self.home, titles=True, DBUS_SESSION_BUS_ADDRESS="",
                                     no_proxy="*")
                self.addCleanup(self.window.kill)
                self.ask("Hi there")
                if not is_on:
                    self.window.wait_for(lambda s: last(s).get("status") == "complete", "the answer")
                state = self.window.wait_for(
                    lambda s: s["conversation"]["title"] == ("A warm greeting" if is_on else "Hi there"), "the title")
                self.assertEqual(state["conversations"][0]["title"], state["conversation"]["title"])
                self.assertEqual(len(state["conversation"]["messages"]), 2)
                self.assertEqual(len(self.server.bodies()), 2 if is_on else 3)
                if is_on:
                    self.window.key("ctrl+comma")
                    self.window.click("titles")
                    self.window.wait_for(lambda s: not s["settings"]["titles"], "the switch")
                self.window.key("ctrl+q")
                self.assertEqual(self.window.wait(), 0)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(4,)])

    def test_four_conversations_are_answered_at_once(self):
        self.open("paced")
        for i in range(1, 5):
            self.window.key("ctrl+n")
            self.window.wait_for(lambda s: not s["conversation"]["messages"], "a new conversation")
            self.ask(str(100 + i))
            self.window.wait_for(lambda s: len(self.server.bodies()) == i, "the request")
        sql = "SELECT text FROM turns WHERE role = 'assistant'"
        self.window.wait_for(lambda _: sorted(len(text.split()) for text, in self.rows(sql)) == [101, 102, 103, 104],
                             "four whole answers")

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

    def test_the_profiler_shows_what_is_known_of_another_machine(self):
        self.open("cached")
        self.ask()
        self.ended("complete")
        self.window.key("F12")
        state = self.window.wait_for(lambda s: s["endpoint_profile"] and s["endpoint_profile"]["absence"], "no metrics")
        profile = state["endpoint_profile"]
        self.assertEqual(profile["absence"],
                         f"{self.server.host} does not tell its load: nothing in its /metrics is known here")
        first, gaps, prompt = profile["pace"]
        self.assertRegex(first, r"\Afirst token after .*, then .* tokens/s\Z")
        self.assertRegex(gaps, r"\Agaps: median .*, 95% within .*, longest .*\Z")
        self.assertEqual(prompt, "prompt: 1,024 tokens, 512 of them from a cache")
        self.server.metrics = "llamacpp:requests_processing 1\nllamacpp:tokens_predicted_total 7\n"
        self.window.key("F12", "F12")  # reopens it
        state = self.window.wait_for(lambda s: s["endpoint_profile"] and s["endpoint_profile"]["load"].get(
            "answer speed, all"), "two samples")
        self.assertEqual(state["endpoint_profile"]["load"], {
            "requests running": "1", "answer speed, all": "0 tokens/s", "answer tokens so far": "7"})
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" not in s["panels"], "the profiler closed")

    def test_what_is_surely_too_long_stays_in_the_composer(self):
        self.open()
        self.window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        path = os.path.join(self.home, "long.txt")
        with open(path, "w") as file:
            file.write("word " * 5000)
        self.window.key("ctrl+l")
        self.window.type("Hi")
        subprocess.run(["xclip", "-selection", "clipboard", "-display", self.display.name, path], check=True)
        self.window.key("ctrl+v", "Return")
        state = self.window.wait_for(lambda s: s["refusal"], "the refusal")
        self.assertEqual((state["refusal"]["tokens"], state["refusal"]["context"]), (5000, 4096))
        self.assertTrue(state["composer"].startswith("Hiword"), state["composer"][:40])
        self.assertFalse([n for n in state["notices"] if n["error"]])  # the message itself shows it
        self.assertEqual(self.server.bodies(), [])

    def test_a_key_is_typed_kept_and_sent(self):
        server = FakeEndpoint(key="sk-right").__enter__()
        self.addCleanup(server.__exit__)
        self.window = Window(self.display, home=self.home, DBUS_SESSION_BUS_ADDRESS="", XDG_RUNTIME_DIR=self.home,
                             HF_HUB_OFFLINE="1", no_proxy="*")
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: s["focus"] == "composer", "the window")

        def name_it(key):
            self.window.key("ctrl+o")
            self.window.wait_for(lambda s: s["focus"] == "model_filter", "the picker")
            self.window.type(server.origin)
            self.window.wait_for(lambda s: "endpoint_key" in s["widgets"], "the key's field")
            if key:
                self.window.click("endpoint_key")
                self.window.type(key)
                self.window.key("ctrl+a", "ctrl+c")  # copies nothing
            self.window.key("Return")
        name_it("")
        state = self.window.wait_for(lambda s: s["notices"], "that it wants one")
        self.assertIn("needs an API key", state["notices"][0]["text"])
        name_it("sk-right")
        self.window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        keys = os.path.join(self.home, ".config/warpchat/keys.json")
        self.assertEqual(stat.S_IMODE(os.stat(keys).st_mode), 0o600)
        with open(keys) as file:
            self.assertEqual(json.load(file), {server.host.replace(":", "-"): "sk-right"})
        self.assertNotIn("sk-right", json.dumps(self.window.state()))
        clip = subprocess.run(["xclip", "-selection", "clipboard", "-o", "-display", self.display.name],
                              capture_output=True, text=True, check=False)
        self.assertNotIn("sk-right", clip.stdout)
        self.ask()
        self.assertEqual(self.ended("complete")["conversation"]["last_text"], TEXT)
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.window = Window(self.display, "--endpoint", server.host.replace(":", "-"), home=self.home,
                             DBUS_SESSION_BUS_ADDRESS="", XDG_RUNTIME_DIR=self.home, no_proxy="*")
        self.addCleanup(self.window.kill)
        self.ask("Again")
        self.ended("complete")

    def test_no_server(self):
        self.window = Window(self.display, "--endpoint", "http://127.0.0.1:1", home=self.home, no_proxy="*")
        self.addCleanup(self.window.kill)
        state = self.window.wait_for(lambda s: s["notices"], "a notice")
        self.assertIn("cannot reach 127.0.0.1:1", str(state["notices"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
