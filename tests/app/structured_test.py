#!/usr/bin/env python3
"""Answers with a form, a JSON Schema or a grammar, through the program: flags, refusals, servers.

usage: structured_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "remote")]
from fake_endpoint import DONE, FakeEndpoint, Handler, chunk, deltas  # noqa: E402
from program import FOLDER, SPM, THINKS, TINY, Run, environment, path  # noqa: E402
from program_case import Case  # noqa: E402

SCHEMA = '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}'
GRAMMAR = 'root ::= "yes" | "no"'


class Flags(Case):
    def refused(self, code, words, *flags, **more):
        """Before a model is loaded: there is none of this name."""
        self.assert_refused(Run("-m", "/no/such.gguf", "-p", "Hi", *flags, **more), code, *words)

    def test_one_form(self):
        file = path("schema.json", SCHEMA.encode())
        for flags in (("-j", SCHEMA, "--grammar", GRAMMAR), ("-j", SCHEMA, "-jf", file), ("-jf", file, "-jf", file),
                      ("--json-schema", SCHEMA, "-j", SCHEMA), ("--grammar", GRAMMAR, "--grammar-file", file)):
            self.refused(2, (), *flags)
        self.refused(2, ("-j", "value"), "-j")

    def test_what_cannot_be_held(self):
        self.refused(1, ("minLength", "#/items"), "-j", '{"items": {"minLength": -1}}')
        self.refused(1, ("$ref",), "-j", '{"$ref": "http://elsewhere.invalid/x"}')
        self.refused(1, ("no text satisfies",), "-j", "false")
        self.refused(1, ("line 1",), "--grammar", "root ::= (")
        self.refused(1, ("root",), "--grammar", "")
        self.refused(1, ("JSON",), "-j", "")
        self.refused(1, ("JSON",), "-jf", path("empty.json", b""))
        self.refused(1, ("no-such.json", "no such file"), "-jf", "no-such.json")
        self.refused(1, ("folder",), "--grammar-file", FOLDER)

    def test_what_can_be_held(self):
        for flags in (("-j", SCHEMA), (f"--json-schema={SCHEMA}",), ("--format", "json"),
                      ("-jf", path("marked.json", b"\xef\xbb\xbf" + SCHEMA.encode())), ("--grammar", GRAMMAR),
                      ("--grammar-file", path("g.gbnf", GRAMMAR.encode()))):
            self.refused(1, ("such.gguf",), *flags)  # the next fault
        self.refused(1, ("such.gguf",), "-jf", "/dev/stdin", stdin=SCHEMA.encode())

    def test_no_setting_that_stays(self):
        for arguments in (("config", "grammar", "x"), ("assistant", "add", "a", "-j", SCHEMA)):
            self.assert_refused(Run(*arguments), 2, "no setting that stays", "it belongs to one run")


def checked(answer, *flags):
    """Whether this program takes the answer as one of the form."""
    return Run("grammar", *flags, "--check", stdin=answer).out


class LocalAnswers(Case):
    """The models would say something else."""

    def ask(self, *flags, model=TINY, prompt="Hi"):
        return self.run_well("-m", model, "-p", prompt, "--temp", "1", *flags)

    def test_random_models_keep_to_the_form(self):
        flags = ("-j", '{"type": "object", "properties": {"a": {"enum": ["x", "yz", "\\u00fc"]}, "b": {"type": "integer",'
                       ' "minimum": -9, "maximum": 99}}, "required": ["b"], "additionalProperties": false}')
        for model in (TINY, SPM):
            for seed in range(4):
                run = self.ask(*flags, "--seed", str(seed), model=model)
                self.assertEqual(checked(run.out.removesuffix(b"\n"), *flags), b"accepted\n", run)
                self.assertIn("b", json.loads(run.out), run)

    def test_a_grammar(self):
        for extra in ((), ("--raw",), ("--no-drafts",), ("--json",)):
            run = self.ask("--grammar", GRAMMAR, *extra)
            text = json.loads(run.out)["answer"] if "--json" in extra else run.out.decode().strip()
            self.assertIn(text, ("yes", "no"), run)
            self.assertEqual(run.err, b"", run)

    def test_a_thought_is_free(self):
        run = self.ask("--grammar", GRAMMAR, "--json", "--temp", "0", model=THINKS)
        answer = json.loads(run.out)
        self.assertEqual((answer["reasoning"], answer["stop_reason"]), ("ab", "stop"), run)
        self.assertIn(answer["answer"], ("yes", "no"), run)

    def test_a_cut_answer_is_a_beginning(self):
        run = self.ask("-j", '{"type": "array", "items": {"type": "string"}, "minItems": 90}', "-n", "9", "--json")
        answer = json.loads(run.out)
        self.assertEqual(answer["stop_reason"], "length", run)
        self.assertTrue(answer["answer"].startswith("["), run)
        run = self.ask("-j", '{"type": "array", "items": {"type": "string"}, "minItems": 90}', "-n", "9")
        self.assertIn("cut at 9 tokens", run.err.decode())


class Scripted(Handler):
    def script_answers(self, _):
        fake = self.server.fake
        self.stream(*(deltas([piece]) for piece in fake.answer), chunk({}, fake.finish), DONE)

    def script_without_forms(self, body):
        if "response_format" in body:
            return self.error(400, "Unrecognized request argument supplied: response_format")
        self.script_answers(body)

    def script_text(self, _):
        fake = self.server.fake
        self.stream(chunk({}, fake.finish).replace(b'"delta": {}', b'"text": ' + json.dumps("".join(fake.answer)).encode()),
                    DONE)


class Servers(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)

    def ask(self, answer, *flags, script="answers", finish="stop", owner="someone", prompt="Hi"):
        server = self.enterContext(FakeEndpoint(owner=owner))
        server.server.RequestHandlerClass = Scripted
        server.answer, server.finish = [answer] if isinstance(answer, str) else answer, finish
        self.server = server
        env = environment(self.home, DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
        return Run("--endpoint", f"{server.origin}/{script}/v1", "-p", prompt, *flags, env=env)

    def assert_shown(self, run, code, out, *words):
        self.assertEqual((run.code, run.out.decode()), (code, out), run)
        self.assertEqual(run.err.decode().count("\n"), len(words), run)
        for line, word in zip(run.err.decode().splitlines(), words):
            self.assertIn(word, line, run)

    def test_an_answer_that_keeps_to_its_schema(self):
        for flags in (("-j", SCHEMA), ("-jf", path("schema.json", SCHEMA.encode()))):
            for answer in ('{"n": 1}', '\n{ "n" :\n 1.0 }'):
                self.assert_shown(self.ask(answer, *flags), 0, answer + "\n")
                body = self.server.bodies()[0]
                self.assertEqual(body["response_format"], {"type": "json_schema", "json_schema": {
                    "name": "answer", "schema": json.loads(SCHEMA)}})

    def test_an_answer_that_does_not(self):
        said = "did not keep to the schema: at byte 0 of the answer expected '{', found 'Sure.'"
        self.assert_shown(self.ask(["Su", "re."], "-j", SCHEMA), 1, "Sure.\n", self.server.host + " " + said)
        run = self.ask("Sure.", "-j", SCHEMA, "--json")
        self.assertEqual((run.code, json.loads(run.out)["answer"]), (1, "Sure."), run)
        self.assertIn(said, run.err.decode())
        self.assert_shown(self.ask('```json\n{"n": 1}\n```', "-j", SCHEMA), 1, '```json\n{"n": 1}\n```\n', "code block")

    def test_a_cut_answer(self):
        self.assert_shown(self.ask('{"n"', "-j", SCHEMA, "-n", "3", finish="length"), 0, '{"n"\n', "cut at 3 tokens")
        self.assert_shown(self.ask("Sure", "-j", SCHEMA, "-n", "3", finish="length"), 1, "Sure\n", "keep to the schema",
                          "cut at 3 tokens")

    def test_a_server_without_the_field(self):
        asked = "does not take response_format: asked again without"
        self.assert_shown(self.ask('{"n": 1}', "-j", SCHEMA, script="without_forms"), 0, '{"n": 1}\n', asked)
        self.assert_shown(self.ask("Sure", "-j", SCHEMA, script="without_forms"), 1, "Sure\n", asked, "keep to the schema")

    def test_grammars(self):
        self.assert_refused(self.ask("yes", "--grammar", GRAMMAR), 1, "no field for a grammar")
        self.assertEqual(self.server.bodies(), [])
        self.assert_shown(self.ask("yes", "--grammar", GRAMMAR, owner="llamacpp"), 0, "yes\n")
        self.assertEqual(self.server.bodies()[0]["grammar"], GRAMMAR)
        self.assert_shown(self.ask("perhaps", "--grammar", GRAMMAR, owner="vllm"), 1, "perhaps\n", "keep to the grammar")
        self.assertEqual(self.server.bodies()[0]["structured_outputs"], {"grammar": GRAMMAR})

    def test_raw_text(self):
        self.assert_refused(self.ask("1", "-j", SCHEMA, "--raw"), 1, "in a message instead")
        self.assertEqual(self.server.bodies(), [])
        self.assert_shown(self.ask('{"n": 1}', "-j", SCHEMA, "--raw", script="text", owner="llamacpp"), 0, '{"n": 1}\n')
        self.assertEqual(self.server.bodies()[0]["json_schema"], json.loads(SCHEMA))

    def test_a_faulty_form_is_not_sent(self):
        self.assert_refused(self.ask("1", "-j", '{"minLength": -1}'), 1, "minLength")
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
