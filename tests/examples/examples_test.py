#!/usr/bin/env python3
"""Output of the example programs, compared with values computed here or by the reference decoder.

usage: examples_test.py BUILD_FOLDER [unittest arguments]
"""
import array
import os
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv[1])
MAX_SECONDS = 300  # only to end a program that hangs


def run(program, *arguments, **environment):
    return subprocess.run([os.path.join(BUILD, program), *arguments], capture_output=True, text=True,
                          timeout=MAX_SECONDS, env={**os.environ, **environment})


class Case(unittest.TestCase):
    def output_of(self, program, *arguments, **environment):
        ended = run(program, *arguments, **environment)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        return ended.stdout

    def assert_refused(self, program, arguments, *words):
        ended = run(program, *arguments)
        self.assertEqual((ended.returncode, ended.stdout), (1, ""))
        for word in (program, *words):
            self.assertIn(word, ended.stderr)


class WriteKernel(Case):
    def test_prints_a_module_with_its_launch(self):
        text = self.output_of("example_write_kernel")
        for line in (r"\.target sm_80", r"\.visible \.entry saxpy\(", r"\s+setp\.\w+\.u32 .*%i, 1000;",
                     r"\s+fma\.rn\.f32 .*;", r"// launch saxpy with 4 blocks of 256 threads",
                     r"// parameter a at byte 0", r"// parameter y at byte 16"):
            self.assertRegex(text, "(?m)^" + line)
        self.assertEqual(len(re.findall(r"\sld\.global", text)), 2)
        self.assertEqual(len(re.findall(r"\sst\.global", text)), 1)


class DecodeTokens(Case):
    N_TOKENS = 6

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        subprocess.run([os.path.join(BUILD, "cli_models"), self.folder], check=True)

    def likeliest_of_each(self, model, tokens):
        """The reference decoder's likeliest token after each of the tokens."""
        file = os.path.join(self.folder, "logits.f32")
        self.output_of("reference_logits", "-m", model, "--tokens", ",".join(map(str, tokens)), "-o", file)
        values = array.array("f")
        with open(file, "rb") as logits:
            values.frombytes(logits.read())
        width = len(values) // len(tokens)
        rows = (values[at:at + width] for at in range(0, len(values), width))
        return [row.index(max(row)) for row in rows]

    def test_chooses_what_the_reference_chooses(self):
        for name in ("tiny", "hybrid"):
            model = os.path.join(self.folder, name + ".gguf")
            ids, text = self.output_of("example_decode_tokens", model, "Hello world", str(self.N_TOKENS)).split("\n", 1)
            self.assertGreater(len(text), 1)
            prompt, answer = (list(map(int, part.split())) for part in ids.split("->"))
            self.assertEqual(len(answer), self.N_TOKENS)
            chosen = self.likeliest_of_each(model, prompt + answer)
            self.assertEqual(answer, chosen[len(prompt) - 1:-1], name)

    def test_says_what_is_wrong(self):
        self.assert_refused("example_decode_tokens", ("/nowhere.gguf", "Hello", "1"), "/nowhere.gguf")
        self.assert_refused("example_decode_tokens", (), "usage")


class LaunchKernel(Case):
    def test_computes_on_emulated_gpus(self):
        for device in ((), ("emulator:sm_75",)):
            text = self.output_of("example_launch_kernel", *device, CUDA_EMULATOR_CHECKS="all")
            self.assertRegex(text, r"\A[^\n]+: y\[0\] = 1, y\[999\] = 500\.5\n\Z")

    def test_says_what_is_wrong(self):
        self.assert_refused("example_launch_kernel", ("cpu",), "needs a GPU")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
