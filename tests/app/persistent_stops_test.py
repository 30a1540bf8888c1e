"""The program with the persistent kernel, on a GPU whose driver delays loads until the device is idle:
persistent_stops_test.py CHAT MAKE_MODELS LIBCUDA.

Answers with drafts run to the end, are stopped, lose their model to another one, or their window closes. Each a few
times; with $WARPCHAT_FULL_TESTS a hundred times, each within a second."""
import os
import shutil
import subprocess
import sys
import time
import unittest

FULL = os.environ.get("WARPCHAT_FULL_TESTS")
ROUNDS = 100 if FULL else 3
MAX_SECONDS = 1.0  # limit of a stop in the long test
LIBCUDA = os.path.dirname(os.path.abspath(sys.argv[3]))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gui"))

from program import ENDLESS, FOLDER, TINY, environment, CHAT  # noqa: E402
from pseudo_terminal import Case  # noqa: E402

GPU = {"LD_LIBRARY_PATH": LIBCUDA, "CUDA_EMULATOR_DEVICE": "sm_90,sms=4", "CUDA_EMULATOR_LOADS_DRAIN": "1"}
FLAGS = ("--device", "cuda", "--no-device-check", "-c", "8192")
REPEATS = "the sea and the wind and the sea and the wind and the sea and the wind and the sea"  # gives drafts


class PersistentStops(Case):
    def check_times(self, what, times):
        times.sort()
        print(f"{what}: {len(times)} times, median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s",
              file=sys.stderr)
        if FULL:
            self.assertLess(times[-1], MAX_SECONDS, what)

    def start_answer(self, terminal):
        terminal.type(REPEATS + "\r")
        terminal.wait_for(REPEATS[-20:] + "\n")
        while not terminal.answer().strip():
            terminal.read_some(1)

    def test_answers_with_drafts_end(self):
        for mode in ("persistent", "auto"):
            for i in range(ROUNDS):
                run = subprocess.run(
                    [CHAT, "-m", TINY, "-p", REPEATS, "-n", "200", "--temp", "0", "--seed", str(i), "--launch", mode, *FLAGS],
                    env=environment(**GPU), capture_output=True, timeout=60)
                self.assertEqual(run.returncode, 0, run.stderr)

    def test_an_interrupt_stops_it(self):
        terminal = self.start(*FLAGS, "--launch", "persistent", "-n", "-1", model=ENDLESS, **GPU)
        times = []
        for _ in range(ROUNDS):
            terminal.type("/new\r")
            terminal.wait_for("> ")
            self.start_answer(terminal)
            began = time.monotonic()
            terminal.type("\x03")
            terminal.wait_for("(stopped; /continue resumes it)")
            times.append(time.monotonic() - began)
            terminal.wait_for("> ")
        self.check_times("Ctrl-C", times)

    def test_another_model_takes_its_place(self):
        terminal = self.start(*FLAGS, "--launch", "persistent", "-n", "-1", model=ENDLESS, **GPU)
        times = []
        for _ in range(ROUNDS):
            self.start_answer(terminal)
            began = time.monotonic()
            terminal.type("\x03")
            terminal.wait_for("(stopped; /continue resumes it)")
            times.append(time.monotonic() - began)
            for command, says in (("/model " + ENDLESS, "endless, "), ("/new", "")):
                terminal.type(command + "\r")
                terminal.wait_for(says)
                terminal.wait_for("> ")
        self.check_times("Ctrl-C before /model", times)

    @unittest.skipUnless(FULL and shutil.which("Xvfb"), "with $WARPCHAT_FULL_TESTS, where there is Xvfb")
    def test_its_window_closes(self):
        from desktop import Display, Window
        display = Display()
        self.addCleanup(display.close)
        times = []
        for i in range(ROUNDS):
            home = os.path.join(FOLDER, f"window{i}")
            os.makedirs(home)
            window = Window(display, "-m", ENDLESS, "--launch", "persistent", *FLAGS, home=home, **GPU)
            self.addCleanup(window.kill)
            window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the model")
            window.key("ctrl+l")
            window.type("go on")
            window.key("Return")
            window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["last_text"], "some text")
            began = time.monotonic()
            window.key("ctrl+q")
            self.assertEqual(window.wait(), 0)
            times.append(time.monotonic() - began)
        self.check_times("closing the window", times)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
