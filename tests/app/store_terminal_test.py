#!/usr/bin/env python3
"""The conversation store as a user of the terminal meets it: storing, kills, lists, continuing, search.

usage: store_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import fcntl
import json
import os
import random
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
from fake_endpoint import TEXT, FakeEndpoint  # noqa: E402
from program import CHAT, ENDLESS, FOLDER, TINY, Run, environment, path  # noqa: E402
from pseudo_terminal import MAX_SECONDS, StoreCase, Terminal  # noqa: E402

N_KILLS = 200 if os.environ.get("WARPCHAT_FULL_TESTS") else 20


class Store(StoreCase):
    def test_a_killed_conversation_is_continued(self):
        terminal = self.chat("-sys", "Be brief")
        self.send(terminal, "first question")
        self.send(terminal, "second question")
        before = self.messages(terminal)
        terminal.type("/save My talk\r")
        terminal.wait_for("title: My talk")
        self.kill(terminal)
        for folder in (self.file, os.path.dirname(self.file)):
            self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode) & 0o077, 0)

        terminal = self.chat()
        self.send(terminal, "another one")
        terminal.type("/list\r")
        self.assertRegex(terminal.wait_for("My talk"), r"   1  [-0-9]+ [0-9:]+    2 messages  another one\n   2  ")
        terminal.type("/load 2\r")
        terminal.wait_for('"My talk", 4 messages')
        terminal.wait_for("system message: Be brief")
        self.assertEqual(self.messages(terminal), before)
        self.send(terminal, "third question")
        terminal.type("/new\r/load my TALK\r")
        terminal.wait_for('"My talk", 6 messages')
        terminal.type("/list 1\r")
        terminal.wait_for("   1  ")
        terminal.wait_for("My talk")
        self.leave(terminal)

    def test_search_finds_and_numbers(self):
        terminal = self.chat()
        self.send(terminal, "about apples 日本語")
        terminal.type("/new\r")
        self.send(terminal, "about pears")
        for words in ("apples", "日本", "\"about\" OR", "about"):
            terminal.type(f"/search {words}\r")
            terminal.wait_for(f"/search {words}\n")
            if "OR" in words:
                terminal.wait_for("no conversation has")
            else:
                terminal.wait_for("about pears" if words == "about" else "about apples 日本語")
        terminal.type("/search apples\r/load 1\r")
        terminal.wait_for('"about apples 日本語", 2 messages')
        self.leave(terminal)

    def test_conversations_are_filed(self):
        terminal = self.chat()
        for text in ("apples one", "pears two", "plums three"):
            self.send(terminal, text)
            terminal.type("/new\r")
        for line, *says in (("/folder", "there is no folder; /folder NAME moves this conversation to one"),
                            ("/pin 3", "pinned: apples one"),
                            ("/list", "   1  ", "    2 messages  apples one  (pinned)\n   2  "),
                            ('/folder "My work" 2-3', "in My work: 2 conversations"),
                            ("/folder", "My work", "2 conversations"),
                            ("/tag fruit 1 3", "tagged #fruit: 2 conversations"),
                            ('/list tag:Fruit folder:"my work"', "   1  ", "pears two  (in My work, #fruit)\n"),
                            ("/archive 1", "archived: pears two"),
                            ("/list tag:fruit", "   1  ", "apples one  (pinned, #fruit)\n"),
                            ("/list archived", "   1  ", "pears two  (archived, in My work, #fruit)\n"),
                            ("/search is:archived two", "   1  ", "pears two  (archived"),
                            ("/archive 1", "no longer archived: pears two"),
                            ("/list sort:title folder:-", "   1  ", "apples one"),
                            ("/list folder:nowhere", "no conversation is stored in the folder nowhere"),
                            ("/list everything", "/list takes a number of conversations and filters"),
                            ("/pin 9", "the last list has no number 9"),
                            ("/folder - pears two", "in no folder: pears two"),
                            ("/tag fruit pears two", "no longer tagged #fruit: pears two")):
            with self.subTest(line=line):
                terminal.type(line + "\r")
                terminal.wait_for(line + "\n")
                for text in says:
                    terminal.wait_for(text)
        all_of_them = os.path.join(tempfile.mkdtemp(), "all.json")
        terminal.type(f"/export all {all_of_them}\r")
        terminal.wait_for(f"wrote 3 conversations to {all_of_them}")
        with open(all_of_them) as file:
            found = {talk["title"]: talk.get("folder", "") + str(talk.get("pinned", "")) for talk in json.load(file)}
        self.assertEqual(found, {"apples one": "True", "pears two": "", "plums three": "My work"})
        terminal.type("/list\r/delete 1\r/trash\r/trash 1\r")
        terminal.wait_for('"apples one", 2 messages')
        terminal.wait_for("> apples one")
        terminal.wait_for("(/restore 1 takes it out of the trash)")
        self.assertEqual(self.rows("SELECT count(*) FROM conversations WHERE trashed IS NOT NULL"), [(1,)])
        self.leave(terminal)

    def test_a_turn_is_cut_and_a_copy_ends_at_any_message(self):
        terminal = self.chat()
        for text in ("one", "two", "three"):
            self.send(terminal, text)
        terminal.type("/fork 4\r")
        terminal.wait_for("no message has the number '4'; this conversation has 3 messages of yours, the first one is 1")
        terminal.type("/fork 2\r")
        terminal.wait_for("you are now in a copy")
        self.assertEqual(len(self.messages(terminal)), 4)
        terminal.type("/load one\r")
        terminal.wait_for('"one", 6 messages')
        before = self.messages(terminal)
        terminal.type("/cut 2\r")
        terminal.wait_for("deleted: two (/versions brings it back)")
        self.assertEqual(self.messages(terminal), before[:2] + before[4:])
        self.leave(terminal)
        terminal = self.chat()
        terminal.type("/load 1\r")
        terminal.wait_for("4 messages")
        self.leave(terminal)

    def test_old_branches_stay(self):
        terminal = self.chat()
        self.send(terminal, "one")
        self.send(terminal, "/regen")
        self.send(terminal, "/edit two")
        self.send(terminal, "three")
        terminal.type("/undo\r")
        terminal.wait_for("taken back: three")
        shown = self.messages(terminal)
        self.leave(terminal)
        self.assertEqual([text for text, in self.rows("SELECT text FROM turns WHERE role = 'user' ORDER BY id")],
                         ["one", "two", "three"])
        self.assertEqual(self.rows("SELECT role, count(*) FROM turns GROUP BY role ORDER BY role"),
                         [("assistant", 4), ("user", 3)])
        self.assertEqual(self.rows("SELECT DISTINCT state FROM turns"), [(1,)])
        self.assertEqual(self.rows("SELECT title FROM conversations"), [("two",)])
        terminal = self.chat()
        terminal.type("/load two\r")
        terminal.wait_for('"two", 2 messages')
        self.assertEqual(self.messages(terminal), shown)

    def test_versions_are_walked_between(self):
        terminal = self.chat()
        terminal.type("/set temp 1\r/versions\r")
        terminal.wait_for("chat: there is no message yet")
        self.send(terminal, "one")
        terminal.type("/versions\r")
        terminal.wait_for("every message has one version")
        first = self.messages(terminal)
        self.send(terminal, "/regen")
        second = self.messages(terminal)
        self.send(terminal, "/edit two")
        terminal.type("/versions\r")
        terminal.wait_for("message 1\n")
        self.assertRegex(terminal.wait_for("(shown)\n"), r"   1  [-0-9]+ [0-9:]+  one\n   2  [-0-9]+ [0-9:]+  two  $")
        terminal.type("/version 1\r")
        terminal.wait_for("now shown: 2 messages")
        self.assertEqual(self.messages(terminal), second)
        terminal.type("/versions\r")
        terminal.wait_for("answer 1\n   3  ")
        terminal.type("/version 3\r")
        terminal.wait_for("now shown: 2 messages")
        self.assertEqual(self.messages(terminal), first)
        terminal.type("/version 5\r")
        terminal.wait_for("chat: no version has the number '5'; the last one is 4; /versions shows them")
        self.send(terminal, "more")
        terminal.type("/undo\r/versions\r")
        terminal.wait_for("message 2\n   5  ")
        terminal.type("/version 5\r")
        terminal.wait_for("now shown: 4 messages")
        shown = self.messages(terminal)
        self.assertEqual(shown[:2], first)
        self.leave(terminal)
        terminal = self.chat()
        terminal.type("/load 1\r")
        terminal.wait_for("4 messages")
        self.assertEqual(self.messages(terminal), shown)

    def test_ctrl_c_ends_the_text_of_a_long_conversation(self):
        message = {"role": "user", "content": "begin " + "some words " * 100000 + "end"}
        long = path("long.json", json.dumps([message]).encode())
        terminal = self.chat(columns=80)
        terminal.type(f"/import {long}\r")
        terminal.wait_for("(the end of 1 message; /history shows all)")
        terminal.wait_for("words end")
        terminal.type("/history\r")
        terminal.wait_for("> begin some")  # the rest fits no buffer, so the program waits for its reader
        terminal.type("\x03")
        self.assertNotIn("words end", terminal.wait_for("(stopped; /history shows all of it)"))
        self.leave(terminal)

    def test_several_go_to_the_trash_and_come_back(self):
        terminal = self.chat()
        for text in ("one", "two", "three", "four"):
            self.send(terminal, text)
            terminal.type("/new\r")
        terminal.type("/list 2\r")
        terminal.wait_for("(there are more; /list 10 lists more of them)")
        terminal.type("/list\r/delete 1 3-4\r")
        terminal.wait_for("moved to the trash: 3 conversations\n/restore 1-3 brings them back")
        terminal.type("/delete 2-5\r")
        terminal.wait_for("chat: the last list has no number 5; it has 4 conversations; /list shows the latest ones")
        self.assertEqual(self.rows("SELECT title FROM conversations WHERE trashed IS NULL"), [("three",)])
        terminal.type("/restore 1-2\r")
        terminal.wait_for("restored: 2 conversations")
        terminal.type("/erase 1-2\r")
        terminal.wait_for("chat: that conversation is no longer in the trash; /trash lists the others")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT count(*) FROM conversations WHERE trashed IS NULL"), [(3,)])

    def test_an_import_is_taken_back_and_noticed_when_it_is_one_too_many(self):
        def talk(number):
            message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [f"text {number}"]}}
            return {"title": f"talk {number}", "update_time": 1e9 + number, "create_time": 1e9, "current_node": "a",
                    "mapping": {"a": {"message": message}}}
        file = path("three.json", json.dumps([talk(number) for number in range(3)]).encode())
        terminal = self.chat()
        terminal.type(f"/import {file}\r")
        terminal.wait_for("(/delete 1-3 takes the import back)")
        terminal.type(f"/import {file}\r")
        terminal.wait_for("3 conversations of this file are here already and were not imported again")
        terminal.wait_for('"talk 2", 1 message')
        terminal.type("/delete 1-3\r")
        terminal.wait_for("moved to the trash: 3 conversations")
        terminal.type(f"/import {file}\r")
        terminal.wait_for("(/delete 1-3 takes the import back)")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT title FROM conversations WHERE trashed IS NULL ORDER BY title"),
                         [("talk 0",), ("talk 1",), ("talk 2",)])

    def test_an_import_shows_its_progress_and_can_be_stopped(self):
        talks = [{"title": f"talk {n}", "messages": [{"role": "user", "content": "some words " * 20}]}
                 for n in range(20000)]
        for n, talk in enumerate(talks):
            talk["messages"][0]["content"] += str(n)
        file = path("many.json", json.dumps(talks).encode())
        terminal = self.chat()
        terminal.type(f"/import {file}\r")
        terminal.wait_for("%", raw=True)
        while self.rows("SELECT count(*) FROM conversations") < [(10,)]:
            terminal.read_some(0.01)
        terminal.type("\x03")
        seen = terminal.wait_for(" takes the import back)")
        n_imported, = self.rows("SELECT count(*) FROM conversations")[0]
        self.assertIn(f"(stopped; {n_imported:,} conversations were imported)", seen)
        self.assertTrue(seen.endswith(f"(/delete 1-{n_imported}"), seen[-200:])
        self.assertNotIn("many.json:", seen, "nothing was left out")
        self.assertLess(n_imported, len(talks))
        self.leave(terminal)

    def test_what_is_left_out_of_an_import_is_told(self):
        claude = [{"name": "cats", "chat_messages": [
                       {"sender": "human", "text": "see", "files": [{"file_name": "cat.png", "type": "image"}]},
                       {"sender": "assistant", "content": [{"type": "tool_use"}, {"type": "text", "text": "a cat"}]}]},
                  {"name": "broken", "chat_messages": 7},
                  {"name": "dogs", "updated_at": "2030-01-01T00:00:00Z",
                   "chat_messages": [{"sender": "human", "text": "dogs?"}]}]
        text = json.dumps(claude)
        terminal = self.chat()
        terminal.type("/import " + path("claude.json", text.encode()) + "\r")
        terminal.wait_for("imported 2 conversations; the newest is shown")
        terminal.wait_for("claude.json: conversation 2 has no array as 'chat_messages'; left out: 1 picture and 1 tool "
                          "call")
        terminal.wait_for('"dogs", 1 message')
        cut = text[:text.index('"name": "dogs"')] + '"name": "birds", "chat_messages": [{"sender": "human", "text": "a"}'
        terminal.type("/import " + path("cut.json", cut.encode()) + "\r")
        terminal.wait_for("the file ends within conversation 3, after 1 whole message")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT title FROM conversations ORDER BY title"),
                         [("birds",), ("cats",), ("dogs",)])

    def test_the_trash_gives_back(self):
        terminal = self.chat()
        terminal.type("/delete\r/trash\r/restore\r")
        for text in ("chat: there is no message yet; /delete N deletes another conversation", "the trash is empty\n",
                     "chat: the trash is empty"):
            terminal.wait_for(text)
        self.send(terminal, "about apples")
        terminal.type("/new\r")
        self.send(terminal, "about pears")
        terminal.type("/list\r/delete 2\r")
        terminal.wait_for("moved to the trash: about apples")
        terminal.type("/load 2\r")
        terminal.wait_for("chat: that conversation is in the trash; /restore brings it back")
        self.assertEqual(len(self.messages(terminal)), 2)
        terminal.type("/delete\r")
        terminal.wait_for("moved to the trash: about pears")
        self.assertEqual(self.messages(terminal), [])
        terminal.type("/list\r")
        terminal.wait_for("no conversation is stored yet")
        terminal.type("/trash\r")
        self.assertRegex(terminal.wait_for("about apples"), r"   1 .*about pears\n   2 ")
        terminal.type("/restore 3\r")
        terminal.wait_for("chat: the trash has no number '3'; it has 2 conversations; /trash lists them")
        self.send(terminal, "about plums")
        terminal.type("/restore 2\r")
        terminal.wait_for("restored: about apples")
        terminal.wait_for("(/load 1 opens it)")
        terminal.type("/load 1\r")
        terminal.wait_for('"about apples", 2 messages')
        terminal.type("/restore 2\r")
        terminal.wait_for("chat: that conversation is no longer in the trash")
        terminal.type("/erase 1\r")
        terminal.wait_for("deleted for good: about pears")
        terminal.type("/load about apples\r")
        terminal.wait_for('"about apples", 2 messages')
        self.assertEqual(self.rows("SELECT title FROM conversations"), [("about apples",), ("about plums",)])

    def test_an_erased_conversation_leaves_nothing_on_the_disk(self):
        terminal = self.chat()
        self.send(terminal, "zqxjkvbpwyg")
        terminal.type("/delete\r")
        terminal.wait_for("moved to the trash: zqxjkvbpwyg")
        self.send(terminal, "kept words")
        terminal.type("/trash\r")
        terminal.wait_for("zqxjkvbpwyg")
        terminal.type("/erase 1\r")
        terminal.wait_for("deleted for good: zqxjkvbpwyg")
        terminal.wait_for("> ")
        kept = 0
        for folder, _, names in os.walk(self.home):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    content = file.read()
                for part in (b"zqxjkvbpwyg", b"zqx", b"pwyg"):
                    self.assertNotIn(part, content, name)
                kept += b"kept words" in content
        self.assertGreater(kept, 1)  # the store and the history
        terminal.type("\x1b[A" * 9)  # nor does Up recall it: the oldest line is the next one
        terminal.wait_for("> /delete")

    def test_a_lock_of_another_program_delays_no_answer(self):
        self.leave(self.chat())
        terminal = self.start_endless(home=self.home)
        self.wait_for_prompt(terminal)
        other = sqlite3.connect(self.file, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        terminal.type("Hello\r")
        terminal.wait_for("another program holds it")
        while len(terminal.answer().strip()) < 20:  # it streams although nothing can be stored
            self.assertTrue(terminal.read_some(1))
        other.execute("ROLLBACK")
        while len(self.rows("SELECT text FROM whole_turns WHERE role = 'assistant' AND length(CAST(text AS BLOB)) > 20")) < 1:
            self.assertTrue(terminal.read_some(0.1))
        self.assertNotIn("\n> ", terminal.plain())
        terminal.type("\x03")
        terminal.wait_for("(stopped; /continue resumes it)")
        self.assertEqual(len(self.messages(terminal)), 2)

    def test_a_conversation_travels_as_a_file(self):
        terminal = self.chat("-sys", "Be brief")
        self.send(terminal, "one ## You")
        self.send(terminal, "/edit two")
        shown = self.messages(terminal)
        files = [tempfile.mktemp(suffix=suffix, dir=FOLDER) for suffix in (".md", ".json")]
        for file in files:
            terminal.type(f"/export {file}\r")
            terminal.wait_for("wrote " + file)
        self.leave(terminal)
        os.remove(self.file)
        terminal = self.chat()
        for file in files:
            terminal.type(f"/import {file}\r")
            terminal.wait_for('"two", 2 messages')
            self.assertEqual(self.messages(terminal), shown)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(2 + 4,)])
        self.send(terminal, "more")
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(2 + 6,)])
        terminal.type("/import /nowhere\r")
        terminal.wait_for("chat: cannot read /nowhere: no such file")
        self.leave(terminal)

    def test_what_other_programs_have_written_is_imported(self):
        def talk(title, time, text):
            message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [text]}}
            return {"title": title, "update_time": time, "current_node": "a", "mapping": {"a": {"message": message}}}
        terminal = self.chat()
        both = path("conversations.json", json.dumps([talk("newer", 2e9, "two"), talk("older", 1e9, "one")]).encode())
        terminal.type(f"/import {both}\r")
        terminal.wait_for("imported 2 conversations; the newest is shown")
        terminal.wait_for('"newer", 1 message')
        terminal.type("/import " + path("page.md", b"# Of cats\n\n**You:** why\n\n**ChatGPT:** because\n") + "\r")
        terminal.wait_for('"Of cats", 2 messages')
        terminal.type("/import " + path("notes.md", b"Only notes\n\n- one\n") + "\r")
        terminal.wait_for('"Only notes", 1 message')
        terminal.type("/import " + path("export.zip", b"PK\x03\x04") + "\r")
        terminal.wait_for("export.zip is a ZIP archive; unpack it and import its conversations.json")
        self.assertEqual(self.rows("SELECT title FROM conversations ORDER BY id"),
                         [("newer",), ("older",), ("Of cats",), ("Only notes",)])
        self.leave(terminal)

    def test_a_conversation_of_another_model_says_how_to_load_it(self):
        terminal = self.chat()
        terminal.type(f"/model {ENDLESS}\r")
        terminal.wait_for("endless, ")
        self.send(terminal, "Hello")
        self.leave(terminal)
        terminal = self.chat()
        terminal.type("/load Hello\r")
        terminal.wait_for(f"another model answered: /model {ENDLESS} loads it")
        self.send(terminal, "again")
        self.leave(terminal)
        terminal = self.chat()
        terminal.type("/load Hello\r")
        self.assertNotIn("another model", terminal.wait_for('"Hello", 4 messages') + terminal.wait_for("\n> "))
        self.leave(terminal)

    def test_a_model_is_stored_by_its_whole_path(self):
        terminal = self.chat(model=os.path.relpath(TINY))
        self.send(terminal, "Hello")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT model FROM conversations"), [(TINY,)])

    def test_a_stopped_answer_is_marked(self):
        terminal = self.start_endless(home=self.home)
        self.wait_for_prompt(terminal)
        self.stop_an_answer(terminal)
        kept = self.messages(terminal)[1][1]
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text, state FROM turns WHERE role = 'assistant'"), [(kept, 2)])

    def test_a_message_that_was_never_answered_comes_back(self):
        terminal = self.start_endless("-ub", "8", home=self.home)
        self.wait_for_prompt(terminal)
        terminal.type("\x1b[200~" + "Hello world " * 5000 + "\x1b[201~\r")
        terminal.wait_for("reading the prompt")
        self.kill(terminal)
        self.assertEqual(self.rows("SELECT text, role FROM turns"), [("Hello world " * 5000, "user")])
        terminal = self.chat()
        terminal.type("/load 1\r")
        terminal.wait_for('", 1 message\n')
        terminal.wait_for("(your last message has no answer yet: /regen answers it)")

    def test_nothing_is_stored_where_it_should_not_be(self):
        self.assertEqual(Run("-m", TINY, "-p", "Hello", "-n", "2", env=environment(self.home)).code, 0)
        self.assertFalse(os.path.exists(self.file))
        terminal = self.chat("--no-history")
        self.send(terminal, "Hello")
        terminal.type("/list\r")
        terminal.wait_for("Hello\n(conversations are lost when this program ends: --no-history was given)")
        self.leave(terminal)
        self.assertFalse(os.path.exists(self.file))
        self.assertFalse(os.path.exists(os.path.join(self.home, ".local/state/warpchat/history")))

    def test_a_data_folder_that_cannot_be_is_one_sentence(self):
        os.makedirs(os.path.join(self.home, ".local"))
        with open(os.path.join(self.home, ".local/share"), "w"):
            pass
        terminal = self.chat()
        self.send(terminal, "Hello")
        self.send(terminal, "again")
        self.assertEqual(len(self.messages(terminal)), 4)
        self.leave(terminal)
        self.assertEqual(terminal.seen.count("conversations are lost when this program ends"), 1)

    def test_a_disk_that_fills_up_is_one_sentence(self):
        terminal = self.chat()
        self.send(terminal, "Hello")
        limit = os.path.getsize(self.file + "-wal")
        resource.prlimit(terminal.pid, resource.RLIMIT_FSIZE, (limit, limit))
        terminal.type("again\r")
        terminal.wait_for("; the conversation goes on and is stored as soon as that works again\n")
        terminal.wait_for("\n\n> ")
        self.send(terminal, "and again")
        self.assertEqual(len(self.messages(terminal)), 6)
        self.leave(terminal)
        self.assertEqual(terminal.seen.count("the conversation goes on and is stored"), 1)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_a_damaged_store_is_set_aside(self):
        os.makedirs(os.path.dirname(self.file))
        with open(self.file, "wb") as file:
            file.write(b"no database" * 1000)
        terminal = Terminal("-m", TINY, "-n", "4", home=self.home)
        self.addCleanup(self.end, terminal)
        terminal.wait_for("are damaged: they were set aside as ")
        terminal.wait_for("> ")
        self.send(terminal, "Hello")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [("Hello",)])

    def damage(self):
        """Overwrites all pages but the first, so that any open connection meets the damage."""
        connection = sqlite3.connect(self.file)
        connection.executescript("CREATE TABLE IF NOT EXISTS other(x); INSERT INTO other VALUES (1)")  # new to others
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()
        with open(self.file, "r+b") as file:
            file.seek(4096)
            file.write(b"\x5a" * (os.path.getsize(self.file) - 4096))

    def set_aside(self):
        return [name for name in os.listdir(os.path.dirname(self.file)) if "db.damaged-" in name]

    def send_and_be_told(self, terminal, text):
        terminal.type(text + "\r")
        terminal.wait_for("are damaged: they were set aside as ")
        terminal.wait_for("; the open conversation continues in the new file\n")
        terminal.wait_for("\n\n> ")

    def assert_all_is_stored(self, messages):
        self.assertEqual(self.rows("SELECT role, text FROM turns ORDER BY id"), messages)
        self.assertTrue(self.set_aside())
        terminal = self.chat()
        terminal.type("/load 1\r")
        terminal.wait_for(f'", {len(messages)} messages')
        self.leave(terminal)
        self.assertNotIn("damaged", terminal.seen)

    def test_damage_that_is_met_between_messages(self):
        terminal = self.chat()
        self.send(terminal, "first question")
        self.damage()
        self.send_and_be_told(terminal, "second question")
        self.send(terminal, "third question")
        messages = self.messages(terminal)
        self.assertEqual(len(messages), 6)
        self.leave(terminal)
        self.assert_all_is_stored(messages)

    def test_damage_that_is_met_by_a_search(self):
        terminal = self.chat()
        self.send(terminal, "first question")
        self.damage()
        terminal.type("/search question\r")
        terminal.wait_for("are damaged: they were set aside as ")
        terminal.wait_for("; the open conversation continues in the new file\n")
        self.send(terminal, "second question")
        messages = self.messages(terminal)
        self.assertEqual(len(messages), 4)
        self.leave(terminal)
        self.assert_all_is_stored(messages)

    def test_damage_that_is_met_while_an_answer_streams(self):
        terminal = self.start_endless(home=self.home)
        self.wait_for_prompt(terminal)
        terminal.type("question\r")
        terminal.wait_for("question\n")
        while not os.path.exists(self.file) or self.rows("SELECT count(*) FROM turns") != [(2,)]:
            terminal.read_some(0.02)
        self.damage()
        while not self.set_aside():
            terminal.read_some(0.02)
        terminal.type("\x03")
        terminal.wait_for("(stopped; /continue resumes it)\n\n> ")
        messages = self.messages(terminal)
        self.leave(terminal)
        self.assert_all_is_stored(messages)

    def test_two_chats_share_one_store(self):
        one, two = self.chat(), self.chat()
        for terminal, text in ((one, "from one"), (two, "from two"), (one, "more of one")):
            self.send(terminal, text)
        two.type("/load from one\r")
        two.wait_for('"from one", 4 messages')
        self.leave(one)
        self.leave(two)


def letters(text):
    """The letters that word wrap and Markdown keep."""
    return "".join(c for c in text if c.isalnum())


class Kills(StoreCase):
    """Kills the program at random moments of a stream. tests/store checks with its own clock that text waits at most
    a second. Here, on a machine of any speed: shown text reaches the disk while the answer still streams, and
    everything on disk is there after the kill."""

    def read_for(self, terminal, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until or not terminal.answer().strip():
            terminal.read_some(0.02)

    def last_answer(self):
        rows = self.rows("SELECT text FROM whole_turns WHERE role = 'assistant' AND parent = (SELECT max(id) FROM turns"
                         " WHERE role = 'user')")
        return rows[0][0] if rows else ""

    def test_killed_while_streaming(self):
        generator = random.Random(1)
        for n in range(1, N_KILLS + 1):
            terminal = Terminal("-m", ENDLESS, "-c", "0", "--temp", "0", "--nowordwrap", home=self.home)
            self.addCleanup(self.end, terminal)
            self.wait_for_prompt(terminal)
            terminal.type(f"question {n}\r")
            terminal.wait_for(f"question {n}\n")
            self.read_for(terminal, generator.uniform(0, 1))
            shown = letters(terminal.answer())
            end = time.monotonic() + MAX_SECONDS
            while not letters(self.last_answer()).startswith(shown):
                self.assertLess(time.monotonic(), end, f"not stored: {shown!r}")
                self.read_for(terminal, 0.1)
            self.read_for(terminal, generator.uniform(0, 1))
            self.assertNotIn("\n> ", terminal.plain())
            stored = self.last_answer()
            self.kill(terminal)
            self.assertTrue(self.last_answer().startswith(stored))
            self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
            questions = self.rows("SELECT text FROM turns WHERE role = 'user' ORDER BY id")
            self.assertEqual(questions, [(f"question {i}",) for i in range(1, n + 1)])
        self.assertEqual(self.rows("SELECT DISTINCT state FROM turns WHERE role = 'assistant'"), [(0,)])


class Stored(StoreCase):
    def say(self, *texts):
        terminal = self.chat()
        for text in texts:
            self.send(terminal, text)
        self.leave(terminal)

    def resume(self, *arguments):
        terminal = Terminal("-m", TINY, "--temp", "0", "-n", "4", *arguments, home=self.home)
        self.addCleanup(self.end, terminal)
        return terminal

    def test_the_last_one_or_any_by_number_or_title(self):
        self.say("about cats")
        self.say("about dogs")
        for arguments, title in ((("--resume",), "about dogs"), (("--resume", "2"), "about cats"),
                                 (("--resume", "CATS"), "about cats"), (("--resume=about dogs",), "about dogs")):
            terminal = self.resume(*arguments)
            terminal.wait_for("Ctrl-D leaves")
            terminal.wait_for(f'"{title}", 2 messages')
            terminal.wait_for("> ")
            self.assertEqual(self.messages(terminal)[0], ("user", title))
            self.leave(terminal)

    def test_a_store_that_opens_slowly_is_said(self):
        """As if another program converted it meanwhile."""
        self.say("about cats")
        for arguments in ((), ("--resume",)):
            with open(self.file + ".lock", "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                terminal = self.resume(*arguments)
                terminal.wait_for("opening the conversations")
            terminal.wait_for("Ctrl-D leaves")
            terminal.wait_for("> ")
            self.leave(terminal)

    def test_a_search_takes_a_phrase_in_quotes(self):
        self.say("the red house", "house, which is red")
        self.say("a house is not a red one")
        terminal = self.chat()
        terminal.type('/search "red house"\r')
        found = terminal.wait_for("the red house") + terminal.wait_for("> ")
        self.assertNotIn("not a red one", found)
        terminal.type('/search "red houses"\r')
        terminal.wait_for('no conversation has "red houses"')
        terminal.type('/search house red\r')
        terminal.wait_for("not a red one")

    def test_numbers_that_are_not_there(self):
        terminal = self.chat()
        self.send(terminal, "one")
        self.send(terminal, "/regen")
        terminal.type("/versions\r")
        terminal.wait_for("(shown)")
        terminal.type("/versions 9\r")
        terminal.wait_for("chat: no version has the number '9'; the last one is 2; /versions shows them")
        terminal.type("/show\r")
        terminal.wait_for("byte-level BPE, computed with ")

    def test_what_is_not_there(self):
        terminal = self.resume("--resume")
        terminal.wait_for("chat: no conversation is stored yet; leave out --resume")
        self.assertEqual(terminal.wait(), 1)
        self.say("about cats")
        for wanted, says in (("birds", "chat: no title has 'birds' in it"),
                             ("99", "chat: no conversation has the number 99: 1 conversation is stored; --resume alone")):
            terminal = self.resume("--resume", wanted)
            terminal.wait_for(says)
            self.assertEqual(terminal.wait(), 1)
            self.assertNotIn("tiny, ", terminal.seen)  # no model was loaded for that
        for arguments, code, says in ((("-p", "x", "--resume", "9"), 1, "no conversation has the number 9: 1 conversation"),
                                      (("--resume", "what is up?", "-p", "x"), 1, "a question stands before it"),
                                      (("-p", "x", "--resume", "--no-history"), 2, "--no-history stores no conversation"),
                                      (("-p", "x", "--resume", "--raw"), 2, "--raw completes a text")):
            run = Run("-m", TINY, *arguments, env=environment(self.home))
            self.assertEqual((run.code, run.out), (code, b""), run)
            self.assertIn(says, run.err.decode())

    def texts(self):
        return [text for text, in self.rows("SELECT text FROM turns ORDER BY id")]

    def test_one_answer_continues_a_stored_conversation(self):
        self.say("about cats")
        env, here = environment(self.home), ("-m", TINY, "--temp", "0", "-n", "4")
        run = Run(*here, "--resume", "-p", "and dogs?", env=env)
        self.assertEqual(run.code, 0, run)
        question, first, then, answer = self.texts()
        self.assertEqual((question, then, answer.rstrip("\n")),
                         ("about cats", "and dogs?", run.out.decode().rstrip("\n")))
        self.assertEqual(self.rows("SELECT title FROM conversations"), [("about cats",)])
        tokens = json.loads(Run(*here, "--json", "--resume", "-p", "x", env=env).out)["usage"]["prompt_tokens"]
        for flags, says in ((("-c", str(tokens), "-p", "x"), "raise --ctx-size, or leave out the oldest turns with /trim"),
                            (("-p", "word " * 2000), "raise --ctx-size, or shorten the prompt")):
            run = Run(*here, "--resume", *flags, env=env)
            self.assertEqual((run.code, run.out), (1, b""), run)
            self.assertIn(says, run.err.decode())
        self.assertEqual(len(self.texts()), 6)
        with FakeEndpoint() as server:
            at_server = ("--endpoint", server.url, "--resume", "CATS")
            run = Run(*at_server, "-sys", "Be brief", "--json", "and birds?", env=env)
            self.assertEqual(json.loads(run.out)["answer"], TEXT, run)
            self.assertEqual(json.loads(run.out)["usage"]["prompt_tokens"], 11, run)
            Run(*at_server, "-p", "and fish?", env=env)
            sent = [[(message["role"], message["content"]) for message in body["messages"]] for body in server.bodies()]
        turns = [("system", "Be brief"), ("user", question), ("assistant", first), ("user", then),
                 ("assistant", answer), ("user", "x"), ("assistant", self.texts()[5]), ("user", "and birds?")]
        self.assertEqual(sent, [turns, [*turns, ("assistant", TEXT), ("user", "and fish?")]])
        self.assertEqual(self.texts()[6:], ["and birds?", TEXT, "and fish?", TEXT])

    def test_one_answer_that_is_stopped_keeps_its_text(self):
        self.say("about cats")
        with subprocess.Popen([CHAT, "-m", ENDLESS, "-c", "0", "--temp", "0", "--resume", "-p", "go on"],
                              stdout=subprocess.PIPE, env=environment(self.home)) as program:
            begun = os.read(program.stdout.fileno(), 1 << 16)
            program.send_signal(signal.SIGINT)
            printed = begun + program.stdout.read()
        self.assertEqual(program.returncode, 130)
        self.assertEqual(self.texts()[-1].rstrip("\n"), printed.decode().rstrip("\n"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
