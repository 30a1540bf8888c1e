#!/usr/bin/env python3
"""Answers that call tools, through the program: a scripted model calls, scripted servers and our own tools answer.

usage: tool_calls_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import tempfile
import unittest

from program import CALLS, FOLDER, TINY, Run, environment
from program_case import Case

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

    def test_faults_before_anything_begins(self):
        self.assert_refused(self.ask("1", "--mcp-config", "/no/such.json"), 1, "/no/such.json")
        self.assert_refused(self.ask("1", "--approve", "s__echo,,"), 2, "--approve")
        self.configure({"s": {"command": 7}})
        self.assert_refused(self.ask("1", model="/no/model.gguf"), 1, "mcp.json", "command")

    def test_where_there_are_no_tools(self):
        for flags in (("--resume",), ("--gui",)):
            self.assert_refused(Run("-m", CALLS, *(("-p", "1") if flags == ("--resume",) else ()), "--tools", *flags,
                                    env=environment(self.home)), 2, "tools can be called in one answer")
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


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
