#!/usr/bin/env python3
"""The library of prompts in the window: a prompt is saved, found, filled, edited and removed.

usage: prompts_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import sys
import unittest

from window_case import WindowCase


class Prompts(WindowCase):
    def prompt_file(self, name):
        return os.path.join(self.home, ".config/warpchat/prompts", name + ".md")

    def text_of(self, name):
        with open(self.prompt_file(name)) as file:
            return file.read()

    def wait_for_focus(self, name):
        return self.window.wait_for(lambda s: s["focus"] == name, f"the focus on {name}")

    def test_a_message_is_saved_and_used_again(self):
        self.open("-n", "4")
        self.window.type("Into {language=French}: {text}")
        self.window.wait_for(lambda s: s["composer"].endswith("{text}"), "the typed text")
        self.window.click("prompts")
        self.window.wait_for(lambda s: "prompts" in s["panels"] and "prompt_save_message" in s["widgets"], "the panel")
        self.window.click("prompt_save_message")
        self.wait_for_focus("prompt_name")
        self.window.type("translate")
        self.window.wait_for(lambda s: "prompt_save" in s["widgets"], "the button")
        self.window.click("prompt_save")
        self.window.wait_for(lambda s: s["prompts"] == ["translate"] and "prompt:translate" in s["widgets"], "the prompt")
        self.assertEqual(self.text_of("translate"), "Into {language=French}: {text}\n")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "prompts" not in s["panels"] and s["focus"] == "composer", "the composer")
        self.window.key("ctrl+a", "Delete")

        self.window.key("ctrl+p")
        self.wait_for_focus("prompt_filter")
        self.window.type("tra")
        self.window.key("Return")
        self.wait_for_focus("prompt_value:text")
        self.window.type("Hello")
        self.window.wait_for(lambda s: "prompt_use" in s["widgets"], "the form")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["composer"] == "Into French: Hello", "the filled text")
        self.assertEqual((state["panels"].count("prompts"), state["focus"]), (0, "composer"))
        self.window.key("Return")
        self.answered(2)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [("Into French: Hello",)])

    def test_the_palette_finds_one_which_lands_at_the_caret(self):
        os.makedirs(os.path.dirname(self.prompt_file("x")))
        with open(self.prompt_file("greeting"), "w") as file:
            file.write("Hello!\n")
        self.open()
        self.window.type("A B")
        self.window.wait_for(lambda s: s["composer"] == "A B", "the typed text")
        self.window.key("Left")
        self.window.key("ctrl+shift+p")
        self.window.wait_for(lambda s: s["focus"] == "palette" and s["prompts"], "the palette")
        self.window.type("greeti")
        self.window.wait_for(lambda s: s["palette"][:1] == ["greeting"], "its row")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["composer"] == "A Hello!B" and not s["palette"], "its text")
        self.window.key("ctrl+z")
        self.window.wait_for(lambda s: s["composer"] == "A B", "the text before")

    def test_one_is_edited_and_removed_after_a_question(self):
        os.makedirs(os.path.dirname(self.prompt_file("x")))
        for name in ("one", "two"):
            with open(self.prompt_file(name), "w") as file:
                file.write(name)
        self.open()
        self.window.key("ctrl+p")
        self.window.wait_for(lambda s: "prompt_menu:one" in s["widgets"], "the list")
        self.window.click("prompt_menu:one")
        self.window.click("menu_prompt_edit")
        self.wait_for_focus("prompt_text")
        self.window.type(" more")
        self.window.click("prompt_name")
        self.window.key("ctrl+a")
        self.window.type("first")
        self.window.click("prompt_save")
        self.window.wait_for(lambda s: s["prompts"] == ["first", "two"] and "prompt_menu:two" in s["widgets"], "its new name")
        self.assertEqual(self.text_of("first"), "one more\n")
        self.window.click("prompt_menu:two")
        self.window.click("menu_prompt_remove")
        self.window.wait_for(lambda s: "prompt_remove" in s["widgets"], "a question")
        self.assertTrue(os.path.exists(self.prompt_file("two")))
        self.window.click("prompt_remove")
        self.window.wait_for(lambda s: s["prompts"] == ["first"], "the other one")
        self.assertFalse(os.path.exists(self.prompt_file("two")))
        self.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
