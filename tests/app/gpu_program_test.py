"""The program on a GPU: gpu_program_test.py CHAT MAKE_MODELS LIBCUDA.

The emulator plays the GPU under libcuda's name (tests/support/flawed_cuda.cpp): correct, with a wrong kernel or
barrier, and with endless kernels."""
import json
import os
import sys
import tempfile
import unittest

from program import FOLDER, HYBRID, TINY, Run, environment

LIBCUDA = os.path.dirname(os.path.abspath(sys.argv[3]))
SECONDS = 3  # limit of a pass, where it hangs
WRONG_STREAM = "gemv|rsqrt.approx|sqrt.approx"  # in the normalising kernels
WRONG_PERSISTENT = "persistent_decoder|rsqrt.approx|sqrt.approx"
ARRIVAL = "red.release.gpu.global.add.u64 [%barrier], "
EARLY_BARRIER = f"persistent_decoder|{ARRIVAL}1|{ARRIVAL}4"  # opens for the first block
CLOSED_BARRIER = f"persistent_decoder|{ARRIVAL}1|{ARRIVAL}0"
ENDLESS_KERNEL = "embedding|\n  ret;|\n  { $never: bra $never; }"


class Gpu:
    """A home, and a GPU with that flaw."""

    def __init__(self, flaw="", seconds=None, **more):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.set(flaw, seconds, **more)

    def set(self, flaw="", seconds=None, **more):
        self.env = environment(self.home, LD_LIBRARY_PATH=LIBCUDA, CUDA_EMULATOR_DEVICE="sm_90,sms=4", **more)
        if flaw:
            self.env["FLAW"] = flaw
        if seconds:
            self.env["WARPCHAT_DEVICE_TIMEOUT"] = str(seconds)

    def run(self, *arguments):
        return Run(*arguments, env=self.env)

    def answer(self, *arguments, n=4):
        return self.run("-m", TINY, "-p", "the sea", "-n", str(n), "--temp", "0", *arguments)

    def record(self):
        with open(os.path.join(self.home, ".local/state/warpchat/devices.json")) as file:
            (entry,) = json.load(file).values()
        return entry


class GpuProgram(unittest.TestCase):
    def check(self, run, code, *parts):
        self.assertEqual(run.code, code, run)
        for part in parts:
            self.assertIn(part, (run.out + run.err).decode(), run)

    def test_a_gpu_that_is_right_is_used_and_checked_once(self):
        gpu = Gpu()
        first = gpu.answer("--verbose")
        self.check(first, 0)
        self.assertEqual(gpu.record(), {"check": ""})
        self.assertEqual(first.out, gpu.answer("--device", "cpu").out)
        gpu.set(WRONG_STREAM)  # not noticed: the remembered result is for this GPU, driver and build
        self.check(gpu.answer("--device", "cuda"), 0)
        self.check(gpu.run("check-device"), 1, "stream", "failed: its numbers are wrong")
        self.assertEqual(gpu.record(), {"check": "stream: its numbers are wrong"})
        gpu.set()
        self.check(gpu.run("check-device", "--device", "cuda:0"), 0, "persistent  stream, to the bit    0.0e+00")
        self.assertEqual(gpu.record(), {"check": ""})

    def test_a_wrong_kernel_leaves_the_default_to_the_cpu(self):
        gpu = Gpu(WRONG_STREAM)
        self.check(gpu.answer(), 0, "the GPU failed its check (stream: its numbers are wrong)", "using the CPU instead")
        refused = gpu.answer("--device", "cuda")
        self.check(refused, 1, "the GPU failed its check", "; chat check-device checks it again, --no-device-check uses it "
                   "anyway, --device cpu works without it\n")
        self.assertEqual(refused.out, b"")
        self.check(gpu.answer("--device", "cuda", "--no-device-check"), 0)
        self.check(gpu.answer("--device", "cpu"), 0)
        gpu.set()  # mended
        self.check(gpu.run("check-device"), 0)
        self.check(gpu.answer("--device", "cuda"), 0)

    def test_a_wrong_barrier_is_found(self):
        self.check(Gpu(EARLY_BARRIER).run("check-device"), 1, "graph       stream, to the bit    0.0e+00",
                   "persistent", "failed: its numbers are wrong")

    def test_what_hangs_is_found_and_left(self):
        for flaw, mode in ((CLOSED_BARRIER, "persistent: "), (ENDLESS_KERNEL, "stream: ")):
            gpu = Gpu(flaw, SECONDS)
            self.check(gpu.run("check-device"), 1, f"has not finished computing within {SECONDS} s")
            self.assertTrue(gpu.record()["check"].startswith(mode), gpu.record())
            self.check(gpu.answer(), 0, "the GPU failed its check", "using the CPU instead")

    def test_a_hang_ends_the_answer_with_a_sentence(self):
        gpu = Gpu(ENDLESS_KERNEL, SECONDS)
        self.check(gpu.answer("--device", "cuda", "--no-device-check", "--launch", "stream"), 1,
                   f"the GPU has not finished computing within {SECONDS} s and is not used any more")

    def test_a_mode_that_hung_is_remembered(self):
        gpu = Gpu(CLOSED_BARRIER, SECONDS)  # named, since a busy machine may measure another mode as faster
        self.check(gpu.answer("--no-device-check", "--launch", "persistent", n=60), 1, "has not finished computing")
        self.assertEqual(list(gpu.record()["failed modes"]), ["persistent"])
        self.check(gpu.answer("--no-device-check", n=60), 0)

    def test_a_mode_with_other_logits_is_left_out(self):
        gpu = Gpu(WRONG_PERSISTENT)
        right = gpu.answer("--device", "cpu", n=60).out
        self.assertEqual(gpu.answer("--no-device-check", n=60).out, right)
        self.check(gpu.answer("--no-device-check", "--launch", "persistent"), 1,
                   "the logits of launch mode persistent differ from those of stream")
        hybrid = ("-m", HYBRID, "-p", "the sea", "-n", "20", "--temp", "0", "--no-device-check")
        gpu.set()
        right = gpu.run(*hybrid, "--launch", "stream").out
        for mode in ("graph", "persistent"):  # the comparison must not change the state of these modes
            self.assertEqual(gpu.run(*hybrid, "--launch", mode).out, right, mode)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
