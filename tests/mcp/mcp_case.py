"""Shared by tests of the MCP client: configurations, scripted servers, and ways to run the programs."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "app"))
MCP_CALL = os.path.abspath(sys.argv.pop(3))

from program import CHAT, MAX_SECONDS, Run, environment, is_sanitized  # noqa: E402
from program_case import Case as ProgramCase  # noqa: E402

SCRIPTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripted_server.py")


class Case(ProgramCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="warpchat_mcp_")
        self.addCleanup(shutil.rmtree, self.folder, True)
        self.config_file = os.path.join(self.folder, "servers.json")
        self.log_file = os.path.join(self.folder, "log")

    def events_file(self, name="server"):
        return os.path.join(self.folder, f"{name}.events")

    def events(self, name="server"):
        try:
            with open(self.events_file(name)) as file:
                return file.read().splitlines()
        except FileNotFoundError:
            return []

    def scripted(self, era, fault="-", name="server", **more):
        """The configuration of a server on standard streams, whose events have this name."""
        return {"command": sys.executable, "args": [SCRIPTED, era, fault, self.events_file(name)], **more}

    def configure(self, servers):
        with open(self.config_file, "w") as file:
            file.write(servers if isinstance(servers, str) else json.dumps({"mcpServers": servers}))

    def chat_mcp(self, *words, servers=None, code=0, **variables):
        if servers is not None:
            self.configure(servers)
        run = Run("mcp", *words, "--mcp-config", self.config_file, "--log-file", self.log_file, env=environment(**variables))
        self.assertEqual(run.code, code, run)
        self.assertNotIn(b"\x1b", run.out + run.err)
        return run

    def log(self):
        with open(self.log_file, errors="replace") as file:
            return file.read()

    def call(self, server, *calls, flags=(), **variables):
        """Results of calls at one server, then what mcp_call says at its end. calls: arguments, or (name, arguments)."""
        return self.call_all({"server": server}, *calls, flags=flags, **variables)

    def call_all(self, servers, *calls, flags=(), **variables):
        """The same of several servers."""
        self.configure(servers)
        words = []
        for one in calls:
            name, arguments = one if isinstance(one, tuple) else ("server__echo", one)
            words += [name, json.dumps(arguments)]
        with open(self.config_file) as file:  # a descriptor that no server may get
            done = subprocess.run([MCP_CALL, self.config_file, *flags, *words], capture_output=True, timeout=MAX_SECONDS,
                                  env=environment(**variables), pass_fds=(file.fileno(),))
        self.assertEqual(done.returncode, 0, done)
        self.notices = done.stderr.decode()
        return [json.loads(line) for line in done.stdout.splitlines()]

    def pids(self, name="server"):
        return [int(event.split()[1]) for event in self.events(name) if event.startswith("start ")]

    def assert_gone(self, pids, seconds=5):
        self.assertTrue(pids)
        end = time.monotonic() + seconds
        while any(is_running(pid) for pid in pids):
            self.assertLess(time.monotonic(), end, f"some of {pids} still run")
            time.sleep(0.02)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not come"
        time.sleep(0.02)


__all__ = ["CHAT", "Case", "Run", "environment", "is_running", "is_sanitized", "wait_for"]
