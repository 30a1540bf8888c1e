#!/usr/bin/env python3
"""`chat mcp list` and `chat mcp tools`: the file, servers that open and that do not, their processes and their end.

usage: mcp_command_test.py CHAT CLI_MODELS MCP_CALL [unittest arguments]
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

from mcp_case import CHAT, Case, Run, environment, is_running, wait_for
from scripted_http import Server


class Lists(Case):
    def test_servers_and_tools(self):
        servers = {"first": self.scripted("modern", name="first"), "off": {"command": "false", "disabled": True},
                   "second": self.scripted("legacy", name="second")}
        run = self.chat_mcp("list", servers=servers)
        self.assertEqual(run.out.decode(), f"first  2026-07-28  3 tools  {sys.executable}\n"
                                           f"second  2025-06-18  3 tools  {sys.executable}\n")
        self.assertEqual(run.err, b"")
        self.assertEqual(self.chat_mcp().out, run.out, "list is the default")
        run = self.chat_mcp("tools", "second")
        self.assertEqual(run.out.decode().splitlines(), [
            "second__echo  Give the text back.", "second__environment  The names of its variables",
            "second__do_it_now  Odd name \\x1b[31mred\\xe2\\x80\\xae"])
        self.assertEqual(len(self.chat_mcp("tools").out.splitlines()), 6)
        self.assertIn("it has first, off, second", self.chat_mcp("tools", "third", code=1).err.decode())
        self.assertIn("'off' is disabled", self.chat_mcp("tools", "off", code=1).err.decode())
        self.assert_refused(Run("mcp", "list", "first"), 2, "mcp tools SERVER")
        self.assert_gone(self.pids("first") + self.pids("second"))

    def test_every_legacy_version(self):
        versions = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
        run = self.chat_mcp("list", servers={f"v{i}": self.scripted(version, name=version)
                                             for i, version in enumerate(versions)})
        self.assertEqual(tuple(line.split()[1] for line in run.out.decode().splitlines()), versions)
        methods = [event.split()[1] for event in self.events("2024-11-05") if event.startswith("message")]
        self.assertEqual(methods, ["server/discover", "initialize", "notifications/initialized", "tools/list"])

    def test_no_file(self):
        run = Run("mcp", "list", env=environment(self.folder))
        self.assertEqual((run.code, run.out), (0, b""), run)
        self.assertIn(".config/warpchat/mcp.json", run.err.decode())
        os.makedirs(os.path.join(self.folder, ".config/warpchat"))
        with open(os.path.join(self.folder, ".config/warpchat/mcp.json"), "w") as file:
            json.dump({"mcpServers": {"mine": self.scripted("modern")}}, file)
        self.assertIn(b"mine  2026-07-28", Run("mcp", env=environment(self.folder)).out)

    def test_faults_of_the_file(self):
        stdio = '{"mcpServers": {"files": %s}}'
        for text, *words in (
                ("", "is empty"), ("  \n", "is empty"), ("{", "line 1", "not valid JSON"),
                ('{"mcpServers":\n {"a": {"command": "x",}}}', "line 2"), ("[1]", "no JSON object"), ("3", "no JSON object"),
                ("{}", 'no "mcpServers"'), ('{"mcpServers": []}', "no object of servers"),
                ('{"servers": {"a": {"command": "x"}}}', "VS Code", 'rename it to "mcpServers"'),
                (stdio % "3", "'files'", "no object"), (stdio % "{}", "'files'", "neither"),
                (stdio % '{"command": "x", "url": "http://x"}', "'files'", "both"),
                (stdio % '{"command": 3}', "'files'", '"command"'), (stdio % '{"command": ""}', "'files'", "empty"),
                (stdio % '{"command": "x", "args": "y"}', "'files'", '"args"', "list of texts"),
                (stdio % '{"command": "x", "args": [1]}', "'files'", '"args"'),
                (stdio % '{"command": "x", "env": {"KEY": 12345678}}', "'files'", '"env"'),
                (stdio % '{"command": "x", "env": {"A=B": "y"}}', "'files'", '"env"'),
                (stdio % '{"command": "x", "env": []}', "'files'", '"env"'),
                (stdio % '{"command": "x", "cwd": 1}', "'files'", '"cwd"'),
                (stdio % '{"command": "x\\u0000y"}', "'files'", "NUL"),
                (stdio % '{"command": "x", "timeout": "5"}', "'files'", '"timeout"'),
                (stdio % '{"command": "x", "timeout": 0}', "'files'", '"timeout"'),
                (stdio % '{"command": "x", "timeout": 1e99}', "'files'", '"timeout"'),
                (stdio % '{"command": "x", "disabled": "yes"}', "'files'", '"disabled"'),
                (stdio % '{"command": "x", "type": 1}', "'files'", '"type"'),
                (stdio % '{"command": "x", "type": "carrier-pigeon"}', "'files'", "carrier-pigeon"),
                (stdio % '{"url": "ftp://x"}', "'files'", '"url"'), (stdio % '{"url": 1}', "'files'", '"url"'),
                (stdio % '{"url": "http://x", "headers": ["a"]}', "'files'", '"headers"'),
                (stdio % '{"url": "http://x", "headers": {"a b": "c"}}', "'files'", '"headers"'),
                (stdio % '{"url": "http://x", "headers": {"A": "secret\\r\\nB: c"}}', "'files'", "'A'"),
                ('{"mcpServers": {"": {"command": "x"}}}', "empty name"), ("[" * 100_000, "nested deeper"),
                ('{"mcpServers": {"a\\u001b[31m": 3}}', "a\\x1b[31m")):
            with self.subTest(text=text[:60]):
                self.configure(text)
                for words_of_command in (("list",), ("tools", "files")):
                    run = Run("mcp", *words_of_command, "--mcp-config", self.config_file)
                    self.assert_refused(run, 1, self.config_file, *words)
                    self.assertNotIn(b"secret", run.err)
                    self.assertNotIn(b"12345678", run.err)
        self.assert_refused(Run("mcp", "--mcp-config", "/no/such.json"), 1, "/no/such.json")
        self.assert_refused(Run("mcp", "--mcp-config", self.folder), 1, self.folder)

    def test_what_other_programs_write(self):
        server = self.scripted("modern", type="stdio", alwaysAllow=["echo"], autoApprove=[], unknown={"x": 1},
                               env={"KEY": "${input:key}"})
        run = self.chat_mcp("list", servers={"one": server, "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"}}, code=1)
        self.assertIn(b"one  2026-07-28", run.out)
        self.assertIn("server 'one' has a value with ${...}", run.err.decode())
        self.assertRegex(run.err.decode(), "'old'.*sse.*not supported")

    def test_pages_and_odd_entries(self):
        for fault, n, words in (("pages", 3, ""), ("same_cursor", 2, "a page that it had before"),
                                ("endless_pages", 100, "100 pages"), ("many_tools", 10_000, "10,000 tools"),
                                ("bad_entries", 1, "")):
            with self.subTest(fault):
                run = self.chat_mcp("tools", servers={"one": self.scripted("modern", fault)})
                self.assertEqual(len(run.out.splitlines()), n)
                self.assertIn(words, run.err.decode())
                self.assertEqual(bool(words), bool(run.err), run)
        self.assertEqual(self.log().count("left out"), 4)
        names = [line.split()[0].decode() for line in
                 self.chat_mcp("tools", servers={"a b": self.scripted("legacy", "same_names")}).out.splitlines()]
        self.assertEqual(names, ["a_b__a_b", "a_b__a_b_2", "a_b__A_B_3", "a_b__" + "n" * 59, "a_b__" + "n" * 57 + "_2", "a_b___"])


class Faults(Case):
    def test_servers_that_do_not_open(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            nobody = f"http://127.0.0.1:{unused.getsockname()[1]}/mcp"
            servers = {
                "missing": {"command": "no-such-program", "env": {"PATH": "/nowhere:/else"}},
                "folder": {"command": "true", "cwd": "/no/such/folder"}, "file": {"command": "/etc/passwd"},
                "ends": self.scripted("legacy", "ends", "ends"), "mute": self.scripted("legacy", "mute", "mute", timeout=1),
                "version": self.scripted("legacy", "bad_version"), "future": self.scripted("modern", "other_versions"),
                "list": self.scripted("modern", "no_list"), "crash": self.scripted("legacy", "list_crash"),
                "endless": self.scripted("legacy", "endless", timeout=30), "nobody": {"url": nobody},
                "good": self.scripted("modern"),
            }
            run = self.chat_mcp("list", servers=servers, code=1)
        self.assertEqual([line.split()[0] for line in run.out.decode().splitlines()], ["good"])
        said = dict(zip([name for name in servers if name != "good"], run.err.decode().splitlines()))
        for name, words in (("missing", "/nowhere:/else"), ("folder", "/no/such/folder"), ("file", "Permission denied"),
                            ("ends", "exit code 4"), ("mute", "within 1 second"), ("version", "1999-01-01"),
                            ("future", "2031-01-01"), ("list", "no list today"), ("crash", "exit code 3"),
                            ("endless", "16,777,216 bytes"), ("nobody", "connection refused")):
            with self.subTest(name):
                self.assertTrue(said[name].startswith(f"chat: MCP server '{name}' cannot be used: "), said[name])
                self.assertIn(words, said[name])
        self.assert_gone(self.pids("ends") + self.pids("mute"))
        self.assertEqual(len(self.pids("mute")), 1)

    def test_the_era_is_found(self):
        cases = (("legacy", "dies_at_discover", "2025-06-18", 2), ("legacy", "silent_at_discover", "2025-06-18", 1),
                 ("modern", "late_modern", "2026-07-28", 1))
        run = self.chat_mcp("list", servers={fault: self.scripted(era, fault, fault) for era, fault, *_ in cases})
        self.assertEqual(run.err, b"")
        for line, (_, fault, version, n_starts) in zip(run.out.decode().splitlines(), cases):
            self.assertEqual(line.split()[:2], [fault, version])
            self.assertEqual(len(self.pids(fault)), n_starts)
        self.assertIn("message initialize", self.events("late_modern")[2])

    def test_banners_and_a_full_standard_error(self):
        run = self.chat_mcp("list", servers={"one": self.scripted("legacy", "banner", env={"SECRET": "sk-1234567890"})})
        self.assertIn(b"one  2025-06-18  3 tools", run.out)
        self.assertEqual(run.err, b"")
        log = self.log()
        self.assertIn("mcp one: unreadable: it is not valid JSON", log)
        self.assertIn("Welcome to the server!", log)
        self.assertEqual(log.count("mcp one: stderr: it begins \\x1b[31mred"), 5_000)
        self.assertIn("key ***", log)
        self.assertNotIn("sk-1234567890", log)


class Http(Case):
    def server(self, *arguments, **more):
        server = Server(*arguments, **more)
        self.addCleanup(server.close)
        return server

    def test_both_eras(self):
        modern, legacy = self.server("modern"), self.server("legacy")
        secret = {"headers": {"Authorization": "Bearer sk-1234567890"}}
        run = self.chat_mcp("list", servers={"new": {"url": modern.url + "?key=sk-0987654321#x", **secret},
                                             "old": {"url": legacy.url, "type": "http", **secret}})
        self.assertEqual(run.out.decode(), f"new  2026-07-28  1 tool  {modern.url}\nold  2025-11-25  1 tool  {legacy.url}\n")
        self.assertNotIn("sk-", self.log())
        for server in (modern, legacy):
            for _, headers, _ in server.requests:
                self.assertEqual(headers["Authorization"], "Bearer sk-1234567890")
        self.assertEqual(legacy.requests[-1][0], "DELETE")
        self.assertEqual(legacy.requests[-1][1]["Mcp-Session-Id"], "session-0")
        self.assertEqual(legacy.headers("tools/list")[0]["MCP-Protocol-Version"], "2025-11-25")
        self.assertNotIn("Mcp-Method", legacy.headers("tools/list")[0])

    def test_faults(self):
        other = self.server("modern")
        for fault, *words in (("401", "needs signing in", "401"), ("401_plain", "does not accept the key"), ("403", "403"),
                              ("500", "500", "no entry"), ("page", "web page"), ("redirect", other.origin, "not followed")):
            with self.subTest(fault):
                server = self.server("legacy", fault, other.url + "?key=1")
                run = self.chat_mcp("list", servers={"one": {"url": server.url, "headers": {"X-Key": "sk-123456"}}}, code=1)
                for word in ("'one'", *words):
                    self.assertIn(word, run.err.decode())
                self.assertNotIn("sk-123456", run.err.decode())
                if fault != "page":
                    self.assertEqual(len(server.requests), 1, "it says nothing about the era")
        self.assertEqual(other.requests, [])

    def test_eras_that_refusals_tell(self):
        self.assertIn(b"2026-07-28  1 tool", self.chat_mcp("list", servers={"x": {"url": self.server("modern", "no_discover").url}}).out)
        future = self.server("modern", "only_future")
        self.assertIn("2031-01-01", self.chat_mcp("list", servers={"x": {"url": future.url}}, code=1).err.decode())
        self.assertEqual(future.bodies("initialize"), [])

    def test_a_redirect_within_the_origin_is_followed(self):
        server = self.server("modern", "moved")
        self.assertIn(b"1 tool", self.chat_mcp("list", servers={"x": {"url": server.url, "headers": {"X-Key": "k"}}}).out)
        self.assertTrue(all(headers["X-Key"] == "k" for _, headers, _ in server.requests))

    def test_a_tool_with_a_bad_header_is_left_out(self):
        server = self.server("modern", "bad_header")
        self.assertEqual(self.chat_mcp("tools", servers={"x": {"url": server.url}}).out.count(b"\n"), 1)
        self.assertIn("x-mcp-header", self.log())


class Processes(Case):
    def start(self, servers, *words):
        self.configure(servers)
        chat = subprocess.Popen([CHAT, "mcp", *words, "--mcp-config", self.config_file], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=environment(), start_new_session=True)
        self.addCleanup(chat.communicate)
        self.addCleanup(chat.kill)
        return chat

    def test_a_good_server_sees_the_end_of_its_input_and_no_signal(self):
        self.chat_mcp("list", servers={"one": self.scripted("legacy")})
        self.assertEqual(self.events()[-2:], ["end of input", "leaves"])

    def test_a_stubborn_server_and_its_children_are_ended(self):
        begin = time.monotonic()
        self.chat_mcp("list", servers={"one": self.scripted("legacy", "stubborn", "stubborn"),
                                       "two": self.scripted("legacy", "child", "child")})
        self.assertLess(time.monotonic() - begin, 15)
        self.assertEqual(self.events("stubborn")[-2:], ["end of input", "SIGTERM"])
        self.assertEqual(len(self.pids("child")), 2)
        self.assert_gone(self.pids("stubborn") + self.pids("child"))

    def test_kill_leaves_no_process(self):
        servers = {name: self.scripted("legacy", fault, name) for name, fault in
                   (("a", "stubborn"), ("b", "-"), ("c", "child"))}
        chat = self.start({**servers, "mute": self.scripted("legacy", "mute", "mute", timeout=60)}, "list")
        wait_for(lambda: all("message tools/list" in "\n".join(self.events(name)) for name in servers)
                 and self.pids("mute") and len(self.pids("c")) == 2)
        pids = [pid for name in (*servers, "mute") for pid in self.pids(name)]
        self.assertTrue(all(is_running(pid) for pid in pids))
        chat.kill()
        self.assert_gone(pids, 5)

    def test_ctrl_c_and_sigterm_end_the_servers(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
            with self.subTest(number):
                name = f"mute{number}"
                chat = self.start({"one": self.scripted("legacy", "mute", name, timeout=60)}, "list")
                wait_for(lambda: self.pids(name))
                chat.send_signal(number)
                self.assertEqual(chat.wait(30), code)
                self.assert_gone(self.pids(name))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
