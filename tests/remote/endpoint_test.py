#!/usr/bin/env python3
"""Answers from other machines through the chat program, from an endpoint with faults on demand.

usage: endpoint_test.py CHAT CLI_MODELS SIDE_BY_SIDE [unittest arguments]
"""
import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from endpoint_case import Case  # noqa: E402
from fake_endpoint import HELLO, TEXT  # noqa: E402
from forward_proxy import ForwardProxy  # noqa: E402
from program import CHAT, FOLDER, TINY, Run, self_signed_certificate, vouched_certificate  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402


SIDE_BY_SIDE = os.path.abspath(sys.argv[3])
END_OF_TEXT, STOPPED = "0", "3"  # EndReason


class Answers(Case):
    def test_a_prompt_is_answered_and_nothing_else_is_said(self):
        server = self.server()
        run = self.ask(server)
        self.assert_answers(run)
        self.assertEqual(run.err, b"")  # the server is on this machine
        self.assertEqual(server.bodies(), [{
            "model": "qwen3-4b", "messages": [{"role": "user", "content": "Hi"}],
            "stream": True, "stream_options": {"include_usage": True}}])

    def test_addresses(self):
        server = self.server()
        for url in (server.origin, server.origin + "/", server.url + "/", server.host, server.url + "/chat/completions"):
            self.assert_answers(self.ask(url))
        for url in ("ftp://x", "no-such-name", "box:80", ""):
            run = self.ask(url) if url else Run("--endpoint", "", "--api-key-env", "X", "-p", "x", env=self.env())
            self.assertIn(run.code, (1, 2), run)
        self.assert_fails(self.ask("no-such-name"), "no endpoint is named 'no-such-name'", "chat endpoint add", code=2)

    def test_streams_in_any_shape(self):
        server = self.server()
        for script in ("bytes", "whole", "compressed"):
            self.assert_answers(self.ask(server, script))

    def test_standard_input_flags_and_system_prompt(self):
        server = self.server()
        self.assert_answers(self.ask(server, "", "-sys", "Be brief.", "--temp", "0.5", "--top-k", "7", "-n", "9", "-s",
                                     "3", "--no-think", stdin=b"notes\n"))
        body = server.bodies()[0]
        self.assertEqual(body["messages"], [{"role": "system", "content": "Be brief."},
                                            {"role": "user", "content": "notes\nHi"}])
        self.assertEqual({name: body[name] for name in ("temperature", "top_k", "max_tokens", "seed",
                                                        "chat_template_kwargs")},
                         {"temperature": 0.5, "top_k": 7, "max_tokens": 9, "seed": 3,
                          "chat_template_kwargs": {"enable_thinking": False}})
        self.assertNotIn("top_p", body)

    def test_raw_text_is_completed(self):
        server = self.server()
        run = self.ask(server, "text", "--raw")
        self.assert_answers(run, "Once upon a time")
        self.assertEqual((server.requests[-1][1], server.bodies()[0]["prompt"]), ("/completions", "Hi"))

    def test_verbose_tells_tokens_and_times(self):
        run = self.ask(self.server(), "", "--verbose")
        self.assert_answers(run)
        self.assertRegex(run.err.decode(), r"prompt       11 tokens\nanswer       5 tokens in .* t/s\n"
                                           r"first token  after ")

    def test_models(self):
        several = self.server(models=["qwen3-4b", "qwen3-8b", "llama"])
        self.assert_fails(self.ask(several), "several models", "-m", "qwen3-4b, qwen3-8b, llama", code=2)
        self.assert_answers(self.ask(several, "", "-m", "llama"))
        self.assert_answers(self.ask(several, "", "-m", "8B"))
        self.assertEqual([body["model"] for body in several.bodies()], ["llama", "qwen3-8b"])
        self.assert_fails(self.ask(several, "", "-m", "qwen"), "qwen3-4b, qwen3-8b", code=2)
        self.assert_fails(self.ask(several, "", "-m", "qwem3-8b"),
                          f"{several.host} has no model 'qwem3-8b'; it has qwen3-8b, qwen3-4b, llama")
        self.assert_fails(self.ask(self.server(models=[])), "lists no models", code=2)
        self.assert_fails(self.ask(self.server(models=map(str, range(30)))), "18, 19, ...; --list-models lists all 30",
                          code=2)
        self.assert_answers(self.ask(several, "nolist", "-m", "llama"))

    def test_lists_that_are_none(self):
        server = self.server()
        for page, words in (({"models": [{"name": "a"}]}, "it is not a list of models but '{\"models\": [{\"name\": \"a\"}]}'"),
                            (None, "it is not a list of models but 'null'"),
                            ({"detail": "Not\x1b[31m here"}, "it is not a list of models but '{\"detail\": "),
                            ([["a"]], "no entry has a text as 'id', as in '[\"a\"]'")):
            server.pages["/v1/models"] = page
            sentence = f"cannot read the model list of {server.host}: {words}"
            self.assert_fails(self.ask(server), sentence, "; name a model, then no list is needed")
            self.assert_fails(Run("--endpoint", server.url, "--list-models", env=self.env()), sentence)
            self.assert_answers(self.ask(server, "", "-m", "qwen3-4b"))
            # A name is given to an address, whatever answers there.
            run = Run("endpoint", "add", "box", server.url, env=self.env())
            self.assertEqual((run.code, run.err.decode().splitlines()[-1]), (0, f"box: {server.url}, no key"), run)
            self.assertEqual(Run("endpoint", "list", env=self.env()).out.decode(), f"box  {server.url}  no key\n")

    def test_list_models(self):
        server = self.server(models=["a", "b"])
        run = Run("--endpoint", server.url, "--list-models", env=self.env())
        self.assertEqual((run.code, run.out), (0, b"a  context 4,096\nb  context 4,096\n"), run)
        run = Run("--list-models", env=self.env(LLAMA_CACHE=FOLDER))
        self.assertEqual(run.code, 0, run)
        self.assertRegex(run.out.decode(), rf"(?m)^tiny\.gguf +\d+ kB .* llama\.cpp, {re.escape(TINY)}$")
        server.pages["/v1/models"] = {"data": [{"id": "a", "capabilities": ["vision"], "context_length": 512},
                                               {"id": "b"}]}
        self.assertEqual(Run("--endpoint", server.url, "--list-models", env=self.env()).out, b"a  context 512  images\nb\n")
        run = Run("--endpoint", server.url, "--list-models", "--json", env=self.env())
        self.assertEqual(json.loads(run.out), [{"name": "a", "context": 512, "capabilities": ["images"]},
                                               {"name": "b", "context": None, "capabilities": []}])

    def side_by_side(self, url, *arguments):
        done = subprocess.run([SIDE_BY_SIDE, url, "qwen3-4b", *arguments], env=self.env(), capture_output=True,
                              timeout=120)
        self.assertEqual(done.returncode, 0, done)
        print(" ".join(arguments), "answers and prompt:", done.stderr.decode().strip(), file=sys.stderr)
        return [line.split(" ", 2) for line in done.stdout.decode().splitlines()]

    def test_many_answers_at_once(self):
        server = self.server(together=8)
        self.assertEqual(self.side_by_side(server.origin + "/together/v1", "8", "Hi"),
                         [[END_OF_TEXT, str(len(HELLO)), TEXT]] * 8)
        self.assertEqual([line[:2] for line in self.side_by_side(server.origin + "/many/v1", "4", "2500")],
                         [[END_OF_TEXT, "2500"]] * 4)

    def test_one_of_many_is_stopped_and_the_others_go_on(self):
        server = self.server()
        for reason, _, text in self.side_by_side(server.origin + "/endless/v1", "3", "Hi", "stop"):
            self.assertEqual(reason, STOPPED)
            self.assertTrue(text.startswith("a "), text)

    def test_the_status_line_says_when_text_leaves_this_machine(self):
        """Through a proxy of the environment, because a test has no other machine."""
        server = self.server()
        run = self.ask("http://gpu-box.example:8000", no_proxy="", http_proxy=server.origin)
        self.assert_answers(run)
        self.assertEqual(run.err.decode(), "answers come from gpu-box.example:8000, without encryption\n")

    def test_flags_of_this_machine_alone(self):
        server = self.server()
        for flags in (["--device", "cpu"], ["-c", "99"], ["--profile", "x"], ["--chat-template", "chatml"], ["--offline"]):
            run = self.ask(server, "", *flags)
            self.assert_fails(run, flags[0] if flags[0] != "-c" else "--ctx-size", code=2)
        self.assertEqual(server.requests, [])
        self.assert_fails(Run("--api-key-env", "X", "-p", "x", env=self.env()), "--endpoint", code=2)


class Ways(Case):
    """Connections: encrypted, and through proxies."""

    def test_encrypted(self):
        pem, ca = vouched_certificate(self.home)
        server = self.server(certificate=pem, key="sk-right")
        for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
            self.assert_answers(self.ask(server, "", "--api-key-env", "MY_KEY", MY_KEY="sk-right", **{name: ca}))
        n = len(server.requests)
        self.assert_fails(self.ask(server), "cannot trust 127.0.0.1")
        self.assert_fails(self.ask(server, SSL_CERT_FILE="/no/such/file"), "/no/such/file")
        self.assertEqual(len(server.requests), n)

    def test_through_a_proxy(self):
        server = self.server()
        with ForwardProxy() as proxy:
            self.assert_answers(self.ask(server, no_proxy="", http_proxy=proxy.url))
            self.assertEqual(proxy.seen, [("GET", server.url + "/models"), ("POST", server.url + "/chat/completions")])
            self.assert_answers(self.ask(server, no_proxy="127.0.0.1", http_proxy=proxy.url))
            self.assertEqual(len(proxy.seen), 2)

    def test_encrypted_through_a_proxy(self):
        """The proxy sees the address, but neither text nor key."""
        pem, ca = vouched_certificate(self.home)
        server = self.server(certificate=pem)
        with ForwardProxy() as proxy:
            self.assert_answers(self.ask(server, no_proxy="", https_proxy=proxy.url, SSL_CERT_FILE=ca))
            self.assertEqual(set(proxy.seen), {("CONNECT", server.host)})
        self.assertEqual(len(server.bodies()), 1)

    def test_a_proxy_that_is_not_there(self):
        run = self.ask(self.server(), no_proxy="", http_proxy="http://127.0.0.1:1")
        self.assert_fails(run, "cannot reach", "127.0.0.1")


class Contexts(Case):
    LONG = "word " * 5000

    def ask_long(self, server):
        return Run("--endpoint", server.url, "-p", self.LONG, env=self.env())

    def test_what_is_surely_too_long_is_not_sent(self):
        server = self.server()
        self.assert_fails(self.ask_long(server), f"the prompt needs 5,000 tokens or more, the context of {server.host} "
                          "holds 4,096")
        self.assert_fails(Run("--endpoint", server.url, "--raw", "-p", self.LONG, env=self.env()), "needs 5,000 tokens")
        self.assertEqual(server.bodies(), [])

    def test_the_context_as_it_is_served(self):
        """Not the 4,096 in the list of models."""
        for owner, pages in (
                ("llamacpp", {"/props": {"default_generation_settings": {"n_ctx": 3000}}}),
                ("library", {"/api/ps": {"models": [{"name": "qwen3-4b", "context_length": 3000}]}}),
                ("library", {"/api/ps": {"models": []}, "/api/show": {"parameters": 'stop "x"\nnum_ctx   3000\n'}})):
            server = self.server(owner=owner)
            server.pages = pages
            self.assert_fails(self.ask_long(server), "holds 3,000")
        for pages in ({}, {"/props": {}}, {"/props": []}, {"/props": {"default_generation_settings": {"n_ctx": "x"}}}):
            server = self.server(owner="llamacpp")
            server.pages = pages
            self.assert_fails(self.ask_long(server), "holds 4,096")
        server = self.server(owner="library")
        server.pages = {"/api/ps": {"models": 7}, "/api/show": {"parameters": 7}}
        self.assert_fails(self.ask_long(server), "holds 4,096")

    def test_too_long_by_the_servers_own_count(self):
        self.assert_fails(self.ask(self.server(), "refuses"), "maximum context length is 4096 tokens; a shorter message")


class Stops(Case):
    def test_interrupt_keeps_the_text_and_ends_the_request(self):
        server = self.server()
        process = subprocess.Popen([CHAT, "--endpoint", server.origin + "/endless/v1", "-p", "Hi"], env=self.env(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.read(4), b"a a ")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(out, rb"\A(a )*\n\Z")
        self.assertTrue(server.cancelled.wait(10))

    def test_interrupt_while_it_waits(self):
        for script in ("busy_for_long", "silent"):
            server = self.server()
            process = subprocess.Popen([CHAT, "--endpoint", f"{server.origin}/{script}/v1", "-p", "Hi"], env=self.env(),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if script == "busy_for_long":
                self.assertIn(b"try 2 of 3 in 60 s", process.stderr.readline())
            while not server.bodies():
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, out.strip()), (130, b""), err)


class Faults(Case):
    def test_before_the_answer(self):
        server = self.server()
        for script, words in (
                ("refuses", ("refuses the request: This model's maximum context length is 4096 tokens",)),
                ("forbidden", ("answers 403", "chat endpoint add")),
                ("broken", ("answers 500", "illegal memory access")),
                ("page", ("web page", "address")),
                ("redirect", ("redirects to elsewhere.invalid", "not followed")),
                ("nothing", ("answers with nothing",)),
                ("endless_line", ("longer than 4,194,304 bytes",)),
                ("endless_event", ("longer than 4,194,304 bytes",)),
                ("garbage", ("not an event stream",))):
            with self.subTest(script):
                self.assert_fails(self.ask(server, script, "-m", "qwen3-4b"), server.host, *words)
        self.assert_fails(self.ask(server, "page"), "web page")
        self.assert_fails(self.ask(server, "redirect"), "redirects to elsewhere.invalid", "not followed")

    def test_within_the_answer_its_text_is_kept(self):
        server = self.server()
        kept = "".join(HELLO[:2])
        for script, words in (("closes", ("closed the connection before the answer's end",)),
                              ("closes_in_an_event", ("closed the connection before the answer's end",)),
                              ("resets", ("the connection to", "was lost")),
                              ("reports", ("reports an error: The engine died",)),
                              ("aborts", ("unknown reason 'abort'; it may be incomplete",))):
            with self.subTest(script):
                self.assert_fails(self.ask(server, script), server.host, *words, out=kept)

    def test_silence(self):
        server = self.server()
        self.assert_fails(self.ask(server, "stalls", WARPCHAT_ENDPOINT_STALL="1"), "nothing came for 1 s", out="Hello")
        self.assert_fails(self.ask(server, "silent", WARPCHAT_ENDPOINT_TIMEOUT="1"), "nothing came for 1 s")
        self.assert_fails(self.ask(server, WARPCHAT_ENDPOINT_TIMEOUT="soon"), "WARPCHAT_ENDPOINT_TIMEOUT", "'soon'")

    def test_comments_do_not_end_a_silence(self):
        server = self.server()
        for script in ("drips", "drips_blanks"):
            run = self.ask(server, script, WARPCHAT_ENDPOINT_STALL="1")
            self.assert_fails(run, "nothing came for 1 s", out="Hello")

    def test_the_answer_ends_before_the_connection(self):
        for script in ("open_after_done", "silent_after_done", "open_after_reason"):
            server = self.server()
            self.assert_answers(self.ask(server, script))
            self.assertTrue(server.cancelled.wait(30), script)  # the client has closed the connection

    def test_an_event_that_cannot_be_read_does_not_end_the_answer(self):
        server = self.server()
        run = self.ask(server, "nonsense")
        self.assert_answers(run, "".join(HELLO[:2]))
        self.assertEqual(run.err.decode(), f"chat: {server.host} sent 1 event that cannot be read; "
                                           "a part of the answer may be missing\n")

    def test_what_is_no_text_is_said(self):
        for script, words in (("calls", 'the model wants to call search({"q":1}); there are no tools here'),
                              ("empty", "the model returned an empty answer")):
            for flags in ((), ("--json",)):
                run = self.ask(self.server(), script, *flags)
                self.assertEqual((run.code, run.err.decode()), (0, f"chat: {words}\n"), run)

    def test_json_tells_only_what_is_known(self):
        def answer(script, *flags):
            return json.loads(self.ask(self.server(), script, "--json", *flags).out)
        known = {"prompt_tokens": 11, "cached_tokens": None, "completion_tokens": 5, "total_tokens": 16}
        self.assertEqual(answer("well")["usage"], known)
        self.assertEqual(set(answer("length")["usage"].values()), {None})
        self.assertEqual(answer("cached")["usage"]["cached_tokens"], 512)
        self.assertIsNone(answer("well")["seed"])
        self.assertEqual(answer("well", "-s", "3")["seed"], 3)
        for script, reason in (("well", "stop"), ("cut_by_server", "length"), ("filters", "content_filter")):
            self.assertEqual(answer(script)["stop_reason"], reason)

    def test_no_server(self):
        self.assert_fails(self.ask("http://127.0.0.1:1"), "cannot reach 127.0.0.1:1")
        self.assert_fails(self.ask("http://no-such-host.invalid"), "no-such-host.invalid", "network")

    def test_untrusted_certificates(self):
        server = self.server(certificate=self_signed_certificate(self.home))
        self.assert_fails(self.ask(server, "", "--api-key-env", "MY_KEY", MY_KEY="sk-1"), "cannot trust 127.0.0.1")
        self.assertEqual(server.requests, [])

    def test_busy_servers_are_asked_three_times_and_it_is_shown(self):
        server = self.server()
        run = self.ask(server, "busy_twice")
        self.assert_answers(run)
        self.assertEqual([line.split(" answers ")[1] for line in run.err.decode().splitlines()],
                         ["503 (Slow down); try 2 of 3 in 0.001 s",
                          "429, which means too many requests (Slow down); try 3 of 3 in 0.002 s"])
        server.n_tries = 0
        self.assert_fails(self.ask(server, "busy"), "429", "given up after 3 tries")
        self.assertEqual(server.n_tries, 3)
        server.n_tries = 0
        for script, words in (("busy_for_days", "asked again in 24 hours"), ("busy_until", "asked again in 2 hours"),
                              ("quota", "the quota or the credit of the account is used up (You exceeded your quota)")):
            server.n_tries = 0
            self.assert_fails(self.ask(server, script), "429", words)
            self.assertEqual(server.n_tries, 1)

    def test_fields_that_are_refused_are_left_out_and_it_is_said(self):
        server = self.server()
        run = self.ask(server, "picky", "--top-k", "5", "--min-p", "0.1", "--temp", "0.5")
        self.assert_answers(run)
        self.assertEqual(run.err.decode(),
                         f"chat: {server.host} does not take min_p, top_k: asked again without\n"
                         f"chat: {server.host} does not take temperature: asked again without\n")
        self.assertEqual(len(server.bodies()), 3)

    def test_fields_are_found_in_a_refusal_of_any_shape(self):
        server = self.server()
        run = self.ask(server, "array", "--top-k", "5", "-s", "7")
        self.assert_answers(run)
        self.assertEqual(run.err.decode(), f"chat: {server.host} does not take seed: asked again without\n"
                                           f"chat: {server.host} does not take top_k: asked again without\n")

    def test_a_refusal_that_only_names_a_field_is_shown(self):
        server = self.server()
        run = self.ask(server, "names_a_field", "-n", "5")
        self.assert_fails(run, "refuses the request: input length and `max_tokens` exceed context limit")
        self.assertEqual(len(run.err.splitlines()), 1, run)
        self.assertEqual(len(server.bodies()), 1)

    def test_fields_come_back_where_leaving_them_out_did_not_help(self):
        for script in ("refuses_twice", "refuses_then_reports"):
            server = self.server()
            terminal = Terminal("--endpoint", f"{server.origin}/{script}/v1", "--temp", "0.5", home=self.home,
                                DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
            terminal.wait_for("Ctrl-D leaves")
            for line in ("Hi", "/regen"):
                terminal.type(line + "\r")
                terminal.wait_for("too many messages")
                terminal.wait_for("your message is kept")
            terminal.type("\x04")
            self.assertEqual(terminal.wait(), 0)
            self.assertEqual(["temperature" in body for body in server.bodies()], [True, False, True, False])
            self.assertNotIn("asked again without", terminal.seen)

    def test_a_value_out_of_range_is_the_users_to_mend(self):
        server = self.server()
        self.assert_fails(self.ask(server, "bounded", "--temp", "5"), "refuses the request: Invalid 'temperature'")
        self.assertEqual(len(server.bodies()), 1)

    def test_memory_does_not_grow_with_the_answer(self):
        gives_back = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"  # else asan keeps it
        peaks = []
        for n in ("100", "10000"):
            server = self.server()
            process = subprocess.Popen([CHAT, "--endpoint", server.origin + "/many/v1", "-p", n],
                                       env=self.env(ASAN_OPTIONS=gives_back),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            out = process.stdout.read()
            peaks.append(os.wait4(process.pid, 0)[2].ru_maxrss)
            process.returncode = 0
            process.stdout.close()
            self.assertEqual(out.decode(), "token " * int(n) + "\n")
        self.assertLess(peaks[1] - peaks[0], 16 << 10, peaks)  # KiB


class Keys(Case):
    def endpoint(self, *arguments, stdin=b"", **variables):
        return Run("endpoint", *arguments, stdin=stdin, env=self.env(**variables))

    def file(self, name):
        return os.path.join(self.home, ".config/warpchat", name)

    def test_the_key_of_a_variable(self):
        server = self.server(key="sk-right")
        self.assert_answers(self.ask(server, "", "--api-key-env", "MY_KEY", MY_KEY="sk-right\n"))
        self.assert_fails(self.ask(server), "answers 401", "needs an API key", "chat endpoint add", "Incorrect API key")
        self.assert_fails(self.ask(server, "", "--api-key-env", "MY_KEY", MY_KEY="sk-wrong"), "answers 401",
                          "the variable MY_KEY")
        self.assert_fails(self.ask(server, "", "--api-key-env", "MY_KEY"), "MY_KEY is not set", code=2)
        n = len(server.requests)
        self.assert_fails(self.ask(server, "", "--api-key-env", "MY_KEY", MY_KEY="x\r\nEvil: 1"), "MY_KEY")
        self.assertEqual(len(server.requests), n)

    def test_the_key_is_never_repeated(self):
        server, log = self.server(), os.path.join(self.home, "log")
        for script in ("echoes", "echoes_within"):
            run = self.ask(server, script, "--api-key-env", "MY_KEY", "--log-file", log, MY_KEY="sk-wrong-key")
            self.assertEqual(run.code, 1, run)
            self.assertIn(b"[API key]", run.err)
            with open(log, "rb") as file:
                self.assertNotIn(b"sk-wrong-key", run.err + run.out + file.read())

    def test_endpoints_by_name(self):
        server = self.server(key="sk-right")
        run = self.endpoint("add", "box", server.origin, "--key-from-stdin", stdin=b"sk-right\n")
        self.assertEqual((run.code, run.out), (0, b""), run)
        self.assertIn("keys.json", run.err.decode())
        self.assertEqual(stat.S_IMODE(os.stat(self.file("keys.json")).st_mode), 0o600)
        with open(self.file("endpoints.json")) as file:
            text = file.read()
        self.assertEqual(json.loads(text), {"endpoints": [{"name": "box", "url": server.url, "key": "file"}]})
        self.assertNotIn("sk-right", text + run.err.decode())
        self.assert_answers(self.ask("box"))
        self.assert_answers(self.ask(server))  # the same address
        listed = self.endpoint("list").out.decode()
        self.assertEqual(listed, f"box  {server.url}  key in {self.file('keys.json')}\n")
        self.assertEqual(self.endpoint().out.decode(), listed)
        self.assert_fails(self.ask("bix"), "no endpoint is named 'bix'", "known: box", code=2)
        os.chmod(self.file("keys.json"), 0o644)
        self.assert_fails(self.ask("box"), "other users can read it", "chmod 600")
        os.chmod(self.file("keys.json"), 0o600)
        self.assertEqual(self.endpoint("remove", "box").code, 0)
        with open(self.file("keys.json")) as file:
            self.assertEqual(file.read(), "{}\n")
        self.assert_fails(self.endpoint("remove", "box"), "no endpoint is named 'box'", code=2)

    def test_the_default_model_of_a_named_server(self):
        server = self.server(models=["big", "small"])
        run = Run("endpoint", "add", "box", server.url, "-m", "small", env=self.env())
        self.assertEqual(run.code, 0, run)
        run = Run("endpoint", "list", env=self.env())
        self.assertEqual(run.out.decode(), f"box  {server.url}  no key  model small\n")
        for name in ("box", server.url):
            self.assert_answers(self.ask(name))
        self.assert_answers(self.ask("box", "", "-m", "big"))
        self.assertEqual([body["model"] for body in server.bodies()], ["small", "small", "big"])
        server.models = ["big", "tiny"]
        self.assert_fails(self.ask("box"), "has several models and no longer 'small'", "-m", "big, tiny", code=2)
        server.models = ["big"]
        self.assert_answers(self.ask("box"))
        self.assertEqual(server.bodies()[-1]["model"], "big")

    def test_a_name_with_a_variable(self):
        server = self.server(key="sk-right")
        self.assertEqual(self.endpoint("add", "box", server.url, "--api-key-env", "BOX_KEY").code, 0)
        self.assert_answers(self.ask("box", BOX_KEY="sk-right"))
        self.assert_fails(self.ask("box"), "BOX_KEY is not set", code=2)
        self.assertIn("variable BOX_KEY", self.endpoint("list").out.decode())

    def test_what_cannot_be_added(self):
        for arguments in (["add"], ["add", "box"], ["add", "a/b", "http://x"], ["add", "-x", "http://x"],
                          ["add", "localhost", "http://x"], ["swap"], ["list", "x"],
                          ["add", "box", "http://x", "--key-from-stdin"]):
            self.assertEqual(self.endpoint(*arguments).code, 2, arguments)
        self.assert_fails(self.endpoint("add", "box", "box"), "web address")
        self.assertFalse(os.path.exists(self.file("endpoints.json")))

    def test_damaged_files(self):
        os.makedirs(os.path.dirname(self.file("x")))
        for text in ("", "{", "[]", '{"endpoints": 7}', '{"endpoints": [{"name": 1}]}'):
            with open(self.file("endpoints.json"), "w") as file:
                file.write(text)
            self.assert_fails(self.endpoint("list"), "endpoints.json", "repair or delete it")

    def test_the_desktops_keyring(self):
        """GNOME's real keyring on its own bus."""
        for program in ("dbus-run-session", "gnome-keyring-daemon"):
            if subprocess.run(["which", program], capture_output=True).returncode:
                self.skipTest(f"{program} is not installed")
        server = self.server(key="sk-right")
        script = f"""
            echo -n secret | gnome-keyring-daemon --unlock --components=secrets >&2 || exit 77
            echo sk-right | "{CHAT}" endpoint add box {server.url} --key-from-stdin || exit 1
            "{CHAT}" --endpoint box -p Hi || exit 2
            "{CHAT}" endpoint remove box || exit 3
            "{CHAT}" endpoint add box {server.url} && "{CHAT}" --endpoint box -p Hi"""
        env = self.env(XDG_RUNTIME_DIR=tempfile.mkdtemp(dir=self.home))
        del env["DBUS_SESSION_BUS_ADDRESS"]
        done = subprocess.run(["dbus-run-session", "--", "bash", "-c", script], env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        if done.returncode == 77:
            self.skipTest("gnome-keyring-daemon does not start here: " + done.stderr.decode())
        self.assertEqual(done.stdout.decode(), TEXT + "\n", done)
        err = done.stderr.decode()
        self.assertIn("key in the desktop's keyring", err)
        self.assertIn("answers 401: it needs an API key", err)
        self.assertFalse(os.path.exists(self.file("keys.json")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
