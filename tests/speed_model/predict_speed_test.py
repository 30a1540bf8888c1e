"""predict_speed as a program: predict_speed_test.py PREDICT_SPEED CLI_MODELS."""
import os
import subprocess
import sys
import tempfile
import unittest

PREDICT_SPEED, MAKE_MODELS = (os.path.abspath(path) for path in sys.argv[1:3])
MAX_SECONDS = 600  # only to end a run that hangs


class PredictSpeedTest(unittest.TestCase):
    def run_tool(self, *arguments):
        return subprocess.run([PREDICT_SPEED, *arguments], capture_output=True, text=True, timeout=MAX_SECONDS)

    def run_well(self, *arguments):
        run = self.run_tool(*arguments)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def assert_refused(self, arguments, code, *parts):
        run = self.run_tool(*arguments)
        self.assertEqual((run.returncode, run.stdout), (code, ""))
        self.assertRegex(run.stderr, r"\Apredict_speed: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, run.stderr)

    def test_a_shape(self):
        speeds = self.run_well("--shape", "qwen2.5-0.5b", "--gpu", "h200")
        for part in ("NVIDIA H200 (sm_90), expected constants: 4.30 TB/s", "by constants", "us by issue",
                     "in a context of 32,768", "gate_up", "imbalance", "sequences side by side", "prompt of",
                     "none of\nwhich was measured here"):
            self.assertIn(part, speeds)
        harsh = self.run_well("--shape", "qwen2.5-0.5b", "--gpu", "h100", "--constants", "harsh")
        self.assertIn("NVIDIA H100 (sm_90), harsh constants: 3.00 TB/s", harsh)

    def test_files_of_experts_and_delta_nets(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MAKE_MODELS, folder], check=True)
            for model, kernel, phase in (("experts", "route_8_u2", "router"),
                                         ("hybrid", "delta_step_2_4x64", "delta")):
                speeds = self.run_well("--model", os.path.join(folder, model + ".gguf"), "--gpu", "h200")
                self.assertIn(kernel, speeds)
                self.assertRegex(speeds, r"in a context of 64 .* [1-9][0-9]* +[1-9][0-9]*\n")
                self.assertRegex(speeds, r"\n" + phase + r" .*[1-9]")

    def test_usage_errors(self):
        self.assert_refused(("--shape", "qwen2.5-3b", "--gpu", "h300"), 2, "--gpu", "h300", "4090")
        self.assert_refused(("--shape", "qwen2.5-3b", "--gpu", "h100", "--constants", "fair"), 2, "--constants", "fair",
                            "expected or harsh")
        self.assert_refused(("--shape", "qwen2.5-3b"), 2, "--gpu")
        self.assert_refused(("--shape", "qwen9", "--gpu", "h100"), 2, "--shape", "qwen9", "qwen2.5-7b")
        self.assert_refused(("--gpu", "h100"), 2, "--shape", "--model")
        self.assert_refused(("--gpu", "h100", "--shape", "qwen2.5-3b", "--model", "x.gguf"), 2, "--shape", "--model")
        self.assert_refused(("--gpu", "h100", "--speed", "3"), 2, "--speed")
        self.assert_refused(("--gpu",), 2, "--gpu")

    def test_other_errors(self):
        self.assert_refused(("--gpu", "h100", "--model", "/nowhere/x.gguf"), 1, "/nowhere/x.gguf")
        with open("/dev/full", "wb") as full:
            run = subprocess.run([PREDICT_SPEED, "--help"], stdout=full, stderr=subprocess.PIPE)
        self.assertEqual((run.returncode, run.stderr), (1, b"predict_speed: cannot write to standard output\n"))

    def test_help(self):
        text = self.run_well("--help")
        for option in ("--shape", "--model", "--gpu", "--constants"):
            self.assertIn(option, text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
