#!/usr/bin/env python3
"""The chat program on a pseudo-terminal: the test types, reads the screen, resizes, interrupts.

usage: terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import time
import unittest

from program import ENDLESS, FOLDER, TINY, path, pdf, is_sanitized
from pseudo_terminal import MAX_SECONDS, Case, Terminal

WIDTH_QUESTION = "\x1b[6n"
ASKS_FOR_MODIFIERS, ENDS_MODIFIERS = "\x1b[>1u\x1b[>4;1m", "\x1b[<u\x1b[>4m"


class Conversation(Case):
    def assert_modifiers_end(self, terminal):
        """They are given back as often as they were asked for, at last."""
        self.assertEqual(terminal.seen.count(ASKS_FOR_MODIFIERS), terminal.seen.count(ENDS_MODIFIERS))
        self.assertGreater(terminal.seen.rfind(ENDS_MODIFIERS), terminal.seen.rfind(ASKS_FOR_MODIFIERS))

    def test_an_unknown_terminal_is_asked_for_no_modifiers(self):
        for term in ("linux", "vt220", "screen"):
            terminal = self.start(TERM=term, TMUX="")
            terminal.type("\x04")
            terminal.wait()
            self.assertIn("\x1b[?2004h", terminal.seen)
            self.assertNotIn("\x1b[>", terminal.seen)

    def test_ctrl_c_stops_an_answer_where_modifiers_are_reported(self):
        """While it streams they are not, so that the key is a signal."""
        terminal = self.start_endless()
        self.wait_for_prompt(terminal)
        begin = len(terminal.seen)
        self.stop_an_answer(terminal)
        self.assertIn(ENDS_MODIFIERS, terminal.seen[begin:])
        terminal.wait_for("> ")
        self.assertGreater(terminal.seen.rfind(ASKS_FOR_MODIFIERS), terminal.seen.rfind(ENDS_MODIFIERS))

    def test_answers_and_leaves_with_ctrl_d(self):
        terminal = self.start()
        self.send(terminal, "Hello")
        roles = [role for role, _ in self.messages(terminal)]
        self.assertEqual(roles, ["user", "assistant"])
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_the_terminal_is_raw_while_editing_and_restored_at_the_end(self):
        terminal = self.start()
        self.assertFalse(terminal.echoes())
        self.assertIn("\x1b[?2004h", terminal.seen)
        self.assertIn(ASKS_FOR_MODIFIERS, terminal.seen)
        terminal.type("/exit\r")
        terminal.wait_for(ENDS_MODIFIERS, raw=True)
        terminal.wait_for("\x1b[?2004l", raw=True)
        terminal.read_to_end()
        self.assertTrue(terminal.echoes())
        self.assertEqual(terminal.wait(), 0)

    def test_keys_typed_during_the_answer_are_the_next_line(self):
        terminal = self.start()
        terminal.type("Hello\r/export " + path("ahead.json") + "\r")
        terminal.wait_for("wrote ")

    def test_ctrl_c_on_an_empty_prompt_hints(self):
        terminal = self.start()
        terminal.type("\x03")
        terminal.wait_for("(Ctrl-D or /exit leaves)")
        terminal.type("abc\x03")
        terminal.wait_for("> abc")
        terminal.type("Hello\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.messages(terminal)[0], ("user", "Hello"))

    def test_ctrl_c_stops_a_template_that_does_not_end(self):
        endless = path("endless.jinja", b"{% set s = 'a' * 60000000 %}{% for i in range(99999) %}{% for j in range(99) %}"
                                        b"{% if 'b' in s %}{% endif %}{% endfor %}{% endfor %}")
        terminal = self.start("--chat-template-file", endless)
        terminal.type("Hello\r")
        terminal.wait_for("Hello\n")
        terminal.wait_until_keys_are_signals()
        terminal.type("\x03")
        terminal.wait_for("chat template line 1: stopped")

    def test_ctrl_c_stops_an_answer_and_keeps_its_text(self):
        terminal = self.start_endless()
        self.wait_for_prompt(terminal)
        self.stop_an_answer(terminal)
        self.assertNotEqual(self.messages(terminal)[1][1], "")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_a_message_stopped_before_its_answer_is_kept(self):
        terminal = self.start_endless("-ub", "8", "-n", "4")
        self.wait_for_prompt(terminal)
        terminal.type("/read " + path("long.txt", b"Hello world " * 10000) + "\r")
        terminal.wait_for("sent before your next message")
        terminal.type("Hello\r")
        terminal.wait_for("reading the prompt")
        terminal.type("\x03")
        terminal.wait_for("your message is kept; /regen answers it, /undo takes it back")
        self.assertEqual([role for role, _ in self.messages(terminal)], ["user"])
        terminal.type("/undo\r")
        terminal.wait_for("taken back: ")
        self.assertEqual(self.messages(terminal), [])

    def test_ctrl_c_in_one_shot_is_130(self):
        terminal = self.start_endless("-p", "Hello")
        while not terminal.plain().strip():
            terminal.read_some(1)
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 130)

    def test_a_signal_restores_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            terminal = self.start()
            os.kill(terminal.pid, number)
            terminal.read_to_end()
            self.assertTrue(terminal.echoes())
            self.assert_modifiers_end(terminal)
            self.assertEqual(terminal.wait(), -number)

    @unittest.skipIf(is_sanitized(), "sanitizers handle fatal signals themselves")
    def test_a_fault_restores_the_terminal_and_is_said(self):
        terminal = self.start()
        os.kill(terminal.pid, signal.SIGSEGV)
        terminal.read_to_end()
        self.assertTrue(terminal.echoes())
        self.assertIn("\x1b[?2004l", terminal.seen)
        self.assert_modifiers_end(terminal)
        self.assertIn("\nchat: a fault of the program ended it (wrong memory access, SIGSEGV);", terminal.plain_seen)
        self.assertEqual(terminal.wait(), -signal.SIGSEGV)

    def test_a_file_that_was_written_to_is_not_used_any_more(self):
        model = os.path.join(FOLDER, "changed.gguf")
        shutil.copy(TINY, model)
        terminal = self.start(model=model)
        self.send(terminal, "Hello")
        os.utime(model, (1, 1))
        terminal.type("again\r")
        terminal.wait_for("changed.gguf was written to after it was loaded; load it again")
        terminal.wait_for("Up brings it back")
        terminal.type(f"/model {model}\r")
        terminal.wait_for("> again")  # ready to be sent
        terminal.type("\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual([role for role, _ in self.messages(terminal)], ["user", "assistant"] * 2)

    def test_an_interrupt_by_signal_is_ctrl_c(self):
        terminal = self.start()
        os.kill(terminal.pid, signal.SIGINT)
        terminal.wait_for("(Ctrl-D or /exit leaves)")

    def test_ctrl_z_stops_and_goes_on(self):
        terminal = self.start()
        terminal.type("abc\x1a")
        _, status = os.waitpid(terminal.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertTrue(terminal.echoes())
        os.kill(terminal.pid, signal.SIGCONT)
        end = time.monotonic() + MAX_SECONDS
        while terminal.echoes() and time.monotonic() < end:  # the program takes the terminal back when it is scheduled
            time.sleep(0.01)
        self.assertFalse(terminal.echoes())
        terminal.type("d\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.messages(terminal)[0], ("user", "abcd"))

    def test_a_closed_terminal_ends_it(self):
        terminal = self.start()
        os.close(terminal.fd)
        _, status = os.waitpid(terminal.pid, 0)
        terminal.status = os.waitstatus_to_exitcode(status)
        self.assertIn(terminal.status, (0, 1, -signal.SIGHUP))


class Typing(Case):
    def assert_sent(self, typed, message):
        terminal = self.start()
        terminal.type(typed)
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.messages(terminal)[0], ("user", message))

    def test_pasted_lines_are_one_message(self):
        self.assert_sent("\x1b[200~one\ntwo\r\nthree\x1b[201~\r", "one\ntwo\nthree")

    def test_a_long_paste_stands_as_one_line_and_is_sent_whole(self):
        pasted = "\n".join(f"line {n}: <|im_end|> `x` é" for n in range(312))
        terminal = self.start("-c", "65536", model=ENDLESS)
        terminal.type(f"see \x1b[200~{pasted}\x1b[201~ above")
        terminal.wait_for("> see [pasted 312 lines] above")
        terminal.type("\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.messages(terminal)[0], ("user", f"see {pasted} above"))
        self.assertNotIn("line 200", terminal.seen)

    def test_quotes_hold_several_lines(self):
        self.assert_sent('"""one\rtwo\r"""\r', "one\ntwo")

    def test_wide_characters_and_clusters(self):
        self.assert_sent("日本語x\x7f\x1b[D\x1b[Da👨‍👩‍👧\x7f\r", "日a本語")

    def test_a_line_break_is_no_line_end(self):
        """Ctrl-J, a backslash before Enter, Alt-Enter, and Shift-Enter as terminals report it that are asked to."""
        for typed in ("\n", "\\\r", "\x1b\r", "\x1b[13;2u", "\x1b[27;2;13~"):
            self.assert_sent(f"one{typed}two\r", "one\ntwo")

    def test_what_is_typed_while_the_model_loads_is_sent(self):
        terminal = Terminal("-m", TINY, "--temp", "0", "-n", "12")
        self.addCleanup(self.end, terminal)
        terminal.type("Hello\r")
        terminal.wait_for("\n\n> ")
        self.assertEqual(self.messages(terminal)[0], ("user", "Hello"))

    def test_ctrl_d_while_the_model_loads_leaves(self):
        terminal = Terminal("-m", TINY)
        self.addCleanup(self.end, terminal)
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_resizing_draws_the_line_anew(self):
        terminal = self.start()
        terminal.type("one two three four five")
        terminal.wait_for("five")
        terminal.resize(12)
        terminal.wait_for("> one two th\nree four fiv\ne")
        terminal.resize(80)
        terminal.wait_for("> one two three four five")

    def test_the_terminals_habits_with_emoji_are_asked_for(self):
        terminal = self.start()
        self.assertEqual(terminal.seen.count(WIDTH_QUESTION), 3)
        terminal.type("\x1b[5;5R\x1b[5;3R\x1b[5;2R")  # skin tones apart, sequences joined, presentations narrow
        terminal.type("👍🏽")
        terminal.wait_for("👍🏽\x1b[0m\r\x1b[6C", raw=True)

    def test_history_is_recalled_in_the_next_run(self):
        home = path("history_home")
        os.makedirs(home, exist_ok=True)
        terminal = self.start(home=home)
        self.send(terminal, "first of all")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        file = os.path.join(home, ".local/state/warpchat/history")
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(file)).st_mode), 0o700)
        terminal = self.start(home=home)
        terminal.type("\x1b[A")
        terminal.wait_for("> first of all")
        terminal.type("\x15\x12of")
        terminal.wait_for("search 'of': first of all")

    def test_tab_completes_commands_and_what_they_take(self):
        terminal = self.start(home=os.path.join(FOLDER, "completions"))
        for typed, seen in (("/pe\t", "/perf "), ("/set te\t\t", "/set temp 0"), ("/devi\tcp\t", "/device cpu"),
                            ("/launch pe\t", "/launch persistent"), ("/set think \t\t", "\non       off      default")):
            terminal.type("\x15" + typed)
            terminal.wait_for(seen)
        terminal.type("\x15Hello\r")
        terminal.wait_for("\n\n> ")
        terminal.type("/save Über Katzen\r")
        terminal.wait_for("title: Über Katzen")
        terminal.type("/load Über k\t")
        terminal.wait_for("/load Über Katzen")

    def test_tab_completes_files_which_are_read_in_every_spelling(self):
        home = os.path.join(FOLDER, "file_home")
        os.makedirs(home)
        with open(os.path.join(home, "two words.txt"), "w") as file:
            file.write("x")
        terminal = self.start(home=home)
        for typed, seen in (("/read ~/tw\t\r", "read ~/two words.txt: "), ("/read \"~/t\t\r", "read ~/two words.txt: "),
                            ("/read ~/two\\ words.txt\r", "read ~/two words.txt: ")):
            terminal.type(typed)
            terminal.wait_for(seen.replace("~", home))


class Slash(Case):
    def test_what_each_command_does(self):
        terminal = self.start()
        for typed, seen in (("/help", "/export FILE"), ("/perf", "chat: there is no answer yet"),
                            ("/regen", "chat: there is no answer"), ("/undo", "chat: there is no message yet"),
                            ("/hepl", "chat: unknown command /hepl; perhaps you mean /help; /help lists them"),
                            ("/save x", "chat: there is no message yet"),
                            ("/load", "chat: /load needs a number or a title: /load N|TITLE"),
                            ("/load no such", "chat: no title has 'no such' in it"),
                            ("/load 777", "the last list has no number 777"),
                            ("/list x", "chat: /list takes a number of conversations and filters such as folder:NAME, found 'x'"),
                            ("/search no such words", "no conversation has no such words"),
                            ("/read", "chat: no file is attached; /read FILE attaches one"),
                            ("/unread", "chat: no file is attached"),
                            ("/read /nowhere", "chat: cannot read /nowhere"),
                            ("/export x.md", "chat: there is no message to export yet"),
                            ("/set temp hot", "chat: temp takes a number from 0 to 100, found 'hot'"),
                            ("/set temp 0.5", "temp: 0.5"), ("/set", "temp               0.5"),
                            ("/show", "0 of 1,024 tokens"), ("/model", "now: " + TINY),
                            ("/model /nowhere.gguf", "chat: cannot load /nowhere.gguf")):
            terminal.type(typed + "\r")
            terminal.wait_for(seen)
        terminal.type("/exit\r")
        self.assertEqual(terminal.wait(), 0)

    def test_perf_measures_from_when_it_is_asked_for(self):
        terminal = self.start()
        terminal.type("/perf no\r")
        terminal.wait_for("chat: /perf takes on, off or diff, found 'no'")
        terminal.type("/perf diff\r")
        terminal.wait_for("two answers are needed for a comparison; ask again first")
        self.send(terminal, "first")
        terminal.type("/perf\r")
        terminal.wait_for("seed  ")
        terminal.wait_for("kernels are timed from the next answer on; /perf off ends that")
        self.assertNotIn("norm_logits", terminal.seen)
        terminal.type("/perf\r")  # no answer came in between
        terminal.wait_for("kernels are timed from the next answer on; /perf off ends that")
        self.send(terminal, "second")
        terminal.type("/perf\r")
        terminal.wait_for("norm_logits")
        terminal.type("/perf diff\r")
        terminal.wait_for("the same model, device and launch mode: ")
        terminal.wait_for("answer 1 has totals only: kernels were not timed yet")
        terminal.wait_for("tokens/s")
        self.send(terminal, "third")
        terminal.type("/perf diff 3 2\r")
        terminal.wait_for("B  2: cpu, ")
        terminal.wait_for("attention")
        for typed, seen in (("1", "takes the numbers of two answers, found '1'"),
                            ("1 9", "answer 9 cannot be compared; answers 1 to 3 are kept")):
            terminal.type(f"/perf diff {typed}\r")
            terminal.wait_for(seen)
        terminal.type("/perf off\r")
        terminal.wait_for("show totals only")

    def test_edit_undo_regen_new(self):
        terminal = self.start()
        self.send(terminal, "one")
        before = self.messages(terminal)
        self.send(terminal, "/regen")
        self.assertEqual(self.messages(terminal), before)  # the same at temperature 0
        terminal.type("/edit\r")
        terminal.wait_for("> one")
        self.send(terminal, " more")
        self.assertEqual(self.messages(terminal)[0], ("user", "one more"))
        self.send(terminal, "two")
        self.assertEqual(len(self.messages(terminal)), 4)
        terminal.type("/undo\r")
        terminal.wait_for("taken back: two")
        self.assertEqual(len(self.messages(terminal)), 2)
        terminal.type("/new\r")
        terminal.wait_for("new conversation")
        self.assertEqual(self.messages(terminal), [])

    def test_a_file_goes_before_the_next_message(self):
        terminal = self.start()
        terminal.type("/read " + path("notes.txt", "é notes\n".encode()) + "\r")
        terminal.wait_for("sent before your next message")
        self.send(terminal, "sum up")
        self.send(terminal, "again")
        users = [content for role, content in self.messages(terminal) if role == "user"]
        self.assertGreater(users[0][0].pop("tokens"), 0)
        notes = {"type": "file", "name": "notes.txt", "text": "é notes\n"}
        self.assertEqual(users, [[notes, {"type": "text", "text": "sum up"}], "again"])

    def test_files_are_listed_and_left_out(self):
        terminal = self.start()
        for name in ("one.txt", "two.txt", "three.txt"):
            terminal.type("/read " + path(name, name.encode() * 40) + "\r")
            terminal.wait_for("sent before your next message")
        terminal.type("/read\r")
        self.assertRegex(terminal.wait_for("three.txt"), r"1 +one\.txt +280 B, [0-9]+ tokens\s+2 +two\.txt +280 B, ")
        for typed, seen in (("/unread 4", "chat: no attached file has the number '4'; the last one is 3; /read lists them"),
                            ("/unread 2", "detached two.txt"), ("/unread", "detached 2 files")):
            terminal.type(typed + "\r")
            terminal.wait_for(seen)

    def test_a_pattern_is_read(self):
        terminal = self.start()
        folder = tempfile.mkdtemp(dir=FOLDER)
        for name, text in (("a.txt", b"one two"), ("b.txt", b"three"), ("logo.png", b"\x89PNG\0")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
        terminal.type(f"/read {folder}/*\r")
        terminal.wait_for(f"skipped {folder}/logo.png, which is no text")
        terminal.wait_for(f"read 2 files of {folder}/*: 12 B, ")
        terminal.type("/unread\r")
        terminal.wait_for("detached 2 files")

    def test_a_pdf_is_read(self):
        terminal = self.start()
        terminal.type("/read " + path("report.pdf", pdf("Hello from a page")) + "\r")
        terminal.wait_for("sent before your next message")
        self.send(terminal, "sum up")
        file = self.messages(terminal)[0][1][0]
        self.assertEqual((file["name"], file["text"]), ("report.pdf", "Hello from a page\n\n"))
        for name, bytes, fault in (
                ("scan", pdf(), "it has no text (a scan?); add text with a program such as ocrmypdf"),
                ("locked", pdf("x", encrypted=True), "it is encrypted; save it without a password first"),
                ("cut", pdf("x", truncated=True), "it is a damaged PDF"),
                ("--", b"%PDF-1.4 and nothing", "it is a damaged PDF")):
            file = path(name + ".pdf", bytes)
            terminal.type(f"/read {file}\r")
            terminal.wait_for(f"chat: cannot read {file}: {fault}\n")
        terminal.type("/read\r")
        terminal.wait_for("no file is attached")

    def test_a_pdf_where_pdftotext_is_missing_loud_or_slow(self):
        file = path("any.pdf", pdf("Hello"))
        for script, fault in ((None, "it is a PDF, and pdftotext is not installed; install poppler-utils\n"),
                              ("while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
                               "it has more than 4.2 MB of text; attach fewer pages\n"),
                              ("exit 3", "it does not allow copying its text\n")):
            folder = tempfile.mkdtemp(dir=FOLDER)
            if script:
                with open(os.path.join(folder, "pdftotext"), "w") as program:
                    program.write("#!/bin/sh\n" + script + "\n")
                os.chmod(program.name, 0o755)
            terminal = self.start(PATH=folder)
            terminal.type(f"/read {file}\r")
            terminal.wait_for(f"cannot read {file}: {fault}")
        with open(program.name, "w") as slow:
            slow.write("#!/bin/sh\nexec /bin/sleep 60\n")
        terminal.type(f"/read {file}\r")
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.wait_for("(stopped; the file was not attached)")

    def test_files_that_do_not_fit_are_said_before_sending(self):
        terminal = self.start("-c", "64")
        terminal.type("/read " + path("long.txt", b"Hello world " * 40) + "\r")
        terminal.wait_for("tokens with the conversation, but the context holds 64; /context ")
        terminal.wait_for("/unread detaches files)")
        terminal.type("/unread\r")
        terminal.wait_for("detached 1 file")
        self.send(terminal, "Hi")

    def test_another_model_takes_the_conversation_over(self):
        terminal = self.start()
        self.send(terminal, "one")
        terminal.type(f"/model {ENDLESS}\r")
        terminal.wait_for("endless")
        self.assertEqual(self.messages(terminal)[0], ("user", "one"))

    def test_verbose_can_be_switched_on(self):
        terminal = self.start()
        terminal.type("/set verbose on\r")
        terminal.wait_for("verbose: on")
        self.assertIn("first token  after", self.send(terminal, "one"))


class Looks(Case):
    CURSOR_ONLY = re.compile(r"\x1b\[(\?25[lh]|\?2004[lh]|[0-9]*[ABCDJK]|6n|0m|>1u|>4;1m|<u|>4m)")

    def test_no_color_means_none(self):
        terminal = self.start(NO_COLOR="1")
        self.send(terminal, "one")
        self.assertEqual(re.findall(r"\x1b", self.CURSOR_ONLY.sub("", terminal.seen)), [])

    def test_thinking_is_dimmed_or_hidden(self):
        template = ("--chat-template", "{{ messages[0].content }}<think>")
        terminal = self.start(*template)
        terminal.type("Hello\r")
        terminal.wait_for("\x1b[0;2m", raw=True)
        terminal = self.start("--hide-thinking", *template)
        self.assertIn("> Hello\n\n(the answer was cut at 12 tokens", self.send(terminal, "Hello"))

    def test_an_answer_to_a_prompt_flag_has_no_banner(self):
        terminal = Terminal("-m", TINY, "-p", "Hello", "--temp", "0", "-n", "4")
        self.addCleanup(self.end, terminal)
        self.assertNotIn("Ctrl-D", terminal.read_to_end())
        self.assertEqual(terminal.wait(), 0)


class PlainTerminal(Case):
    """A terminal that cannot move its cursor: an editor's shell window, a serial line."""

    def test_no_escape_sequence_is_written(self):
        terminal = self.start(TERM="dumb")
        terminal.type('Hello\n"""\nover\nlines\n"""\n')
        for _ in range(2):
            terminal.wait_for("\n\nYou: ")
        users = [content for role, content in self.messages(terminal) if role == "user"]
        self.assertEqual(users, ["Hello", "over\nlines"])
        self.assertNotIn("\x1b", terminal.seen)
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_ctrl_c_hints_and_drops_the_line(self):
        """Also what the program had not read by then."""
        terminal = self.start(TERM="dumb")
        terminal.type("ab")
        terminal.wait_for("ab")
        os.kill(terminal.pid, signal.SIGSTOP)
        os.waitpid(terminal.pid, os.WUNTRACED)
        terminal.type("c\x03")
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for("(Ctrl-D or /exit leaves)")
        terminal.type("Hello\n")
        terminal.wait_for("\n\nYou: ")
        self.assertEqual(self.messages(terminal)[0], ("user", "Hello"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
