#!/usr/bin/env python3
"""The library of prompts: `chat prompt`, and /prompt in a conversation.

usage: prompts_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import shutil
import sys
import tempfile
import unittest

from program import TINY, Run, environment
from program_case import Case
from pseudo_terminal import StoreCase


def write_prompt(home, name, text):
    folder = os.path.join(home, ".config/warpchat/prompts")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


class TheCommand(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="warpchat_prompts_")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.env = environment(self.home)

    def prompt(self, *arguments, code=0, stdin=b""):
        run = Run("prompt", *arguments, env=self.env, stdin=stdin)
        self.assertEqual(run.code, code, run)
        return run

    def test_one_is_made_shown_filled_and_removed(self):
        said = self.prompt().err.decode()
        self.assertIn("there is no prompt; chat prompt add NAME TEXT makes one", said)
        self.assertIn(os.path.join(self.home, ".config/warpchat/prompts"), said)
        self.prompt("add", "translate", "Translate", "into {language=French}: {text}")
        self.assertEqual(self.prompt("show", "translate").out, b"Translate into {language=French}: {text}\n")
        self.assertRegex(self.prompt("list").out.decode(), r"^translate +Translate into \{language=French\}: \{text\}\n$")
        self.assertEqual(json.loads(self.prompt("list", "--json").out), [
            {"name": "translate", "text": "Translate into {language=French}: {text}",
             "placeholders": [{"name": "language", "default": "French"}, {"name": "text"}]}])
        self.assertEqual(self.prompt("fill", "translate", "How", "are you?").out, b"Translate into French: How are you?\n")
        self.assertEqual(self.prompt("fill", "translate", "language=Thai", "text=a language=b").out,
                         b"Translate into Thai: a language=b\n")
        self.prompt("remove", "translate")
        self.assertEqual(self.prompt("list", "--json").out, b"[]\n")

    def test_a_text_comes_from_a_file_or_a_pipe_and_goes_out_unchanged(self):
        text = "# Review\n\nFind faults:\n\n{code}\n\x1b[2J"
        path = os.path.join(self.home, "review.md")
        with open(path, "w") as file:
            file.write(text)
        self.prompt("add", "review", "-f", path)
        self.assertEqual(self.prompt("show", "review").out.decode(), text + "\n")
        said = self.prompt("add", "review", stdin=b"Other\n").err.decode()
        self.assertIn("review was until now: # Review", said)
        self.assertEqual(self.prompt("show", "review").out, b"Other\n")
        self.assertEqual(self.prompt("add", "other", "-f", "-", stdin=b"Piped").err, b"other: Piped\n")
        self.prompt("add", "list", "--", "- one", "--two")
        self.assertEqual(self.prompt("show", "list").out, b"- one --two\n")

    def test_a_filled_prompt_is_a_question(self):
        self.prompt("add", "greet", "Hello {name}")
        filled = self.prompt("fill", "greet", "you").out.decode()
        run = self.run_well("-m", TINY, "-p", filled, "-n", "2", "--temp", "0", env=self.env)
        self.assertEqual(run.out, self.run_well("-m", TINY, "-p", "Hello you\n", "-n", "2", "--temp", "0").out)

    def test_what_is_wrong_is_refused(self):
        self.prompt("add", "translate", "{language=French} {text} {tone}")
        write_prompt(self.home, "empty.md", " \n")
        write_prompt(self.home, "latin.md", b"gr\xfc\xdf")
        for words, code, said in (
                (("add",), 2, "usage: chat prompt add NAME [TEXT | -f FILE]"),
                (("add", "x", " "), 1, "a prompt needs a text"),
                (("add", "x", "a", "-f", "b"), 2, "give the text or -f FILE, not both"),
                (("add", "x", "-f", "/nowhere"), 1, "cannot read /nowhere: no such file"),
                (("add", "../x", "a"), 1, "'../x' cannot name the prompt"),
                (("show",), 2, "usage: chat prompt show NAME"),
                (("show", "translat"), 1, "there is no prompt 'translat'; perhaps you mean translate; "
                                          "chat prompt list names all"),
                (("show", "empty"), 1, "empty.md has no text; write the prompt into it, or remove the file"),
                (("show", "latin"), 1, "latin.md: byte 2 is not valid UTF-8"),
                (("fill", "translate"), 1, "the prompt 'translate' needs a value for text and tone: "
                                           "chat prompt fill NAME text=VALUE"),
                (("fill", "translate", "text=a", "text=b"), 1, "text is given twice"),
                (("fill", "translate", "languag=Thai"), 1, "there is no placeholder languag; perhaps you mean language"),
                (("list", "x"), 2, "usage: chat prompt list [--json]"),
                (("show", "translate", "--json"), 2, "usage: chat prompt list [--json]"),
                (("remove", "none"), 1, "there is no prompt 'none'"),
                (("use", "translate"), 2, "ACTION takes list, show, add, remove or fill, found 'use'")):
            with self.subTest(words=words):
                self.assert_refused(Run("prompt", *words, env=self.env), code, said)
        listed = self.prompt("list")
        self.assertRegex(listed.out.decode(), r"^translate +\{language=French\}")
        self.assertEqual(listed.err.count(b"\n"), 2, listed)


class InAConversation(StoreCase):
    def setUp(self):
        super().setUp()
        write_prompt(self.home, "greet.md", "Hello!\n")
        write_prompt(self.home, "translate.md", "Into {language=French}: {text}\n")

    def do(self, terminal, typed, seen):
        terminal.type(typed)
        return terminal.wait_for(seen)

    def test_a_prompt_is_listed_filled_edited_and_sent(self):
        terminal = self.chat()
        listed = self.do(terminal, "/prompt\r", "(/prompt NAME fills one in; chat prompt add NAME TEXT makes one)")
        self.assertRegex(listed, r"greet +Hello!\n +translate +Into \{language=French\}: \{text\}")
        self.do(terminal, "/prompt greet\r", "> Hello!")
        self.do(terminal, " You\r", "\n\n> ")
        self.do(terminal, "/prompt translate How are you?\r", "language:\n> French")
        self.do(terminal, "\r", "> Into French: How are you?")
        self.do(terminal, "\r", "\n\n> ")
        self.do(terminal, "/prompt translate\r", "language:\n> French")
        self.do(terminal, "\x15Thai\r", "text:\n> ")
        self.do(terminal, "\r", "(the prompt needs a value for text; Ctrl-C leaves it)")
        self.do(terminal, "one\x0atwo\r", "> Into Thai: one\n")
        self.do(terminal, "\r", "\n\n> ")
        self.do(terminal, "/prompt translate text=a language=b\r", "> Into b: a")
        self.do(terminal, "\r", "\n\n> ")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user' ORDER BY id"),
                         [("Hello! You",), ("Into French: How are you?",), ("Into Thai: one\ntwo",), ("Into b: a",)])
        with open(os.path.join(self.home, ".local/state/warpchat/history")) as file:
            self.assertNotIn("\nThai\n", file.read())

    def test_ctrl_c_leaves_a_prompt(self):
        terminal = self.chat()
        for keys in ("\x03", "\x04", "\rx\x03"):
            self.do(terminal, "/prompt translate\r", "language:\n> French" if keys != "\x04" else "language:")
            terminal.type("\x15\x04" if keys == "\x04" else keys)
            terminal.wait_for("(the prompt was not used)")
        self.do(terminal, "/prompt none\r", "there is no prompt 'none'; chat prompt list names all")
        self.send(terminal, "still here")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user'"), [("still here",)])

    def test_tab_and_the_list_know_the_names(self):
        write_prompt(self.home, "two words.md", "{a}")
        terminal = self.chat()
        self.do(terminal, "/prompt ", "  two words")
        self.do(terminal, "tr", "  translate")
        self.do(terminal, "\tlan\t", "/prompt translate language=")
        self.do(terminal, "\x15/prompt tw\t1\r", "> 1")
        self.do(terminal, "\r", "\n\n> ")
        self.leave(terminal)

    def test_a_text_is_no_command_and_sends_nothing_to_the_terminal(self):
        write_prompt(self.home, "hostile.md", "/exit now \x1b]0;title\x07 {a=\x1b[31m} \u202e{b\u202e}")
        write_prompt(self.home, "hostile\u202e\u009b2Jname.md", "x")
        terminal = self.chat()
        self.do(terminal, "/prompt\r", "2Jname")
        self.do(terminal, "/prompt hostile\t\t", "2Jnam")  # the list below the line
        terminal.type("\x15")
        self.do(terminal, "/prompt hostile\r", "a:")
        terminal.wait_for("> ")
        self.do(terminal, "\r", "> /exit now ")
        self.do(terminal, "\r", "\n\n> ")  # it is sent
        self.do(terminal, "/prompt hostile\r", "a:")
        self.do(terminal, "\r", "> /exit now ")
        terminal.type("\x15/show\r")  # another line is a command
        terminal.wait_for("tokens used")
        self.assertNotIn(b"\x1b]0;title", terminal.bytes)
        self.assertNotIn("\u202e".encode(), terminal.bytes)
        self.assertNotIn("\u009b".encode(), terminal.bytes)
        self.leave(terminal)
        self.assertEqual(len(self.rows("SELECT text FROM turns WHERE role = 'user'")), 1)

    def test_a_plain_terminal_asks_in_words(self):
        terminal = self.chat("--plain")
        self.do(terminal, "/prompt translate\n", "language [French]: ")
        self.do(terminal, "\n", "text: ")
        self.do(terminal, "Hi\n", "Into French: Hi\nEnter sends this; another text replaces it: ")
        self.do(terminal, "\n", "You: ")
        self.do(terminal, "/prompt greet\n", "Enter sends this; another text replaces it: ")
        self.do(terminal, "Bye\n", "You: ")
        self.leave(terminal)
        self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user' ORDER BY id"),
                         [("Into French: Hi",), ("Bye",)])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
