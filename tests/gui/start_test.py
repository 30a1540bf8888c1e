#!/usr/bin/env python3
"""The window's start screen, its command palette and its looks.

usage: start_test.py CHAT CLI_MODELS [unittest arguments]
"""
import sys
import unittest

from desktop import Window
from program import TINY
from window_case import WindowCase, is_idle, n_messages


class Start(WindowCase):
    def start(self, **variables):
        self.window = Window(self.display, home=self.home, HF_HUB_OFFLINE="1", **variables)
        self.addCleanup(self.window.kill)
        return self.window.wait_for(lambda s: s["focus"] == "composer", "the window")

    def palette(self, text=""):
        """Opens it and types; returns its rows."""
        self.window.key("ctrl+shift+p")
        self.window.wait_for(lambda s: s["focus"] == "palette", "the palette")
        before = self.window.state()["palette"]
        if not text:
            return before
        self.window.type(text)
        return self.window.wait_for(lambda s: s["palette"] != before and len(s["palette"]) < len(before),
                                    "fewer rows")["palette"]

    def test_a_newcomer_finds_three_ways_to_a_model_and_a_first_question(self):
        self.start()
        self.window.click("start:server")
        self.window.wait_for(lambda s: s["focus"] == "server_address", "the form of a server")
        self.window.key("Escape", "Escape")
        self.window.click("start:hub")
        self.window.wait_for(lambda s: "models" in s["panels"] and s["focus"] == "model_filter", "the models")
        self.window.key("Escape")
        self.window.click("start:here")  # there is none yet
        self.window.wait_for(lambda s: s["focus"] == "path", "the file dialog")
        self.window.key("ctrl+a")
        self.window.type(TINY)
        self.window.key("Return")
        state = self.window.wait_for(is_idle, "the model")
        self.window.click("starter:explain")
        state = self.window.wait_for(lambda s: s["composer"], "a prompt")
        self.assertEqual((state["composer"], state["focus"]), ("Explain in plain words, with one example: ", "composer"))
        self.window.type("tides")
        self.window.key("Return")
        state = self.answered(2)
        self.assertNotIn("starter:explain", state["widgets"])
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"),
                         [("Explain in plain words, with one example: tides",)])

    def test_everything_is_a_few_letters_away(self):
        self.open("-n", "4")
        talk = self.import_talk("About volcanoes", "They are hot.")["conversation"]["id"]
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: n_messages(s) == 0, "a new chat")
        self.assertEqual(self.palette()[0], "New chat")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "palette" not in s["panels"] and s["focus"] == "composer", "no palette")

        rows = self.palette("vlcn")
        self.assertEqual(rows[0], "About volcanoes")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["conversation"]["id"] == talk, "the chat")

        rows = self.palette("kbsh")
        self.assertEqual(rows[0], "Keyboard shortcuts")
        self.window.key("Return")
        self.window.wait_for(lambda s: "shortcuts" in s["panels"] and "palette" not in s["panels"], "the shortcuts")
        self.window.key("Escape")

        rows = self.palette("sidebar")
        self.window.key("Down", "Up", "Return")
        self.window.wait_for(lambda s: "sidebar" not in s["panels"], "no sidebar")
        self.assertEqual(self.palette()[:2], ["Sidebar", "Keyboard shortcuts"])
        self.window.key("Down", "Down", "Up", "Escape")
        self.window.wait_for(lambda s: "palette" not in s["panels"], "no palette")
        self.palette("unload")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["model"] is None, "no model")
        self.palette("tiny")
        self.window.key("Return")
        self.window.wait_for(is_idle, "the model again")

        self.close()
        self.open("-n", "4")
        self.assertEqual(self.palette()[0], "Unload the model", "recent ones stay")
        frames = self.window.state()["frames"]
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["frames"] > frames and "palette" not in s["panels"], "no palette")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
