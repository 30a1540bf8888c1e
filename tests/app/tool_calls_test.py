#!/usr/bin/env python3
"""Answers that call tools, through the program: a scripted model calls, scripted servers and our own tools answer.

usage: tool_calls_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import tempfile
import time
import unittest

from program import CALLS, FOLDER, STORE, TINY, Run, environment, rows_of
from program_case import Case
from pseudo_terminal import MAX_SECONDS, StoreCase, Terminal

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mcp", "scripted_server.py")


class Tools(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.events_file = os.path.join(self.home, "events")

    def configure(self, servers):
        folder = os.path.join(self.home, ".config", "warpchat")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "mcp.json"), "w") as file:
            json.dump({"mcpServers": servers}, file)

    def server(self, fault="-"):
        return {"command": sys.executable, "args": [SERVER, "modern", fault, self.events_file]}

    def ask(self, prompt, *flags, model=CALLS, **more):
        return Run("-m", model, "-p", prompt, "--temp", "0", "-n", "40", *flags, env=environment(self.home), **more)

    def answer(self, prompt, *flags, code=0, **more):
        run = self.ask(prompt, "--json", *flags, **more)
        self.assertEqual(run.code, code, run)
        answer = json.loads(run.out)
        return {**answer, "answer": answer["answer"].strip()}, run.err.decode()

    def n_calls(self):
        with open(self.events_file) as file:
            return file.read().count("tools/call")

    def test_a_call_of_a_server(self):
        self.configure({"s": self.server()})
        answer, err = self.answer("1", "--approve", "s__echo")
        self.assertEqual((answer["answer"], err), ("the s", ""), answer)
        self.assertEqual(answer["tool_calls"], [{"name": "s__echo", "arguments": {"text": "caf\u00e9"},
                                                 "result": answer["tool_calls"][0]["result"], "status": "ok"}])
        self.assertIn("caf\u00e9", answer["tool_calls"][0]["result"])
        self.assertEqual(self.n_calls(), 1)
        run = self.ask("1", "--approve", "all")
        self.assertEqual((run.code, run.out, run.err), (0, b" the s\n", b""), run)

    def test_several_calls_of_an_answer(self):
        self.configure({"s": self.server()})
        answer, _ = self.answer("3", "--approve", "all")
        self.assertEqual([call["arguments"]["text"] for call in answer["tool_calls"]], ["one", "two"], answer)

    def test_what_is_not_approved_is_denied(self):
        self.configure({"s": self.server()})
        for flags in ((), ("--approve", "none"), ("--approve", "s__ech,other")):
            answer, err = self.answer("1", *flags)
            self.assertEqual((answer["tool_calls"][0]["status"], answer["answer"]), ("denied", "the s"), answer)
            self.assertIn("--approve s__echo", err)
        self.assertEqual(self.n_calls(), 0)

    def test_calls_that_cannot_be_made(self):
        self.configure({"s": self.server()})
        for prompt, name, words in (("4", "s__echo", "object"), ("5", "s__nothing", "s__echo")):
            answer, _ = self.answer(prompt, "--approve", "all")
            call = answer["tool_calls"][0]
            self.assertEqual((call["status"], call["arguments"], answer["answer"]), ("error", {}, "the s"), answer)
            self.assertIn(words, call["result"])
        self.assertEqual(self.n_calls(), 0)

    def test_our_own_tools(self):
        answer, err = self.answer("2", "--tools", "--approve", "warpchat__calculate")
        self.assertEqual((answer["tool_calls"][0]["result"], err), ("42", ""), answer)
        folder = tempfile.mkdtemp(dir=self.home)
        answer, _ = self.answer("2", "--open-folder", folder, "--approve", "all", "-c", "4096")
        self.assertEqual(answer["tool_calls"][0]["status"], "ok", answer)
        self.assert_refused(self.ask("2", "--open-folder", "/no/such/folder"), 1, "/no/such/folder")

    def test_without_tools_text_stays_text(self):
        for flags in ((), ("--no-mcp",)):
            answer, err = self.answer("1", *flags)
            self.assertEqual((answer["tool_calls"], err), ([], ""), answer)
            self.assertIn("<tool_call>", answer["answer"])
        answer, _ = self.answer("7", "--tools")
        self.assertEqual((answer["answer"], answer["tool_calls"]), ("a w", []))

    def test_the_limit_of_rounds(self):
        answer, err = self.answer("2", "--tools", "--approve", "all", "--max-tool-rounds", "0")
        self.assertEqual((answer["tool_calls"][0]["status"], answer["answer"]), ("error", ""), answer)
        self.assertIn("0 rounds", err)

    def test_arguments_keep_to_their_schema(self):
        """The model would end the answer within its call."""
        self.configure({"s": self.server()})
        answer, _ = self.answer("6", "--approve", "all")
        self.assertEqual((answer["stop_reason"], answer["usage"]["completion_tokens"]), ("length", 40), answer)
        self.assertIn("too early", answer["tool_calls"][0]["result"])
        answer, _ = self.answer("6", "--approve", "all", "--no-tool-grammar")
        self.assertEqual((answer["stop_reason"], answer["answer"]), ("stop", "the s"), answer)
        self.assertIn("cannot be read", answer["tool_calls"][0]["result"])

    def test_a_schema_that_cannot_be_held(self):
        self.configure({"s": self.server("odd_schema")})
        log = os.path.join(self.home, "log")
        answer, err = self.answer("1", "--approve", "all", "--log-file", log)
        self.assertEqual((answer["tool_calls"][0]["status"], err), ("ok", ""), answer)
        with open(log) as file:
            self.assertRegex(file.read(), r"arguments of s__echo are not held to its schema: .*\$ref")

    def test_faults_before_anything_begins(self):
        self.assert_refused(self.ask("1", "--mcp-config", "/no/such.json"), 1, "/no/such.json")
        self.assert_refused(self.ask("1", "--approve", "s__echo,,"), 2, "--approve")
        self.configure({"s": {"command": 7}})
        self.assert_refused(self.ask("1", model="/no/model.gguf"), 1, "mcp.json", "command")

    def test_a_text_is_completed_without_tools(self):
        answer, err = self.answer("1", "--raw")
        self.assertEqual((answer["tool_calls"], err), ([], ""), answer)

    def test_a_server_that_does_not_open(self):
        self.configure({"broken": {"command": "/no/such/program"}, "s": self.server()})
        answer, err = self.answer("1", "--approve", "all")
        self.assertEqual(answer["tool_calls"][0]["status"], "ok", answer)
        self.assertIn("broken", err)

    def test_a_template_without_tools(self):
        run = self.ask("2", "--tools", model=TINY)
        self.assertEqual(run.code, 0, run)
        self.assertIn("has no place for tools", run.err.decode())

    def test_a_call_in_a_stored_conversation(self):
        terminal = Terminal("-m", CALLS, "--temp", "0", "-n", "12", home=self.home)
        terminal.wait_for("> ")
        terminal.type("7\r")
        terminal.wait_for("a w")
        terminal.wait_for("\n> ")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        answer, _ = self.answer("2", "--resume", "--tools", "--approve", "all")
        self.assertEqual((answer["answer"], answer["tool_calls"][0]["result"]), ("the s", "42"))
        [extra] = [row[0] for row in rows_of(os.path.join(self.home, STORE), "SELECT extra FROM turns ORDER BY id DESC "
                                             "LIMIT 1")]
        self.assertEqual(json.loads(extra)["rounds"][0]["tool_calls"][0]["result"], "42")


class InAConversation(StoreCase):
    def configure(self, *args):
        folder = os.path.join(self.home, ".config", "warpchat")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "mcp.json"), "w") as file:
            json.dump({"mcpServers": {"s": {"command": sys.executable, "args": args}}}, file)

    def chat(self, *flags):
        return self.start(*flags, model=CALLS, home=self.home)

    def ask(self, terminal, prompt="2"):
        terminal.type(prompt + "\r")
        terminal.wait_for('"expression": "6*7"\n}')
        terminal.wait_for("Call it?")

    def decide(self, terminal, key, *seen):
        terminal.type(key)
        for text in (*seen, "\n> "):
            terminal.wait_for(text)

    def test_a_call_is_asked_about(self):
        terminal = self.chat("--tools")
        self.ask(terminal)
        self.decide(terminal, "y", 'called warpchat__calculate {"expression":"6*7"}: 42\n', "the s")
        self.ask(terminal)
        self.decide(terminal, "N", "denied: warpchat__calculate", "the s")
        self.ask(terminal)
        terminal.type("x?")
        terminal.wait_for("Computes an expression")
        terminal.wait_for('"required"')
        terminal.wait_for("Call it?")
        terminal.type("\x03")
        terminal.wait_for("\n> ")
        terminal.type("/history\r")
        terminal.wait_for('called warpchat__calculate {"expression":"6*7"}: 42\n')
        terminal.wait_for("denied: warpchat__calculate")
        self.leave(terminal)

    def test_always_in_this_conversation(self):
        terminal = self.chat("--tools")
        self.ask(terminal)
        self.decide(terminal, "a", "the s")
        terminal.type("2\r")
        self.assertNotIn("Call it?", terminal.wait_for("the s"))
        terminal.wait_for("\n> ")
        terminal.type("/new\r")
        terminal.wait_for("new conversation")
        self.ask(terminal)
        self.decide(terminal, "y", "the s")
        self.leave(terminal)

    def test_keys_before_the_question_are_no_answer(self):
        terminal = self.chat("--tools")
        terminal.type("2\ryyy")
        terminal.wait_for("Call it?")
        terminal.type("n")
        terminal.wait_for("denied: warpchat__calculate")
        # A slow answer streams above a prompt that has the keys, so its words may come apart.
        end = time.monotonic() + MAX_SECONDS
        while "the s" not in [text.strip() for text, in self.rows("SELECT text FROM turns WHERE role = 'assistant'")]:
            self.assertLess(time.monotonic(), end, "the answer is not stored")
            terminal.read_some(0.05)
        terminal.wait_until_it_edits()
        terminal.wait_for("yyy")
        terminal.type("\x03\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_the_end_of_input_is_no(self):
        terminal = self.chat("--tools")
        self.ask(terminal)
        self.decide(terminal, "\x04", "denied: warpchat__calculate", "the s")
        self.leave(terminal)

    def test_where_nothing_can_be_drawn(self):
        terminal = self.start("--tools", "--plain", model=CALLS, home=self.home)
        terminal.type("2\r")
        terminal.wait_for("Call it?")
        terminal.type("y\r")
        terminal.wait_for("called warpchat__calculate")
        terminal.wait_for("the s")
        terminal.wait_for("You: ")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_one_answer_at_a_terminal(self):
        for key, flags, status in (("y", (), 0), ("n", (), 0), ("\x03", (), 130)):
            terminal = Terminal("-m", CALLS, "--temp", "0", "-n", "12", "-p", "2", "--tools", *flags, home=self.home)
            self.addCleanup(self.end, terminal)
            terminal.wait_for("Call it?")
            terminal.type(key)
            self.assertEqual("the s" in terminal.read_to_end(), status == 0)
            self.assertEqual(terminal.wait(), status)
        terminal = self.chat()
        self.send(terminal, "7")
        self.leave(terminal)
        terminal = Terminal("-m", CALLS, "--temp", "0", "-n", "12", "-p", "2", "--tools", "--resume", home=self.home)
        self.addCleanup(self.end, terminal)
        terminal.wait_for("Call it?")
        terminal.type("y")
        terminal.wait_for("the s")
        self.assertEqual(terminal.wait(), 0)
        [(extra,)] = self.rows("SELECT extra FROM turns ORDER BY id DESC LIMIT 1")
        self.assertEqual(json.loads(extra)["rounds"][0]["tool_calls"][0]["result"], "42")

    def test_permissions_and_folders(self):
        folder = tempfile.mkdtemp(dir=self.home)
        terminal = self.chat("-c", "4096")
        terminal.type("/tools\r")
        terminal.wait_for("there are no tools")
        terminal.type("/open /no/such/folder\r")
        terminal.wait_for("/no/such/folder")
        terminal.type(f"/open {folder}\r")
        terminal.wait_for("the model may read " + folder)
        terminal.type("/tools\r")
        for text in ("warpchat__calculate", "ask", "warpchat__read_file", "Open folders", "of each prompt"):
            terminal.wait_for(text)
        terminal.type("/tools warpchat__calculate sometimes\r")
        terminal.wait_for("is no permission")
        terminal.type("/tools warpchat__calculate always\r")
        terminal.wait_for("always allowed")
        terminal.type("2\r")
        self.assertNotIn("Call it?", terminal.wait_for("the s"))
        terminal.wait_for("\n> ")
        self.leave(terminal)

    def test_a_server_that_hides_what_it_is_asked(self):
        self.configure(SERVER, "modern", "-", os.devnull)
        terminal = self.chat()
        terminal.type("1\r")
        terminal.wait_for("s__echo {")
        terminal.wait_for("caf\u00e9")
        terminal.wait_for("Call it?")
        self.decide(terminal, "y", "called s__echo", "the s")
        terminal.type("/tools\r")
        terminal.wait_for("MCP servers")
        terminal.wait_for("MCP 2026-07-28")
        self.leave(terminal)

    def test_a_server_that_changes_its_tools(self):
        self.configure(SERVER, "legacy", "changes")
        terminal = self.chat()
        for answer in "a", "n":  # the permission holds for the tool as it was
            terminal.type("1\r")
            terminal.wait_for("Call it?")
            self.decide(terminal, answer, "the s")
        terminal.type("/tools\r")
        terminal.wait_for("4 tools, MCP")
        terminal.wait_for("s__added")
        self.leave(terminal)

    def test_calls_are_exported_and_imported(self):
        terminal = self.chat("--tools")
        self.ask(terminal)
        self.decide(terminal, "y", "the s")
        for name in ("a.md", "a.json"):
            path = os.path.join(self.home, name)
            terminal.type(f"/export {path}\r")
            terminal.wait_for("wrote ")
            with open(path) as file:
                self.assertIn("called warpchat__calculate" if name == "a.md" else "warpchat__calculate", file.read())
            other = self.start(model=CALLS, home=tempfile.mkdtemp(dir=FOLDER))
            other.type(f"/import {path}\r")
            other.wait_for('called warpchat__calculate {"expression":"6*7"}: 42')
            other.wait_for("the s")
            other.wait_for("\n> ")
            self.leave(other)
        self.leave(terminal)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
