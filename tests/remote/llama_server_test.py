#!/usr/bin/env python3
"""Other projects' servers with the demo model, through the terminal and the window: llama.cpp's server from xllamacpp
(PyPI), and llama-cpp-python's (PyPI, llama-cpp-python[server]).

usage: llama_server_test.py CHAT CLI_MODELS [unittest arguments]
"""
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", folder) for folder in ("app", "gui")]
from desktop import Display, Window  # noqa: E402
from program import FOLDER, Run, environment  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402

MODEL = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "warpchat/models/SmolLM2-135M-Instruct.Q4_1.gguf")
MAX_SECONDS = 300  # limit for loading a server
KEY = "sk-right"
# One thread: on a busy machine, several mostly wait for each other.
XLLAMACPP = f"""
import sys, threading, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.n_ctx = parameters.n_parallel * 1024
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
parameters.endpoint_metrics = True
parameters.api_keys = ["{KEY}"]
server = xllamacpp.Server(parameters)
threading.Event().wait()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(os.path.exists(MODEL), "the demo model is not here")
class Server:
    """What every server has to do."""

    @classmethod
    def setUpClass(cls):
        if importlib.util.find_spec(cls.module) is None:
            raise unittest.SkipTest(f"{cls.module} is not installed")
        port = free_port()
        cls.url = f"http://127.0.0.1:{port}"
        cls.log = open(os.path.join(FOLDER, cls.module + ".log"), "w+b")
        cls.process = subprocess.Popen([sys.executable, *cls.command(str(port))], stdout=cls.log, stderr=cls.log)
        end = time.monotonic() + MAX_SECONDS
        while time.monotonic() < end and cls.process.poll() is None:
            try:
                return cls.get("/v1/models")
            except OSError:
                time.sleep(0.2)
        cls.log.seek(0)
        raise AssertionError("the server does not start: " + cls.log.read()[-2000:].decode(errors="replace"))

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.wait()
        cls.log.close()

    @classmethod
    def get(cls, path, body=None):
        request = urllib.request.Request(cls.url + path, body and json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "Authorization": "Bearer " + KEY})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            return json.load(answer)

    VARIABLES = {"DBUS_SESSION_BUS_ADDRESS": "", "no_proxy": "*", "MY_KEY": KEY}

    def flags(self):
        return "--endpoint", self.url, "--api-key-env", "MY_KEY"

    def ask(self, *flags):
        return Run(*self.flags(), *flags, env=environment(tempfile.mkdtemp(dir=FOLDER), **self.VARIABLES))

    def test_its_model_is_listed(self):
        run = self.ask("--list-models")
        self.assertEqual((run.code, run.out.decode().split()[0]), (0, MODEL), run)

    def test_it_says_what_it_says_to_others(self):
        prompt = "Count from one to ten."
        whole = self.get("/v1/chat/completions", {
            "messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": 24})
        run = self.ask("-p", prompt, "--temp", "0", "-n", "24", "--verbose")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.out.decode().strip(), whole["choices"][0]["message"]["content"].strip())
        self.assertRegex(run.err.decode(), r"answer       \d+ tokens in")

    def test_a_prompt_that_is_too_long(self):
        """By the server's own count: this side cannot know the prompt's length."""
        run = self.ask("-p", "x-" * 3000)
        self.assertEqual((run.code, run.out), (1, b""), run)
        self.assertRegex(run.err.decode(), r"\Achat: 127.0.0.1:\d+ " + self.too_long)

    def test_a_wrong_key(self):
        run = Run("--endpoint", self.url, "-m", "x", "-p", "x",
                  env=environment(tempfile.mkdtemp(dir=FOLDER), DBUS_SESSION_BUS_ADDRESS="", no_proxy="*"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("answers 401: it needs an API key", run.err.decode())

    def test_a_conversation_in_the_terminal(self):
        terminal = Terminal(*self.flags(), "--temp", "0", "-n", "8", home=tempfile.mkdtemp(dir=FOLDER), **self.VARIABLES)
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Count from one to ten.\r")
        terminal.wait_for("(the answer was cut at 8 tokens")
        terminal.type("/perf\r")
        terminal.wait_for("gaps         median ")
        terminal.wait_for(self.told)
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_a_conversation_in_the_window(self):
        display = Display()
        self.addCleanup(display.close)
        window = Window(display, *self.flags(), "--temp", "0", "-n", "8", **self.VARIABLES)
        self.addCleanup(window.kill)
        window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        window.key("ctrl+l")
        window.type("Count from one to ten.")
        window.key("Return")
        state = window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 2, "an answer")
        last = state["conversation"]["messages"][-1]
        self.assertEqual((last["status"], last["cut"]), ("complete", True), state["notices"])
        self.assertTrue(state["conversation"]["last_text"].strip())

    def test_text_is_completed(self):
        run = self.ask("--raw", "-p", "One, two, three,", "--temp", "0", "-n", "8")
        self.assertEqual(run.code, 0, run)
        self.assertTrue(run.out.strip(), run)


class LlamaCpp(Server, unittest.TestCase):
    module, told = "xllamacpp", "answer tokens so far"
    too_long = "refuses the request: .* exceeds .* context.*; a shorter message"

    @staticmethod
    def command(port):
        return "-c", XLLAMACPP, MODEL, port

    def test_it_counts_and_times(self):
        run = self.ask("-p", "Hi", "-n", "4", "--verbose")
        self.assertRegex(run.err.decode(), r"prompt       \d+ tokens, \d+ of them computed in .*\n")

    def test_its_context_is_known(self):
        run = self.ask("-p", "x " * 9000)
        self.assertEqual((run.code, run.out), (1, b""), run)
        self.assertIn("needs 9,000 tokens or more", run.err.decode())
        self.assertIn("holds 1,024", run.err.decode())


class LlamaCppPython(Server, unittest.TestCase):
    module, told = "llama_cpp", "does not tell its load: /metrics answers 404"
    too_long = "answers with nothing; the prompt may be too long"  # with status 200

    @staticmethod
    def command(port):
        return ("-m", "llama_cpp.server", "--model", MODEL, "--host", "127.0.0.1", "--port", port, "--n_ctx", "1024",
                "--n_threads", "1", "--n_threads_batch", "1", "--api_key", KEY)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
