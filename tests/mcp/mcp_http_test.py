#!/usr/bin/env python3
"""Calls of tools at servers over HTTP, through the client's classes.

usage: mcp_http_test.py CHAT CLI_MODELS MCP_CALL [unittest arguments]
"""
import base64
import sys
import unittest

from mcp_case import Case
from scripted_http import Server


class Calls(Case):
    def call_at(self, era, fault="", arguments=None, flags=(), **more):
        self.server = Server(era, fault)
        self.addCleanup(self.server.close)
        return self.call({"url": self.server.url, **more}, *(arguments or [{"text": "hi"}]), flags=flags)[0]

    def test_json_and_streams_in_both_eras(self):
        for era in ("modern", "legacy"):
            for fault in ("", "stream", "stays_open"):
                with self.subTest(era=era, fault=fault):
                    result = self.call_at(era, fault)
                    self.assertEqual((result["status"], result["text"]), ("ok", "hi"))

    def test_questions_in_a_stream(self):
        for era in ("legacy", "modern"):
            self.assertEqual(self.call_at(era, "asks")["text"], "hi")
            answers = [body for _, _, body in self.server.requests if body and "method" not in body]
            self.assertEqual([(a["id"], a.get("result"), a.get("error", {}).get("code")) for a in answers],
                             [("q0", {}, None), ("q1", {"action": "decline"}, None), ("q2", None, -32601)]
                             if era == "legacy" else [])

    def test_headers_of_a_modern_call(self):
        text = " \u00e9\n"
        self.call_at("modern", "", [{"text": text}, {"text": "plain"}, {}])
        encoded, plain, none = self.server.headers("tools/call")
        self.assertEqual((plain["Mcp-Method"], plain["Mcp-Name"], plain["Mcp-Param-Text"]), ("tools/call", "echo", "plain"))
        self.assertEqual(encoded["Mcp-Param-Text"], "=?base64?" + base64.b64encode(text.encode()).decode() + "?=")
        self.assertNotIn("Mcp-Param-Text", none)
        for headers in (encoded, plain, none):
            self.assertEqual(headers["MCP-Protocol-Version"], "2026-07-28")
            self.assertEqual(headers["Accept"], "application/json, text/event-stream")
            self.assertNotIn("Mcp-Session-Id", headers)

    def test_faults_of_a_call(self):
        for fault, words in (("call_500", "HTTP 500: out of order"), ("call_page", "web page"),
                             ("cut", "stream ended before the answer"), ("big", "more than 16,777,216 bytes")):
            with self.subTest(fault):
                result = self.call_at("legacy", fault)
                self.assertEqual(result["status"], "error")
                self.assertIn(words, result["text"])
                self.assertEqual(len(self.server.bodies("tools/call")), 1, "a call is never repeated")

    def test_the_timeout_covers_the_whole_answer(self):
        servers = {f"{era}-{fault}": Server(era, fault) for era in ("modern", "legacy") for fault in ("drip", "hang")}
        for server in servers.values():
            self.addCleanup(server.close)
        results = self.call_all({name: {"url": server.url, "timeout": 2} for name, server in servers.items()},
                                *[(f"{name}__echo", {}) for name in servers], flags=["--at-once"])
        for (name, server), result in zip(servers.items(), results):
            with self.subTest(name):
                self.assertIn("within 2 seconds", result["text"])
                self.assertLess(result["seconds"], 15)
                self.assertEqual(len(server.bodies("notifications/cancelled")), int(server.era == "legacy"))

    def test_a_call_is_stopped(self):
        result = self.call_at("legacy", "drip", flags=["--stop-after", "0.5"])
        self.assertEqual(result["status"], "stopped")
        self.assertLess(result["seconds"], 15)

    def test_a_forgotten_session_is_opened_again(self):
        result = self.call_at("legacy", "forgets")
        self.assertEqual((result["status"], result["text"]), ("ok", "hi"))
        self.assertEqual(len(self.server.bodies("initialize")), 2)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
