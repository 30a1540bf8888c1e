#!/usr/bin/env python3
"""The window's stored conversations as a user meets them: the list, search, trash, copies, export and import.

usage: conversations_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest

from desktop import MAX_SECONDS, Window
from program import ENDLESS, TINY
from window_case import WindowCase, is_idle, n_messages


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
        self.window.wait_for(lambda s: s["conversation"]["id"] == second and "find" in s["panels"] and s["found"][1] > 0,
                             "the second one, with the word marked")
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

    def test_its_model_is_offered_while_another_is_loaded(self):
        own = os.path.join(self.home, "own.gguf")
        shutil.copy(TINY, own)
        self.open("-n", "4", model=own)
        first = self.ask("one", 2)["conversation"]["id"]
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")
        second = self.ask("two", 2)["conversation"]["id"]
        self.close()
        state = self.open("-n", "4")
        self.assertIsNone(state["offer"])
        self.window.click(f"conversation:{first}")
        state = self.window.wait_for(lambda s: "use_offered_model" in s["widgets"], "the offer")
        self.assertEqual(state["offer"], {"name": "own", "model": own, "endpoint": "", "is_gone": False})
        self.assertEqual(state["conversation"]["messages"][1]["model"], "own")
        self.window.click("use_offered_model")
        self.window.wait_for(lambda s: is_idle(s) and s["model"]["path"] == own and not s["loading"], "its model")
        self.window.wait_for(lambda s: s["offer"] is None and "use_offered_model" not in s["widgets"], "no offer")
        self.window.key("ctrl+o")
        self.window.wait_for(lambda s: s["focus"] == "model_filter", "the models")
        self.window.type(TINY)
        self.window.key("Return")
        state = self.window.wait_for(lambda s: is_idle(s) and s["model"]["path"] == TINY and not s["loading"], "another")
        self.assertIsNone(state["offer"], "it was chosen here")
        self.window.click(f"conversation:{second}")
        self.window.wait_for(lambda s: s["offer"] and s["offer"]["model"] == own, "the offer in another one")
        self.close()
        os.remove(own)
        self.open("-n", "4")
        self.window.click(f"conversation:{second}")
        self.window.wait_for(lambda s: s["offer"] and s["offer"]["is_gone"], "that it is gone")
        self.window.click("use_offered_model")
        self.window.wait_for(lambda s: "models" in s["panels"], "the models")
        self.window.key("Escape")
        state = self.ask("three", 4)  # the loaded one answers
        self.assertEqual(state["conversation"]["messages"][3]["model"], "tiny")
        self.window.wait_for(lambda s: s["offer"] is None, "no offer any more")

    def test_more_hits_are_shown(self):
        self.open("-n", "4")
        path = os.path.join(self.home, "talks.json")
        with open(path, "w") as file:
            json.dump([{"title": f"talk {i}", "messages": [{"role": "user", "content": f"apples {i}"}]}
                       for i in range(130)], file)
        self.window.ask_to_import(path)
        self.window.wait_for(lambda s: len(s["conversations"]) == 130, "the conversations")
        self.window.key("ctrl+k")
        self.window.type("apples")
        self.window.wait_for(lambda s: len(s["hits"]) == 100 and s["has_more_hits"], "a page")
        self.window.click("hit:0")
        self.window.key("ctrl+k")
        self.window.key("Down")
        self.window.wait_for(lambda s: s["focus"] == "hit:0", "the first hit")
        self.window.key(*["Down"] * 99)
        self.window.wait_for(lambda s: "hits_more" in s["widgets"], "the end of the page")
        self.window.click("hits_more")
        self.window.wait_for(lambda s: len(s["hits"]) == 130 and not s["has_more_hits"], "all")

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

    def test_a_draft_survives_a_kill(self):
        self.open("-n", "4")
        first = self.ask("one", 2)["conversation"]["id"]
        self.window.type("of the first")
        self.window.wait_for(lambda s: s["composer"] == "of the first", "the first's draft")
        self.window.click("new")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0 and s["composer"] == "", "a new conversation")
        self.window.key("ctrl+l")
        self.window.type("never sent")
        self.window.wait_for(lambda s: s["composer"] == "never sent", "its draft")
        time.sleep(1)  # what is promised
        self.window.kill()
        self.open("-n", "4")
        self.window.wait_for(lambda s: s["composer"] == "never sent" and s["conversations"], "the draft after a kill")
        self.window.kill()  # nothing was typed since: both are still there
        self.open("-n", "4")
        self.window.wait_for(lambda s: s["composer"] == "never sent" and s["conversations"], "the draft again")
        self.window.key("Return")
        self.answered(2)
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")
        self.assertEqual(self.window.wait_for(lambda s: n_messages(s) == 0, "nothing in it")["composer"], "")
        self.window.click(f"conversation:{first}")
        self.window.wait_for(lambda s: s["composer"] == "of the first", "the other conversation's draft")

    def test_nothing_of_a_draft_is_kept_without_history(self):
        self.open("-n", "4", "--no-history")
        self.window.type("a secret")
        self.window.wait_for(lambda s: s["composer"] == "a secret", "the draft")
        time.sleep(1)
        self.window.key("ctrl+b")  # changes what is remembered
        self.window.wait_for(lambda s: "sidebar" not in s["panels"], "no sidebar")
        self.close()
        with open(os.path.join(self.home, ".local/state/warpchat/window.json")) as file:
            memory = json.load(file)
        self.assertEqual((memory["sidebar_open"], memory.get("drafts")), (False, None))

    def test_conversations_that_are_answered_or_unread_are_marked(self):
        self.open("-c", "0", model=ENDLESS)
        self.window.type("go on")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["id"], "some text")
        first = state["conversation"]["id"]
        self.window.key("ctrl+n")
        self.window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new one")
        self.window.key("ctrl+comma")
        self.window.click("max_tokens")
        self.window.type("8000")
        self.window.wait_for(lambda s: s["settings"]["max_tokens"] == 8000, "an answer that ends for the next")
        self.window.click("settings_close")
        self.window.wait_for(lambda s: s["answering"] == [first] and f"answering:{first}" in s["widgets"], "its mark")
        self.window.wait_for(lambda s: s["focus"] == "composer", "the composer")
        self.window.type("and you")
        self.window.wait_for(lambda s: s["composer"] == "and you", "the typed text")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] not in (0, first) and s["phase"] == "answer" and
                                     s["answering"] == [first], "both are answered")
        second = state["conversation"]["id"]
        self.window.click(f"conversation:{first}")
        self.window.wait_for(lambda s: s["conversation"]["id"] == first and f"answering:{second}" in s["widgets"],
                             "the other's mark")
        self.window.wait_for(lambda s: s["unread"] == [second] and f"unread:{second}" in s["widgets"], "it has come",
                             seconds=600)  # 8,000 tokens of a build with sanitizers
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
        paths = [os.path.join(self.home, name) for name in ("talk.md", "talk.json")]
        for path in paths:
            with self.subTest(path=path):
                self.window.key("ctrl+s")
                self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
                self.window.key("ctrl+a")
                self.window.type(path)
                self.window.wait_for(lambda s: "path_go" in s["widgets"], "the button")
                self.window.key("Return")
                end = time.monotonic() + MAX_SECONDS
                while not os.path.exists(path):
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.02)
                self.window.ask_to_import(path)
                self.window.wait_for(lambda s: "is here already" in str(s["notices"]), "the notice")
                self.assertEqual(len(self.window.state()["conversations"]), 1)
        self.window.terminate()
        for path in paths:
            with self.subTest(path=path):
                self.home = tempfile.mkdtemp(dir=os.path.dirname(path))
                self.open("-n", "4")
                self.window.import_file(path)
                self.window.terminate()

    def test_an_import_shows_its_progress_and_stops(self):
        self.open()
        path = os.path.join(self.home, "many.json")
        with open(path, "w") as file:
            json.dump([{"conversations": [{"from": "human", "value": f"question {n} " + "words " * 400},
                                          {"from": "gpt", "value": "answer " * 400}]} for n in range(6000)], file)
        self.window.ask_to_import(path)
        state = self.window.wait_for(lambda s: s["importing"] and s["importing"]["fraction"] > 0.02, "progress")
        self.assertEqual(state["importing"]["name"], "many.json")
        self.window.click("stop_import")
        state = self.window.wait_for(lambda s: not s["importing"] and s["notices"], "the end")
        n, = self.rows("SELECT count(*) FROM conversations WHERE trashed IS NULL")[0]
        self.assertTrue(0 < n < 6000, n)
        self.assertIn("the import was stopped", state["notices"][0]["text"])
        self.window.click(f"notice:{state['notices'][0]['id']}:action")
        state = self.window.wait_for(lambda s: s["conversations"] == [] and s["conversation"]["id"] == 0, "none")
        self.assertEqual(len(state["trash"]), n)

    def test_an_import_is_taken_back(self):
        self.open()
        state = self.import_talk("Both", "Words.")
        notice, = (n for n in state["notices"] if n["action"] == "Undo")
        self.assertEqual(notice["text"], "imported 1 conversation")
        self.window.click(f"notice:{notice['id']}:action")
        state = self.window.wait_for(lambda s: s["conversations"] == [] and n_messages(s) == 0, "none")
        self.assertEqual(len(state["trash"]), 1)

    def test_the_list_follows_what_is_opened(self):
        self.open()
        path = os.path.join(self.home, "many.json")
        with open(path, "w") as file:
            json.dump([{"conversations": [{"from": "human", "value": f"question {n}"}]} for n in range(60)], file)
        self.window.ask_to_import(path)
        state = self.window.wait_for(lambda s: len(s["conversations"]) == 60 and s["conversation"]["id"], "all")
        oldest = state["conversations"][-1]["id"]
        self.assertNotIn(f"conversation:{oldest}", state["widgets"])
        for _ in range(60):
            self.window.key("alt+Down")
        self.window.wait_for(lambda s: s["conversation"]["id"] == oldest and f"conversation:{oldest}" in s["widgets"],
                             "the oldest one's row")
        self.window.key("ctrl+l")
        focus = self.window.wait_for(lambda s: s["focus"] == "composer", "the composer")["focus"]
        while focus != "conversations":
            self.window.key("shift+Tab")
            focus = self.window.wait_for(lambda s, before=focus: s["focus"] != before, "another focus")["focus"]
        self.window.key("Up", "Return")
        second = state["conversations"][-2]["id"]
        self.window.wait_for(lambda s: s["conversation"]["id"] == second, "the one above the open one")

    def test_a_copy_is_made_from_any_message_and_of_any_chat(self):
        self.open()
        state = self.import_talk("First question", "An answer.")
        first = state["conversation"]["id"]
        x, y, width, _ = state["widgets"]["transcript"]
        self.display.xdotool("mousemove", x + width // 2, y + 45, "click", 3)  # beside the first message
        self.window.click("menu_fork")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] != first, "the copy")
        self.assertEqual((n_messages(state), state["conversation"]["title"]), (1, "First question (copy)"))
        self.window.move_to(f"conversation:{first}")
        self.display.xdotool("click", 3)
        self.window.click("menu_duplicate")
        state = self.window.wait_for(lambda s: len(s["conversations"]) == 3, "another copy")
        self.window.wait_for(lambda s: n_messages(s) == 2 and s["conversation"]["id"] != first, "all of it")

    def test_conversations_are_filed(self):
        def titles(state, of="conversations"):
            return "".join(c["title"] for c in state[of])

        def menu(title, choice):
            found, = (c["id"] for c in self.window.state()["conversations"] + self.window.state()["archived"]
                      if c["title"] == title)
            self.window.click(f"conversation:{found}", 3)
            self.window.click(choice)

        self.open()
        path = os.path.join(self.home, "talks.json")
        with open(path, "w") as file:
            json.dump([{"title": title, "messages": [{"role": "user", "content": "first words"},
                                                     {"role": "assistant", "content": "words and then words"}]}
                       for title in "DACB"], file)
        self.window.ask_to_import(path)
        state = self.window.wait_for(lambda s: len(s["conversations"]) == 4, "all")
        ids = {c["title"]: c["id"] for c in state["conversations"]}
        self.window.click("list_menu")
        self.window.click("menu_by_title")
        self.window.wait_for(lambda s: titles(s) == "ABCD", "the order of titles")
        menu("C", "menu_pin")
        self.window.wait_for(lambda s: titles(s) == "CABD" and s["conversations"][0]["pinned"], "the pinned one first")

        for key, title, selected in (("ctrl", "B", "B"), ("shift", "D", "BD")):
            self.display.xdotool("keydown", key)
            self.window.click(f"conversation:{ids[title]}")
            self.window.wait_for(lambda s: s["selected"] == [ids[t] for t in selected], f"the selection of {selected}")
            self.display.xdotool("keyup", key)
        self.window.click("selection_folder")
        self.window.click("menu_new_folder")
        self.window.wait_for(lambda s: s["focus"] == "naming", "the folder's name")
        self.window.type("My work")
        self.window.key("Return")
        state = self.window.wait_for(lambda s: titles(s) == "CBDA" and "folder:My work" in s["widgets"], "the folder")
        self.assertEqual([c["folder"] for c in state["conversations"]], ["", "My work", "My work", ""])
        self.window.click("folder:My work")
        self.window.wait_for(lambda s: f"conversation:{ids['B']}" not in s["widgets"], "it folded")

        menu("A", "menu_tags")
        self.window.wait_for(lambda s: s["focus"] == "naming", "the tags")
        self.window.type("one, #two")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["conversations"][3]["tags"] == ["one", "two"], "two tags")
        self.window.key("ctrl+k")
        self.window.type('folder:"my work" words then')
        self.window.wait_for(lambda s: [h["id"] for h in s["hits"]] == [ids["B"], ids["D"]], "both in the folder")
        self.window.click("hit:1")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] == ids["D"] and s["found"][1] == 4, "every word")
        at = state["found"][0]
        self.window.key("F3")
        self.window.wait_for(lambda s: s["found"] == [at % 4 + 1, 4], "the next one")
        self.window.click("search_clear")

        menu("A", "menu_archive")
        self.window.wait_for(lambda s: titles(s) == "CBD" and titles(s, "archived") == "A", "the archive")
        self.window.click("list_menu")
        self.window.click("menu_show_archive")
        self.window.wait_for(lambda s: "archive" in s["panels"] and f"conversation:{ids['A']}" in s["widgets"], "it there")
        menu("A", "menu_unarchive")
        self.window.click("archive_close")
        self.window.wait_for(lambda s: titles(s) == "CBDA" and not s["archived"], "it back")

        menu("A", "menu_trash")
        self.window.wait_for(lambda s: titles(s, "trash") == "A", "one in the trash")
        self.window.key("ctrl+t")
        self.window.click(f"trashed:{ids['A']}")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] == ids["A"] and n_messages(s) == 2, "it to read")
        self.assertNotIn("composer", state["widgets"])
        self.assertEqual(titles(state, "trash"), "A")
        self.window.click("restore_open")
        self.window.wait_for(lambda s: not s["trash"] and "composer" in s["widgets"], "it restored")
        self.window.click("trash")
        self.window.wait_for(lambda s: f"conversation:{ids['B']}" in s["widgets"], "the folder, unfolded by what was opened")
        self.window.click("folder:My work")
        self.window.wait_for(lambda s: f"conversation:{ids['B']}" not in s["widgets"], "it folded again")
        self.close()
        self.open()
        self.window.wait_for(lambda s: titles(s) == "CBDA" and f"conversation:{ids['A']}" in s["widgets"]
                             and f"conversation:{ids['B']}" not in s["widgets"], "the order and the folded folder")

    def test_a_turn_is_deleted_and_shown_again(self):
        self.open()
        path = os.path.join(self.home, "talk.json")
        with open(path, "w") as file:
            json.dump([{"role": role, "content": text} for role, text in
                       [("user", "one"), ("assistant", "1"), ("user", "two"), ("assistant", "2")]], file)
        self.window.import_file(path)
        state = self.window.wait_for(lambda s: n_messages(s) == 4, "its messages")
        x, y, width, _ = state["widgets"]["transcript"]
        self.display.xdotool("mousemove", x + width // 2, y + 45, "click", 3)  # beside the first message
        self.window.click("menu_delete_turn")
        state = self.window.wait_for(lambda s: n_messages(s) == 2, "the rest")
        notice = next(n for n in state["notices"] if n["action"] == "Undo" and "deleted" in n["text"])
        self.window.click(f"notice:{notice['id']}:action")
        self.window.wait_for(lambda s: n_messages(s) == 4, "all of it")

    def test_all_of_an_empty_field_is_nothing(self):
        self.open()
        self.import_talk("Both", "Words.")
        self.window.key("ctrl+k", "ctrl+a")
        state = self.window.wait_for(lambda s: s["focus"] == "search", "the search")
        self.window.type("x")
        state = self.window.wait_for(lambda s: s["search"] == "x", "a letter")
        self.assertEqual(state["selection"], "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
