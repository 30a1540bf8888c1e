"""chat --gui on its own display (Xvfb), driven like a person does: keys and clicks through xdotool. Results are read
from the state that --gui-state writes after each frame."""
import contextlib
import ctypes
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

MAX_SECONDS = 60  # only to end a run that hangs


class XImage(ctypes.Structure):
    """The beginning of Xlib's XImage."""
    _fields_ = [(name, ctypes.c_int) for name in ("width", "height", "xoffset", "format")] + [
        ("data", ctypes.POINTER(ctypes.c_uint32))]


class Display:
    """An X server without a screen. dpi: as a desktop sets it; 0: not set, which means 96."""

    def __init__(self, width=1280, height=800, dpi=0):
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        if not number:
            raise AssertionError("Xvfb did not start")
        self.name = ":" + number
        if not dpi:
            return
        try:
            subprocess.run(["xprop", "-display", self.name, "-root", "-f", "RESOURCE_MANAGER", "8s",
                            "-set", "RESOURCE_MANAGER", f"Xft.dpi:\t{dpi}\n"], check=True, timeout=MAX_SECONDS)
        except (OSError, subprocess.SubprocessError):
            self.close()  # it holds the test's output open, for which ctest waits
            raise

    def xdotool(self, *arguments, check=True):
        return subprocess.run(["xdotool", *map(str, arguments)], env={**os.environ, "DISPLAY": self.name},
                              capture_output=True, text=True, check=check, timeout=MAX_SECONDS).stdout

    def screenshot(self, path):
        """A PNG of the whole screen."""
        subprocess.run(["import", "-display", self.name, "-window", "root", path], check=True, timeout=MAX_SECONDS)

    def pixels(self, x, y, width, height):
        """Part of the screen: rows of 0xRRGGBB."""
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XDefaultRootWindow.restype = ctypes.c_ulong
        x11.XGetImage.restype = ctypes.POINTER(XImage)
        display = ctypes.c_void_p(x11.XOpenDisplay(self.name.encode()))
        root, all_planes, z_pixmap = ctypes.c_ulong(x11.XDefaultRootWindow(display)), ctypes.c_ulong(0xFFFFFF), 2
        image = x11.XGetImage(display, root, x, y, width, height, all_planes, z_pixmap).contents
        values = image.data[:width * height]
        x11.XCloseDisplay(display)
        return [[value & 0xFFFFFF for value in values[row * width:(row + 1) * width]] for row in range(height)]

    def set_minimised(self, window, minimised):
        """Plays the window manager, since there is none: sets WM_STATE and maps or unmaps the window."""
        x11 = ctypes.CDLL("libX11.so.6")
        x11.XOpenDisplay.restype = ctypes.c_void_p
        x11.XInternAtom.restype = ctypes.c_ulong
        display = ctypes.c_void_p(x11.XOpenDisplay(self.name.encode()))
        wm_state = ctypes.c_ulong(x11.XInternAtom(display, b"WM_STATE", False))
        iconic, normal, replace = 3, 1, 0
        state = (ctypes.c_long * 2)(iconic if minimised else normal, 0)
        (x11.XUnmapWindow if minimised else x11.XMapWindow)(display, ctypes.c_ulong(window))
        x11.XChangeProperty(display, ctypes.c_ulong(window), wm_state, wm_state, 32, replace, state, 2)
        x11.XCloseDisplay(display)

    def close(self):
        self.server.terminate()
        self.server.wait(MAX_SECONDS)


class DisplayCase(unittest.TestCase):
    """One display per class, one home per test."""

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
    """A display number that no server can use meanwhile: its port is taken, but nothing answers there."""
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
    """One start of chat --gui. The state is that of the last frame; tests wait for states, never for a time."""

    def __init__(self, display, *arguments, home=None, titles=False, **variables):
        """titles: by the model, the default for users; else conversations are named after what the test typed."""
        self.display = display
        self.home = home or tempfile.mkdtemp(dir=FOLDER)
        self.state_file = os.path.join(tempfile.mkdtemp(dir=FOLDER), "state.json")
        self.process = subprocess.Popen(
            [CHAT, "--gui", "--gui-state", self.state_file, *([] if titles else ["--no-titles"]), *arguments],
            env=environment(self.home, **{"DISPLAY": display.name, "LIBGL_ALWAYS_SOFTWARE": "1",
                                          "DBUS_SESSION_BUS_ADDRESS": "", **variables}),  # no dialog of this desktop
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def state(self):
        """None before the first frame."""
        try:
            with open(self.state_file) as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def wait_for(self, condition, what, seconds=MAX_SECONDS):
        """The first state that meets the condition."""
        end = time.monotonic() + seconds
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
        return self.process.communicate(timeout=MAX_SECONDS)[1].decode()

    def middle(self, widget):
        state = self.wait_for(lambda s: widget in s["widgets"], f"the widget {widget}")
        x, y, width, height = state["widgets"][widget]
        return round(x + width / 2), round(y + height / 2)

    def move_to(self, widget):
        """Repeats until the mouse is on the widget, which may still move."""
        end = time.monotonic() + MAX_SECONDS
        while time.monotonic() < end:
            at = self.middle(widget)
            self.display.xdotool("mousemove", *at)
            self.wait_for(lambda s: all(abs(seen - meant) <= 1 for seen, meant in zip(s["mouse"], at)), f"the mouse at {at}")
            if self.middle(widget) == at:
                return
        raise AssertionError(f"{widget} never rests")

    def click(self, widget, button=1):
        self.move_to(widget)
        self.display.xdotool("click", button)

    def click_away(self, widget):
        """Clicks until the widget is gone; it may move from below the pointer."""
        while widget in (widgets := self.wait_for(lambda s: True, "a state")["widgets"]):
            x, y, width, height = widgets[widget]
            self.display.xdotool("mousemove", round(x + width / 2), round(y + height / 2), "click", 1)
            end = time.monotonic() + 2
            while time.monotonic() < end and widget in self.wait_for(lambda s: True, "a state")["widgets"]:
                time.sleep(0.01)

    def drag(self, start, end):
        """start, end: (x, y) in pixels."""
        self.display.xdotool("mousemove", *start, "mousedown", 1, "mousemove", *end, "mouseup", 1)

    def key(self, *names):
        """xdotool's names: "Return", "ctrl+n", "F12"."""
        self.display.xdotool("key", "--clearmodifiers", *names)

    def type(self, text):
        self.display.xdotool("type", "--delay", 2, text)

    def ask_to_import(self, path):
        """With the window's own browser."""
        self.key("ctrl+shift+o")
        self.wait_for(lambda s: s["focus"] == "path", "the path's field")
        self.key("ctrl+a")
        self.type(path)
        self.key("Return")

    def import_file(self, path):
        """Returns the state with one more conversation."""
        before = len(self.state()["conversations"])
        self.ask_to_import(path)
        return self.wait_for(lambda s: len(s["conversations"]) == before + 1 and "path" not in s["panels"],
                             "the imported conversation")

    def number(self):
        """The X server's id of the window."""
        return int(self.display.xdotool("search", "--onlyvisible", "--pid", self.process.pid).split()[0])

    def terminate(self):
        """SIGTERM, as a desktop sends it at logout; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        self.process.kill()
        self.wait()

    def wait(self):
        self.process.communicate(timeout=MAX_SECONDS)
        return self.process.returncode

    def cpu_seconds(self):
        """CPU time of the process with all its threads."""
        with open(f"/proc/{self.process.pid}/stat") as file:
            fields = file.read().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
