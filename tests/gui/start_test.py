#!/usr/bin/env python3
"""The window's start screen, its command palette and its looks.

usage: start_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import sys
import time
import unittest

from desktop import Window
from portal import Bus, Portal
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

    def theme(self, name):
        return self.window.wait_for(lambda s: s["theme"] == name, f"the {name} theme")

    def test_the_theme_is_the_systems_until_one_is_chosen(self):
        bus = Bus()
        self.addCleanup(bus.close)
        portal = Portal(bus)
        self.addCleanup(portal.close)
        portal.tell_colours(1)
        self.start(DBUS_SESSION_BUS_ADDRESS=bus.address)
        self.assertEqual(self.theme("dark")["chosen_theme"], "system")
        portal.tell_colours(2)
        self.theme("light")
        frames, seconds = self.theme("light")["frames"], self.window.cpu_seconds()
        time.sleep(1)
        self.assertLessEqual(self.window.state()["frames"], frames + 2, "an idle window draws nothing")
        self.assertLess(self.window.cpu_seconds() - seconds, 0.1)
        portal.tell_colours(1)
        self.theme("dark")
        self.window.key("ctrl+shift+l")
        self.assertEqual(self.theme("light")["chosen_theme"], "light")
        portal.tell_colours(1)
        self.palette("system theme")
        self.assertEqual(self.window.state()["theme"], "light", "what was chosen stays")
        self.window.key("Escape")
        self.window.click("view")
        self.window.click("theme:system")
        self.theme("dark")
        portal.tell_colours(0)  # no preference: what GTK's settings say
        self.theme("light")
        self.window.key("Escape")
        self.close()

        folder = os.path.join(self.home, ".config/gtk-3.0")
        os.makedirs(folder)
        with open(os.path.join(folder, "settings.ini"), "w") as file:
            file.write("[Settings]\ngtk-application-prefer-dark-theme = 1\n")
        self.start()  # without a bus
        self.assertEqual(self.theme("dark")["chosen_theme"], "system")
        self.close()

    def test_font_and_size_are_chosen_and_stay(self):
        self.open("-n", "4")
        self.import_talk("question", "An answer of `some words` and **more**.")
        self.window.click("view")
        state = self.window.wait_for(lambda s: "view" in s["panels"], "the panel")
        width = state["widgets"]["theme:system"][2]
        for font in ("text_font:DejaVu Sans", "code_font:DejaVu Sans Mono"):
            self.window.click(font)
        state = self.window.wait_for(lambda s: s["fonts"] == ["DejaVu Sans", "DejaVu Sans Mono"], "the fonts")
        self.window.wait_for(lambda s: s["widgets"]["theme:system"][2] > width, "its letters, which are wider")
        self.window.click("view_larger")
        zoom = self.window.wait_for(lambda s: s["zoom"] > 1, "larger text")["zoom"]
        self.window.key("Tab", "Escape")
        self.window.wait_for(lambda s: "view" not in s["panels"] and s["focus"] == "composer", "no panel")
        self.close()
        state = self.open("-n", "4")
        self.assertEqual((state["fonts"], state["zoom"]), (["DejaVu Sans", "DejaVu Sans Mono"], zoom))
        self.window.key("ctrl+0")
        self.window.click("view")
        self.window.click("text_font:")
        self.window.wait_for(lambda s: s["fonts"][0] == "" and s["widgets"]["theme:system"][2] == width, "the usual font")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
