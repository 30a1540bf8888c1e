#!/usr/bin/env python3
"""The window as a user meets it: typed into, clicked, closed and opened again, killed; what is true afterwards is read
from the database and from the state that --gui-state writes.

usage: window_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from desktop import CHAT, FOLDER, MOST_SECONDS, DisplayCase, Window, environment, unserved_display
from program import ENDLESS, SPM, TINY

N_KILLS = 200 if os.environ.get("WARPCHAT_FULL_TESTS") else 20


def is_idle(state):
    return state["model"] is not None and state["phase"] == "idle"


def n_messages(state):
    return len(state["conversation"]["messages"])


def last_status(state):
    messages = state["conversation"]["messages"]
    return messages[-1]["status"] if messages else None


class WindowCase(DisplayCase):
    def setUp(self):
        super().setUp()
        self.folder = os.path.dirname(self.file)
        self.window = None

    def open(self, *arguments, model=TINY, **variables):
        """A window with its model loaded."""
        self.window = Window(self.display, "-m", model, *arguments, home=self.home, **variables)
        self.addCleanup(self.window.kill)
        return self.window.wait_for(is_idle, "the model")

    def close(self):
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)

    def ask(self, text, n_after):
        """Sends the text; returns the state with so many messages, the last of them an answer that has ended."""
        self.window.key("ctrl+l")
        self.window.type(text)
        self.window.wait_for(lambda s: s["composer"] == text, "the typed text")
        self.window.key("Return")
        return self.answered(n_after)

    def answered(self, n_after):
        return self.window.wait_for(
            lambda s: s["phase"] == "idle" and n_messages(s) == n_after
            and last_status(s) in ("complete", "stopped"), f"{n_after} messages")


class Chat(WindowCase):
    def test_a_question_is_answered_and_stored(self):
        state = self.open("-n", "12")
        self.assertEqual(state["focus"], "composer")
        state = self.ask("How are you?", 2)
        self.assertGreater(state["conversation"]["messages"][1]["tokens"], 0)
        self.assertEqual(state["composer"], "")
        self.assertEqual(self.rows("SELECT role FROM turns ORDER BY id"), [("user",), ("assistant",)])
        self.assertEqual(self.rows("SELECT text FROM turns ORDER BY id")[1][0], state["conversation"]["last_text"])
        self.close()

    def test_a_multi_line_message(self):
        self.open("-n", "4")
        self.window.type("one")
        self.window.key("shift+Return")
        self.window.type("two")
        self.window.wait_for(lambda s: s["composer"] == "one\ntwo", "two lines")
        self.window.click("send")
        self.answered(2)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [("one\ntwo",)])

    def test_an_answer_is_stopped(self):
        self.open(model=ENDLESS)
        for by_key in (True, False):
            with self.subTest(by_key=by_key):
                self.window.key("ctrl+l")
                self.window.type("go on")
                self.window.key("Return")
                self.window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["last_text"], "some text")
                self.window.key("Escape") if by_key else self.window.click("stop")
                state = self.window.wait_for(lambda s: s["phase"] == "idle", "the end")
                self.assertEqual(last_status(state), "stopped")

    def test_a_stopped_answer_goes_on(self):
        self.open(model=ENDLESS)
        self.window.key("ctrl+l")
        self.window.type("go on")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["last_text"], "some text")
        self.window.key("Escape")
        state = self.window.wait_for(lambda s: s["phase"] == "idle", "the end")
        answer = state["conversation"]["messages"][1]
        self.window.click(f"continue:{answer['key']}")
        self.window.wait_for(lambda s: s["phase"] == "answer" and n_messages(s) == 2
                             and s["conversation"]["messages"][1]["length"] > answer["length"], "more of it")
        self.window.key("Escape")
        state = self.window.wait_for(lambda s: s["phase"] == "idle", "the end again")
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'assistant'"),
                         [(state["conversation"]["last_text"],)])

    def test_what_does_not_fit_the_context_is_kept(self):
        self.open("-n", "4", "-c", "64")
        text = "x y " * 30
        self.window.key("ctrl+l")
        self.window.type(text)
        self.window.wait_for(lambda s: s["composer"] == text, "the typed text")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["refusal"], "a refusal")
        self.assertEqual(state["composer"], text)
        self.assertEqual(n_messages(state), 0)
        self.assertGreater(state["refusal"]["larger_context"], 64)
        self.window.click("larger_context")
        state = self.answered(2)
        self.assertEqual(state["composer"], "")
        self.assertGreater(state["model"]["context"], 64)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [(text,)])

    def test_a_conversation_longer_than_the_context_goes_on_without_its_oldest_turns(self):
        self.open("-n", "4", "-c", "128")
        for n in range(1, 20):
            self.window.key("ctrl+l")
            self.window.type("some words")
            self.window.wait_for(lambda s: s["composer"] == "some words", "the typed text")
            self.window.key("Return")
            state = self.window.wait_for(lambda s: s["refusal"] or (is_idle(s) and n_messages(s) == 2 * n), "an answer")
            if state["refusal"]:
                break
        self.assertTrue(state["refusal"]["can_drop"])
        self.assertEqual(state["composer"], "some words")
        self.assertEqual(state["notices"], [])
        self.window.click("fewer_turns")
        state = self.answered(2 * n)
        self.assertGreater(state["conversation"]["unseen_turns"], 0)
        self.assertEqual(state["composer"], "")
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(2 * n,)])
        last = state["conversation"]["messages"][-1]["key"]
        unseen = state["conversation"]["messages"][2 * state["conversation"]["unseen_turns"] - 1]["key"]
        self.window.move_to("transcript")
        see_all = f"see_all:{unseen}"

        def is_in_view(state):
            top = state["widgets"]["transcript"][1]
            return see_all in state["widgets"] and state["widgets"][see_all][1] > top

        while not is_in_view(self.window.state()):
            frames = self.window.state()["frames"]
            self.display.xdotool("click", 4)
            self.window.wait_for(lambda s: s["frames"] > frames, "it scrolled")
        while see_all in self.window.state()["widgets"]:  # it may still scroll away from below the pointer
            frames = self.window.state()["frames"]
            self.window.click(see_all)
            self.window.wait_for(lambda s: s["frames"] > frames, "it was clicked")
        state = self.window.wait_for(lambda s: not s["conversation"]["drops_oldest"], "all of it is wished for")
        if "scroll_to_end" in state["widgets"]:
            self.window.click("scroll_to_end")
        self.window.click(f"regenerate:{last}")
        state = self.window.wait_for(lambda s: s["refusal"], "a refusal at the answer")
        self.assertEqual(state["refusal"]["message"], last)
        self.window.click(f"fewer_turns:{last}")
        self.answered(2 * n)

    def test_regenerate_edit_and_walk_back(self):
        self.open("-n", "8")
        self.ask("first", 2)
        self.ask("second", 4)
        self.window.key("ctrl+r")
        state = self.window.wait_for(
            lambda s: s["phase"] == "idle" and n_messages(s) == 4
            and s["conversation"]["messages"][3]["siblings"] == 2, "a second version of the answer")
        self.assertEqual(state["conversation"]["messages"][3]["sibling"], 1)
        self.window.key("ctrl+e")
        self.window.wait_for(lambda s: s["editing"] and s["composer"] == "second", "the text to edit")
        self.window.key("ctrl+a")
        self.window.type("third")
        self.window.wait_for(lambda s: s["composer"] == "third", "the new text")
        self.window.key("Return")
        state = self.window.wait_for(
            lambda s: s["phase"] == "idle" and n_messages(s) == 4
            and s["conversation"]["messages"][2]["siblings"] == 2 and last_status(s) == "complete", "a new branch")
        self.assertEqual(sorted(text for text, in self.rows("SELECT text FROM turns WHERE role = 'user'")),
                         ["first", "second", "third"])
        self.window.key("alt+Left")  # the message: its new answer has one version
        state = self.window.wait_for(lambda s: s["conversation"]["messages"][2]["sibling"] == 0, "the old branch")
        self.assertEqual(state["conversation"]["messages"][3]["siblings"], 2)
        key = state["conversation"]["messages"][2]["key"]
        self.window.click(f"version_after:{key}")
        self.window.wait_for(lambda s: s["conversation"]["messages"][2]["sibling"] == 1, "the new branch again")

    def test_undo_and_a_copy(self):
        self.open("-n", "4")
        self.ask("first", 2)
        self.ask("second", 4)
        self.window.key("ctrl+shift+u")
        state = self.window.wait_for(lambda s: n_messages(s) == 2, "the first message alone")
        first = state["conversation"]["id"]
        self.window.key("ctrl+d")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] != first, "the copy")
        self.assertEqual((n_messages(state), len(state["conversations"])), (2, 2))
        self.ask("third", 4)
        self.assertEqual(self.rows(f"SELECT text FROM turns WHERE role = 'user' AND conversation <> {first}"),
                         [("first",), ("third",)])

    def test_text_is_selected_and_copied(self):
        self.open("-n", "16")
        self.ask("Select me please", 2)
        x, y, width, height = self.window.state()["widgets"]["transcript"]
        self.window.drag((x + 2, y + 2), (x + width - 30, y + height - 4))
        state = self.window.wait_for(lambda s: "Select me please" in s["selection"], "the selection")
        self.window.key("ctrl+c")
        end = time.monotonic() + MOST_SECONDS
        while True:
            clip = subprocess.run(["xclip", "-selection", "clipboard", "-o"], capture_output=True, timeout=MOST_SECONDS,
                                  env={**os.environ, "DISPLAY": self.display.name}).stdout.decode()
            if clip == state["selection"]:
                break
            self.assertLess(time.monotonic(), end, f"on the clipboard: {clip!r}, selected: {state['selection']!r}")
            time.sleep(0.05)

    def test_thoughts_and_settings(self):
        self.open("-n", "4")
        self.window.key("ctrl+comma")
        self.window.click("system_prompt")
        self.window.type("Be brief")
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["conversation"]["system_prompt"] == "Be brief", "the system prompt")
        self.ask("hello", 2)
        self.assertEqual(self.rows("SELECT system_prompt FROM conversations"), [("Be brief",)])


class Conversations(WindowCase):
    def test_switch_search_rename_and_trash(self):
        self.open("-n", "4")
        self.ask("apples are red", 2)
        first = self.window.state()["conversation"]["id"]
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")
        self.ask("bananas are yellow", 2)
        second = self.window.state()["conversation"]["id"]
        self.window.wait_for(lambda s: [c["id"] for c in s["conversations"]] == [second, first], "both in the list")

        self.window.click(f"conversation:{first}")
        self.window.wait_for(lambda s: s["conversation"]["id"] == first and n_messages(s) == 2, "the first one")
        self.window.key("ctrl+k")
        self.window.type("bananas")
        self.window.wait_for(lambda s: [h["id"] for h in s["hits"]] == [second], "the hit")
        self.window.click("hit:0")
        self.window.wait_for(lambda s: s["conversation"]["id"] == second, "the second one")
        self.window.click("search_clear")
        self.window.wait_for(lambda s: not s["search"], "no search")

        self.window.key("F2")
        self.window.wait_for(lambda s: s["focus"] == "rename", "the title's field")
        self.window.key("ctrl+a")
        self.window.type("Fruit")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["conversations"][0]["title"] == "Fruit", "the new title")

        self.window.key("ctrl+shift+BackSpace")
        state = self.window.wait_for(lambda s: [c["id"] for c in s["trash"]] == [second], "one in the trash")
        notice = next(n for n in state["notices"] if n["action"] == "Undo")
        self.window.click(f"notice:{notice['id']}:action")
        self.window.wait_for(lambda s: not s["trash"] and len(s["conversations"]) == 2, "it back from the trash")

    def test_it_goes_on_where_it_was_closed(self):
        self.open("-n", "4")
        self.ask("remember this", 2)
        conversation = self.window.state()["conversation"]["id"]
        self.close()
        self.open("-n", "4")
        self.window.wait_for(lambda s: s["conversations"], "the list")
        self.window.click(f"conversation:{conversation}")
        self.window.wait_for(lambda s: n_messages(s) == 2, "its messages")
        self.ask("and more", 4)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(4,)])

    def test_a_draft_stays_with_its_conversation(self):
        def switch_to(conversation, composer, what):
            self.window.click(f"conversation:{conversation}" if conversation else "new")
            self.window.wait_for(lambda s: s["conversation"]["id"] == conversation and s["composer"] == composer, what)
            self.window.key("ctrl+l")

        self.open("-n", "4")
        first = self.ask("one", 2)["conversation"]["id"]
        self.window.type("of the first")
        self.window.wait_for(lambda s: s["composer"] == "of the first", "the first's draft")
        switch_to(0, "", "nothing written")
        self.window.type("of a new one")
        self.window.wait_for(lambda s: s["composer"] == "of a new one", "the new one's draft")
        switch_to(first, "of the first", "its draft")
        self.window.key("ctrl+e")
        self.window.wait_for(lambda s: s["editing"] and s["composer"] == "one", "the message to be edited")
        self.window.type(" changed")
        self.window.wait_for(lambda s: s["composer"] == "one changed", "the edit")
        switch_to(0, "of a new one", "the new one's again")
        switch_to(first, "one changed", "the edit again")
        self.window.key("Escape")
        self.window.wait_for(lambda s: not s["editing"] and s["composer"] == "of the first", "the draft under it")
        self.close()
        self.open("-n", "4")
        self.window.wait_for(lambda s: s["composer"] == "of a new one" and s["conversations"], "a new one's draft")
        switch_to(first, "of the first", "its draft after a restart")

    def test_conversations_that_are_answered_or_unread_are_marked(self):
        self.open("-c", "0", model=ENDLESS)
        self.window.type("go on")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["id"], "some text")
        first = state["conversation"]["id"]
        self.window.key("ctrl+comma")
        self.window.click("max_tokens")
        self.window.type("4")
        self.window.wait_for(lambda s: s["settings"]["max_tokens"] == 4, "a shorter answer for the next")
        self.window.click("settings_close")
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["answering"] == [first] and f"answering:{first}" in s["widgets"], "its mark")
        self.window.type("and you")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] not in (0, first), "it is taken, and waits")
        second = state["conversation"]["id"]
        self.window.click(f"conversation:{first}")
        self.window.wait_for(lambda s: s["conversation"]["id"] == first and f"answering:{second}" in s["widgets"],
                             "the other's mark")
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["unread"] == [second] and f"unread:{second}" in s["widgets"], "it has come")
        self.window.click(f"conversation:{second}")
        state = self.window.wait_for(lambda s: not s["unread"] and f"unread:{second}" not in s["widgets"], "it is read")
        self.assertEqual(n_messages(state), 2)

    def test_an_answer_that_was_cut_goes_on_after_a_restart(self):
        self.open("-n", "4", model=ENDLESS)
        conversation = self.ask("one", 2)["conversation"]["id"]
        self.close()
        self.open("-n", "4", model=ENDLESS)
        self.window.wait_for(lambda s: s["conversations"], "the list")
        self.window.click(f"conversation:{conversation}")
        state = self.window.wait_for(lambda s: n_messages(s) == 2, "its messages")
        answer = state["conversation"]["messages"][1]
        self.assertTrue(answer["cut"])
        self.window.click(f"continue:{answer['key']}")
        self.window.wait_for(lambda s: is_idle(s) and n_messages(s) == 2
                             and s["conversation"]["messages"][1]["length"] > answer["length"], "more of it")

    def test_a_running_window_sees_what_another_program_stores(self):
        self.open("-n", "4")
        other = Window(self.display, "-m", TINY, "-n", "4", home=self.home)
        self.addCleanup(other.kill)
        other.wait_for(is_idle, "the other window's model")
        ours, self.window = self.window, other
        other.display.xdotool("mousemove", 600, 700)
        self.ask("from the other", 2)
        self.assertEqual(other.terminate(), 128 + signal.SIGTERM)
        self.window = ours
        ours.key("F1")  # any frame
        ours.wait_for(lambda s: any(c["title"] == "from the other" for c in s["conversations"]), "the other's")

    def test_export_and_import(self):
        self.open("-n", "4")
        self.ask("keep me", 2)
        for name in ("talk.md", "talk.json"):
            with self.subTest(name=name):
                path = os.path.join(self.home, name)
                n_before = len(self.window.state()["conversations"])
                self.window.key("ctrl+s")
                self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
                self.window.key("ctrl+a")
                self.window.type(path)
                self.window.wait_for(lambda s: "path_go" in s["widgets"], "the button")
                self.window.key("Return")
                end = time.monotonic() + MOST_SECONDS
                while not os.path.exists(path):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.02)
                self.window.key("ctrl+shift+o")
                self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
                self.window.key("ctrl+a")
                self.window.type(path)
                self.window.key("Return")
                self.window.wait_for(lambda s: len(s["conversations"]) == n_before + 1, "the imported one")


class Devices(WindowCase):
    def remember(self, **memory):
        """What the window finds of its last start."""
        folder = os.path.join(self.home, ".local/state/warpchat")
        os.makedirs(folder)
        with open(os.path.join(folder, "window.json"), "w") as file:
            json.dump(memory, file)

    def test_emulators_are_devices_for_those_who_asked(self):
        self.open("--device", "cpu")
        self.window.key("ctrl+o")
        state = self.window.wait_for(lambda s: "device:cpu" in s["widgets"], "the devices")
        self.assertFalse([name for name in state["widgets"] if name.startswith("device:emulator")])

    def test_one_click_reloads_nothing(self):
        self.remember(emulators=True)
        self.open("-c", "256", "--device", "cpu")
        self.window.key("ctrl+o")
        self.window.click("device:emulator:sm_80")
        state = self.window.wait_for(lambda s: "device_load" in s["widgets"], "the question")
        self.assertIsNone(state["loading"])
        loaded = next(f"model:{i}" for i in range(99) if f"model:{i}" in state["widgets"])
        self.window.click(loaded)
        state = self.window.wait_for(lambda s: "models" not in s["panels"], "the picker closed")
        self.assertIsNone(state["loading"])
        self.assertEqual(state["model"]["device"], "cpu")

    def test_the_device_changes_and_the_conversation_stays(self):
        self.remember(emulators=True)
        self.open("-n", "4", "-c", "256", "--device", "cpu")
        self.ask("hello", 2)
        self.window.key("ctrl+o")
        emulator = next(name for name in self.window.wait_for(
            lambda s: any(w.startswith("device:emulator") for w in s["widgets"]), "the devices")["widgets"]
            if name.startswith("device:emulator"))
        self.window.click(emulator)
        self.window.click("device_load")
        self.window.wait_for(lambda s: s["model"] and s["model"]["device"].startswith("emulator") and is_idle(s),
                             "the emulator")
        self.window.key("Escape")
        state = self.ask("again", 4)
        self.assertEqual(n_messages(state), 4)

    def test_a_model_that_is_gone(self):
        gone = os.path.join(self.home, "gone.gguf")
        shutil.copy(TINY, gone)
        self.open("-n", "4", model=gone)
        self.ask("hello", 2)
        os.remove(gone)
        self.ask("still there?", 4)  # the mapping keeps it
        self.window.key("ctrl+o")
        self.window.wait_for(lambda s: s["focus"] == "model_filter", "the picker's field")
        self.window.type(gone)
        self.window.key("Return")
        state = self.window.wait_for(lambda s: any(n["error"] for n in s["notices"]), "the sentence")
        self.assertIn("gone.gguf", next(n["text"] for n in state["notices"] if n["error"]))
        self.assertEqual(n_messages(state), 4)

    def test_the_profiler_in_a_small_window(self):
        self.remember(width=600, height=400, x=0, y=0)
        self.open("-n", "4")
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" in s["panels"], "the profiler")
        self.ask("hello", 2)
        state = self.window.state()
        for widget in ("composer", "send", "profiler:kernels", "profiler:timeline", "profiler:memory"):
            self.assertIn(widget, state["widgets"])
            x, y, width, height = state["widgets"][widget]
            self.assertTrue(x >= 0 and y >= 0 and x + width <= 600 and y + height <= 400, widget)

    def test_the_profiler(self):
        self.open("-n", "16")
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" in s["panels"] and "profiler_overlay" in s["widgets"], "the overlay")
        self.ask("hello", 2)
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" not in s["panels"], "the overlay closed")

    def test_a_profile_is_written_in_the_end(self):
        trace = os.path.join(self.home, "trace.json")
        self.open("-n", "4", "--profile", trace)
        self.ask("hello", 2)
        self.window.key("F12", "F12")
        self.close()
        with open(trace) as file:
            self.assertTrue(any(event.get("ph") == "X" for event in json.load(file)["traceEvents"]))
        self.assertTrue(os.path.exists(trace + ".md"))


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


class Look(WindowCase):
    def test_it_is_remembered(self):
        self.open()
        for keys, wanted in (("ctrl+shift+l", ("theme", "dark")), ("ctrl+equal", ("zoom", None))):
            before = self.window.state()[wanted[0]]
            self.window.key(keys)
            self.window.wait_for(lambda s: s[wanted[0]] != before, wanted[0])
        self.window.type("not sent yet")
        self.window.wait_for(lambda s: s["composer"] == "not sent yet", "the draft")
        self.window.key("ctrl+b")
        state = self.window.wait_for(lambda s: "sidebar" not in s["panels"], "no sidebar")
        self.close()
        again = self.open()
        for name in ("theme", "zoom", "panels", "composer"):
            self.assertEqual(again[name], state[name])

    def test_any_script_is_shown(self):
        """Drawn, selected and copied; how it looks is for eyes."""
        lines = ["日本語と漢字、仮名", "한국어", "مرحبا بالعالم", "नमस्ते", "👩‍👩‍👧‍👦 🇯🇵 👍🏽", "e\u0301", "x" * 3000]
        talk = os.path.join(self.home, "talk.json")
        with open(talk, "w") as file:
            json.dump([{"role": "user", "content": "scripts"}, {"role": "assistant", "content": "\n\n".join(lines)}], file)
        self.open()
        self.window.key("ctrl+shift+o")
        self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
        self.window.key("ctrl+a")
        self.window.type(talk)
        self.window.key("Return")
        self.window.wait_for(lambda s: n_messages(s) == 2, "the imported conversation")
        x, y, width, height = self.window.state()["widgets"]["transcript"]
        self.window.display.xdotool("mousemove", x + width // 2, y + 4, "click", 1)
        self.window.key("ctrl+a")
        state = self.window.wait_for(lambda s: s["selection"], "the selection")
        for line in lines:
            self.assertIn(line, state["selection"])


class Frames(WindowCase):
    def test_nothing_is_drawn_when_nothing_changes(self):
        self.open("-n", "4")
        self.ask("hello", 2)
        self.window.display.xdotool("mousemove", 5, 795)
        before = None
        end = time.monotonic() + MOST_SECONDS
        while time.monotonic() < end:  # notices fade, lists are refreshed once; then there is silence
            now = self.window.state()["frames"]
            if now == before:
                return
            before = now
            time.sleep(3)
        self.fail("frames are drawn for no reason")

    def test_streaming_draws_at_most_a_frame_a_token(self):
        self.open("-n", "64", model=ENDLESS)
        self.window.key("ctrl+l")
        self.window.type("hello")
        before = self.window.wait_for(lambda s: s["composer"] == "hello", "the text")["frames"]
        self.window.key("Return")
        state = self.answered(2)
        tokens = state["conversation"]["messages"][1]["tokens"]
        self.assertEqual(tokens, 64)
        self.assertLess(state["frames"] - before, tokens + 24)  # the key's own, the prompt's, the list's, the end's


class Faults(WindowCase):
    def run_to_end(self, *arguments, **variables):
        done = subprocess.run([CHAT, "--gui", *arguments], env=environment(self.home, **variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=MOST_SECONDS)
        return done.returncode, done.stderr

    def test_no_display(self):
        with unserved_display() as unserved:
            for display in (unserved, ""):
                code, errors = self.run_to_end("-m", TINY, DISPLAY=display, WAYLAND_DISPLAY="")
                self.assertEqual(code, 1, display)
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertIn("terminal", errors)

    def test_no_opengl(self):
        code, errors = self.run_to_end("-m", TINY, DISPLAY=self.display.name, LIBGL_ALWAYS_SOFTWARE="1",
                                       MESA_GL_VERSION_OVERRIDE="2.1")
        self.assertEqual(code, 1)
        self.assertIn("OpenGL", errors)

    def test_no_fonts(self):
        empty = tempfile.mkdtemp(dir=FOLDER)
        config = os.path.join(empty, "fonts.conf")
        with open(config, "w") as file:
            file.write(f'<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>{empty}</dir>'
                       f"<cachedir>{empty}/cache</cachedir></fontconfig>")
        code, errors = self.run_to_end("-m", TINY, DISPLAY=self.display.name, FONTCONFIG_FILE=config)
        self.assertEqual(code, 1)
        self.assertIn("font", errors)

    def test_no_model(self):
        self.window = Window(self.display, "-m", "/no/such.gguf", home=self.home)
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: any("/no/such.gguf" in n["text"] for n in s["notices"]), "the sentence")
        self.window.wait_for(lambda s: any(name.startswith("notice:") for name in s["widgets"]), "its row")
        self.window.key("Escape")
        self.window.wait_for(lambda s: not s["notices"], "it closed")
        self.window.click("composer")
        self.window.type("not lost")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["composer"] == "not lost" or n_messages(s) == 1, "the text kept")

    def test_a_damaged_store_is_set_aside(self):
        os.makedirs(self.folder)
        with open(self.file, "wb") as file:
            file.write(b"no database at all" * 1000)
        self.window = Window(self.display, "-m", TINY, "-n", "4", home=self.home)
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: any("set aside" in n["text"] for n in s["notices"]), "the notice")
        self.window.wait_for(is_idle, "the model")
        self.ask("hello", 2)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_a_store_that_cannot_be_opened(self):
        os.makedirs(os.path.dirname(self.folder))
        with open(self.folder, "w") as file:
            file.write("a file where the folder should be")
        state = self.open("-n", "4")
        state = self.window.wait_for(lambda s: s["store_fault"], "the reason")
        self.ask("hello", 2)

    def test_a_disk_that_is_full(self):
        """The user is told once, and the conversation goes on."""
        self.open("-n", "4")
        self.ask("hello", 2)
        limit = os.path.getsize(self.file + "-wal")
        resource.prlimit(self.window.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        self.ask("again", 4)
        state = self.window.wait_for(lambda s: any(n["error"] for n in s["notices"]), "the sentence")
        told = {n["id"] for n in state["notices"] if n["error"]}
        state = self.ask("and again", 6)
        self.assertEqual(len(told | {n["id"] for n in state["notices"] if n["error"]}), 1, state["notices"])
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_logging_out_keeps_the_answer(self):
        self.open(model=ENDLESS)
        self.window.type("hello")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["phase"] == "answer" and len(s["conversation"]["last_text"]) > 20, "text")
        self.assertEqual(self.window.terminate(), 128 + signal.SIGTERM)
        (text, state), = self.rows("SELECT text, state FROM turns WHERE role = 'assistant'")
        self.assertGreater(len(text), 20)
        self.assertNotEqual(state, 0)


class Kills(WindowCase):
    def test_killed_while_streaming(self):
        """Every message is there, and of each answer all but its last second."""
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for n in range(N_KILLS):
            with self.subTest(seed=seed, n=n):
                self.open(model=ENDLESS)
                question = f"question {n}"
                self.window.key("ctrl+l")
                self.window.type(question)
                self.window.key("Return")
                self.window.wait_for(lambda s: s["phase"] == "answer" or n_messages(s) == 2, "the answer")
                seen, began = [], time.monotonic()
                lives = chance.uniform(0, 2.5)
                while time.monotonic() - began < lives:
                    seen.append((time.monotonic(), self.window.state()["conversation"]["last_text"]))
                    time.sleep(0.02)
                killed = time.monotonic()
                self.window.kill()
                self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
                self.assertEqual(self.rows(f"SELECT count(*) FROM turns WHERE text = '{question}'"), [(1,)])
                old = [text for at, text in seen if at < killed - 1.5]  # the second, and what a loaded machine takes
                if old:
                    stored = self.rows("SELECT text FROM turns WHERE role = 'assistant' ORDER BY id DESC LIMIT 1")
                    self.assertTrue(stored and stored[0][0].startswith(old[-1]), f"{stored[-1:]} lacks {old[-1]!r}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
