#!/usr/bin/env python3
"""Every way out that a message names exists, and each kind of remedy does what it says.

The first part collects flags, commands of the program and commands of a conversation from the sources' texts, and asks
the program for each. The second follows each kind of remedy of engine/remedy.h, in the words of the message itself.

usage: ways_out_test.py CHAT CLI_MODELS REFUSED_THREADS [unittest arguments]
"""
import concurrent.futures
import os
import re
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(1, os.path.join(ROOT, "tests", "remote"))

from fake_endpoint import TEXT, FakeEndpoint
from program import ENDLESS, FOLDER, TINY, Run, environment, path
from program_case import Case
from pseudo_terminal import StoreCase, Terminal

REFUSED_THREADS = os.path.abspath(sys.argv[3])

COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')
TEXT_PIECE = re.compile(r'"((?:\\.|[^"\\\n])*)"')
WHOLE_TEXT = re.compile(rf"{TEXT_PIECE.pattern}(?:\s*{TEXT_PIECE.pattern})*")
FLAG = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*(?![\w-])")
OWN_COMMAND = re.compile(r"\{chat\} ([a-z][a-z-]*)((?: [a-z]+)?)")
# A word after a slash that no path goes on with.
SLASH_COMMAND = re.compile(r"(?<![\w/.'<~*])/[a-z]{2,}(?![\w/.*-])")

# Texts that are no messages: child processes, shell scripts, names of files, and flags of other programs.
NO_MESSAGES = ("app/commands/help/shell_completion.cpp", "app/commands/help/man_page.cpp", "app/formats/pdf_text.cpp",
               "app/terminal/pager.cpp", "app/platform/directories.cpp", "app/model_choice/model_places.cpp",
               "app/platform/session_bus.h")
OF_OTHERS = {"iconv": "-f", "ulimit": "-u -v", "ninja": "-C", "taskset": "-c"}
FOREIGN_NAMES = re.compile(r'^    \{"(-[^"]*"(?:\s*"[^"]*")*)', re.MULTILINE)  # a row of app/settings/foreign_flags.cpp
NEEDED = {"template": ("--messages", "/dev/null"), "logits": ("--tokens", "1", "--output", "/dev/null"),
          "perplexity": ("--file", "/dev/null")}
# What a command says of another one's flag.
OF_OTHER_COMMANDS = {("kernels", "--launch")}


def sources(*folders):
    for folder in folders:
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(names):
                if name.endswith((".cpp", ".h")):
                    full = os.path.join(where, name)
                    with open(full, encoding="utf-8") as file:
                        yield os.path.relpath(full, ROOT), file.read()


def texts(source):
    source = re.sub(r'R"\(.*?\)"', '""', source, flags=re.DOTALL)
    source = COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0].startswith('"') else "", source)
    for match in WHOLE_TEXT.finditer(source):
        yield "".join(piece[1] for piece in TEXT_PIECE.finditer(match[0]))


def messages(*folders):
    """(file, text), for each text of the program that a person may read."""
    for name, source in sources(*folders):
        if name in NO_MESSAGES:
            continue
        if name == "app/settings/foreign_flags.cpp":
            source = FOREIGN_NAMES.sub("{", source)
        for text in texts(source):
            for program, flags in OF_OTHERS.items():
                for flag in flags.split():
                    text = re.sub(rf"\b{program} {flag}\b", program, text)
            yield name, text


class NamedInMessages(Case):
    def commands(self):
        listed = self.run_well("--help").out.decode().split("\nCommands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  ([a-z][a-z-]*)", listed, re.MULTILINE)

    def is_flag(self, flag, command):
        """Whether the command takes the flag, with a value or without: what is refused then is the flag after it."""
        arguments = (*((command,) if command else ()), *NEEDED.get(command, ()))
        for value in ((), ("1",), ("cpu",)):
            said = Run(*arguments, flag, *value, "--no-such-flag").err.decode()
            if not said.startswith((f"chat: unknown flag {flag};", f"chat: {flag}: ")):
                return True
        return False

    def test_flags_exist(self):
        commands, wanted = self.commands(), {}
        for name, text in messages("app", "engine", "models"):
            own = re.fullmatch(r"app/commands/(\w+)\.cpp", name)
            own = own[1].replace("_", "-") if own else ""
            for flag in FLAG.findall(text):
                known_as = own if own in commands and (own, flag) not in OF_OTHER_COMMANDS else ""
                if flag.startswith("--") or (flag in text.split() and len(flag) <= 4):
                    wanted.setdefault((flag, known_as), f"{name}: {text}")
        self.assertGreater(len(wanted), 60)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            def exists(pair):
                flag, command = pair
                if command:
                    return self.is_flag(flag, command)
                return any(self.is_flag(flag, other) for other in ("", *commands))
            found = dict(zip(wanted, pool.map(exists, wanted)))
        self.assertEqual([f"{pair} in {wanted[pair]}" for pair, exists in found.items() if not exists], [])

    def test_an_unknown_flag_is_found_out(self):
        for command, flag in (("", "--no-such-way"), ("bench", "--ctx-size"), ("", "--mlock")):
            self.assertFalse(self.is_flag(flag, command), flag)
        for command, flag in (("", "--ctx-size"), ("", "--gui"), ("logits", "-m"), ("endpoint", "--api-key-env")):
            self.assertTrue(self.is_flag(flag, command), flag)

    def test_commands_of_the_program_exist(self):
        found = {match.groups() for _, text in messages("app", "engine") for match in OWN_COMMAND.finditer(text)
                 if match[1] not in ("with",)}
        self.assertGreater(len(found), 5)
        for command, action in found:
            self.assertIn(command, self.commands())
            if command == "endpoint":
                said = Run(command, *action.split()).err.decode()
                self.assertNotIn("ACTION takes", said)

    def test_commands_of_a_conversation_exist(self):
        found = {command: name for name, text in messages("app") if not name.startswith("app/gui/")
                 for command in SLASH_COMMAND.findall(text)}
        self.assertGreater(len(found), 20)
        terminal = Terminal("-m", TINY, home=tempfile.mkdtemp(dir=FOLDER))
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        for command, name in found.items():
            terminal.type(f"/help {command}\r")
            self.assertEqual(terminal.wait_for_one("\n  /", "unknown command"), "\n  /", (command, name))
        terminal.type("/help /nosuchway\r")
        terminal.wait_for("unknown command")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_each_view_names_its_own_ways(self):
        """The engine names none, and the window has no commands with a slash. That a flag was given is no way out."""
        named = [(name, text) for name, text in messages("engine", "models", "kernels", "ptx") for flag in FLAG.findall(text)
                 if flag.startswith("--") and not text.endswith(" was given")]
        named += [(name, text) for name, text in messages("app/gui") if re.search(r"; /[a-z]{2,}|\(/[a-z]{2,} ", text)]
        self.assertEqual(named, [])


class Remedies(StoreCase, Case):
    ASK = ("-p", "x", "-n", "1", "--temp", "0")

    def refused(self, *arguments, words, **more):
        """The sentence of a run that fails, which has these words."""
        run = Run(*arguments, **more)
        self.assert_refused(run, 1, words)
        return run.err.decode()

    def terminal(self, *arguments, **more):
        terminal = Terminal(*arguments, "--temp", "0", "-n", "4", home=self.home, **more)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        return terminal

    def do(self, terminal, typed, seen):
        terminal.type(typed + "\r")
        return terminal.wait_for(seen)

    def test_a_smaller_context(self):
        said = self.refused("-m", ENDLESS, "-c", "2000000000", *self.ASK, words=" fits")
        fits = re.search(r"a --ctx-size of (\d+) fits", said)[1]
        self.run_well("-m", ENDLESS, "--ctx-size", fits, *self.ASK)
        terminal = self.terminal("-m", ENDLESS)
        self.do(terminal, "/context 2000000000", "; /context ")
        fits = terminal.wait_for(" fits")
        self.do(terminal, f"/context {fits}", f"context {int(fits):,}")

    def test_a_command_whose_context_no_flag_sets(self):
        if Run("--version", shell_limits="ulimit -v 400000").code != 0:
            self.skipTest("the sanitizer reserves the whole address space")
        limits = {"shell_limits": "ulimit -v 400000"}
        bench = ("bench", "-m", ENDLESS, "-p", "0", "-r", "1", "-t", "1")
        said = self.refused(*bench, "-n", "1000000", words=" tokens fit", **limits)
        self.assertEqual(FLAG.findall(said), [])
        fits = int(re.search(r"; at most ([\d,]+) tokens fit", said)[1].replace(",", ""))
        self.assertGreater(fits, 8)
        self.run_well(*bench, "-n", "8", **limits)

    def test_the_cpu_in_place_of_a_gpu(self):
        folder = tempfile.mkdtemp(dir=FOLDER)
        with open(os.path.join(folder, "libcuda.so.1"), "wb"):
            pass  # no library: no GPU answers
        env = environment(self.home, LD_LIBRARY_PATH=folder)
        self.refused("-m", TINY, "--device", "cuda", *self.ASK, words="; use --device cpu", env=env)
        self.run_well("-m", TINY, "--device", "cpu", *self.ASK, env=env)
        terminal = self.terminal("-m", TINY, LD_LIBRARY_PATH=folder)
        self.do(terminal, "/device cuda", "; /device cpu works without it")
        self.do(terminal, "/device cpu", "tiny, ")

    def test_the_list_of_devices(self):
        run = Run("-m", TINY, "--device", "gpu", *self.ASK)
        self.assertIn("; --list-devices lists them", run.err.decode())
        self.assertIn("cpu", self.run_well("--list-devices").out.decode())
        terminal = self.terminal("-m", TINY)
        self.do(terminal, "/device gpu", "; /device lists them")
        self.do(terminal, "/device", "now: cpu")

    def test_launch_as_a_graph(self):
        flags = ("-m", TINY, "--device", "emulator", "-ctk", "f32", *self.ASK)
        self.refused(*flags, "--launch", "persistent", words="; use --launch graph")
        graph = self.run_well(*flags, "--launch", "graph")
        self.assertEqual(graph.out, self.run_well("-m", TINY, "-ctk", "f32", *self.ASK).out)

    def test_fewer_threads(self):
        env = environment(self.home, LD_PRELOAD=REFUSED_THREADS, REFUSED_THREADS="3-1000000000",
                          ASAN_OPTIONS="verify_asan_link_order=0")
        self.refused("-m", TINY, "-t", "4", *self.ASK, words="; use fewer --threads", env=env)
        self.run_well("-m", TINY, "--threads", "1", *self.ASK, env=env)

    def test_another_template(self):
        with open(TINY, "rb") as file:
            model = file.read().replace(b"<|im_start|>", b"<|no_start|>").replace(b"tokenizer.chat_template",
                                                                                b"tokenizer.none_template")
        without = path("without_template.gguf", model)
        words = "; use --raw, or set a template with --chat-template"
        self.refused("-m", without, *self.ASK, words=words)
        self.run_well("-m", without, "--raw", *self.ASK)
        self.run_well("-m", without, "--chat-template", "{{ messages[0].content }}", *self.ASK)
        terminal = Terminal("-m", without, home=self.home)  # no conversation begins in which /model could be typed
        self.assertEqual((terminal.wait(), terminal.plain().endswith(words + "\n")), (1, True), terminal.plain())
        terminal = self.terminal("-m", TINY)
        self.do(terminal, f"/model {without}", "; start chat with --chat-template, or use another /model")
        self.do(terminal, f"/model {ENDLESS}", "endless, ")
        self.send(terminal, "x")

    def test_the_key_of_an_endpoint(self):
        with FakeEndpoint(key="sk-right") as server:
            env = environment(self.home, DBUS_SESSION_BUS_ADDRESS="", no_proxy="*", MY_KEY="sk-right")
            ask = ("--endpoint", server.url, "-p", "Hi")
            self.refused(*ask, words="'chat endpoint add' stores its key, or the name of the variable with the key", env=env)
            self.run_well("endpoint", "add", "box", server.url, "--key-from-stdin", stdin=b"sk-right\n", env=env)
            self.assertEqual(self.run_well(*ask, env=env).out.decode(), TEXT + "\n")
            self.run_well("endpoint", "remove", "box", env=env)
            self.run_well("endpoint", "add", "box", server.url, "--api-key-env", "MY_KEY", env=env)
            self.assertEqual(self.run_well(*ask, env=env).out.decode(), TEXT + "\n")

    def test_a_message_that_does_not_fit(self):
        message = "a b c d " * 50
        for way in ("/context", "/trim"):
            terminal = self.terminal("-m", TINY, "-c", "160" if way == "/context" else "600")
            if way == "/trim":
                self.send(terminal, message)
            self.do(terminal, message, " tokens, the context holds ")
            command = way
            if way == "/context":
                terminal.wait_for("(/context ")
                command += " " + terminal.wait_for(" reloads the model")
            else:
                terminal.wait_for("/trim leaves the oldest turns out")
            terminal.wait_for("(your message was not sent; Up brings it back)")
            terminal.type("\x1b[A")
            terminal.wait_for("> a b c d")
            terminal.type("\x15")
            self.do(terminal, command, "> a b c d")  # it is offered again
            terminal.type("\r")
            terminal.wait_for("(the answer was cut at 4 tokens")
            terminal.wait_for("\n> ")
            self.leave(terminal)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
