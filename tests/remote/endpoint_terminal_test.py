#!/usr/bin/env python3
"""Conversations in a terminal with a server that has faults on demand.

usage: endpoint_terminal_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import sys
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from endpoint_case import Case  # noqa: E402
from fake_endpoint import TEXT, FakeEndpoint  # noqa: E402
from program import TINY, Run  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402


class Terminals(Case):
    def terminal(self, *arguments, **variables):
        return Terminal(*arguments, home=self.home, DBUS_SESSION_BUS_ADDRESS="", no_proxy="*", **variables)

    def leave(self, terminal):
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def test_a_conversation(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.url)
        terminal.wait_for(f"qwen3-4b, {server.url}, context 4,096")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        terminal.type("/regen\r")
        terminal.wait_for("wörld")
        terminal.type("More\r")
        terminal.wait_for("wörld")
        self.leave(terminal)
        self.assertEqual([[message["content"] for message in body["messages"]] for body in server.bodies()],
                         [["Hi"], ["Hi"], ["Hi", TEXT, "More"]])
        self.assertNotIn("top_k", server.bodies()[0])

    def test_local_and_remote_answers_mix(self):
        server, other = self.server(), self.server(models=["llama"])
        Run("endpoint", "add", "box", other.url, env=self.env())
        terminal = self.terminal("-m", TINY, "-n", "4", "--temp", "0")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.type(f"/model {server.url}\r")
        terminal.wait_for(f"qwen3-4b, {server.url}")
        terminal.type("Two\r")
        terminal.wait_for("wörld")
        terminal.type("/model\r")
        terminal.wait_for(f"box, {other.url}")
        terminal.type("/model box\r")
        terminal.wait_for(f"llama, {other.url}")
        terminal.type("Three\r")
        terminal.wait_for("wörld")
        for _ in range(5):
            terminal.type(f"/model {TINY}\r")
            terminal.wait_for("tiny, 826 kB")
            self.assertFalse(terminal.echoes())
        self.leave(terminal)
        contents = [message["content"] for message in other.bodies()[0]["messages"]]
        self.assertEqual((contents[0], contents[2:]), ("Hi", ["Two", TEXT, "Three"]))

    def test_turns_without_text_are_said_and_not_sent_back(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/strict/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("One\r")
        terminal.wait_for('(the model wants to call search({"q":1}); there are no tools here)')
        terminal.type("Two\r")
        terminal.wait_for("(the answer was cut at the server's limit)")
        terminal.type("Three\r")
        terminal.wait_for("wörld")
        terminal.type("/history\r")
        terminal.wait_for("(the model wants to call search")
        self.leave(terminal)
        self.assertNotIn("()", terminal.seen)
        self.assertEqual(server.bodies()[-1]["messages"], [{"role": "user", "content": "One\n\nTwo\n\nThree"}])

    def test_only_known_servers_are_asked_to_go_on(self):
        for owner, goes_on in (("someone", False), ("vllm", True), ("llamacpp", True), ("sglang", True)):
            server = self.server(owner=owner)
            terminal = self.terminal("--endpoint", server.origin + "/length/v1")
            terminal.wait_for("Ctrl-D leaves")
            terminal.type("Hi\r")
            promise = "; /continue resumes it" if goes_on else ""
            terminal.wait_for(f"(the answer was cut at the server's limit{promise})")
            terminal.type("/continue\r")
            terminal.wait_for("(the answer was cut" if goes_on else "this server may begin the answer anew")
            self.leave(terminal)
            self.assertEqual(len(server.bodies()), 2 if goes_on else 1)

    def test_a_title_leaves_nothing_out_of_answers(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/picky_titles/v1", "--titles", "--temp", "0.5",
                                 "-s", "7")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        end = time.monotonic() + 60
        while len(server.bodies()) < 3:  # the title's two requests
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        terminal.type("More\r")
        terminal.wait_for("wörld")
        self.leave(terminal)
        first, _, title, second = server.bodies()
        self.assertNotIn("temperature", title)
        self.assertEqual((first["temperature"], first["seed"]), (0.5, 7))
        self.assertEqual((second["temperature"], second["seed"]), (0.5, 8))

    def test_a_title_by_the_model(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/titled/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("/set titles on\r")
        terminal.wait_for("titles: on")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        end = time.monotonic() + 60
        while len(server.bodies()) < 2:  # the second request comes while the prompt waits
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        self.assertEqual([message["content"] for message in server.bodies()[1]["messages"][:2]], ["Hi", TEXT])
        seen = ""
        while "A warm greeting" not in seen:
            self.assertLess(time.monotonic(), end)
            terminal.type("/list\r")
            terminal.wait_for("2 messages")
            seen = terminal.wait_for("\n")
        terminal.type("More\r")
        terminal.wait_for("wörld")
        self.leave(terminal)
        self.assertEqual(len(server.bodies()), 3, "one title a conversation")
        self.assertEqual([message["content"] for message in server.bodies()[2]["messages"]], ["Hi", TEXT, "More"])

    def test_answers_have_a_form_and_titles_have_none(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/titled/v1", "-j", '{"type": "array"}', "--titles")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("did not keep to the schema: at byte 0 of the answer")
        end = time.monotonic() + 60
        while len(server.bodies()) < 2:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        terminal.type("More\r")
        terminal.wait_for("did not keep to the schema")
        self.leave(terminal)
        for body in server.bodies():  # a title may be asked for again
            is_title = "title" in body["messages"][-1]["content"]
            self.assertEqual("response_format" in body, not is_title, body)
        once = self.ask(server, "", "-j", '{"type": "array"}', "--resume")
        self.assertEqual((once.code, once.out.decode()), (1, TEXT + "\n"), once)
        self.assertEqual(once.err.decode().count("keep to the schema"), 1, once)
        self.assertEqual([message["content"] for message in server.bodies()[-1]["messages"]][::2], ["Hi", "More", "Hi"])

    def test_a_key_goes_to_its_own_endpoint_alone(self):
        server, other = self.server(key="sk-right"), self.server()
        terminal = self.terminal("--endpoint", server.url, "--api-key-env", "MY_KEY", MY_KEY="sk-right")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type(f"/model {other.url}\r")
        terminal.wait_for(other.url)
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        self.leave(terminal)
        self.assertTrue(all("Authorization" in headers for _, _, headers, _ in server.requests))
        self.assertFalse(any("Authorization" in headers for _, _, headers, _ in other.requests))

    def test_a_conversation_outlives_a_fault(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/closes/v1")
        terminal.wait_for("Ctrl-D leaves")
        for _ in range(2):
            terminal.type("Hi\r")
            terminal.wait_for("closed the connection before the answer's end")
        self.leave(terminal)

    def test_a_first_start_takes_a_server(self):
        """Without a model on this machine; a server that is not there leaves the question open."""
        server = self.server(models=["a", "b"])
        terminal = self.terminal()
        terminal.wait_for("or a server's address (Enter quits):")
        terminal.type("http://127.0.0.1:1\r")
        terminal.wait_for("cannot reach 127.0.0.1:1")
        terminal.wait_for("(Enter quits):")
        terminal.type(server.url + "\r")
        self.leave_after_an_answer(terminal, server, "b")

    def test_a_conversation_begins_with_the_server_of_the_last_one(self):
        """Text for a single answer goes to no server that the command does not name."""
        with FakeEndpoint(models=["a", "b"]) as server:
            self.leave_after_an_answer(self.terminal("--endpoint", server.url), server, "b")
            terminal = self.terminal()
            terminal.wait_for(f"b, {server.url}")
            terminal.wait_for("> ")
            self.leave(terminal)
            self.assertEqual(Run("-p", "Hi", env=self.env()).code, 2)
            for flags in (["--offline"], ["--ctx-size", "512"]):
                terminal = self.terminal(*flags)
                terminal.wait_for("No model found on this machine")
                terminal.type("\r")
                self.assertEqual(terminal.wait(), 1)
            self.assertEqual(len(server.bodies()), 1)
        terminal = self.terminal()
        terminal.wait_for("the last conversation was held there, -m chooses another model")
        self.assertEqual(terminal.wait(), 1)

    def leave_after_an_answer(self, terminal, server, model):
        """Of a server whose second model this is."""
        terminal.wait_for("The server has several models:")
        terminal.wait_for("Which one?")
        terminal.type("2\r")
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        terminal.wait_for("> ")
        self.leave(terminal)
        self.assertEqual(server.bodies()[0]["model"], model)

    def test_a_conversation_asks_for_one_of_several_models(self):
        server = self.server(models=["a", "b"])
        self.leave_after_an_answer(self.terminal("--endpoint", server.url), server, "b")

    def test_an_address_is_no_model(self):
        run = Run("-m", "http://127.0.0.1:1", "-p", "Hi", env=self.env())
        self.assert_fails(run, "http://127.0.0.1:1 is a server's address", "--endpoint", code=2)

    def test_a_conversation_needs_somebody_there(self):
        terminal = self.terminal("--endpoint", "http://127.0.0.1:1")
        terminal.wait_for("cannot reach 127.0.0.1:1")
        self.assertEqual(terminal.wait(), 1)

    def test_ctrl_c_ends_the_request_and_keeps_the_text(self):
        server = self.server(owner="vllm")
        terminal = self.terminal("--endpoint", server.origin + "/endless/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        terminal.type("Hi\r")
        terminal.wait_for("Hi\n")
        while not terminal.answer().strip():
            terminal.read_some(1)
        terminal.type("\x03")
        terminal.wait_for("(stopped; /continue resumes it)")
        self.assertTrue(server.cancelled.wait(60))
        self.leave(terminal)

    def test_an_endpoint_has_its_own_context_and_a_model_here_takes_over(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.url)
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for("> ")
        terminal.type("Hi\r/model\r/context 512\r")
        terminal.wait_for("now: qwen3-4b at " + server.url)
        terminal.wait_for(server.url + " answers, with its own device and context")
        terminal.type(f"/new\r/model {TINY}\r")  # a model that is chosen within a conversation would be its own
        terminal.wait_for("tiny, ")
        terminal.type("/load 1\r")
        terminal.wait_for("another model answered: qwen3-4b at " + server.url)
        terminal.type("/set n_predict 4\rMore\r")
        terminal.wait_for("(the answer was cut at 4 tokens")
        self.leave(terminal)
        self.assertEqual(len(server.bodies()), 1)

    def test_a_full_context_is_told_before_anything_is_sent(self):
        """The server has counted all but the last message."""
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/nearly_full/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        terminal.type("one two three four five\r")
        terminal.wait_for(f"the prompt needs 4,098 tokens or more, the context of {server.host} holds 4,096")
        terminal.wait_for("Up brings it back")
        terminal.type("\x1b[A")
        terminal.wait_for("one two three four five")
        terminal.type("\x15/undo\r")
        terminal.wait_for("taken back: Hi")
        self.leave(terminal)
        self.assertEqual(len(server.bodies()), 1)

    def test_a_message_that_the_server_finds_too_long_is_kept(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/refuses/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("a shorter message, or a new conversation, has room")
        terminal.wait_for("your message is kept")
        self.leave(terminal)

    def test_what_an_answer_took_and_how_busy_the_server_is(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/cached/v1")
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("wörld")
        terminal.type("/perf\r")
        terminal.wait_for("prompt       1024 tokens, 512 of them reused")
        seen = terminal.wait_for(f"({server.host} does not tell its load: nothing in its /metrics is known here)")
        self.assertRegex(seen, r"gaps         median [\d.]+ m?s, 95% within .*, longest [\d.]+ m?s\n")
        self.assertNotIn("seed ", seen)  # the server chose it
        server.metrics = ('vllm:num_requests_running{engine="0"} 2.0\nvllm:num_requests_waiting{engine="0"} 1.0\n'
                          'vllm:kv_cache_usage_perc{engine="0"} 0.25\nvllm:prompt_tokens_total 1000\n'
                          'vllm:prefix_cache_queries_total 200\nvllm:prefix_cache_hits_total 150\n')
        terminal.type("/perf\r")
        for row in ("requests running      2", "requests waiting      1", "KV cache in use       25%",
                    "prefix cache hits     75%", "prompt tokens so far  1,000"):
            terminal.wait_for(row)
        terminal.type("/perf\r")
        terminal.wait_for("prompt speed, all     0 tokens/s")
        self.leave(terminal)
        self.assertNotIn("norm_qkv", terminal.seen)

    def test_ctrl_c_ends_the_text_of_a_long_answer(self):
        server = self.server()
        terminal = self.terminal("--endpoint", server.origin + "/long/v1", columns=80)
        terminal.wait_for("Ctrl-D leaves")
        terminal.type("Hi\r")
        terminal.wait_for("begin some")  # the rest fits no buffer, so the program waits for its reader
        terminal.type("\x03")
        self.assertNotIn("words end", terminal.wait_for("(not all of the answer is shown; /history shows it)"))
        self.leave(terminal)

    def test_one_answer_at_a_terminal(self):
        server = self.server()
        terminal = Terminal("--endpoint", server.url, "-p", "Hi", home=self.home, DBUS_SESSION_BUS_ADDRESS="",
                            no_proxy="*")
        terminal.wait_for("wörld")
        self.assertEqual(terminal.wait(), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
