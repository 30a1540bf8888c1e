#!/usr/bin/env python3
"""Models of a hub, and endpoints with a name, chosen in the window's picker.

usage: window_download_test.py CHAT CLI_MODELS [unittest arguments]
"""
import glob
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(HERE, "..", room) for room in ("gui", "remote", "app")]
from desktop import DisplayCase, Window  # noqa: E402
from fake_endpoint import TEXT, FakeEndpoint  # noqa: E402
from fake_hub import FakeHub, Fault, Repository  # noqa: E402
from program import TINY, Run, environment  # noqa: E402

NAME, SUGGESTED = "org/Tiny-GGUF", "Qwen/Qwen2.5-0.5B-Instruct-GGUF"
with open(TINY, "rb") as model_file:
    MODEL = model_file.read()


class WindowDownload(DisplayCase):
    def setUp(self):
        super().setUp()
        self.hub = self.enterContext(FakeHub({name: {"tiny-q4_k_m.gguf": MODEL} for name in (NAME, SUGGESTED)}))

    def variables(self):
        return {"HF_ENDPOINT": self.hub.url, "WARPCHAT_HUB_WAIT_MS": "1", "no_proxy": "*", "DBUS_SESSION_BUS_ADDRESS": ""}

    def open(self, *flags):
        self.window = Window(self.display, "-c", "256", "-n", "4", *flags, home=self.home, **self.variables())
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: s["phase"] == "idle", "the window")

    def open_picker(self):
        self.window.key("ctrl+o")
        self.window.wait_for(lambda s: "model:0" in s["widgets"], "the picker's rows")

    def fetch_by_name(self, name=NAME):
        self.open_picker()
        self.window.type(name)
        self.window.wait_for(lambda s: "model_named" in s["widgets"], "the name's own row")
        self.window.key("Return")

    def assert_answers(self):
        self.window.wait_for(lambda s: s["model"] is not None and s["loading"] is None, "the model")
        self.window.type("Hi")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 2, "the answer")

    def halves(self):
        return glob.glob(os.path.join(self.home, ".cache/huggingface/hub/*/blobs/*.incomplete"))

    def test_a_model_by_its_name(self):
        self.open()
        self.fetch_by_name()
        self.assert_answers()

    def test_one_of_the_short_list_is_a_click_away(self):
        self.open()
        self.open_picker()
        self.window.click("model:0")
        self.assert_answers()
        self.assertTrue(self.window.state()["model"]["path"].startswith(self.home), self.window.state()["model"])

    def test_a_download_pauses_and_goes_on(self):
        self.hub.fail("content", Fault(delay=0.3), always=True)
        self.open()
        self.fetch_by_name()
        state = self.window.wait_for(
            lambda s: s["loading"] and " of " in s["loading"]["transfer"] and s["loading"]["fraction"] > 0, "progress")
        self.assertEqual(state["loading"]["name"], "Tiny-GGUF")
        self.window.click("cancel_loading")
        state = self.window.wait_for(lambda s: s["loading"] is None, "the pause")
        self.assertEqual([n for n in state["notices"] if n["error"]], [])
        self.assertEqual(len(self.halves()), 1)
        self.hub.fail("content")
        served = self.hub.served
        self.open_picker()
        self.window.type("tiny")
        self.window.wait_for(lambda s: "model:0" in s["widgets"], "the paused download")
        self.window.click("model:0")
        self.assert_answers()
        self.assertLess(self.hub.served - served, len(MODEL))
        self.assertEqual(self.halves(), [])

    def search(self, words):
        self.open_picker()
        self.window.type(words)
        return self.window.wait_for(lambda s: s["hub"]["words"] == words and not s["hub"]["running"], "its end")

    def test_words_are_searched_for(self):
        self.hub.repositories["org/Tiny-GGUF"].downloads = 7
        self.hub.repositories["other/Tiny-Gemma"] = gemma = Repository({"x-q4_k_m.gguf": MODEL})
        gemma.architecture = "gemma3"
        self.open()
        state = self.search("gguf tiny")
        self.assertIn("hub:0", state["widgets"])
        self.assertNotIn("model:0", state["widgets"])
        self.assertEqual(self.hub.searches[-1], "gguf tiny")
        self.assertNotIn("/", "".join(self.hub.searches))
        self.window.click("hub:0")
        self.assert_answers()
        self.assertIn("models--org--Tiny-GGUF", self.window.state()["model"]["path"])

    def test_a_search_ends_in_a_sentence(self):
        self.open()
        self.assertEqual(self.search("nothing")["hub"]["sentence"], "")
        self.window.key("ctrl+a")
        self.hub.fail("search", Fault(status=400))
        self.window.type("other")
        state = self.window.wait_for(lambda s: s["hub"]["sentence"], "the sentence")
        self.assertIn("answers 400 to a search", state["hub"]["sentence"])
        self.assertEqual([n for n in state["notices"] if n["error"]], [])

    def test_a_newer_search_ends_one_that_hangs(self):
        self.hub.fail("search", Fault(silent=300))
        self.open()
        self.open_picker()
        self.window.type("hang")
        self.window.wait_for(lambda s: s["hub"]["running"] and self.hub.searches, "the search")
        self.window.key("ctrl+a")
        self.window.type("tiny")
        self.window.wait_for(lambda s: s["hub"]["words"] == "tiny" and "hub:0" in s["widgets"], "the other search")
        self.hub.fail("list", Fault(silent=300))
        self.window.key("ctrl+a")
        self.window.type("gguf")
        self.window.wait_for(lambda s: s["hub"]["words"] == "gguf" and self.hub.searches[-1] == "gguf", "a third")
        self.assertEqual(self.window.terminate(), 128 + 15)  # the window does not wait for it

    def test_offline_sends_no_request(self):
        self.open("--offline")
        self.window.key("ctrl+o")
        state = self.window.wait_for(lambda s: s["hub"]["sentence"], "the sentence")
        self.assertIn("--offline was given", state["hub"]["sentence"])
        self.window.type("tiny")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["hub"]["words"] == "tiny", "the answer")
        self.assertEqual([w for w in self.window.state()["widgets"] if w.startswith(("model:", "hub:"))], [])
        self.assertEqual(self.hub.requests, [])

    def test_a_hub_that_does_not_know_it(self):
        self.open()
        self.fetch_by_name("org/Nothing-GGUF")
        state = self.window.wait_for(lambda s: any(n["error"] for n in s["notices"]), "the sentence")
        self.assertIn("org/Nothing-GGUF", str(state["notices"]))
        self.assertIsNone(state["model"])

    def test_a_flag_that_agrees_fetches_at_the_start(self):
        self.open("-m", NAME, "--yes")
        self.assert_answers()

    def test_an_endpoint_with_a_name(self):
        server = self.enterContext(FakeEndpoint())
        added = Run("endpoint", "add", "box", f"{server.origin}/well/v1", env=environment(self.home, **self.variables()))
        self.assertEqual(added.code, 0, added)
        self.open()
        self.open_picker()
        self.window.click("endpoint:box")
        self.assert_answers()
        self.assertEqual(self.window.state()["conversation"]["last_text"], TEXT)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
