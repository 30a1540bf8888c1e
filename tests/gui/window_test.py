#!/usr/bin/env python3
"""The window as a user meets it: chats, files, devices. Results are read from the database and from the
state that --gui-state writes.

usage: window_test.py CHAT CLI_MODELS [unittest arguments]
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import time
import unittest

from desktop import MAX_SECONDS, Window
from program import CALLS, ENDLESS, TINY, pdf
from window_case import WindowCase, is_idle, last_status, n_messages


def asked(state):
    """The key of the message whose call is asked about."""
    names = [name for name in state["widgets"] if name.startswith("allow:")]
    return names[0].split(":")[1] if names else None


class Tools(WindowCase):
    def ask_for_a_call(self):
        self.window.key("ctrl+l")
        self.window.type("2")
        self.window.wait_for(lambda s: s["composer"] == "2", "the typed text")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: asked(s), "the question")
        return asked(state)

    def test_a_call_is_asked_about_and_shown(self):
        self.open("--tools", "-n", "40", "-c", "4096", model=CALLS)
        for choice, status in (("allow", "ok"), ("deny", "denied"), ("allow_here", "ok")):
            key = self.ask_for_a_call()
            self.window.click(f"{choice}:{key}")
            state = self.window.wait_for(lambda s: is_idle(s) and s["conversation"]["last_text"].strip() == "the s",
                                         "the answer")
            self.assertEqual(state["conversation"]["messages"][-1]["calls"], [f"warpchat__calculate {status}"])
        state = self.ask("2", 8)
        self.assertEqual(state["conversation"]["messages"][-1]["calls"], ["warpchat__calculate ok"])
        self.close()

    def test_the_panel(self):
        self.open("-n", "40", "-c", "8192", model=CALLS)
        self.window.click("tools")
        self.window.wait_for(lambda s: s["panels"][-1:] == ["tools"] and s["focus"] == "tools_folder", "the panel")
        self.window.type(self.home)
        self.window.key("Return")
        self.window.wait_for(lambda s: "tool:warpchat__read_file" in s["widgets"], "the tools")
        self.window.click("tool:warpchat__calculate")
        self.window.wait_for(lambda s: s["focus"] == "tools_back", "its description")
        self.window.key("Escape")
        self.window.click("tool_permission:warpchat__calculate")
        self.window.click("permission_always")
        self.window.wait_for(lambda s: "warpchat__calculate always" in s["tools"], "the permission")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "tools" not in s["panels"], "the end of the panel")
        state = self.ask("2", 2)
        self.assertEqual(state["conversation"]["messages"][-1]["calls"], ["warpchat__calculate ok"])
        self.close()

    def test_servers_of_a_file_start_only_if_wanted(self):
        path = os.path.join(self.home, "servers.json")
        with open(path, "w") as file:
            json.dump({"mcpServers": {"refused": {"command": "/bin/false"}}}, file)
        self.open("-n", "40", "-c", "4096", model=CALLS)
        for leave in (lambda: self.window.key("Escape"), lambda: self.window.click("tools_import_cancel")):
            self.window.click("tools")
            self.window.click("tools_import")
            self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
            self.window.key("ctrl+a")
            self.window.type(path)
            self.window.key("Return")
            self.window.wait_for(lambda s: s["focus"] == "tools_import_cancel", "the question")
            leave()
            self.window.wait_for(lambda s: "tools_import_cancel" not in s["widgets"], "the end of the question")
            if "tools" in self.window.state()["panels"]:
                self.window.key("Escape")
            self.window.wait_for(lambda s: "tools" not in s["panels"], "the end of the panel")
        self.assertEqual(self.window.state()["tools"], [])
        self.close()
        self.assertFalse(glob.glob(f"{self.home}/**/mcp.json", recursive=True))

    def test_stopping_is_no_approval(self):
        self.open("--tools", "-n", "40", "-c", "4096", model=CALLS)
        self.ask_for_a_call()
        self.window.key("Escape")
        state = self.window.wait_for(is_idle, "the end")
        self.assertEqual(last_status(state), "stopped")
        self.assertIsNone(asked(state))
        self.close()


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

    def test_a_message_without_a_model_asks_for_one(self):
        self.window = Window(self.display, home=self.home, HF_HUB_OFFLINE="1")
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: s["focus"] == "composer", "the window")
        self.window.key("Return")  # nothing to send
        self.window.type("hello")
        state = self.window.wait_for(lambda s: s["composer"] == "hello", "the typed text")
        self.assertNotIn("models", state["panels"])
        self.window.key("Return")
        self.window.wait_for(lambda s: "models" in s["panels"] and s["focus"] == "model_filter", "the models")
        self.window.type(TINY)
        self.window.key("Return")
        state = self.window.wait_for(is_idle, "the model")
        self.assertEqual((state["composer"], state["focus"]), ("hello", "composer"))

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
        self.open("-c", "0", model=ENDLESS)
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
        self.open("-c", "0", model=ENDLESS)
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
        self.window.key("ctrl+a", "ctrl+x")
        self.window.wait_for(lambda s: not s["composer"] and "too_long" not in s["widgets"], "nothing to complain about")
        self.window.key("ctrl+v")
        self.window.wait_for(lambda s: s["composer"] == text, "the text again")
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
        self.window.click_away(see_all)
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
        self.window.key("alt+Left")  # of the message: its new answer has one version
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

    def test_a_message_is_taken_back_and_put_back(self):
        def undo_button(state):
            return next((f"notice:{n['id']}:action" for n in state["notices"] if n["action"] == "Undo"), None)

        self.open("-n", "4")
        self.ask("first", 2)
        conversation = self.ask("second", 4)["conversation"]
        self.window.type("draft")
        self.window.wait_for(lambda s: s["composer"] == "draft", "a draft")
        self.window.key("ctrl+shift+u")
        state = self.window.wait_for(lambda s: n_messages(s) == 2 and undo_button(s), "the first message alone")
        self.assertEqual((state["composer"], state["focus"]), ("second\ndraft", "composer"))
        self.window.click(undo_button(state))
        state = self.window.wait_for(lambda s: n_messages(s) == 4, "the second message and its answer")
        self.assertEqual([m["turn"] for m in state["conversation"]["messages"]],
                         [m["turn"] for m in conversation["messages"]])
        self.window.wait_for(lambda s: s["composer"] == "draft" and not undo_button(s), "the draft alone")

        self.window.key("ctrl+shift+u")
        state = self.window.wait_for(lambda s: n_messages(s) == 2 and undo_button(s), "the first message again")
        self.window.key("ctrl+Home", "x")
        self.window.wait_for(lambda s: s["composer"] == "xsecond\ndraft", "a changed text")
        self.window.click("new")  # from another conversation
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")
        self.window.click(undo_button(state))
        self.window.wait_for(lambda s: n_messages(s) == 4 and s["conversation"]["id"] == conversation["id"]
                             and s["composer"] == "xsecond\ndraft", "the conversation, and the changed text kept")

        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0 and not s["composer"], "a new conversation")
        self.window.key("ctrl+shift+u")
        self.window.type("y")
        self.assertIsNone(undo_button(self.window.wait_for(lambda s: s["composer"] == "y", "nothing to take back")))

    def test_a_message_is_taken_back_with_its_files(self):
        self.open("-n", "4")
        path = os.path.join(self.home, "notes.txt")
        with open(path, "w") as file:
            file.write("buy milk")
        for name in (path, path):
            self.window.key("ctrl+u")
            self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
            self.window.key("ctrl+a")
            self.window.type(name)
            self.window.key("Return")
            self.window.wait_for(lambda s: "path" not in s["panels"] and s["attachments"], "the file")
        self.window.wait_for(lambda s: len(s["attachments"]) == 2, "both files")
        self.ask("what is here", 2)
        self.assertEqual(self.window.state()["attachments"], [])
        self.window.key("ctrl+shift+u")
        state = self.window.wait_for(lambda s: n_messages(s) == 0 and len(s["attachments"]) == 2, "the files again")
        self.assertEqual(state["composer"], "what is here")
        self.window.key("ctrl+l", "Return")
        self.answered(2)
        self.assertEqual(self.rows("SELECT count(*) FROM turns WHERE text = 'what is here'"), [(2,)])
        state = self.window.wait_for(lambda s: not s["attachments"], "files that were sent")
        self.window.key("ctrl+shift+u")
        state = self.window.wait_for(lambda s: len(s["attachments"]) == 2 and s["notices"], "the files once more")
        notice = next(n for n in reversed(state["notices"]) if n["action"] == "Undo")
        self.window.click(f"notice:{notice['id']}:action")
        self.window.wait_for(lambda s: n_messages(s) == 2 and not s["attachments"] and not s["composer"],
                             "the message with its files")

    def test_thinking_is_asked_of_a_model_that_cannot(self):
        self.open()
        self.window.key("ctrl+comma")
        self.window.click("think:on")
        self.window.wait_for(lambda s: "cannot_think" in s["widgets"], "a sentence")
        self.window.click("think:default")
        self.window.wait_for(lambda s: "cannot_think" not in s["widgets"], "none")

    def test_text_is_selected_and_copied(self):
        self.open("-n", "16")
        self.ask("Select me please", 2)
        x, y, width, height = self.window.state()["widgets"]["transcript"]
        self.window.drag((x + 2, y + 2), (x + width - 30, y + height - 4))
        state = self.window.wait_for(lambda s: "Select me please" in s["selection"], "the selection")
        self.window.key("ctrl+c")
        end = time.monotonic() + MAX_SECONDS
        while True:
            clip = subprocess.run(["xclip", "-selection", "clipboard", "-o"], capture_output=True, timeout=MAX_SECONDS,
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

    def test_settings_of_this_chat_and_of_new_ones_stay(self):
        self.open()
        self.window.key("ctrl+comma")
        self.window.click("max_tokens")
        self.window.type("3")
        self.window.wait_for(lambda s: s["settings"]["own"] == {"n-predict": 3}, "a limit of this chat")
        self.window.click("scope:new")
        self.window.click("max_tokens")
        self.window.type("5")
        self.window.click("system_prompt")
        self.window.type("Be brief")
        self.window.click("titles")
        self.window.wait_for(lambda s: s["settings"]["default_system_prompt"] == "Be brief" and s["settings"]["titles"],
                             "what new chats begin with")
        self.window.key("Escape")
        conversation = self.ask("hello", 2)["conversation"]["id"]
        self.close()
        with open(os.path.join(self.home, ".config/warpchat/config.json")) as file:
            self.assertEqual(json.load(file), {"n-predict": 5, "system-prompt": "Be brief", "titles": True})
        self.open()
        state = self.window.wait_for(lambda s: s["conversation"]["system_prompt"] == "Be brief", "a new chat")
        self.assertEqual((state["settings"]["max_tokens"], state["settings"]["own"]), (5, None))
        self.window.click(f"conversation:{conversation}")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] == conversation, "the first one")
        self.assertEqual((state["settings"]["max_tokens"], state["conversation"]["system_prompt"]), (3, ""))
        folder = os.path.join(self.home, ".config/warpchat/assistants")
        os.makedirs(folder)
        with open(os.path.join(folder, "kind.json"), "w") as file:
            json.dump({"system-prompt": "Be kind", "temp": 0.5, "n-predict": 9}, file)
        self.window.key("ctrl+comma")
        self.window.click("assistant")
        self.window.click("kind")
        state = self.window.wait_for(lambda s: s["settings"]["assistant"] == "kind", "the assistant")
        self.assertEqual((state["settings"]["temperature"], state["settings"]["max_tokens"],
                          state["conversation"]["system_prompt"]), (0.5, 3, "Be kind"))
        self.window.click("assistant")
        self.window.click("None")
        self.window.wait_for(lambda s: s["settings"]["assistant"] == "", "none")
        self.window.click("scope:new")
        self.window.click("assistant")
        self.window.click("kind")
        self.window.wait_for(lambda s: "kind" not in s["widgets"], "the end of the menu")
        self.window.key("Escape")
        for _ in range(2):
            self.window.key("ctrl+n")
            state = self.window.wait_for(lambda s: s["settings"]["assistant"] == "kind", "a new chat with the assistant")
            self.assertEqual(state["conversation"]["system_prompt"], "Be kind")
            self.close()
            self.open()


class TheAssistants(WindowCase):
    def path_of(self, name):
        return os.path.join(self.home, ".config/warpchat/assistants", name + ".json")

    def content(self, name):
        with open(self.path_of(name)) as file:
            return json.load(file)

    def write(self, field, text):
        self.window.click(field)
        self.window.wait_for(lambda s: s["focus"] == field, field)
        self.window.key("ctrl+a")
        self.window.type(text)

    def listed(self, *names):
        return self.window.wait_for(lambda s: sorted(s["assistants"]) == sorted(names), f"the assistants {names}")

    def open_them(self):
        self.window.click("assistant")
        self.window.click("menu/assistants")
        self.window.wait_for(lambda s: "assistants" in s["panels"] and "assistants_new" in s["widgets"], "the panel")

    def test_they_are_made_edited_copied_exported_imported_and_removed(self):
        self.open("-n", "4")
        self.window.key("ctrl+comma")
        self.write("system_prompt", "Be kind")
        self.window.wait_for(lambda s: s["conversation"]["system_prompt"] == "Be kind", "this chat's prompt")
        self.open_them()
        self.window.click("assistants_from_chat")
        self.window.wait_for(lambda s: s["focus"] == "assistant_name", "the editor")
        self.window.type("kind")
        self.window.click("assistant_save")
        self.listed("kind")
        self.assertEqual(self.content("kind"), {"system-prompt": "Be kind", "model": TINY, "n-predict": 4})

        self.window.click("assistant_edit:kind")
        self.write("assistant_setting:temp", "hot")
        self.window.key("Return")
        self.window.wait_for(lambda s: "assistant_fault" in s["widgets"], "what is wrong")
        self.write("assistant_setting:temp", "0.5")
        self.write("assistant_prompt", "Be very kind")
        self.window.click("assistant_save")
        self.window.wait_for(lambda s: "temp 0.5" in s["assistants"]["kind"] and "assistant_save" not in s["widgets"],
                             "the change")
        self.assertEqual(self.content("kind")["system-prompt"], "Be very kind")

        self.window.click("assistant_copy:kind")
        self.write("assistant_name", "kinder")
        self.window.click("assistant_save")
        self.listed("kind", "kinder")
        self.assertEqual(self.content("kind"), self.content("kinder"))
        self.window.click("assistant_row:kinder")
        state = self.window.wait_for(lambda s: s["settings"]["assistant"] == "kinder", "the chosen one")
        self.assertEqual((state["settings"]["temperature"], state["conversation"]["system_prompt"]),
                         (0.5, "Be very kind"))

        self.open_them()
        self.window.click("assistant_export:kind")
        self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
        exported = os.path.join(self.home, "exported.json")
        self.window.key("ctrl+a")
        self.window.type(exported)
        self.window.key("Return")
        self.window.wait_for(lambda s: any(n["text"] == "wrote " + exported for n in s["notices"]), "the file")
        self.open_them()
        self.window.click("assistant_remove:kind")
        self.window.click("assistant_really_remove")
        self.listed("kinder")
        self.assertFalse(os.path.exists(self.path_of("kind")))
        self.window.click("assistants_import")
        self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
        self.window.key("ctrl+a")
        self.window.type(exported)
        self.window.key("Return")
        self.listed("kind", "kinder")
        self.assertEqual(self.content("kind"), self.content("kinder"))


class Attachments(WindowCase):
    def files(self, size=(600, 400), **texts):
        """Files attached to a new conversation at the last start, by name: bytes."""
        paths = []
        for name, content in texts.items():
            paths.append(os.path.join(self.home, name.replace("_", ".")))
            with open(paths[-1], "wb") as file:
                file.write(content)
        self.remember(drafts=[{"conversation": 0, "text": "", "files": paths}], x=0, y=0,
                      width=size[0], height=size[1])
        return paths

    def read(self, n):
        return self.window.wait_for(lambda s: s["attachments_read"] == len(s["attachments"]) == n, f"{n} files")

    def test_they_are_chips_in_rows_that_go_by_the_keyboard(self):
        self.files(notes_txt=b"buy milk", report_pdf=pdf("Hello from a page"), **{"x" * 120 + "_txt": b"x"})
        self.open("-n", "4")
        state = self.read(3)
        chips = [state["widgets"][f"chip:{i}"] for i in range(3)]
        self.assertGreater(chips[2][1], chips[0][1], "they wrap")
        for x, y, width, height in chips:
            self.assertTrue(x >= 0 and x + width <= 600 and y + height <= 400, chips)
        self.window.key("ctrl+l", "shift+Tab")
        self.window.wait_for(lambda s: s["focus"] == "attachment:2", "the last chip's button")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["attachments"] == ["notes.txt", "report.pdf"], "two chips")
        self.ask("sum up", 2)
        (extra,), = self.rows("SELECT extra FROM turns WHERE role = 'user'")
        files = json.loads(extra)["content"]
        self.assertEqual([(file["name"], file["text"]) for file in files],
                         [("notes.txt", "buy milk"), ("report.pdf", "Hello from a page\n\n")])
        self.assertTrue(all(file["tokens"] > 0 for file in files))

    def test_the_sent_ones_open(self):
        self.files(size=(1000, 700), notes_txt=b"buy milk")
        self.open("-n", "4")
        self.read(1)
        key = self.ask("sum up", 2)["conversation"]["messages"][0]["key"]
        for found in (1, 0):
            self.window.click(f"file0:{key}")
            self.window.key("ctrl+f")
            self.window.wait_for(lambda s: s["focus"] == "find", "the field")
            self.window.type("buy milk")
            self.window.wait_for(lambda s: s["found"][1] == found, "its text" if found else "none of it")
            self.window.key("Escape")
            self.window.wait_for(lambda s: "find" not in s["panels"], "no search")

    def test_they_stay_with_their_draft(self):
        self.files(notes_txt=b"buy milk")
        self.open("-n", "4")
        self.read(1)
        first = self.ask("one", 2)["conversation"]["id"]
        self.close()
        path = os.path.join(self.home, ".local/state/warpchat/window.json")
        with open(path, "w") as file:
            json.dump({"drafts": [{"conversation": first, "text": "more", "files": [
                os.path.join(self.home, "notes.txt")]}], "width": 1000, "height": 700}, file)
        self.open("-n", "4")
        self.window.wait_for(lambda s: s["conversations"], "the list")
        for _ in range(2):
            self.window.click(f"conversation:{first}")
            self.window.wait_for(lambda s: s["composer"] == "more" and s["attachments_read"] == 1, "draft and file")
            self.window.click("new")
            self.window.wait_for(lambda s: not s["composer"] and not s["attachments"], "nothing of it")
        self.close()
        with open(path) as file:
            draft, = json.load(file)["drafts"]
        self.assertEqual(draft["files"], [os.path.join(self.home, "notes.txt")])

    def test_what_does_not_fit_is_said_before_it_is_sent(self):
        self.files(long_txt=b"Hello world " * 40)
        self.open("-n", "4", "-c", "64")
        self.read(1)
        self.window.key("ctrl+l")
        self.window.type("sum up")
        self.window.wait_for(lambda s: s["composer"] == "sum up" and "too_long" in s["widgets"], "the figures")
        self.window.click("larger_context")
        state = self.window.wait_for(lambda s: is_idle(s) and s["model"]["context"] > 64, "a larger context")
        self.assertEqual((state["composer"], state["attachments"], n_messages(state)), ("sum up", ["long.txt"], 0))
        self.window.wait_for(lambda s: "too_long" not in s["widgets"], "it fits")
        self.window.key("Return")
        self.answered(2)

    def test_what_cannot_be_read_is_said(self):
        self.files(scan_pdf=pdf(), tool_bin=b"\x7fELF\0")
        self.open("-n", "4")
        state = self.window.wait_for(lambda s: len([n for n in s["notices"] if n["error"]]) == 2, "two sentences")
        self.assertEqual(state["attachments"], [])
        texts = " ".join(n["text"] for n in state["notices"])
        self.assertIn("scan.pdf: it has no text", texts)
        self.assertIn("tool.bin: it is a binary file", texts)


class Devices(WindowCase):
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

    def test_a_local_model_has_a_menu(self):
        """Details, its folder, another folder, and its removal."""
        models, more, tools = (os.path.join(self.home, name) for name in (".cache/warpchat/models", "more", "tools"))
        for folder in (models, more, tools):
            os.makedirs(folder, exist_ok=True)
        extra, shown = os.path.join(models, "extra.gguf"), os.path.join(tools, "shown")
        for path in (extra, os.path.join(more, "other.gguf")):
            shutil.copy(TINY, path)
        with open(os.path.join(tools, "xdg-open"), "w") as tool:
            tool.write(f"#!/bin/sh\necho \"$1\" > {shown}.new && mv {shown}.new {shown}\n")
        os.chmod(tool.name, 0o755)
        self.open("-n", "4", PATH=tools + ":" + os.environ["PATH"])
        self.window.key("ctrl+o")
        menu = "model_menu:" + extra

        def choose(item, what):
            self.window.wait_for(lambda s: menu in s["widgets"], "the model")
            self.window.click(menu)
            self.window.wait_for(lambda s: item in s["widgets"], what)
            self.window.click(item)

        choose("menu_model_folder", "the menu")
        end = time.monotonic() + MAX_SECONDS
        while not os.path.exists(shown):
            time.sleep(0.05)
            self.assertLess(time.monotonic(), end, "no folder is shown")
        with open(shown) as file:
            self.assertEqual(file.read(), models + "\n")
        before = self.window.wait_for(lambda s: "model_add_folder" in s["widgets"], "the button")["widgets"]["model_add_folder"]
        choose("menu_model_details", "the menu")
        self.window.wait_for(lambda s: s["widgets"].get("model_add_folder") != before, "the details")
        choose("menu_model_add_folder", "the menu")
        self.window.wait_for(lambda s: s["focus"] == "model_folder", "the field")
        self.window.type("~/more")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["n_models"] == 3, "the model of the folder")
        with open(os.path.join(self.home, ".config/warpchat/models.json")) as file:
            self.assertEqual(json.load(file)["folders"], [more])
        choose("menu_model_remove", "the menu")
        self.window.wait_for(lambda s: s["focus"] == "model_keep", "the question")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "model_keep" not in s["widgets"] and menu in s["widgets"], "the model again")
        choose("menu_model_remove", "the menu")
        self.window.wait_for(lambda s: "model_remove" in s["widgets"], "the question")
        self.window.click("model_remove")
        state = self.window.wait_for(lambda s: s["n_models"] == 2, "the models that are left")
        self.assertIn("extra.gguf was removed", [n["text"] for n in state["notices"]])
        self.assertFalse(os.path.exists(extra))
        with open(os.path.join(self.home, ".local/state/warpchat/opened_models")) as file:
            self.assertEqual(file.read(), TINY + "\n")

    def test_the_devices_in_a_small_window(self):
        self.remember(width=600, height=400, x=0, y=0)
        self.open("-n", "4")
        self.window.key("ctrl+o")
        self.window.wait_for(lambda s: "model:0" in s["widgets"], "the models")
        self.window.move_to("model:0")
        end = time.monotonic() + MAX_SECONDS
        while "device:cpu" not in self.window.state()["widgets"]:  # it is further down in the list
            self.display.xdotool("click", 5)
            time.sleep(0.1)
            self.assertLess(time.monotonic(), end, "no device is shown")

    def test_the_profiler_in_a_small_window(self):
        self.remember(width=600, height=400, x=0, y=0)
        self.open("-n", "4")
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" in s["panels"], "the profiler")
        self.ask("hello", 2)
        self.assert_within(("composer", "send", "profiler:kernels", "profiler:timeline", "profiler:memory",
                            "profiler:compare", "profiler:close"))

    def test_two_answers_are_compared_in_a_small_window(self):
        self.remember(width=600, height=400, x=0, y=0)
        self.open("-n", "4")
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler:compare" in s["widgets"], "the profiler")
        for n in (1, 2, 3):
            self.ask("hello", 2 * n)
        self.window.click("profiler:compare")
        self.window.wait_for(lambda s: "profiler:b" in s["widgets"], "two answers")
        self.assert_within(("profiler:a", "profiler:b"))
        self.window.click("profiler:a")
        self.window.wait_for(lambda s: "profiler:answer:1" in s["widgets"], "the list of answers")
        self.assert_within(("profiler:answer:1", "profiler:answer:2", "profiler:answer:3"))
        self.window.click("profiler:answer:1")
        self.window.wait_for(lambda s: "profiler:answer:1" not in s["widgets"], "the comparison")
        self.window.click("profiler:close")
        self.window.wait_for(lambda s: "profiler" not in s["panels"], "no profiler")

    def assert_within(self, widgets, window=(600, 400)):
        state = self.window.state()
        for widget in widgets:
            self.assertIn(widget, state["widgets"])
            x, y, width, height = state["widgets"][widget]
            self.assertTrue(x >= 0 and y >= 0 and x + width <= window[0] and y + height <= window[1], widget)

    def test_the_profiler(self):
        self.open("-n", "16")
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" in s["panels"] and "profiler_overlay" in s["widgets"], "the overlay")
        self.ask("hello", 2)
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" not in s["panels"], "the overlay closed")

    def test_the_profiler_is_resized(self):
        def height(state):
            return state["widgets"].get("profiler_overlay", [0, 0, 0, 0])[3]

        self.open("-n", "4")
        self.ask("hello", 2)
        self.window.key("F12")
        usual = height(self.window.wait_for(height, "the overlay"))
        x, y = self.window.middle("profiler_edge")
        for n, button in ((0, "mousedown"), (30, None), (60, "mouseup")):
            self.display.xdotool("mousemove", x, y - n)
            self.window.wait_for(lambda s: abs(s["mouse"][1] - (y - n)) <= 1, "the mouse")
            if button:
                self.display.xdotool(button, 1)
        larger = height(self.window.wait_for(lambda s: height(s) > usual + 40, "a higher one"))
        self.window.key("shift+F12")
        state = self.window.wait_for(lambda s: height(s) > larger and "composer" not in s["widgets"], "all of it")
        whole = height(state)
        self.close()
        self.open("-n", "4")
        self.window.key("F12")
        self.window.wait_for(lambda s: height(s) == whole, "the height of before")
        self.window.key("shift+F12")
        self.window.wait_for(lambda s: height(s) == usual and "composer" in s["widgets"], "the usual height")
        for _ in range(30):
            if self.window.state()["focus"] == "profiler_edge":
                break
            focus = self.window.state()["focus"]
            self.window.key("Tab")
            self.window.wait_for(lambda s: s["focus"] != focus, "the next widget")
        self.window.key("Up")
        self.window.wait_for(lambda s: height(s) > usual, "a higher one, by key")
        self.window.key("Down")
        self.window.wait_for(lambda s: abs(height(s) - usual) <= 1, "the usual height, by key")

    def test_a_profile_is_written_in_the_end(self):
        trace = os.path.join(self.home, "trace.json")
        self.open("-n", "4", "--profile", trace)
        self.ask("hello", 2)
        self.window.key("F12", "F12")
        self.close()
        with open(trace) as file:
            self.assertTrue(any(event.get("ph") == "X" for event in json.load(file)["traceEvents"]))
        self.assertTrue(os.path.exists(trace + ".md"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
