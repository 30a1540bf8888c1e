#!/usr/bin/env python3
"""Calls of tools at servers on standard streams, through the client's classes.

usage: mcp_stdio_test.py CHAT CLI_MODELS MCP_CALL [unittest arguments]
"""
import json
import os
import sys
import unittest

from mcp_case import Case, is_sanitized

MAX_RESULT = 1 << 20


class Calls(Case):
    def call_one(self, era, fault="-", arguments=None, **more):
        result, *_, self.last = self.call(self.scripted(era, fault, **more), arguments or {"text": "hi"})
        return result

    def test_both_eras_answer(self):
        for era in ("modern", "legacy"):
            with self.subTest(era):
                results = self.call(self.scripted(era), {"text": "h\u00e9\n\0"}, ("server__do_it_now", {}), ("server__no", {}))
                self.assertEqual([(r["status"], r["text"]) for r in results[:2]], [("ok", "h\u00e9\n\0"), ("ok", "do it.now")])
                self.assertEqual(results[2]["status"], "error")
                self.assertIn("server__no'; the tools are server__echo, server__environment", results[2]["text"])
                self.assertEqual(results[3]["states"][0]["instructions"], "Be kind.")
                self.assertEqual(self.notices, "")

    def test_calls_run_at_once(self):
        results = self.call(self.scripted("modern", "slow"), *[{"text": str(n / 5)} for n in range(4)], flags=["--at-once"])
        self.assertEqual([r["text"] for r in results[:4]], ["0.0", "0.2", "0.4", "0.6"])

    def test_the_environment_is_small(self):
        *_, result, _ = self.call(self.scripted("modern", env={"MINE": "yes", "LANG": "C"}), ("server__environment", {}),
                                  HF_TOKEN="secret", OPENAI_API_KEY="secret", AWS_SECRET_ACCESS_KEY="secret", LC_TIME="C",
                                  XDG_SEAT="seat0", LD_LIBRARY_PATH="/x")
        variables = json.loads(result["text"])
        self.assertNotIn("secret", variables.values())
        self.assertEqual((variables["MINE"], variables["LANG"], variables["LC_TIME"], variables["XDG_SEAT"]),
                         ("yes", "C", "C", "seat0"))
        known = {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PWD", "DISPLAY",
                 "WAYLAND_DISPLAY", "MINE"}
        self.assertEqual({name for name in variables if not name.startswith(("LC_", "XDG_"))} - known, set())
        self.assertLessEqual({"PATH", "HOME"}, set(variables))

    def test_a_process_has_three_streams_and_a_group_of_its_own(self):
        result = self.call_one("modern", "descriptors", cwd=self.folder)
        self.assertEqual(json.loads(result["text"]), [4, True, os.path.realpath(self.folder)])

    def test_kinds_of_results(self):
        for fault, status, text in (
                ("tool_error", "error", "it went wrong"), ("error", "error", "the argument \\x1b[31mtext is missing"),
                ("structured", "ok", '{"a":[1,2]}'), ("empty", "ok", ""),
                ("parts", "ok", "one\n[image image/png, 300 bytes]\n[audio audio/wav, 3 bytes]\nnotes: file:///n.txt\n"
                                "inside\n[resource file:///b, 3 bytes]\n[unknown part smell]\n[unknown part]")):
            with self.subTest(fault):
                result = self.call_one("legacy", fault)
                self.assertEqual((result["status"], result["text"]), (status, text))
                self.assertEqual(result["images"], int(fault == "parts"))

    def test_large_results_are_cut(self):
        result = self.call_one("modern", "big")
        text, _, note = result["text"].rpartition("\n")
        self.assertEqual((result["status"], text), ("ok", "\u00e9" * (MAX_RESULT // 2)))
        self.assertEqual(note, "[cut: the first 1,048,576 of 10,000,000 bytes]")

    def test_a_line_of_512_mib(self):
        result, after, last = self.call(self.scripted("legacy", "huge_line"), {}, ("server__no", {}))
        self.assertEqual(result["status"], "error")
        self.assertIn("more than 16,777,216 bytes", result["text"])
        if not is_sanitized():
            self.assertLess(last["max_rss_mib"], 100)

    def test_messages_that_cannot_be_read(self):
        result = self.call_one("legacy", "bad_responses")
        self.assertEqual(result["status"], "error")
        self.assertIn('"content" that is no list', result["text"])
        log = "\n".join(self.last["states"][0]["log"])
        for words in ("not valid JSON (byte 1): no json", "something that is no object", "nested deeper than 128 levels",
                      "answers no open request", "notification: notifications/unheard_of"):
            self.assertIn(words, log)

    def test_answers_that_are_none(self):
        self.assertIn("no response of JSON-RPC", self.call_one("legacy", "no_response")["text"])
        self.assertIn("unknown type", self.call_one("modern", "unknown_type")["text"])

    def test_times(self):
        """Side by side: an answer that is nested too deep, one that never comes, and one that takes its time."""
        first, second, deep, slow, last = self.call_all(
            {"hang": self.scripted("legacy", "hang", "hang", timeout=3.5), "deep": self.scripted("legacy", "deep", timeout=3),
             "slow": self.scripted("modern", "progress", timeout=4)},
            ("hang__echo", {}), ("hang__echo", {}), ("deep__echo", {}), ("slow__echo", {"text": "hi"}), flags=["--at-once"])
        self.assertIn("within 3 seconds", deep["text"])
        for result in (first, second):
            self.assertEqual(result["status"], "error")
            self.assertIn("within 3.5 seconds", result["text"])
            self.assertLess(result["seconds"], 15)
        cancelled = [json.loads(e.split(" ", 2)[2]) for e in self.events("hang") if "notifications/cancelled" in e]
        self.assertEqual([c["reason"] for c in cancelled], ["timeout"] * 2)
        self.assertEqual(len(self.pids("hang")), 1)
        self.assertEqual([state["state"] for state in last["states"]], ["open"] * 3, "the servers stay")
        self.assertEqual((slow["status"], slow["text"]), ("ok", "hi"), "progress moves the deadline")
        self.assertGreater(slow["seconds"], 4)
        self.assertEqual(slow["progress"], [[n, 4, "step \\x1b[31m"] for n in (1, 2, 3, 4)])

    def test_a_call_is_stopped_from_another_thread(self):
        result, last = self.call(self.scripted("modern", "hang"), {}, flags=["--stop-after", "0.5"])
        self.assertEqual(result["status"], "stopped")
        self.assertLess(result["seconds"], 10)
        self.assertTrue(any("notifications/cancelled" in e for e in self.events()))

    def test_a_server_that_ends_is_started_once_more(self):
        results = self.call(self.scripted("legacy", "crash_once"), {"text": "a"}, {"text": "b"}, {"text": "c"})
        self.assertIn("ended during the call (exit code 7)", results[0]["text"])
        self.assertEqual([r["text"] for r in results[1:3]], ["b", "c"])
        self.assertEqual(self.notices, "MCP server 'server': it ended during a call (exit code 7)\n")
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(len([e for e in self.events() if "server/discover" in e]), 1, "the era is known")

    def test_a_server_that_ends_twice_stays_ended(self):
        results = self.call(self.scripted("modern", "crash"), {}, {}, {}, {})
        self.assertEqual([r["status"] for r in results[:4]], ["error"] * 4)
        self.assertIn("has ended, and is not started again", results[2]["text"])
        self.assertIn("has ended, and is not started again", results[3]["text"])
        self.assertEqual(len(self.pids()), 2)
        self.assertEqual(self.notices.count("'server'"), 2)
        self.assertEqual(results[4]["states"][0]["state"], "ended")

    def test_questions_of_servers(self):
        answers = json.loads(self.call_one("legacy", "asks")["text"])
        self.assertEqual([(a["id"], a.get("result"), a.get("error", {}).get("code")) for a in answers],
                         [("q1", {}, None), (2, {"action": "decline"}, None), (3, None, -32601)])
        self.assertEqual(json.loads(self.call_one("modern", "input")["text"]), ["s1", {"who": {"action": "decline"}}])
        self.assertIn("keeps asking for input", self.call_one("modern", "input_for_ever")["text"])
        self.assertIn("sampling/createMessage", self.call_one("modern", "wants_sampling")["text"])

    def test_the_end_of_a_stubborn_server(self):
        last = self.call(self.scripted("legacy", "stubborn"))[-1]
        self.assertLess(last["end_seconds"], 10)
        self.assertGreater(last["end_seconds"], 2.5)
        self.assert_gone(self.pids())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
