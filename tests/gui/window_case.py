"""Shared by tests of the window: a window with its model loaded, and access to its state."""
import json
import os

from desktop import DisplayCase, Window
from program import TINY


def is_idle(state):
    return state["model"] is not None and state["phase"] == "idle"


def n_messages(state):
    return len(state["conversation"]["messages"])


def last_status(state):
    messages = state["conversation"]["messages"]
    return messages[-1]["status"] if messages else None


class WindowCase(DisplayCase):
    def setUp(self):
        super().setUp()
        self.folder = os.path.dirname(self.file)
        self.window = None

    def open(self, *arguments, model=TINY, **variables):
        """A window with its model loaded."""
        self.window = Window(self.display, "-m", model, *arguments, home=self.home, **variables)
        self.addCleanup(self.window.kill)
        return self.window.wait_for(is_idle, "the model")

    def remember(self, **memory):
        """Sets the remembered state for the next start."""
        folder = os.path.join(self.home, ".local/state/warpchat")
        os.makedirs(folder)
        with open(os.path.join(folder, "window.json"), "w") as file:
            json.dump(memory, file)

    def close(self):
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)

    def import_talk(self, question, answer):
        path = os.path.join(self.home, "talk.json")
        with open(path, "w") as file:
            json.dump([{"role": "user", "content": question}, {"role": "assistant", "content": answer}], file)
        self.window.import_file(path)
        return self.window.wait_for(lambda s: n_messages(s) == 2, "its messages")

    def ask(self, text, n_after):
        """Sends the text; returns the state with n_after messages, the last of them a finished answer."""
        self.window.key("ctrl+l")
        self.window.type(text)
        self.window.wait_for(lambda s: s["composer"] == text, "the typed text")
        self.window.key("Return")
        return self.answered(n_after)

    def answered(self, n_after):
        return self.window.wait_for(
            lambda s: s["phase"] == "idle" and n_messages(s) == n_after
            and last_status(s) in ("complete", "stopped"), f"{n_after} messages")
