"""chat --gui on a display of its own (Xvfb), used as a person would: keys and clicks by xdotool, what is there read from
the state that --gui-state writes after each frame."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "app"))
from program import CHAT, FOLDER, STORE, environment, rows_of  # noqa: E402

MOST_SECONDS = 60  # only to end what hangs


class Display:
    """An X server without a screen to look at."""

    def __init__(self, width=1280, height=800):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise AssertionError("Xvfb did not start")
        self.name = ":" + number

    def xdotool(self, *arguments, check=True):
        return subprocess.run(["xdotool", *map(str, arguments)], env={**os.environ, "DISPLAY": self.name},
                              capture_output=True, text=True, check=check, timeout=MOST_SECONDS).stdout

    def screenshot(self, path):
        """A PNG of the whole screen."""
        subprocess.run(["import", "-display", self.name, "-window", "root", path], check=True, timeout=MOST_SECONDS)

    def close(self):
        self.server.terminate()
        self.server.wait(MOST_SECONDS)


class DisplayCase(unittest.TestCase):
    """One display for a class, a home for each of its tests."""

    @classmethod
    def setUpClass(cls):
        cls.display = Display()
        cls.addClassCleanup(cls.display.close)

    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.file = os.path.join(self.home, STORE)

    def rows(self, sql):
        return rows_of(self.file, sql)


@contextlib.contextmanager
def unserved_display():
    """A display that nobody can serve meanwhile: its port is taken, and nobody listens there."""
    for number in range(100, 10000):
        with socket.socket() as taken:
            try:
                taken.bind(("127.0.0.1", 6000 + number))
            except OSError:
                continue
            yield f"127.0.0.1:{number}"
            return
    raise AssertionError("every display's port is taken")


class Window:
    """One start of chat --gui. State is what the last frame wrote; waiting is for what it says, never for a time."""

    def __init__(self, display, *arguments, home=None, **variables):
        self.display = display
        self.home = home or tempfile.mkdtemp(dir=FOLDER)
        self.state_file = os.path.join(tempfile.mkdtemp(dir=FOLDER), "state.json")
        self.process = subprocess.Popen(
            [CHAT, "--gui", "--gui-state", self.state_file, *arguments],
            env=environment(self.home, DISPLAY=display.name, LIBGL_ALWAYS_SOFTWARE="1", **variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def state(self):
        """None before the first frame."""
        try:
            with open(self.state_file) as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def wait_for(self, condition, what):
        """The first state of which the condition holds."""
        end = time.monotonic() + MOST_SECONDS
        while True:
            state = self.state()
            if state is not None and condition(state):
                return state
            if self.process.poll() is not None:
                code = self.process.returncode
                raise AssertionError(f"the window ended with {code} while waiting for {what}: {self.errors()}")
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {what}; the state: {json.dumps(state)[:3000]}")
            time.sleep(0.01)

    def errors(self):
        return self.process.communicate(timeout=MOST_SECONDS)[1].decode()

    def middle(self, widget):
        state = self.wait_for(lambda s: widget in s["widgets"], f"the widget {widget}")
        x, y, width, height = state["widgets"][widget]
        return round(x + width / 2), round(y + height / 2)

    def move_to(self, widget):
        self.display.xdotool("mousemove", *self.middle(widget))

    def click(self, widget, button=1):
        self.display.xdotool("mousemove", *self.middle(widget), "click", button)

    def drag(self, start, end):
        """start, end: (x, y) in pixels."""
        self.display.xdotool("mousemove", *start, "mousedown", 1, "mousemove", *end, "mouseup", 1)

    def key(self, *names):
        """As xdotool calls them: "Return", "ctrl+n", "F12"."""
        self.display.xdotool("key", "--clearmodifiers", *names)

    def type(self, text):
        self.display.xdotool("type", "--delay", 2, text)

    def terminate(self):
        """SIGTERM, as a desktop that logs out sends it; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.process.kill()
        self.wait()

    def wait(self):
        self.process.communicate(timeout=MOST_SECONDS)
        return self.process.returncode

    def cpu_seconds(self):
        """Of the process with all its threads, so far."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
