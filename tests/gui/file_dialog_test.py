#!/usr/bin/env python3
"""Choosing and naming files in the window: with the desktop's dialog, played by a service on the test's bus, and with
the window's own browser.

usage: file_dialog_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import time
import unittest

from desktop import MAX_SECONDS, DisplayCase, Window
from portal import Bus, Portal
from program import SPM, TINY
from window_case import is_idle

class FileCase(DisplayCase):
    def open(self, *arguments, bus="", **memory):
        """A window with its model loaded; memory: its remembered state."""
        if memory:
            folder = os.path.join(self.home, ".local/state/warpchat")
            os.makedirs(folder)
            with open(os.path.join(folder, "window.json"), "w") as file:
                json.dump(memory, file)
        self.window = Window(self.display, "-m", TINY, "-n", "4", *arguments, home=self.home,
                             DBUS_SESSION_BUS_ADDRESS=bus)
        self.addCleanup(self.window.kill)
        return self.window.wait_for(is_idle, "the model")

    def write(self, name, text="some text"):
        full = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as file:
            file.write(text)
        return full

    def talk(self, name, text="hi"):
        return self.write(name, json.dumps([{"role": "user", "content": text}, {"role": "assistant", "content": "…"}]))

    def import_talk(self):
        self.browse("ctrl+shift+o")
        self.fill_in(self.talk("talk.json"))
        self.window.key("Return")
        self.window.wait_for(lambda s: len(s["conversation"]["messages"]) == 2, "the imported conversation")

    def browse(self, keys):
        self.window.key(keys)
        return self.window.wait_for(lambda s: s["focus"] == "path" and "path" in s["panels"], "the browser")

    def fill_in(self, text):
        self.window.key("ctrl+a")
        self.window.type(text)

    def wait_for_widget(self, name, there=True):
        return self.window.wait_for(lambda s: (name in s["widgets"]) == there, f"{name}, {there}")

    def wait_for_attached(self, *names):
        return self.window.wait_for(lambda s: s["attachments"] == list(names), f"{names}")

    def wait_for_file(self, name, start):
        end = time.monotonic() + MAX_SECONDS
        while True:
            if os.path.exists(name):
                with open(name) as file:
                    text = file.read()
                if text.startswith(start):
                    return
            self.assertLess(time.monotonic(), end, name)
            time.sleep(0.02)


class TheDesktops(FileCase):
    def setUp(self):
        super().setUp()
        self.bus = Bus()
        self.addCleanup(self.bus.close)

    def start(self, *arguments):
        self.portal = Portal(self.bus)
        self.addCleanup(self.portal.close)
        return self.open(*arguments, bus=self.bus.address)

    def ask(self, keys):
        self.window.key(keys)
        request = self.portal.next("method")
        self.window.wait_for(lambda s: "desktop_dialog" in s["panels"], "the request")
        return request

    def import_by_portal(self):
        self.ask("ctrl+shift+o")
        self.portal.answer([self.talk("talk.json")])
        self.window.wait_for(lambda s: len(s["conversation"]["messages"]) == 2, "the imported conversation")

    def test_several_files_are_attached(self):
        self.start()
        request = self.ask("ctrl+u")
        self.assertEqual(request["method"], "OpenFile")
        self.assertTrue(request["options"]["multiple"])
        self.assertEqual(request["options"]["current_folder"].rstrip("/"), self.home)
        window = self.display.xdotool("search", "--class", "warpchat").split()
        self.assertIn(request["parent"], [f"x11:{int(number):x}" for number in window])
        self.window.type("meanwhile")  # the window still works
        self.window.wait_for(lambda s: s["composer"] == "meanwhile", "what is typed")
        self.portal.answer([self.write("a b.txt"), self.write("100%.txt")])
        state = self.wait_for_attached("a b.txt", "100%.txt")
        self.assertEqual(state["panels"], ["sidebar"])
        self.assertEqual(state["composer"], "meanwhile")

    def test_a_conversation_is_imported_and_exported(self):
        self.start()
        self.import_by_portal()
        request = self.ask("ctrl+s")
        self.assertEqual(request["method"], "SaveFile")
        self.assertEqual(request["options"]["current_name"], "hi.md")
        self.assertEqual([name for name, _ in request["options"]["filters"]], ["Markdown", "JSON"])
        self.assertEqual(request["options"]["current_filter"], ["Markdown", [[0, "*.md"], [0, "*.markdown"]]])
        there = self.write("hi.md", "older")
        self.portal.answer([there], filter=0)  # the dialog has asked whether to replace it
        self.wait_for_file(there, "# hi")
        self.ask("ctrl+s")
        self.portal.answer([os.path.join(self.home, "hi.md")], filter=1)  # the filter determines the format
        self.wait_for_file(os.path.join(self.home, "hi.json"), "{")
        self.ask("ctrl+s")
        self.portal.answer([os.path.join(self.home, "without")], filter=0)
        self.wait_for_file(os.path.join(self.home, "without.md"), "# hi")
        self.ask("ctrl+s")
        self.portal.answer([os.path.join(self.home, "by_name.json")], filter=0)  # the name does
        self.wait_for_file(os.path.join(self.home, "by_name.json"), "{")

    def test_another_name_than_the_confirmed_one_is_not_replaced(self):
        self.start()
        self.import_by_portal()
        there = self.write("hi.json", "mine")
        self.ask("ctrl+s")
        self.portal.answer([os.path.join(self.home, "hi.md")], filter=1)
        self.window.wait_for(lambda s: any("already exists" in n["text"] for n in s["notices"]), "the sentence")
        self.wait_for_file(there, "mine")

    def test_what_was_open_when_it_was_asked_is_exported(self):
        self.start()
        self.import_by_portal()
        self.ask("ctrl+s")
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: not s["conversation"]["messages"], "a new conversation")
        self.portal.answer([os.path.join(self.home, "hi.md")], filter=0)
        self.wait_for_file(os.path.join(self.home, "hi.md"), "# hi")

    def test_a_model_is_opened(self):
        self.start()
        self.window.key("ctrl+o")
        self.window.click("model_open")
        request = self.portal.next("method")
        self.assertEqual(request["options"]["current_filter"], ["Models", [[0, "*.gguf"]]])
        self.portal.answer([SPM])
        self.window.wait_for(lambda s: is_idle(s) and s["model"]["path"] == SPM, "the other model")

    def test_a_closed_dialog_changes_nothing(self):
        self.start()
        self.ask("ctrl+u")
        self.portal.answer(response=1)
        state = self.window.wait_for(lambda s: "desktop_dialog" not in s["panels"], "the dialog's end")
        self.assertEqual((state["panels"], state["attachments"], state["notices"]), (["sidebar"], [], []))

    def test_asking_again_closes_the_first_dialog(self):
        self.start()
        self.ask("ctrl+u")
        self.window.key("ctrl+shift+o")
        told = [self.portal.told.get(timeout=MAX_SECONDS) for _ in range(2)]
        self.assertEqual(sum("closed" in t for t in told), 1, told)
        self.portal.answer([self.talk("talk.json")])
        self.window.wait_for(lambda s: len(s["conversation"]["messages"]) == 2, "the imported conversation")

    def test_a_dialog_that_fails_is_replaced(self):
        self.start()
        self.ask("ctrl+u")
        self.portal.answer(response=2)
        self.window.wait_for(lambda s: s["focus"] == "path", "the browser")

    def test_a_portal_that_ends_is_replaced(self):
        self.start()
        self.ask("ctrl+u")
        self.portal.service.kill()
        self.window.wait_for(lambda s: s["focus"] == "path", "the browser")

    def test_without_a_portal_it_is_said_once(self):
        self.open("--verbose", bus=self.bus.address)
        for keys in ("ctrl+u", "ctrl+shift+o"):
            self.browse(keys)
            self.window.key("Escape")
            self.window.wait_for(lambda s: "path" not in s["panels"], "it closed")
        self.window.key("ctrl+q")
        self.assertEqual(self.window.errors().count("window's own file dialog"), 1)

    def test_without_a_bus(self):
        self.open(bus="unix:path=/nowhere/bus")
        self.browse("ctrl+u")


class TheWindowsOwn(FileCase):
    def test_a_path_is_completed_and_walked_by_keys(self):
        self.write("documents/first.txt")
        self.write("documents/second one.txt")
        self.write("downloads/x")
        self.write(".hidden")
        self.open()
        self.browse("ctrl+u")
        state = self.wait_for_widget("folder:documents")
        self.assertNotIn("file:.hidden", state["widgets"])
        self.window.type("doc")
        self.wait_for_widget("folder:downloads", there=False)
        self.window.key("Tab")
        self.wait_for_widget("file:first.txt")
        self.window.type("s")
        self.window.key("Tab")
        self.wait_for_widget("file:first.txt", there=False)
        self.window.key("Return")
        self.wait_for_attached("second one.txt")
        self.browse("ctrl+u")
        self.wait_for_widget("file:first.txt")  # the folder that was used last
        self.window.key("ctrl+Up")
        self.wait_for_widget("folder:downloads")
        self.window.key("Down", "Return")
        self.wait_for_widget("file:first.txt")
        self.window.key("Down", "Down", "Up", "Return")
        self.wait_for_attached("second one.txt", "first.txt")

    def test_the_second_click_on_a_folder_takes_no_file_from_it(self):
        self.write("documents/a.txt")
        self.open()
        self.browse("ctrl+u")
        folder = self.window.middle("folder:documents")
        self.window.display.xdotool("mousemove", *folder, "click", "--repeat", 2, "--delay", 50, 1)
        self.wait_for_widget("file:a.txt")
        self.assertEqual(self.window.middle("file:a.txt"), folder)
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["focus"] == "composer" and not s["attachments"], "nothing is attached")

    def test_files_are_clicked(self):
        self.write("documents/a.txt")
        self.write("documents/b.txt")
        self.write("documents/c.txt")
        self.open()
        self.browse("ctrl+u")
        self.window.click("folder:documents")
        self.wait_for_widget("file:a.txt")
        self.window.click("path_go")
        self.wait_for_widget("path_message")  # nothing is chosen yet
        self.window.click("file:a.txt")
        self.window.wait_for(lambda s: "path_message" not in s["widgets"], "no fault any more")
        for name in ("file:b.txt", "file:c.txt", "file:b.txt"):
            self.window.click(name)
        self.window.click("path_go")
        self.wait_for_attached("a.txt", "c.txt")
        self.browse("ctrl+shift+o")
        self.wait_for_widget("file:a.txt")
        self.window.click("format:1")
        self.window.click("path_up")
        self.wait_for_widget("folder:documents")
        self.window.click("place:0")
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["focus"] == "composer", "it closed")

    def test_what_is_not_there_is_said(self):
        self.open()
        for typed in (os.path.join(self.home, "nothing.txt"), "/no/such/folder/x"):
            self.browse("ctrl+u")
            self.fill_in(typed)
            self.window.key("Return")
            state = self.wait_for_widget("path_message")
            self.assertIn("path", state["panels"])
            self.assertEqual(state["attachments"], [])
            self.window.key("Escape")
            self.window.wait_for(lambda s: "path" not in s["panels"], "it closed")

    def test_a_file_is_replaced_only_when_asked(self):
        self.open()
        self.import_talk()
        there = self.write("hi.md", "mine")
        self.browse("ctrl+s")
        self.wait_for_widget("file:hi.md")
        self.window.key("Return")
        self.wait_for_widget("path_message")  # it asks for confirmation
        self.wait_for_file(there, "mine")
        self.window.key("Return")
        self.wait_for_file(there, "# hi")
        self.browse("ctrl+s")
        self.window.click("format:1")
        self.window.key("Return")
        self.wait_for_file(os.path.join(self.home, "hi.json"), "{")
        self.browse("ctrl+s")
        self.window.type("other")  # replaces the name, not its ending
        self.window.key("Return")
        self.wait_for_file(os.path.join(self.home, "other.md"), "# hi")
        self.browse("ctrl+s")
        self.fill_in("plain")
        self.window.key("Return")
        self.wait_for_file(os.path.join(self.home, "plain.md"), "# hi")

    def test_recent_folders_are_kept(self):
        self.write("one/a.txt")
        self.open()
        self.browse("ctrl+u")
        self.fill_in("~/one/a.txt")
        self.window.key("Return")
        self.wait_for_attached("a.txt")
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.open()
        self.browse("ctrl+u")
        self.wait_for_widget("file:a.txt")

    def test_a_chatgpt_export_is_imported(self):
        def node(number):
            return {"title": f"talk {number}", "update_time": 1763752400 + number, "current_node": "a", "mapping": {
                "a": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["hi"]}}}}}
        self.open()
        self.browse("ctrl+shift+o")
        self.fill_in(self.write("conversations.json", json.dumps([node(n) for n in (3, 2, 1)])))
        self.window.key("Return")
        state = self.window.wait_for(lambda s: len(s["conversations"]) == 3 and s["notices"], "three conversations")
        self.assertEqual(state["conversation"]["title"], "talk 3")
        self.assertIn("imported 3 conversations", state["notices"][0]["text"])

    def test_rows_are_whole_in_small_and_large_windows(self):
        for n in range(40):
            self.write(f"folder/{n:02} {'a long name ' * 6}.txt")
        looks = [{"width": 600, "height": 400}, {"width": 1200, "height": 780, "zoom": 2}, {"width": 1180, "height": 780}]
        for look in looks:
            with self.subTest(**look):
                state_file = os.path.join(self.home, ".local/state/warpchat/window.json")
                os.makedirs(os.path.dirname(state_file), exist_ok=True)
                with open(state_file, "w") as file:
                    json.dump({"x": 0, "y": 0, "folders": [os.path.join(self.home, "folder/")], **look}, file)
                self.open()
                self.browse("ctrl+u")
                state = self.window.wait_for(lambda s: any(w.startswith("file:") for w in s["widgets"]), "the files")
                rows = {name: at for name, at in state["widgets"].items() if name.startswith("file:")}
                self.assertGreater(len(rows), 3)
                self.assertEqual(len({at[3] for at in rows.values()}), 1, "each as high as the others")
                go, field = state["widgets"]["path_go"], state["widgets"]["path"]
                for x, y, width, height in rows.values():
                    self.assertLessEqual(x + width, field[0] + field[2])
                    self.assertLessEqual(y + height, go[1])
                lowest = max(y + height for _, y, _, height in rows.values())
                self.assertLess(go[1] - lowest, 3 * go[3], "no empty part below the rows")
                self.assertLessEqual(go[1] + go[3], state["window"][1])
                self.window.kill()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
