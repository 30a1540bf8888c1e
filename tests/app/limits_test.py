#!/usr/bin/env python3
"""The chat program on a system that gives less than it asks for: fewer threads, less address space.
Every run ends in the answer or in one sentence.

usage: limits_test.py CHAT CLI_MODELS REFUSED_THREADS [unittest arguments]
"""
import concurrent.futures
import os
import re
import sys
import unittest

from program import TINY, Run, environment, path

REFUSED_THREADS = os.path.abspath(sys.argv[3])
# The C library ends a program by itself if a thread's first use of the emulator's thread-local data finds no memory.
THREAD_LOCAL = b"cannot allocate memory for thread-local data: ABORT"
ONE_SENTENCE = re.compile(rb"\Achat: [^\n]+[^.\n]\n\Z")


class Case(unittest.TestCase):
    def assert_answered_or_refused(self, run, answer, where):
        if run.code == 0:
            self.assertEqual(run.out, answer, (where, run))
        else:
            self.assertEqual(run.code, 1, (where, run))
            self.assertTrue(answer.startswith(run.out.removesuffix(b"\n")), (where, run))
            self.assertRegex(run.err, ONE_SENTENCE, where)


class Threads(Case):
    def answer(self, device, first, last, log=""):
        """One answer while the threads with these numbers, from 1, are refused."""
        preloaded = environment(LD_PRELOAD=REFUSED_THREADS, REFUSED_THREADS=f"{first}-{last}", ASKED_THREADS=log,
                                ASAN_OPTIONS="verify_asan_link_order=0")
        return Run("-m", TINY, "-p", "hi", "-n", "4", "--temp", "0", "--device", device, env=preloaded)

    def sweep(self, device, n_alone):
        log = path("asked." + device, b"")
        well = self.answer(device, 0, 0, log)
        self.assertEqual(well.code, 0, well)
        n_threads = os.path.getsize(log)
        self.assertGreater(n_threads, 2)
        ranges = [(n, 10**9) for n in range(1, n_threads + 1)] + [(n, n) for n in range(1, min(n_threads, n_alone) + 1)]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            runs = list(pool.map(lambda refused: self.answer(device, *refused), ranges))
        for refused, run in zip(ranges, runs):
            self.assert_answered_or_refused(run, well.out, (device, refused))
        self.assertIn(1, [run.code for run in runs], "no run needed the threads it was refused")

    def test_on_the_cpu(self):
        self.sweep("cpu", n_alone=100)

    def test_on_the_emulator(self):
        self.sweep("emulator", n_alone=12)


class AddressSpace(Case):
    def logits(self, kib):
        out = path("limited.f32")
        if os.path.exists(out):
            os.unlink(out)
        run = Run("logits", "-m", TINY, "--tokens", ",".join(map(str, range(100))), "-o", out, "-t", "2",
                  shell_limits=f"ulimit -v {kib}")
        self.assertEqual(os.path.exists(out), run.code == 0, (kib, run))
        if b"error while loading shared libraries" not in run.err:  # before the program begins
            self.assert_answered_or_refused(run, b"", kib)
        return run

    def setUp(self):
        if Run("--version", shell_limits="ulimit -v 2000000").code != 0:
            self.skipTest("the sanitizer reserves the whole address space")

    def test_the_emulator_s_memory(self):
        ask = ("-m", TINY, "-p", "hi", "-n", "4", "--temp", "0", "--device", "emulator")
        well = Run(*ask)
        self.assertEqual(well.code, 0, well)
        for kib in (2000000, 1000000):  # less than its memory
            run = Run(*ask, shell_limits=f"ulimit -v {kib}")
            self.assertEqual((run.code, run.out), (0, well.out), (kib, run))
        for kib in range(150000, 500000, 50000):
            run = Run(*ask, shell_limits=f"ulimit -v {kib}")
            if THREAD_LOCAL not in run.err:
                self.assert_answered_or_refused(run, well.out, kib)

    def test_logits(self):
        too_little, enough = 0, 2000000  # KiB
        self.assertEqual(self.logits(enough).code, 0)
        while enough - too_little > 512:
            middle = (too_little + enough) // 2
            if self.logits(middle).code == 0:
                enough = middle
            else:
                too_little = middle
        for less in range(512, 12 * 1024, 1024):
            self.logits(enough - less)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
