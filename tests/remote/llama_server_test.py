#!/usr/bin/env python3
"""llama.cpp's own server, as xllamacpp (PyPI) brings it, with the demo model: answers through the chat program.

usage: llama_server_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

sys.path[:0] = [os.path.join(os.path.dirname(__file__), "..", "app")]
from program import FOLDER, Run, environment  # noqa: E402

MODEL = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"),
                     "warpchat/models/SmolLM2-135M-Instruct.Q4_1.gguf")
MOST_SECONDS = 300  # for the server to load
KEY = "sk-right"
SERVER = f"""
import sys, threading, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path, parameters.port = sys.argv[1], int(sys.argv[2])
parameters.n_ctx = parameters.n_parallel * 1024
parameters.api_keys = ["{KEY}"]
server = xllamacpp.Server(parameters)
threading.Event().wait()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@unittest.skipUnless(os.path.exists(MODEL), "the demo model is not here")
class LlamaServer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        port = free_port()
        cls.url = f"http://127.0.0.1:{port}"
        cls.log = open(os.path.join(FOLDER, "server.log"), "w+b")
        cls.process = subprocess.Popen(
            [sys.executable, "-c", SERVER, MODEL, str(port)], stdout=cls.log, stderr=cls.log)
        end = time.monotonic() + MOST_SECONDS
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

    def ask(self, *flags):
        env = environment(tempfile.mkdtemp(dir=FOLDER), DBUS_SESSION_BUS_ADDRESS="", no_proxy="*", MY_KEY=KEY)
        return Run("--endpoint", self.url, "--api-key-env", "MY_KEY", *flags, env=env)

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
        self.assertRegex(run.err.decode(), r"prompt       \d+ tokens, \d+ of them computed in .*\n"
                                           r"answer       \d+ tokens in")

    def test_a_prompt_that_is_too_long(self):
        run = self.ask("-p", "x " * 9000)
        self.assertEqual((run.code, run.out), (1, b""), run)
        self.assertRegex(run.err.decode(), r"\Achat: 127.0.0.1:\d+ refuses the request: .* exceeds .* context")

    def test_a_wrong_key(self):
        run = Run("--endpoint", self.url, "-m", "x", "-p", "x",
                  env=environment(tempfile.mkdtemp(dir=FOLDER), DBUS_SESSION_BUS_ADDRESS="", no_proxy="*"))
        self.assertEqual(run.code, 1, run)
        self.assertIn("answers 401: it wants a key", run.err.decode())

    def test_text_is_completed(self):
        run = self.ask("--raw", "-p", "One, two, three,", "--temp", "0", "-n", "8")
        self.assertEqual(run.code, 0, run)
        self.assertTrue(run.out.strip(), run)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
