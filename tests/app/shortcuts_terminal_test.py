#!/usr/bin/env python3
"""Shortcuts of a conversation in a terminal: the clipboard, files of code, an editor, earlier messages, the menu.

usage: shortcuts_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import base64
import json
import os
import signal
import sys
import tempfile
import unittest

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote"))
import fake_endpoint  # noqa: E402
from program import FOLDER, SPM, TINY  # noqa: E402
from pseudo_terminal import Case, Terminal  # noqa: E402

CODE = "Two ways:\n```py\nprint('ä')\n```\nor\n~~~\n\tls\n~~~\nDone."
fake_endpoint.Handler.script_code = lambda self, _: self.stream(fake_endpoint.deltas([CODE]) + fake_endpoint.END)
NO_DISPLAY = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "SSH_CONNECTION": "", "SSH_TTY": ""}


class ShortcutCase(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)

    def script(self, name, text):
        """An executable file."""
        path = os.path.join(self.home, name)
        with open(path, "w") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o700)
        return path

    def do(self, terminal, line, says):
        terminal.type(line + "\r")
        return terminal.wait_for(says)

    def at_server(self, script, *arguments, **more):
        server = fake_endpoint.FakeEndpoint()
        server.__enter__()
        self.addCleanup(server.__exit__)
        terminal = Terminal("--endpoint", f"{server.origin}/{script}/v1", *arguments, home=self.home, **more)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        return server, terminal


class Copies(ShortcutCase):
    def test_an_answer_and_its_code_through_the_terminal(self):
        _, terminal = self.at_server("code", **NO_DISPLAY)
        self.do(terminal, "/copy", "chat: there is no answer yet")
        self.send(terminal, "how?")
        for line, text in (("/copy", CODE), ("/copy code 1", "print('ä')\n"), ("/copy code 2", "\tls\n")):
            self.do(terminal, line, f"copied {len(text.encode())} B through the terminal")
            self.assertIn(b"\x1b]52;c;" + base64.b64encode(text.encode()) + b"\x07", terminal.bytes)
        for line, says in (("/copy code", "chat: the last answer has 2 code blocks; say which: code 1"),
                           ("/copy code 3", "chat: no code block has the number '3'; the last answer has 2 code blocks"),
                           ("/copy that", "chat: /copy takes nothing, or code and a number, found 'that'"),
                           ("/save code 3 x", "chat: no code block has the number '3'"),
                           ("/save code 2", "chat: /save code 2 needs a file: /save code 2 FILE")):
            self.do(terminal, line, says)
        file = os.path.join(self.home, "my code.py")
        self.do(terminal, f"/save code 1 {file}", f"wrote {file}")
        with open(file) as saved:
            self.assertEqual(saved.read(), "print('ä')\n")
        self.do(terminal, f"/save code 2 {file}", f"chat: {file} already exists; choose another name")
        self.do(terminal, "/save code review", "title: code review")

    def test_through_a_program_of_the_display(self):
        copied = os.path.join(self.home, "copied")
        self.script("xclip", f"test \"$DISPLAY\" = :9 || exit 1\ncat > {copied}\n")
        where = {**NO_DISPLAY, "PATH": self.home + ":" + os.environ["PATH"]}
        for display, way in (({"DISPLAY": ":9"}, "xclip"), ({"DISPLAY": ":8"}, "the terminal"),
                             ({"DISPLAY": ":9", "SSH_TTY": "/dev/pts/1"}, "the terminal")):
            _, terminal = self.at_server("code", **{**where, **display})
            self.send(terminal, "how?")
            self.do(terminal, "/copy code 2", f"copied 4 B through {way}")
            if way == "xclip":
                with open(copied) as file:
                    self.assertEqual(file.read(), "\tls\n")


class Editor(ShortcutCase):
    def test_a_message_is_written_in_it(self):
        log = os.path.join(self.home, "log")
        editor = self.script("editor", f"""for file; do :; done
[ "$1" = --wait ] || exit 4
{{ echo "$file"; stat -c %a "$file" "$(dirname "$file")"; stty -a | grep -c -w -e -icanon; cat "$file"; }} > {log}
grep -q fail "$file" && exit 3
printf 'second line\\nthird' >> "$file"
""")
        terminal = self.start(home=self.home, EDITOR=editor + " --wait", VISUAL="")
        terminal.type("hello\x18\x05")
        terminal.wait_for(". third")
        with open(log) as file:
            where, *rights, raw, text = file.read().splitlines()
        self.assertEqual((rights, raw, text), (["600", "700"], "0", "hello"))
        self.assertFalse(os.path.exists(os.path.dirname(where)))
        self.send(terminal, "")
        self.assertEqual(self.messages(terminal)[0], ("user", "hello\nsecond line\nthird"))
        terminal.type("fail\x18\x05")
        terminal.wait_for("ended with code 3; the text is unchanged\n> fail")

    def test_none_is_named(self):
        terminal = self.start(home=self.home, EDITOR="", VISUAL="")
        terminal.type("hello\x18\x05")
        terminal.wait_for("chat: no editor is named; set EDITOR before you start, for example: export EDITOR=nano\n> hello")


class Earlier(ShortcutCase):
    def test_any_message_is_edited(self):
        terminal = self.start(home=self.home)
        for text in ("one", "two", "three"):
            self.send(terminal, text)
        self.do(terminal, "/edit 4", "chat: you have sent 3 messages here, found number 4; /history shows them")
        self.do(terminal, "/edit 2", "(what follows message 2 will be another version, which /versions shows)\n> two")
        self.send(terminal, " changed")
        self.assertEqual([text for role, text in self.messages(terminal) if role == "user"], ["one", "two changed"])
        self.do(terminal, "/edit 2", "> two changed")  # it is the last one
        terminal.type("\x03")
        terminal.wait_for("(the message was not changed)")
        self.do(terminal, "/versions", "message 2\n")

    def test_an_answer_with_other_settings_only_once(self):
        server, terminal = self.at_server("well", "--temp", "0.5", "-s", "3")
        for line in ("hi", "/regen temp=0.25 seed 7 n_predict=9", "/regen"):
            self.send(terminal, line)
        sent = [(body["temperature"], body.get("max_tokens")) for body in server.bodies()]
        self.assertEqual(sent, [(0.5, None), (0.25, 9), (0.5, None)])
        for line, says in (("/regen temp", "chat: /regen needs a value for temp: /regen temp=VALUE"),
                           ("/regen system=x", "chat: /regen cannot change system; /set system does"),
                           ("/regen tmep=1", "chat: unknown setting 'tmep'; perhaps you mean temp; /set lists them"),
                           ("/regen temp=hot", "chat: temp takes a number from 0 to 100, found 'hot'"),
                           ("/set tmep 1", "chat: unknown setting 'tmep'; perhaps you mean temp; /set lists them"),
                           ("/help regne", "chat: unknown command regne; perhaps you mean /regen; /help lists them")):
            self.do(terminal, line, says)
        self.assertEqual(len(server.bodies()), 3)

    def test_an_answer_of_another_model_only_once(self):
        terminal = self.start(home=self.home)
        self.send(terminal, "one")
        self.do(terminal, "/regen " + SPM, "spm, ")
        terminal.wait_for("tiny, ")
        self.send(terminal, "two")
        file = os.path.join(self.home, "models.json")
        self.do(terminal, "/export " + file, "wrote ")
        with open(file) as exported:
            models = [message.get("model") for message in json.load(exported)["messages"]]
        self.assertEqual(models, [None, SPM, None, TINY])
        self.do(terminal, "/regen /nowhere.gguf", "chat: ")
        self.send(terminal, "three")


class Menu(ShortcutCase):
    def test_commands_are_listed_while_one_types(self):
        terminal = self.start(home=self.home)
        terminal.type("/un")
        terminal.wait_for("/undo        take back the last message")
        terminal.wait_for("/unread [N]  detach file N")
        terminal.type("\x1b[B\x1b[B")
        terminal.wait_for("> /unread [N]")
        terminal.type("\t")
        terminal.wait_for("> /unread ")
        self.do(terminal, "", "chat: no file is attached")
        terminal.type("hi\r")
        self.assertRegex(terminal.wait_for(" tokens/s, context ") + terminal.wait_for(" tokens"),
                         r"\n> \n[0-9.]+[1-9][0-9]* of 1,024\Z")
        begin = len(terminal.seen)
        os.kill(terminal.pid, signal.SIGTERM)
        terminal.wait()
        self.assertIn("\x1b[J", terminal.seen[begin:])  # nothing of it stays below the shell's prompt
        plain = self.start("--plain", home=self.home)
        self.do(plain, "hi", "You: ")
        self.assertNotIn("tokens/s", plain.seen)
        plain.type("/un")
        self.do(plain, "", "chat: unknown command /un")
        self.assertNotIn("detach file", plain.seen)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
