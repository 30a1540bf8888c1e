"""Shared by tests that ask an endpoint with faults on demand through the chat program."""
import os
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from fake_endpoint import TEXT, FakeEndpoint  # noqa: E402
from program import FOLDER, Run, environment  # noqa: E402


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)

    def server(self, **more):
        return self.enterContext(FakeEndpoint(**more))

    def env(self, **more):
        """Without a bus, no keyring of this user is asked."""
        return environment(self.home, **{"DBUS_SESSION_BUS_ADDRESS": "", "WARPCHAT_ENDPOINT_WAIT_MS": "1",
                                         "no_proxy": "*", "CURL_CA_BUNDLE": "", "SSL_CERT_FILE": "", **more})

    def ask(self, server, script="", *flags, stdin=b"", **variables):
        url = server if isinstance(server, str) else f"{server.origin}/{script}/v1" if script else server.url
        return Run("--endpoint", url, "-p", "Hi", *flags, stdin=stdin, env=self.env(**variables))

    def assert_fails(self, run, *words, code=1, out=""):
        self.assertEqual((run.code, run.out.decode()), (code, out and out + "\n"), run)
        last = run.err.decode().splitlines()[-1]
        self.assertRegex(last, r"\Achat: .*[^.]\Z", run)
        for word in words:
            self.assertIn(word, last, run)

    def assert_answers(self, run, text=TEXT):
        self.assertEqual((run.code, run.out.decode()), (0, text + "\n"), run)
