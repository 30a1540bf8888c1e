#!/usr/bin/env python3
"""A conversation as a user of the terminal meets it: failed and stopped answers, edits, versions, messages that do not
fit, history.

usage: conversation_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import re
import resource
import shutil
import sys
import unittest

from program import ENDLESS, HYBRID, SAMPLING, THINKS, TINY, Run, environment, path
from pseudo_terminal import StoreCase, Terminal

LONG = "Hello world " * 4000


class ConversationCase(StoreCase):
    def do(self, terminal, typed, seen):
        terminal.type(typed + "\r")
        return terminal.wait_for(seen)

    def slow(self, *arguments):
        """One thread reads prompts token by token, so that one can be stopped before its answer begins."""
        terminal = self.start_endless("-t", "1", "-ub", "1", "-n", "12", *arguments, home=self.home)
        self.wait_for_prompt(terminal)
        return terminal

    def interrupt_before_the_first_word(self, terminal, typed, told):
        terminal.type(typed + "\r")
        terminal.wait_for("reading the prompt")
        terminal.type("\x03")
        terminal.wait_for(told)
        terminal.wait_for("\n> ")

    def turns_in_order(self, terminal):
        return [role for role, _ in self.messages(terminal) if role != "system"]

    def assert_turns_alternate(self):
        """No message in the store follows one of the same role."""
        same = "SELECT a.text FROM turns a JOIN turns b ON a.parent = b.id WHERE a.role = b.role"
        self.assertEqual(self.rows(same), [])


class Hybrids(ConversationCase):
    """Models whose layers cannot rewind the last tokens."""

    def conversation(self, *lines):
        terminal = self.chat(model=HYBRID)
        for line in lines:
            self.do(terminal, line, "\n> ")
        said = self.messages(terminal)
        self.leave(terminal)
        return said

    def test_what_is_asked_again_or_changed_is_answered_as_if_it_were_new(self):
        long = "the quick brown fox " * 20
        self.assertEqual(self.conversation(long, "two", "/regen"), self.conversation(long, "two"))
        self.assertEqual(self.conversation(long, "one", "/undo", "two"), self.conversation(long, "two"))


class LostAnswers(ConversationCase):
    def test_an_answer_that_could_not_be_generated_again_stays(self):
        terminal = self.chat("-c", "160")
        self.send(terminal, "one")
        before = self.messages(terminal)
        for setting in ("system " + "a b " * 100, "n_predict 0"):  # one does not fit, the other allows no token
            self.do(terminal, f"/set {setting}", setting.split()[0] + ": ")
            self.do(terminal, "/regen", "\n> ")
            self.do(terminal, "/set system none", "system: none")
            self.assertEqual(self.messages(terminal), before)
        self.do(terminal, "/set n_predict 4", "n_predict: 4")
        self.send(terminal, "two")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)
        self.leave(terminal)
        self.assert_turns_alternate()

    def test_an_answer_that_is_stopped_before_its_first_word_leaves_the_one_before(self):
        terminal = self.slow()
        self.send(terminal, "one")
        before = self.messages(terminal)
        self.do(terminal, "/set system " + LONG, "system: ")
        self.interrupt_before_the_first_word(terminal, "/regen", "the previous answer is shown again")
        self.do(terminal, "/set system none", "system: none")
        self.assertEqual(self.messages(terminal), before)
        self.send(terminal, "two")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)
        self.leave(terminal)
        self.assert_turns_alternate()

    def test_an_edit_that_is_stopped_before_its_first_word_leaves_the_message_before(self):
        terminal = self.slow()
        self.send(terminal, "one")
        before = self.messages(terminal)
        self.do(terminal, "/set system " + LONG, "system: ")
        self.interrupt_before_the_first_word(terminal, "/edit two", "the previous message and its answer are shown again")
        self.do(terminal, "/set system none", "system: none")
        self.assertEqual(self.messages(terminal), before)
        self.send(terminal, "three")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)
        self.leave(terminal)
        self.assert_turns_alternate()

    def test_a_message_that_was_stopped_before_its_answer_is_kept_and_answered_later(self):
        terminal = self.slow()
        self.do(terminal, "/set system " + LONG, "system: ")
        self.interrupt_before_the_first_word(terminal, "one", "your message is kept; /regen answers it")
        self.do(terminal, "/set system none", "system: none")
        self.assertEqual(self.messages(terminal), [("user", "one")])
        self.send(terminal, "/regen")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"])
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [("one",)])


class Edits(ConversationCase):
    def test_ctrl_c_at_an_edit_leaves_the_message_as_it_was(self):
        for keys in ("\x03", " more\x03", "\x15\x03"):
            terminal = self.chat()
            self.send(terminal, "one")
            before = self.messages(terminal)
            self.do(terminal, "/edit", "> one")
            terminal.type(keys)
            terminal.wait_for("the message was not changed")
            self.do(terminal, "/show", "tokens used")
            self.assertEqual(self.messages(terminal), before)
            self.leave(terminal)

    def test_ctrl_c_at_an_edit_in_a_plain_terminal(self):
        terminal = self.chat(TERM="dumb")
        terminal.type("one\n")
        terminal.wait_for("\n\nYou: ")
        terminal.type("/edit\n")
        terminal.wait_for("was: one\nYou: ")
        terminal.type("\x03")
        terminal.wait_for("the message was not changed")
        terminal.type("/show\n")
        terminal.wait_for("tokens used")


class LongLines(ConversationCase):
    """The kernel's own line editing drops what is beyond 4,095 bytes."""

    def test_a_plain_terminal_takes_them_whole(self):
        words = "x " * 5000 + "yz"
        for more in ({"TERM": "dumb"}, {}):
            terminal = self.chat("--no-wordwrap", *([] if more else ["--plain"]), **more)
            terminal.type(f"/set system {words}\r")
            terminal.wait_for("system: " + words)
            terminal.type("/exit\r")
            self.assertEqual(terminal.wait(), 0)
            self.assertNotIn("\x1b", terminal.seen)

    def test_so_does_a_typed_prompt(self):
        words = "Hello world " * 1000
        terminal = Terminal("tokenize", "-m", TINY)
        self.addCleanup(self.end, terminal)
        while terminal.echoes():
            terminal.read_some(0.1)
        terminal.type("wrong\x15" + words + "\r\x04")
        terminal.wait_for(words)
        typed = terminal.read_to_end().split()
        self.assertEqual(terminal.wait(), 0)
        piped = Run("tokenize", "-m", TINY, stdin=(words + "\n").encode()).out.decode().split()
        self.assertEqual(typed, piped)

    def test_a_report_of_the_terminal_is_no_text(self):
        for plain in ((), ("--plain",)):
            terminal = self.chat(*plain)
            terminal.type("/set system a\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\b\x1bP>|XTerm(388)\x1b\\c\r")
            terminal.wait_for("system: abc")


class Settings(ConversationCase):
    def test_a_name_alone_shows_the_setting(self):
        terminal = self.chat()
        self.do(terminal, "/set system Be brief", "system: Be brief")
        self.do(terminal, "/set system", "\nsystem: Be brief")
        self.do(terminal, "/set top-k", "\ntop_k: ")
        for empty in ('""', "none"):
            self.do(terminal, "/set system Be brief", "system: Be brief")
            self.do(terminal, f"/set system {empty}", "\nsystem: none")
        self.do(terminal, "/set colour", "unknown setting 'colour'; /set lists them")
        for other in ("temperature 0.5", "TEMP=0.5"):
            self.do(terminal, "/set temp 1", "\ntemp: 1")
            self.do(terminal, "/set " + other, "\ntemp: 0.5")

    def test_the_help_of_one_command(self):
        terminal = self.chat()
        for word in ("/undo", "undo"):
            self.assertNotIn("/regen", self.do(terminal, "/help " + word, "take back the last message"))
        self.do(terminal, "/help nothing", "chat: unknown command nothing; /help lists them")

    def test_what_changes_nothing_is_said(self):
        terminal = self.chat()
        self.send(terminal, "Hello world")
        for key in ("\r", "\x04"):
            self.do(terminal, "/edit", "> Hello world")
            terminal.type("\x15" + key)
            terminal.wait_for("(the message was not changed)")
            terminal.wait_for("> ")
        self.do(terminal, "/regen", "(at temp 0 the same model gives the same answer; /regen temp=0.8 changes that)")
        terminal.wait_for("\n\n> ")
        file = path("twice.txt", b"some text")
        self.do(terminal, f"/read {file}", "sent before your next message")
        self.do(terminal, f"/read {file}", "(twice.txt is attached 2 times; /unread N detaches one)")

    def test_a_number_beyond_the_usual_list(self):
        node = {"id": "a", "parent": None, "children": [], "message": {
            "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}}
        file = path("many.json", json.dumps([{"title": f"talk {n}", "mapping": {"a": node}, "current_node": "a"}
                                             for n in range(25)]).encode())
        terminal = self.chat()
        self.do(terminal, f"/import {file}", "\n> ")
        self.leave(terminal)
        terminal = self.chat()
        self.do(terminal, "/load 25", '"talk ')
        self.do(terminal, "/load 26", "the last list has no number 26; it has 25 conversations")

    def test_thinking_is_asked_of_a_model_that_cannot(self):
        terminal = self.chat()
        self.do(terminal, "/set think on", "tiny has no switch for thinking in its chat template")
        self.do(terminal, "/set think off", "think: off")
        self.leave(terminal)
        terminal = Terminal("-m", TINY, "--think", home=self.home)
        self.addCleanup(self.end, terminal)
        terminal.wait_for("tiny has no switch for thinking in its chat template")
        run = Run("-m", TINY, "--think", "-p", "x", "-n", "1")
        self.assertIn("no switch for thinking", run.err.decode())

    def test_a_system_message_beside_resume_holds_from_now_on(self):
        terminal = self.chat("-sys", "You are a pirate.")
        self.send(terminal, "one")
        self.leave(terminal)
        terminal = self.chat("--resume", "-sys", "Be brief")
        terminal.wait_for("system message from now on: Be brief")
        self.do(terminal, "/set system", "\nsystem: Be brief")


class Thoughts(ConversationCase):
    """The model thinks "ab" and says "cd". Cut anywhere, kept in a file and read from it, its answer goes on there."""

    def test_an_answer_goes_on_from_an_export_wherever_it_was_cut(self):
        for n in (2, 3, 4, 5):
            for kind in ("md", "json"):
                file = path(f"cut{n}.{kind}")
                terminal = Terminal("-m", THINKS, "--temp", "0", "-n", str(n), home=self.home)
                self.addCleanup(self.end, terminal)
                self.wait_for_prompt(terminal)
                self.do(terminal, "x", f"(the answer was cut at {n} tokens; /continue resumes it)")
                self.do(terminal, f"/export {file}", "wrote ")
                self.do(terminal, "/new", "new conversation")
                self.do(terminal, f"/import {file}", "\n> ")
                self.do(terminal, "/set n_predict 20", "n_predict: 20")
                self.do(terminal, "/continue", "cd" if n < 5 else "d")
                terminal.wait_for("\n> ")
                self.leave(terminal)
                self.assertEqual(self.rows("SELECT reasoning, text FROM turns ORDER BY id DESC LIMIT 1"), [("ab", "cd")])


class Models(ConversationCase):
    def test_another_model_keeps_what_was_set(self):
        terminal = self.chat()
        for name, value in (("temp", "0.5"), ("top_k", "7"), ("seed", "5"), ("n_predict", "3"), ("system", "Be brief")):
            self.do(terminal, f"/set {name} {value}", f"{name}: {value}")
        self.do(terminal, f"/model {ENDLESS}", "endless, ")
        self.do(terminal, "/set", "n_predict          3")
        listed = terminal.plain() and terminal.seen[terminal.seen.rindex("/set"):]
        for line in ("temp               0.5", "top_k              7", "seed               5", "system             Be brief"):
            self.assertIn(line, listed)

    def test_what_was_opened_stays_listed(self):
        """In this run and the next one, as long as the file is there; an alias names it, too."""
        elsewhere = os.path.join(self.home, "elsewhere.gguf")
        shutil.copy(TINY, elsewhere)
        terminal = self.chat()
        self.do(terminal, f"/model {elsewhere}", "elsewhere, ")
        self.do(terminal, f"/model {TINY}", "tiny, ")
        self.leave(terminal)
        run = Run("model", "alias", "mine", elsewhere, env=environment(self.home))
        self.assertEqual(run.code, 0, run)
        terminal = self.chat()
        listed = self.do(terminal, "/model", "after asking)")
        self.assertRegex(" ".join(listed.split()), r"elsewhere\.gguf 826 kB \S+ context [\d,]+ fits opened file, ")
        self.assertIn("mine, alias of " + elsewhere, "".join(listed.splitlines()))
        self.do(terminal, "/model mine", "elsewhere, ")
        os.remove(elsewhere)
        self.assertNotIn("elsewhere.gguf 826 kB", " ".join(self.do(terminal, "/model", "after asking)").split()))

    def test_what_was_set_to_the_default_stays_and_what_was_not_follows_the_file(self):
        terminal = Terminal("-m", TINY, "-n", "4", home=self.home)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        top_k = re.search(r"top_k +(\d+)", self.do(terminal, "/set", "verbose"))[1]
        self.do(terminal, f"/set top-k {top_k}", "top_k: ")
        self.do(terminal, f"/model {SAMPLING}", "sampling, ")  # its file says top_k 7 and temp 0.25
        listed = self.do(terminal, "/set", "verbose")
        self.assertRegex(listed, rf"top_k +{top_k} ")
        self.assertRegex(listed, r"temp +0\.25 ")

    def test_one_that_does_not_fit_beside_itself_is_loaded_in_place_of_itself(self):
        terminal = Terminal("-m", ENDLESS, "-c", "1000000", "--temp", "0", "-n", "4", home=self.home)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        self.send(terminal, "one")
        with open(f"/proc/{terminal.pid}/status") as status:
            bytes_now = 1024 * int(re.search(r"VmSize:\s*(\d+)", status.read())[1])
        resource.prlimit(terminal.pid, resource.RLIMIT_AS, (bytes_now + 300_000_000,) * 2)
        self.do(terminal, f"/model {ENDLESS}", "context 1,000,000\n")
        self.send(terminal, "two")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)


class WhatDoesNotFit(ConversationCase):
    MESSAGE = "a b c d " * 50

    def see_refusal(self, terminal, typed="a b c d"):
        """The remedies. Up brings the typed text back; it is cleared."""
        needs = terminal.wait_for(" tokens, the context holds 160")
        self.assertRegex(needs, r"chat: the prompt needs \d+$")
        remedies = terminal.wait_for("(your message was not sent; Up brings it back)")
        terminal.type("\x1b[A")
        terminal.wait_for("> " + typed)
        terminal.type("\x15")
        return remedies

    def test_a_message_longer_than_the_context_is_refused_and_comes_back(self):
        terminal = self.chat("-c", "160")
        self.send(terminal, "one")
        before = self.messages(terminal)
        terminal.type(self.MESSAGE + "\r")
        remedies = self.see_refusal(terminal)
        self.assertNotIn("--ctx-size", remedies)
        larger = re.search(r"\(/context (\d+) reloads the model with a context that is large enough\)", remedies)[1]
        self.assertEqual(self.messages(terminal), before)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(2,)])
        self.do(terminal, "/context " + larger, f"context {int(larger):,}\n")
        terminal.wait_for("> a b c d")  # ready to be sent
        terminal.type("\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)
        self.leave(terminal)
        self.assert_turns_alternate()

    def test_an_edit_that_does_not_fit_comes_back(self):
        terminal = self.chat("-c", "160")
        self.send(terminal, "one")
        before = self.messages(terminal)
        for typed in ("/edit " + self.MESSAGE, "/edit"):
            terminal.type(typed + "\r")
            if typed == "/edit":
                terminal.wait_for("> one")
                terminal.type("\x15" + self.MESSAGE + "\r")
            self.see_refusal(terminal, "/edit a b c d")
            self.assertEqual(self.messages(terminal), before)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(2,)])

    def test_a_conversation_longer_than_the_context_goes_on_without_its_oldest_turns(self):
        terminal = self.chat("-c", "160")
        for _ in range(20):
            terminal.type("some words and more\r")
            if "the prompt needs" in terminal.wait_for("\n> "):
                break
        asked = self.turns_in_order(terminal).count("user")
        self.do(terminal, "/trim", "> some words and more")
        terminal.type("\r")
        terminal.wait_for("(the context is full: the model does not see the first ")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * (asked + 1))
        self.do(terminal, "/trim off", "the model reads the whole conversation")
        self.do(terminal, "some words and more", "/trim leaves the oldest turns out)")
        terminal.wait_for("\n> ")
        self.leave(terminal)
        self.assert_turns_alternate()

    def test_an_answer_cut_by_a_full_context_goes_on(self):
        terminal = Terminal("-m", ENDLESS, "-c", "64", "--temp", "0", home=self.home)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        self.do(terminal, "one", "(the answer was cut: the context is full; /context 128 ")
        terminal.wait_for("\n\n> ")
        first = self.messages(terminal)[1][1]
        while "the context holds 64" not in self.do(terminal, "/continue", "\n> "):
            pass  # its text may have fewer tokens than were generated
        self.do(terminal, "/context 128", "> /continue")
        terminal.type("\r")
        terminal.wait_for("the context is full")
        terminal.wait_for("\n\n> ")
        self.assertTrue(self.messages(terminal)[1][1].startswith(first))

    def test_to_go_on_is_not_promised_where_the_only_turn_fills_the_context(self):
        terminal = Terminal("-m", ENDLESS, "-c", "64", "--temp", "0", home=self.home)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        self.do(terminal, "/trim", "they stay stored")
        self.do(terminal, "one", "(the answer was cut: the context is full; /context 128 ")

    def test_a_context_beyond_the_models_own_is_offered_with_its_risk(self):
        terminal = self.chat()
        self.do(terminal, "Hello world " * 800,
                "(the model was made for 1,024 tokens; shorten the message, or /context ")
        larger = terminal.wait_for(" goes beyond that at a risk)")
        terminal.wait_for("\n> ")
        self.do(terminal, f"/context {larger}", f"context {int(larger):,}")

    def test_a_context_is_loaded_by_one_command(self):
        terminal = self.chat("-c", "160")
        self.send(terminal, "one")
        self.do(terminal, "/context", "160 tokens")
        self.do(terminal, "/context many", "chat: /context takes ")
        self.do(terminal, "/context 2147483647", "chat: ")
        self.assertIn("/context", terminal.wait_for("\n> "))
        self.do(terminal, "/context 512", "context 512")
        self.send(terminal, "two")
        self.assertEqual(self.turns_in_order(terminal), ["user", "assistant"] * 2)


class Ends(ConversationCase):
    def test_an_answer_that_was_cut_says_so_and_is_continued(self):
        terminal = self.start_endless("-n", "4", home=self.home)
        self.wait_for_prompt(terminal)
        self.do(terminal, "one", "(the answer was cut at 4 tokens; /continue resumes it)")
        terminal.wait_for("\n\n> ")
        first = self.messages(terminal)[1][1]
        self.do(terminal, "/continue", "(the answer was cut at 4 tokens; /continue resumes it)")
        terminal.wait_for("\n\n> ")
        (_, message), (_, answer) = self.messages(terminal)
        self.assertEqual(message, "one")
        self.assertTrue(answer.startswith(first))
        self.assertGreater(len(answer), len(first))
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT count(*) FROM turns WHERE role = 'user'"), [(1,)])

    def test_a_stopped_answer_is_continued(self):
        terminal = self.start_endless(home=self.home)
        self.wait_for_prompt(terminal)
        self.stop_an_answer(terminal)
        terminal.wait_for("\n\n> ")
        first = self.messages(terminal)[1][1]
        self.do(terminal, "/set n_predict 4", "n_predict: 4")
        terminal.type("/continue\r")
        terminal.wait_for("/continue\n\n")
        shown = terminal.wait_for("(the answer was cut at 4 tokens; /continue resumes it)")
        words = re.findall("[A-Za-z]{1,4}", first.rstrip().split("\n")[-1])  # other bytes are shown as U+FFFD
        self.assertIn(words[-1] if words else "", shown)  # in its last row
        terminal.wait_for("\n\n> ")
        answer = self.messages(terminal)[1][1]
        self.assertTrue(answer.startswith(first))
        self.assertGreater(len(answer), len(first))

    def test_what_cannot_be_continued(self):
        terminal = self.chat()
        self.do(terminal, "/continue", "chat: there is no answer")


class ReadAgain(ConversationCase):
    def talk(self, *arguments, **more):
        terminal = self.chat(*arguments, **more)
        for message in ("# first *one*", "second\nline", "third"):
            terminal.type("\x1b[200~" + message + "\x1b[201~\r")
            terminal.wait_for("\n\n> ")
        return terminal

    def test_history_shows_all_of_it(self):
        terminal = self.talk()
        answers = [content for role, content in self.messages(terminal) if role == "assistant"]
        terminal.type("/history\r")
        terminal.wait_for("/history\n")
        shown = terminal.wait_for("third\n")
        self.assertIn("> # first *one*\n", shown)
        self.assertIn("> second\n. line\n", shown)
        for answer in answers[:2]:
            for word in re.findall(r"\w+", answer):
                self.assertIn(word, shown)

    def test_a_loaded_conversation_is_shown_as_a_whole(self):
        self.leave(self.talk())
        terminal = self.chat()
        shown = self.do(terminal, "/load 1", "> third\n")
        self.assertIn("> # first *one*\n", shown)
        self.assertIn("> second\n. line\n", shown)

    def test_of_a_long_conversation_the_end_is_shown(self):
        self.leave(self.talk())
        for rows, paged in ((14, "touch paged"), (14, "")):
            terminal = Terminal("-m", TINY, "--temp", "0", "--resume", home=self.home, rows=rows, PAGER=paged)
            self.addCleanup(self.end, terminal)
            shown = terminal.wait_for("> third\n")
            self.assertIn("(the end of 6 messages; /history shows all)", shown)
            self.assertNotIn("# first *one*\n", shown)
            terminal.wait_for('6 messages\n')
            terminal.wait_for("> ")
            self.assertFalse(os.path.exists(os.path.join(self.home, "paged")))
            self.end(terminal)

    def test_a_table_and_code_of_the_end_stay_apart(self):
        answer = "Costs:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nint x;\nint y;\n```"
        turns = [{"role": role, "content": text} for _ in range(9) for role, text in (("user", "hi"), ("assistant", answer))]
        file = path("long_table.json", json.dumps({"title": "t", "messages": turns}).encode())
        terminal = self.chat(rows=20)
        self.do(terminal, f"/import {file}", "(the end of 18 messages; /history shows all)\n")
        shown = terminal.wait_for('"t", 18 messages')
        self.assertTrue(shown.endswith("| a   | b   |\n|-----|-----|\n| 1   | 2   |\n\n```\nint x;\nint y;\n```\n\n"), shown)
        self.assertLessEqual(shown.count("\n"), 20)

    def test_what_is_longer_than_the_screen_goes_through_the_pager(self):
        pager = path("pager.sh", b"#!/bin/sh\necho paged\ncat > \"$HOME/paged\"\n")
        os.chmod(pager, 0o700)
        terminal = self.talk(rows=6, PAGER=pager)
        self.do(terminal, "/history", "paged\n")
        terminal.wait_for("> ")
        with open(os.path.join(self.home, "paged")) as file:
            paged = file.read()
        self.assertIn("first *one*", paged)
        self.assertIn("third", paged)
        terminal.resize(80, 200)
        self.do(terminal, "/history", "> third\n")
        self.assertFalse(terminal.echoes())

    def test_a_pager_that_leaves_early_or_is_not_there(self):
        for pager, says in (("true", "/history\n"), ("/nowhere/pager", "not found")):
            terminal = self.talk(rows=6, PAGER=pager)
            self.do(terminal, "/history", says)
            terminal.wait_for("> ")
            self.send(terminal, "more")
            self.leave(terminal)

    def test_a_plain_terminal_is_not_paged(self):
        terminal = self.chat(rows=4, TERM="dumb", PAGER="echo paged; cat")
        for message in ("one", "two"):
            terminal.type(message + "\n")
            terminal.wait_for("\n\nYou: ")
        terminal.type("/history\n")
        shown = terminal.wait_for("You: two\n")
        self.assertNotIn("paged", shown)
        self.assertIn("You: one\n", shown)

    def test_the_context_of_a_loaded_conversation_is_known(self):
        self.leave(self.talk())
        terminal = self.chat()
        self.do(terminal, "/load 1", "> third\n")
        terminal.wait_for("> ")
        used = self.do(terminal, "/show", "used by 6 messages")
        self.assertNotIn(" 0 of 1,024", used)

    def test_nothing_to_show(self):
        terminal = self.chat()
        self.do(terminal, "/history", "chat: there is no message yet")


class Forks(ConversationCase):
    def test_a_fork_goes_its_own_way(self):
        terminal = self.chat()
        self.do(terminal, "/fork", "chat: there is no message yet")
        self.send(terminal, "one")
        before = self.messages(terminal)
        self.do(terminal, "/fork", "a copy")
        self.assertEqual(self.messages(terminal), before)
        self.send(terminal, "two")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT count(*) FROM conversations"), [(2,)])
        terminal = self.chat()
        terminal.type("/list\r")
        self.assertRegex(terminal.wait_for("2 messages"), r"   1  .* 4 messages  one.*\n   2  .*")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
