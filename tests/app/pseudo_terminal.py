"""The chat program on a pseudo-terminal, for tests that type into it."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import tempfile
import termios
import time
import unittest

from program import CHAT, ENDLESS, FOLDER, STORE, TINY, environment, rows_of

MAX_SECONDS = 60  # only to end a run that hangs
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<>]*[A-Za-z]|[78D])")
UNFINISHED = re.compile(r"\x1b(?:\[[0-9;?<>]*)?\Z")  # an unfinished escape sequence
CHARACTERS = re.compile(ESCAPES.pattern + r"|\r|(.)", re.DOTALL)  # group 1: one that plain() keeps
DRAWN_OVER = re.compile(r"\r[^\r\n]*(?:\x1b\[K|\Z)")  # a spinner's frame, or the text that clears it


class Terminal:
    """chat on its own pseudo-terminal, wide enough for every sentence. seen: all its output, with \\r\\n as \\n;
    bytes: as they came.
    plain_seen: the same without escape sequences and \\r. It is kept because searching a long text again for every wait
    takes seconds."""

    def __init__(self, *arguments, home=FOLDER, columns=500, rows=24, program=(CHAT,), **variables):
        self.seen, self.plain_seen, self.position, self.raw_position, self.status = "", "", 0, 0, None
        self.bytes = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execvpe(program[0], [*program, *arguments], environment(home, **variables))
        self.resize(columns, rows)
        self.pending = b""

    def resize(self, columns, rows=24):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        """Reads meanwhile, as terminals do: otherwise a long text and its echo block each other."""
        left = text.encode() if isinstance(text, str) else text
        os.set_blocking(self.fd, False)
        try:
            while left:
                try:
                    left = left[os.write(self.fd, left):]
                except BlockingIOError:
                    self.read_some(0.01)
        finally:
            os.set_blocking(self.fd, True)

    def read_some(self, timeout):
        """False at the end of the program's output."""
        if not select.select([self.fd], [], [], timeout)[0]:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.bytes += data
        self.pending += data
        text = self.pending.decode(errors="ignore")
        rest = b"" if text.encode() == self.pending else self.pending[len(text.encode()):]
        whole = UNFINISHED.sub("", text)
        self.pending = text[len(whole):].encode() + rest
        self.seen += whole.replace("\r\n", "\n")
        self.plain_seen += ESCAPES.sub("", whole).replace("\r", "")
        return bool(data)

    def plain(self):
        """Output since the last wait, without escape sequences."""
        return self.plain_seen[self.position:]

    def answer(self):
        """plain() without overwritten text: a spinner is not part of the answer."""
        ends = [character.end() for character in CHARACTERS.finditer(self.seen) if character[1]]
        start = ends[self.position - 1] if self.position else 0
        return ESCAPES.sub("", DRAWN_OVER.sub("", self.seen[start:])).replace("\r", "")

    def wait_for(self, text, raw=False):
        """Reads until the text has come since the last wait of its kind: with (raw) or without escape sequences. The
        next wait starts after it. Returns the text before it."""
        end = time.monotonic() + MAX_SECONDS
        rest = lambda: self.seen[self.raw_position:] if raw else self.plain()
        while text not in rest():
            if time.monotonic() > end or not self.read_some(0.2) and text not in rest():
                raise AssertionError(f"waited in vain for {text!r}; seen: {rest()[-1500:]!r}")
        found = rest()[:rest().index(text)]
        if raw:
            self.raw_position += len(found) + len(text)
        else:
            self.position += len(found) + len(text)
        return found

    def wait_for_one(self, *texts):
        """Waits for the first of these texts, which it returns."""
        end = time.monotonic() + MAX_SECONDS
        while not any(text in self.plain() for text in texts):
            if time.monotonic() > end or not self.read_some(0.2):
                raise AssertionError(f"waited in vain for one of {texts!r}; seen: {self.plain()[-1500:]!r}")
        found = min((text for text in texts if text in self.plain()), key=self.plain().index)
        self.wait_for(found)
        return found

    def read_to_end(self):
        end = time.monotonic() + MAX_SECONDS
        while self.read_some(1):
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for the program's end; seen: {self.plain()[-1500:]!r}")
        return self.plain()

    def wait(self):
        """The exit code, negative for a signal."""
        if self.status is None:
            self.read_to_end()
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self.fd)
        return self.status

    def wait_until_keys_are_signals(self):
        """While an answer is prepared and streams."""
        end = time.monotonic() + MAX_SECONDS
        while not termios.tcgetattr(self.fd)[3] & termios.ISIG:
            if time.monotonic() > end:
                raise AssertionError("waited in vain for the end of editing")
            self.read_some(0.01)

    def wait_until_it_edits(self):
        end = time.monotonic() + MAX_SECONDS
        while termios.tcgetattr(self.fd)[3] & termios.ISIG:
            if time.monotonic() > end:
                raise AssertionError("waited in vain for the prompt")
            self.read_some(0.01)

    def echoes(self):
        """Whether the terminal is as a shell needs it: echo and line mode."""
        flags = termios.tcgetattr(self.fd)[3]
        return bool(flags & termios.ECHO) and bool(flags & termios.ICANON)


class Case(unittest.TestCase):
    def start(self, *arguments, model=TINY, **more):
        terminal = Terminal("-m", model, "--temp", "0", "-n", "12", *arguments, **more)
        self.addCleanup(self.end, terminal)
        self.wait_for_prompt(terminal)
        return terminal

    def wait_for_prompt(self, terminal):
        """Before the prompt the terminal echoes by itself, and typed text could reach the line editor."""
        terminal.wait_for("Ctrl-D leaves")
        terminal.wait_for_one("> ", "You: ")

    def start_endless(self, *arguments, **more):
        terminal = Terminal("-m", ENDLESS, "-c", "0", "--temp", "0", *arguments, **more)
        self.addCleanup(self.end, terminal)
        return terminal

    def end(self, terminal):
        if terminal.status is None:
            os.kill(terminal.pid, signal.SIGKILL)
            terminal.wait()

    def stop_an_answer(self, terminal):
        """Sends a message and interrupts the answer after its first text."""
        terminal.type("Hello\r")
        terminal.wait_for("Hello\n")
        while not terminal.answer().strip():
            terminal.read_some(1)
        terminal.type("\x03")
        terminal.wait_for("(stopped; /continue resumes it)")

    def messages(self, terminal):
        """The conversation as /export gives it."""
        file = tempfile.mktemp(suffix=".json", dir=FOLDER)
        terminal.type(f"/export {file}\r")
        if terminal.wait_for_one("wrote ", "there is no message to export") != "wrote ":
            return []
        with open(file) as exported:
            return [(m["role"], m["content"]) for m in json.load(exported)["messages"]]

    def send(self, terminal, text):
        terminal.type(text + "\r")
        answer = terminal.wait_for("\n\n> ")
        return answer


class StoreCase(Case):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.file = os.path.join(self.home, STORE)

    def chat(self, *arguments, **more):
        return self.start(*arguments, home=self.home, **more)

    def rows(self, sql):
        return rows_of(self.file, sql)

    def leave(self, terminal):
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)

    def kill(self, terminal):
        os.kill(terminal.pid, signal.SIGKILL)
        self.assertEqual(terminal.wait(), -signal.SIGKILL)
