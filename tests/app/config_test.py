#!/usr/bin/env python3
"""Settings that stay: `chat config`, the file behind it, /set and /config, and what a restart brings back.

usage: config_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import CHAT, SPM, TINY, environment
from pseudo_terminal import StoreCase, Terminal


class Home(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="warpchat_config_")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.path = os.path.join(self.home, ".config/warpchat/config.json")

    def run_chat(self, *arguments, code=0, stdin=""):
        done = subprocess.run([CHAT, *arguments], input=stdin, capture_output=True, text=True, timeout=120,
                              env=environment(self.home))
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def write(self, text):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path, "w") as file:
            file.write(text)

    def text(self):
        with open(self.path) as file:
            return file.read()

    def answer(self, *arguments):
        done = self.run_chat("-m", TINY, "-p", "Hello", "--json", *arguments)
        return json.loads(done.stdout), done.stderr


class TheCommand(Home):
    def test_a_key_is_listed_set_shown_and_removed(self):
        listed = self.run_chat("config").stdout
        self.assertIn(self.path, listed)
        self.assertRegex(listed, r"n-predict +- +default +longest answer")
        self.assertIn("n-predict is not set: longest answer", self.run_chat("config", "n-predict").stderr)
        self.run_chat("config", "n-predict", "3")
        self.run_chat("config", "think", "off")
        self.run_chat("config", "repeat_penalty", "1.1")
        self.assertEqual(json.loads(self.text()), {"n-predict": 3, "think": False, "repeat-penalty": 1.1})
        self.assertEqual(self.run_chat("config", "n-predict").stdout, "3\n")
        self.assertRegex(self.run_chat("config").stdout, r"n-predict +3 +config\.json")
        self.assertEqual(json.loads(self.run_chat("config", "--json").stdout), json.loads(self.text()))
        self.run_chat("config", "n-predict", "-1")
        self.assertEqual(self.run_chat("config", "n-predict").stdout, "-1\n")
        self.run_chat("config", "--unset", "n-predict")
        self.assertNotIn("n-predict", self.text())
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o600)

    def test_what_is_wrong_is_refused(self):
        for words, said in ((("temp", "hot"), "temp takes a number from 0 to 100, found 'hot'"),
                            (("verbose", "3"), "verbose takes true or false"),
                            (("prompt", "hi"), "prompt is no setting that stays"),
                            (("tmep", "1"), "perhaps you mean temp"),
                            (("api-key", "sk-secret"), "secrets are not kept here"),
                            (("--unset",), "--unset KEY"), (("a", "b", "c"), "config")):
            done = self.run_chat("config", *words, code=2)
            self.assertIn(said, done.stderr)
            self.assertNotIn("sk-secret", done.stderr)
        self.assertFalse(os.path.exists(self.path))


class TheFile(Home):
    def test_it_counts_for_a_single_prompt_and_flags_beat_it(self):
        self.write('{"n-predict": 3, "temp": 0, "seed": 7, "colour": "red", "top-k": "many", "future": [1]}')
        answer, said = self.answer()
        self.assertEqual((answer["usage"]["completion_tokens"], answer["seed"]), (3, 7))
        for name in ("colour", "top-k", "future"):
            self.assertIn(name, said)
        self.assertEqual(said.count(self.path), 3)
        self.assertEqual(self.answer("-n", "2")[0]["usage"]["completion_tokens"], 2)
        self.run_chat("config", "n-predict", "4")
        self.assertEqual(json.loads(self.text())["future"], [1], "what is not known stays")

    def test_one_that_is_no_json_is_named_with_its_line_and_stays(self):
        broken = '{"n-predict": 3,\n "temp" 1}\n'
        self.write(broken)
        answer, said = self.answer("-n", "2")
        self.assertIn(self.path + ", line 2: ", said)
        self.assertEqual(answer["usage"]["completion_tokens"], 2)
        for words in (("config",), ("config", "temp", "1"), ("config", "--unset", "temp")):
            self.assertIn("line 2", self.run_chat(*words, code=1).stderr)
        self.assertEqual(self.text(), broken)


class TheAssistants(Home):
    def test_one_is_made_shown_used_exported_and_removed(self):
        self.assertIn("there is no assistant", self.run_chat("assistant").stderr)
        self.run_chat("assistant", "add", "short", "-sys", "Be short.", "-n", "3", "--temp", "0", "--no-think")
        self.assertRegex(self.run_chat("assistant", "list").stdout, r"short +Be short\.  \(n-predict 3, .*temp 0")
        self.assertEqual(json.loads(self.run_chat("assistant", "show", "short").stdout),
                         {"system-prompt": "Be short.", "n-predict": 3, "think": False, "temp": 0})
        self.assertEqual(self.answer("--assistant", "short")[0]["usage"]["completion_tokens"], 3)
        self.assertEqual(self.answer("--assistant", "short", "-n", "2")[0]["usage"]["completion_tokens"], 2)
        exported = os.path.join(self.home, "x.json")
        self.run_chat("assistant", "export", "short", exported)
        self.run_chat("assistant", "import", exported, "--name", "other")
        self.assertIn("other was until now: Be short.", self.run_chat("assistant", "import", exported, "--name",
                                                                       "other").stderr)
        self.assertEqual(self.run_chat("assistant", "show", "other").stdout,
                         self.run_chat("assistant", "show", "short").stdout)
        self.run_chat("assistant", "copy", "short", "third")
        self.assertIn("there is an assistant 'third' already", self.run_chat("assistant", "rename", "other", "third",
                                                                            code=1).stderr)
        os.makedirs(os.path.join(self.home, ".local/share/warpchat"), exist_ok=True)  # a store without conversations
        self.run_chat("assistant", "rename", "third", "last")
        self.assertEqual(self.run_chat("assistant", "show", "last").stdout,
                         self.run_chat("assistant", "show", "short").stdout)
        self.assertIn("there is no assistant 'third'", self.run_chat("assistant", "show", "third", code=1).stderr)
        self.run_chat("assistant", "remove", "short")
        self.assertIn("there is no assistant 'short'",
                      self.run_chat("-m", TINY, "-p", "x", "--assistant", "short", code=1).stderr)

    def test_what_is_wrong_is_refused(self):
        for words, code, said in ((("add", "x"), 2, "an assistant needs a setting"),
                                  (("add", "x", "-p", "hi"), 2, "--prompt is no setting that stays"),
                                  (("add", "x", "--temp", "hot"), 2, "--temp takes a number"),
                                  (("add", "a/b", "--temp", "1"), 1, "'a/b' cannot name the assistant"),
                                  (("add",), 2, "usage: "), (("export", "x"), 2, "usage: "),
                                  (("show", "x"), 1, "there is no assistant 'x'"),
                                  (("import", "/nowhere"), 1, "/nowhere")):
            self.assertIn(said, self.run_chat("assistant", *words, code=code).stderr)


class AfterARestart(StoreCase):
    """The model's file has no sampling values, so the built-in ones are the last to count."""

    def chat(self, *arguments):
        terminal = Terminal("-m", TINY, "-n", "4", *arguments, home=self.home)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        return terminal

    def leave(self, terminal):
        terminal.wait_until_it_edits()  # before that, Ctrl-D is lost
        super().leave(terminal)

    def command(self, terminal, line, said):
        terminal.type(line + "\r")
        terminal.wait_for(said)

    def kept(self):
        with open(os.path.join(self.home, ".config/warpchat/config.json")) as file:
            return json.load(file)

    def test_a_conversation_comes_back_with_its_settings(self):
        first = self.chat()
        self.command(first, "/set temp 0.25", "temp: 0.25")
        self.command(first, "/set system Be kind", "system: Be kind")
        self.send(first, "Hello")
        self.command(first, "/config min-p 0.125", "(kept for new conversations and later starts)")
        self.command(first, "/config system-prompt Be brief", "(kept for new conversations and later starts)")
        self.command(first, "/config threads 1", "(threads counts from the next start on)")
        self.command(first, "/config min-p", "min-p: 0.125")
        self.command(first, "/set hide_thinking on", "hide_thinking: on")
        self.command(first, "/set temp", "temp: 0.25")
        self.command(first, "/new\r/set temp", "temp: 0.8")
        self.command(first, "/set system", "system: Be brief")
        self.leave(first)
        self.assertEqual(self.kept(), {"min-p": 0.125, "system-prompt": "Be brief", "threads": 1,
                                       "hide-thinking": True})
        self.assertEqual(self.rows("SELECT settings, system_prompt FROM conversations"), [('{"temp":0.25}', "Be kind")])

        again = self.chat("--resume")
        self.command(again, "/set temp", "temp: 0.25")
        self.command(again, "/set system", "system: Be kind")
        self.command(again, "/set min_p", "min_p: 0.125")
        self.command(again, "/set hide_thinking", "hide_thinking: on")
        self.command(again, "/set temp default", "temp: 0.8")
        self.command(again, "/set temp 0.5", "temp: 0.5")
        self.command(again, "/config threads default", "(threads counts")
        self.leave(again)
        self.assertNotIn("threads", self.kept())

        subprocess.run([CHAT, "assistant", "add", "short", "-sys", "Be short.", "--temp", "0.125", "--min-p", "0.25"],
                       env=environment(self.home), check=True, capture_output=True)
        assisted = self.chat("--resume", "--assistant", "short")
        self.command(assisted, "/assistant", "now: short")
        self.command(assisted, "/assistant none", "no assistant from now on")
        self.command(assisted, "/assistant short", "short answers from now on")
        self.command(assisted, "/assistant save of now", "of now: Be short.  (model ")
        self.command(assisted, "/assistant save of now", "(of now was until now: Be short.")
        self.command(assisted, "/assistant save a/b", "'a/b' cannot name the assistant")
        self.command(assisted, "/set temp", "temp: 0.5")
        self.command(assisted, "/set min_p", "min_p: 0.25")
        self.command(assisted, "/set system", "system: Be short.")
        self.leave(assisted)
        assisted = self.chat("--resume")
        self.command(assisted, "/set min_p", "min_p: 0.25")
        self.command(assisted, "/assistant", "now: short")
        self.command(assisted, "/assistant none", "no assistant from now on")
        self.command(assisted, "/set min_p", "min_p: 0.125")
        self.command(assisted, "/assistant short", "short answers")
        self.leave(assisted)
        made = json.loads(subprocess.run([CHAT, "assistant", "show", "of now"], env=environment(self.home), check=True,
                                         capture_output=True).stdout)
        self.assertEqual(made, {"system-prompt": "Be short.", "model": TINY, "temp": 0.5, "min-p": 0.25, "n-predict": 4})
        subprocess.run([CHAT, "assistant", "remove", "short"], env=environment(self.home), check=True)
        without = self.chat("--resume")
        self.assertIn("the assistant 'short' of this conversation is gone", without.seen)
        self.command(without, "/set min_p", "min_p: 0.125")
        self.leave(without)

        flagged = self.chat("--resume", "--temp", "0.75")
        self.command(flagged, "/set temp", "temp: 0.75")
        self.command(flagged, "/set temp 0.25", "temp: 0.25")
        self.leave(flagged)

    def test_a_seed_is_reported_unless_each_answer_has_another(self):
        terminal = self.chat("-s", "7")
        for command, seed in (("/set seed", "7"), ("/set seed 9", "9"), ("/set seed -1", None)):
            self.command(terminal, command, "seed: ")
            self.send(terminal, "Hello")
            terminal.type("/perf\r")
            report = terminal.wait_for("(kernels are timed from the next answer on" if seed == "7" else "\n> ")
            self.assertEqual(re.findall(r"(?m)^ *seed +(\d+)", report), [seed] if seed else [], report)
        self.leave(terminal)

    def test_a_conversation_comes_back_with_its_model(self):
        own = os.path.join(self.home, "own.gguf")
        shutil.copy(TINY, own)
        first = Terminal("-m", own, home=self.home)
        self.addCleanup(self.end, first)
        self.wait_for_prompt(first)
        self.command(first, "/set n_predict 2", "n_predict: 2")
        self.send(first, "Hello")
        self.leave(first)
        def use_another():
            other = Terminal("-m", SPM, home=self.home)  # is the default from now on
            self.addCleanup(self.end, other)
            self.wait_for_prompt(other)
            self.leave(other)

        use_another()
        again = Terminal("--resume", home=self.home)
        self.addCleanup(self.end, again)
        self.wait_for_prompt(again)
        self.assertIn("own, ", again.seen)
        self.leave(again)
        once = subprocess.run([CHAT, "--resume", "-p", "And?", "--json"], env=environment(self.home), text=True,
                              capture_output=True, check=True)
        answer = json.loads(once.stdout)
        self.assertEqual((answer["model"], answer["usage"]["completion_tokens"]), (own, 2))
        use_another()
        os.remove(own)
        without = Terminal("--resume", "-n", "1", home=self.home)
        self.addCleanup(self.end, without)
        self.wait_for_prompt(without)
        self.assertIn("the model of this conversation is gone: " + own, without.plain_seen)
        self.command(without, "/set n_predict", "n_predict: 1")
        self.leave(without)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
