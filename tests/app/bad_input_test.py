#!/usr/bin/env python3
"""The chat program without a terminal: which model it means, and errors for bad input.

usage: bad_input_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from program import CHAT, ENDLESS, EXPERTS, FOLDER, HYBRID, SPM, TINY, VOCABULARY, Run, environment, path
from program_case import Case
from pseudo_terminal import Terminal

ONE_ANSWER = ("--temp", "0", "-n", "8")


class ModelSearch(Case):
    def home(self, name):
        home = path(name)
        os.makedirs(home, exist_ok=True)
        return home

    def link(self, home, below):
        target = os.path.join(home, below)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(TINY, target)
        return target

    def test_none_is_a_usage_error_that_says_how_to_get_one(self):
        env = environment(self.home("none"))
        self.assert_refused(Run("-p", "x", env=env), 2, "--model", "chat pull")
        self.assert_refused(Run("tokenize", env=env), 2, "--model", "chat pull")

    def test_the_only_one_then_that_of_the_last_conversation(self):
        home = self.home("one")
        self.link(home, ".cache/warpchat/models/only.gguf")
        env = environment(home)
        only = self.run_well("-p", "x", *ONE_ANSWER, env=env)
        self.assertEqual(only.out, self.run_well("-m", TINY, "-p", "x", *ONE_ANSWER, env=environment()).out)
        ids = {model: self.run_well("tokenize", "-m", model, stdin=b"Hello").out for model in (TINY, SPM)}
        self.run_well("-m", SPM, "-p", "x", *ONE_ANSWER, env=env)  # chooses for itself alone
        self.assertEqual(self.run_well("tokenize", stdin=b"Hello", env=env).out, ids[TINY])
        terminal = Terminal("-m", SPM, home=home)
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.run_well("tokenize", stdin=b"Hello", env=env).out, ids[SPM])

    def test_several_are_named(self):
        home = self.home("several")
        self.link(home, ".cache/warpchat/models/a.gguf")
        os.makedirs(os.path.join(home, ".cache/llama.cpp"))
        with open(SPM, "rb") as source:
            path("several/.cache/llama.cpp/b.gguf", source.read())
        self.assert_refused(Run("-p", "x", env=environment(home)), 2, "a.gguf", "b.gguf", "--model")

    def test_xdg_and_hugging_face_folders(self):
        home = self.home("xdg")
        self.link(home, "cache/warpchat/models/x.gguf")
        self.run_well("tokenize", env=environment(home, XDG_CACHE_HOME=os.path.join(home, "cache")))
        home = self.home("hf")
        self.link(home, "hub/models--org--repo/snapshots/c0ffee/m-Q4_K_M.gguf")
        env = environment(home, HF_HUB_CACHE=os.path.join(home, "hub"))
        self.run_well("tokenize", "-m", "org/repo", env=env)
        self.assert_refused(Run("tokenize", "-m", "org/repo:Q8_0", env=env), 2, "org/repo:Q8_0", "org/repo:Q4_K_M")


class BadInput(Case):
    def assert_model_refused(self, model, *words):
        for command in (("-p", "x"), ("inspect",), ("bench",)):
            self.assert_refused(Run(*command, "-m", model), 1, model, *words)

    def test_files_that_are_no_models(self):
        os.mkfifo(path("fifo.gguf"))
        os.mkdir(path("folder.gguf"))
        with open(TINY, "rb") as file:
            whole = file.read()
        self.assert_refused(Run("-m", path("missing.gguf"), "-p", "x"), 1, "missing.gguf")
        self.assert_model_refused(path("folder.gguf"), "directory")
        self.assert_model_refused(path("fifo.gguf"), "pipe")
        self.assert_model_refused("/dev/null")
        self.assert_model_refused(path("empty.gguf", b""), "empty")
        self.assert_model_refused(path("text.gguf", b"Hello world, this is no model at all."), "GGUF")
        for length in (3, 23, 200, len(whole) // 2, len(whole) - 1):
            self.assert_model_refused(path("cut.gguf", whole[:length]))
        self.assert_model_refused(path("magic.gguf", b"GGML" + whole[4:]))
        self.assert_model_refused(path("version.gguf", whole[:4] + struct.pack("<I", 99) + whole[8:]), "99")

    def test_models_that_this_program_cannot_run(self):
        with open(TINY, "rb") as file:
            whole = file.read()
        other = path("mamba.gguf", whole.replace(b"qwen2", b"mamba", 1))
        self.assert_refused(Run("-m", other, "-p", "x"), 1, other, "mamba", "llama", "qwen2", "qwen3")
        missing = path("key.gguf", whole.replace(b"qwen2.block_count", b"qwen2.block_xount"))
        self.assert_refused(Run("-m", missing, "-p", "x"), 1, missing, "qwen2.block_count")
        missing = path("tensor.gguf", whole.replace(b"blk.1.ffn_down.weight", b"blk.1.ffn_xown.weight"))
        self.assert_refused(Run("-m", missing, "-p", "x"), 1, missing, "blk.1.ffn_down.weight")
        name = whole.index(b"blk.0.ffn_up.weight") + len(b"blk.0.ffn_up.weight")
        at = name + 4 + 2 * 8  # after the number of dimensions and both dimensions
        strange = path("type.gguf", whole[:at] + struct.pack("<I", 19) + whole[at + 4:])
        self.assert_refused(Run("-m", strange, "-p", "x"), 1, strange, "blk.0.ffn_up.weight", "IQ1_S")
        self.assert_refused(Run("-m", VOCABULARY, "-p", "x"), 1, VOCABULARY)

    def test_experts_and_delta_nets_answer_on_every_device(self):
        for model, kernel in ((EXPERTS, b"route_8_u2"), (HYBRID, b"delta_step_2_4x64")):
            flags = ("-m", model, "-p", "hello", "-n", "8", "--temp", "0")
            answer = self.run_well(*flags, "--device", "cpu").out
            self.assertGreater(len(answer), 1)
            self.assertEqual(self.run_well(*flags, "--device", "cpu", "-t", "1").out, answer)
            for launch in ("stream", "graph", "persistent"):
                self.assertEqual(self.run_well(*flags, "--device", "emulator", "--launch", launch).out, answer)
            self.assertIn(kernel, self.run_well("kernels", "-m", model).out)

    def test_more_memory_than_there_is(self):
        self.assert_refused(Run("-m", TINY, "-p", "x", "-c", "2000000000"), 1, "available", "--ctx-size")

    def test_a_prompt_longer_than_the_context(self):
        for flags, n in ((("--raw",), 41), ((), 50)):
            run = Run("-m", TINY, "-c", "32", "-p", "!" * 41, *flags)
            self.assert_refused(run, 1, " 32", "--ctx-size")
            found = int(re.search(r"needs (\d+) tokens", run.err.decode())[1])
            self.assertGreaterEqual(found, n)

    def test_invalid_utf8(self):
        bad = b"ab\xffcd"
        self.assert_refused(Run("-m", TINY, "-p", "x", stdin=bad), 1, "standard input", "byte 2 ")
        self.assert_refused(Run("-m", TINY, stdin=b"x" * 5000 + b"\xc3"), 1, "standard input", "byte 5,000 ")
        self.assert_refused(Run("-m", TINY, "-f", path("bad.txt", bad)), 1, "bad.txt", "byte 2 ")
        self.assert_refused(Run("-m", TINY, "-p", os.fsdecode(bad)), 1, "--prompt", "byte 2 ")
        self.assert_refused(Run("-m", TINY, "-p", "x", "-sys", os.fsdecode(bad)), 1, "--system-prompt", "byte 2 ")
        self.assert_refused(Run("tokenize", "-m", TINY, stdin=bad), 1, "standard input", "byte 2 ")
        self.assert_refused(Run("perplexity", "-m", TINY, "-f", path("bad.txt", bad)), 1, "bad.txt", "byte 2 ")

    def test_command_lines_that_say_nothing(self):
        for arguments in (("--colour",), ("-x",), ("pul",), ("-p",), ("--temp", "warm"), ("--temp", "-1"),
                          ("--top-p", "2"), ("-n", "many"), ("-c", "-5"), ("-t", "0"), ("bench", "--raw"), ("logits",),
                          ("--chat-template-kwargs", "[1]", "-p", "x"), ("--chat-template", "llama2", "-p", "x")):
            self.assert_refused(Run(*arguments, "-m", TINY), 2)
        self.assert_refused(Run("-m", TINY), 2, "prompt")
        self.assert_refused(Run("-m", TINY, "-p", ""), 2, "prompt")

    def test_prompt_files_that_cannot_be_read(self):
        self.assert_refused(Run("-m", TINY, "-f", path("no.txt")), 1, "no.txt")
        empty = tempfile.mkdtemp(dir=FOLDER)
        self.assert_refused(Run("-m", TINY, "-f", empty), 1, "no text file is in or matches " + empty)

    def test_a_closed_output_ends_quietly(self):
        for arguments in (("-m", ENDLESS, "-c", "0", "-p", "x"), ("inspect", TINY), ("--help",)):
            reader, writer = os.pipe()
            os.close(reader)
            process = subprocess.run([CHAT, *arguments], stdin=subprocess.DEVNULL, stdout=writer,
                                     stderr=subprocess.PIPE, env=environment(), timeout=60)
            os.close(writer)
            self.assertEqual((process.returncode, process.stderr), (1, b""), arguments)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            process = subprocess.run([CHAT, "inspect", TINY], stdout=full, stderr=subprocess.PIPE, env=environment())
        self.assertEqual(process.returncode, 1)
        self.assertRegex(process.stderr, rb"\Achat: cannot write to standard output: [^\n]+\n\Z")

    def test_standard_streams_that_are_missing(self):
        tokens, logits = ("tokenize", "-m", TINY), ("logits", "-m", TINY, "--tokens", "1")
        greedy = ("-m", TINY, "-p", "x", "-n", "1", "--temp", "0")
        whole = self.run_well(*tokens, stdin=b"Hello").out
        for arguments in (tokens, ("inspect", TINY), ("--help",), greedy):
            self.assert_refused(Run(*arguments, stdin=b"Hello", shell_limits="exec >&-"), 1,
                                "cannot write to standard output: it is closed; redirect it to a file, or to /dev/null")
        self.assertEqual(self.run_well(*tokens, stdin=b"Hello", shell_limits="exec 2>&-").out, whole)
        self.assertEqual(self.run_well(*greedy, shell_limits="exec <&-").out,
                         self.run_well(*greedy).out)
        self.run_well(*logits, "-o", path("usual.f32"))
        self.run_well(*logits, "-o", path("closed.f32"), shell_limits="exec <&- >&- 2>&-")  # nothing is printed
        with open(path("usual.f32"), "rb") as usual, open(path("closed.f32"), "rb") as closed:
            self.assertEqual(closed.read(), usual.read())

    def test_a_home_that_cannot_be_written_is_no_obstacle(self):
        self.run_well("-m", TINY, "-p", "x", "-n", "1", env=environment("/proc/nowhere"))
        self.run_well("-m", TINY, "-p", "x", "-n", "1", env={"PATH": os.environ["PATH"]})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
