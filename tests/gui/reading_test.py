#!/usr/bin/env python3
"""The window's transcript as a reader meets it: finding, selecting, the keyboard within messages, code and formulas.

usage: reading_test.py CHAT CLI_MODELS [unittest arguments]
"""
import sys
import time
import unittest

from desktop import Window
from program import TINY
from window_case import WindowCase, is_idle


class Reading(WindowCase):
    def test_words_are_found_in_the_conversation(self):
        self.open("-n", "4")
        self.ask("where is the needle", 2)
        self.window.key("ctrl+f")
        self.window.wait_for(lambda s: s["focus"] == "find", "the field")
        self.window.type("NEEDLE")
        self.window.wait_for(lambda s: s["found"] == [1, 1], "the place")
        self.window.key("Escape")
        state = self.window.wait_for(lambda s: "find" not in s["panels"], "no search")
        self.assertEqual(state["found"], [0, 0])

    def test_what_is_selected_is_pasted_by_the_middle_button_elsewhere(self):
        self.open("-n", "4")
        self.ask("to be selected", 2)
        self.window.click("transcript")
        self.window.key("ctrl+a")
        self.window.wait_for(lambda s: "to be selected" in s["selection"], "the selection")
        other = Window(self.display, "-m", TINY, home=self.home)
        self.addCleanup(other.kill)
        other.wait_for(is_idle, "the other window's model")
        other.click("composer", 2)
        other.wait_for(lambda s: "to be selected" in s["composer"], "what was selected")

    def test_code_is_coloured_and_formulas_are_set(self):
        answer = "```cpp\nreturn 1;\n```\n\n$$\\frac{a+b+c+d+e}{2}$$\n\nWords."
        self.open()
        state = self.import_talk("Both", answer)
        frames = None
        while frames != self.window.state()["frames"]:
            frames = self.window.state()["frames"]
            time.sleep(0.3)
        rows = self.display.pixels(*(round(at) for at in state["widgets"]["transcript"]))

        def is_near(pixel, colour):
            return all(abs((pixel >> shift & 255) - (colour >> shift & 255)) < 40 for shift in (0, 8, 16))
        self.assertTrue(any(is_near(pixel, 0x8A2BB0) for row in rows for pixel in row), "no keyword has its colour")
        dark = ["".join("#" if is_near(pixel, 0x1F1E1C) else " " for pixel in row) for row in rows]
        self.assertTrue(any("#" * 40 in row for row in dark), "no rule of a fraction is drawn")
        self.window.click("transcript")
        self.window.key("ctrl+a")
        state = self.window.wait_for(lambda s: s["selection"], "the selection")
        self.assertEqual(state["selection"], "Both\n\nreturn 1;\n\n$$\\frac{a+b+c+d+e}{2}$$\n\nWords.")

    def targets(self, key, wanted, steps=30):
        """Presses the key until the keyboard is at the wanted widget; returns how often."""
        for n in range(steps):
            state = self.window.state()
            if state["widgets"].get("target") == state["widgets"].get(wanted, 0):
                return n
            before = state["scroll"], state["widgets"].get("target")
            self.window.key(key)
            self.window.wait_for(lambda s: (s["scroll"], s["widgets"].get("target")) != before, f"a step {key}")
            time.sleep(0.1)
        self.fail(f"{key} never reaches {wanted}")

    def test_messages_go_by_the_keyboard(self):
        answer = "[a link](https://example.org)\n\n" + "\n\n".join(["words"] * 60) + "\n\n```py\nx = 1\n```\n\nend"
        self.open(model=TINY)
        state = self.import_talk("question", answer)
        asked, answered = (message["key"] for message in state["conversation"]["messages"])
        self.window.key("ctrl+l")
        self.window.wait_for(lambda s: s["focus"] == "composer", "the composer")
        self.window.key("shift+Tab")
        self.window.wait_for(lambda s: s["focus"] == "transcript" and "target" in s["widgets"], "a ring")
        self.targets("Up", f"copy_code:{answered}")
        self.window.key("Return")
        self.targets("Up", f"copy:{asked}", steps=60)  # through the long text to the top
        self.assertLess(self.window.state()["scroll"], 100)
        self.targets("Down", f"copy:{answered}", steps=60)
        for menu_key in ("Menu", "shift+F10"):
            self.window.key(menu_key)
            self.window.wait_for(lambda s: s["focus"] == "menu_copy_message", "the menu")
            self.window.key("Escape")
            self.window.wait_for(lambda s: s["focus"] == "transcript", "the conversation")
        self.window.key("Tab")
        self.window.wait_for(lambda s: s["focus"] == "composer" and "target" not in s["widgets"], "the composer")
        self.window.key("ctrl+v")
        self.window.wait_for(lambda s: s["composer"] == "x = 1", "the copied code")
        self.window.key("Menu")
        self.window.wait_for(lambda s: "menu_paste" in s["widgets"], "the field's menu")

    def test_tab_goes_as_one_reads(self):
        self.open("-n", "4")
        self.ask("hello", 2)
        order = []
        while not order or order[-1] != "composer":
            focus = self.window.state()["focus"]
            self.window.key("Tab")
            order.append(self.window.wait_for(lambda s: s["focus"] != focus, "the next widget")["focus"])
            self.assertLess(len(order), 40)
        wanted = ["new", "search", "conversations", "trash", "sidebar", "model", "export", "profiler", "view", "theme",
                  "settings", "transcript", "composer"]
        self.assertEqual([name for name in order if name in wanted], wanted)

    def test_the_beginning_and_the_end_by_key(self):
        self.open(model=TINY)
        self.import_talk("question", "\n\n".join(["words"] * 100))
        self.window.wait_for(lambda s: s["at_end"], "the end")
        self.window.key("ctrl+l", "ctrl+Home")
        self.window.wait_for(lambda s: s["scroll"] == 0 and not s["at_end"], "the beginning")
        self.window.key("ctrl+End")
        self.window.wait_for(lambda s: s["at_end"], "the end")
        self.window.type("typed")
        self.window.key("ctrl+Home")
        self.window.type("is ")
        self.window.wait_for(lambda s: s["composer"] == "is typed" and s["at_end"], "the field's own beginning")

    def test_a_message_is_copied_by_its_menu(self):
        self.open("-n", "4")
        self.ask("hello there", 2)
        x, y, width, _ = self.window.state()["widgets"]["transcript"]
        self.window.display.xdotool("mousemove", x + width // 2, y + 40, "click", 3)
        self.window.click("menu_copy_message")
        self.window.wait_for(lambda s: "menu_copy_message" not in s["widgets"], "the menu closed")
        self.window.key("ctrl+l", "ctrl+v")
        self.window.wait_for(lambda s: s["composer"] == "hello there", "the message")

    def test_renaming_keeps_the_counters(self):
        self.open("-n", "4")
        before = self.ask("hello", 2)
        self.window.key("F2")
        self.window.wait_for(lambda s: s["focus"] == "rename", "the field")
        self.window.key("ctrl+a")
        self.window.type("Renamed")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["conversation"]["title"] == "Renamed", "the title")
        self.assertGreater(before["conversation"]["context_used"], 0)
        self.assertEqual(state["conversation"]["context_used"], before["conversation"]["context_used"])
        self.assertEqual(state["conversation"]["messages"], before["conversation"]["messages"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
