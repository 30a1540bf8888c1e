#!/usr/bin/env python3
"""The MCP client against servers by the Python SDK, both eras: on standard streams and over HTTP.

usage: real_servers_test.py CHAT CLI_MODELS MCP_CALL SDK_1 SDK_2 [unittest arguments]
  SDK_1, SDK_2: folders with the package mcp 1.x and 2.x
"""
import os
import socket
import subprocess
import sys
import time
import unittest

SDKS = {name: os.path.abspath(sys.argv.pop(4)) for name in ("1", "2")}

from mcp_case import Case  # noqa: E402

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "real_server.py")
VERSIONS = {"1": "2025-11-25", "2": "2026-07-28"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class RealServers(Case):
    def start_http(self, sdk, *flags):
        port = free_port()
        process = subprocess.Popen([sys.executable, SERVER, "http", str(port), *flags], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": SDKS[sdk]})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return {"url": f"http://127.0.0.1:{port}/mcp", "timeout": 60}
            except OSError:
                self.assertLess(time.monotonic(), end, "the server does not listen")
                time.sleep(0.1)

    def check(self, sdk, server, tells_progress=True):
        run = self.chat_mcp("list", servers={"server": server})
        self.assertEqual(run.out.decode().split()[:4], ["server", VERSIONS[sdk], "4", "tools"], run)
        self.assertEqual(run.err, b"")
        self.assertIn("server__add  Add two numbers.\n", self.chat_mcp("tools").out.decode())
        calls = [("server__add", {"a": 40, "b": 2}), ("server__fail", {"reason": "no luck"}),
                 ("server__steps", {"n": 3}), ("server__add", {"a": "x"}), ("server__repeat", {"text": "é", "n": 700_000})]
        *results, last = self.call(server, *calls)
        add, fail, steps, wrong, repeat = results
        self.assertEqual((add["status"], add["text"]), ("ok", "42"))
        self.assertEqual(fail["status"], "error")
        self.assertIn("no luck" if sdk == "1" else "fail", fail["text"])
        self.assertEqual((steps["status"], steps["text"]), ("ok", "3 steps"))
        self.assertEqual([step[:2] for step in steps["progress"]], [[1, 3], [2, 3], [3, 3]] if tells_progress else [])
        self.assertEqual(wrong["status"], "error")
        self.assertEqual(repeat["status"], "ok", repeat["text"][:300])
        self.assertTrue(repeat["text"].endswith("of 1,400,000 bytes]"))
        self.assertEqual(last["states"][0]["instructions"], "Add numbers.")
        self.assertEqual(self.notices, "")

    def test_standard_streams(self):
        for sdk, folder in SDKS.items():
            with self.subTest(sdk):
                self.check(sdk, {"command": sys.executable, "args": [SERVER, "stdio"], "env": {"PYTHONPATH": folder},
                                 "timeout": 60})

    def test_http(self):
        for sdk in SDKS:
            for flags in ((), ("json",), ("stateless",)):
                with self.subTest(sdk=sdk, flags=flags):
                    self.check(sdk, self.start_http(sdk, *flags), tells_progress="json" not in flags)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
