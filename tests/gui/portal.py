"""A session bus for tests, and the desktop's portal on it."""
import json
import os
import queue
import subprocess
import threading
import urllib.parse

from desktop import MAX_SECONDS
from program import path

PYTHON = "/usr/bin/python3"  # Debian's Python, which has its D-Bus packages
PORTAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fake_portal.py")


BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>"""


class Bus:
    """An empty session bus that starts no services, so a desktop's own portal stays out."""

    def __init__(self):
        self.daemon = subprocess.Popen(["dbus-daemon", "--config-file", path("bus.conf", BUS.encode()), "--nofork",
                                        "--print-address=1"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.address = self.daemon.stdout.readline().strip()

    def close(self):
        self.daemon.terminate()
        self.daemon.communicate(timeout=MAX_SECONDS)


class Portal:
    """The service on a bus; the test waits for requests and answers them when it likes."""

    def __init__(self, bus):
        self.service = subprocess.Popen([PYTHON, PORTAL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env={**os.environ, "DBUS_SESSION_BUS_ADDRESS": bus.address})
        self.told = queue.Queue()
        self.listener = threading.Thread(target=self.listen)
        self.listener.start()
        self.next("ready")

    def listen(self):
        for line in self.service.stdout:
            self.told.put(json.loads(line))

    def next(self, kind):
        told = self.told.get(timeout=MAX_SECONDS)
        assert kind in told, told
        return told

    def tell_colours(self, scheme):
        """0: no preference, 1: dark, 2: light. Before the first window, it is what that reads."""
        self.service.stdin.write(json.dumps({"color_scheme": scheme}) + "\n")
        self.service.stdin.flush()
        self.next("color_scheme")

    def answer(self, paths=(), response=0, **more):
        uris = ["file://" + urllib.parse.quote(name) for name in paths]
        self.service.stdin.write(json.dumps({"response": response, "uris": uris, **more}) + "\n")
        self.service.stdin.flush()

    def close(self):
        self.service.stdin.close()
        self.service.wait(MAX_SECONDS)
        self.listener.join()
        self.service.stdout.close()
