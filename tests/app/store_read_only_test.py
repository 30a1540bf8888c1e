#!/usr/bin/env python3
"""The conversation store where nothing can be written, as a user of the terminal meets it.

usage: store_read_only_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import subprocess
import sys
import unittest

from program import CHAT  # noqa: E402
from pseudo_terminal import StoreCase  # noqa: E402


class ReadOnly(StoreCase):
    """A file system that can only be read, or a folder without the right to write."""

    SAID = "stored conversations can be read, but what is new or changed is lost when this program ends"
    AS_OTHERS = ("setpriv", "--bounding-set=-dac_override", "--") if os.geteuid() == 0 else ()  # root may write anywhere

    def setUp(self):
        super().setUp()
        if self.AS_OTHERS and subprocess.run([*self.AS_OTHERS, "true"], capture_output=True).returncode != 0:
            self.skipTest("needs a user, or the right to give up rights")

    def set_rights(self, folder_mode, file_mode):
        folder = os.path.dirname(self.file)
        for name in os.listdir(folder):
            os.chmod(os.path.join(folder, name), file_mode)
        os.chmod(folder, folder_mode)

    def look_at_store(self):
        """What a chat shows of it: the messages of its only conversation."""
        before = {name: os.stat(os.path.join(os.path.dirname(self.file), name)).st_mtime_ns
                  for name in os.listdir(os.path.dirname(self.file))}
        self.set_rights(0o500, 0o400)
        self.addCleanup(self.set_rights, 0o700, 0o600)
        terminal = self.chat(program=(*self.AS_OTHERS, CHAT))
        terminal.type("/list\r")
        terminal.wait_for("about apples")
        terminal.type("/search apples\r/load 1\r")
        terminal.wait_for('"about apples", 2 messages')
        messages = self.messages(terminal)
        for name in ("out.json", "out.md"):
            terminal.type(f"/export {os.path.join(self.home, name)}\r")
            terminal.wait_for("wrote ")
            with open(os.path.join(self.home, name)) as file:
                self.assertIn("about apples", file.read())
            os.remove(os.path.join(self.home, name))
        self.send(terminal, "about pears")
        self.send(terminal, "/regen")
        terminal.type("/new\r/list\r")
        terminal.wait_for("4 messages")
        self.leave(terminal)
        self.assertEqual(terminal.plain_seen.count(self.SAID), 1, terminal.plain_seen)
        self.assertEqual(before, {name: os.stat(os.path.join(os.path.dirname(self.file), name)).st_mtime_ns
                                  for name in before})
        return messages

    def test_conversations_are_listed_shown_and_exported(self):
        terminal = self.chat()
        self.send(terminal, "about apples")
        shown = self.messages(terminal)
        self.leave(terminal)
        self.assertEqual(self.look_at_store(), shown)

    def test_the_log_of_a_killed_program_is_read(self):
        terminal = self.chat()
        self.send(terminal, "about apples")
        shown = self.messages(terminal)
        self.kill(terminal)
        self.assertGreater(os.path.getsize(self.file + "-wal"), 0)
        self.assertEqual(self.look_at_store(), shown)

    def test_a_folder_without_a_store(self):
        os.makedirs(os.path.dirname(self.file))
        self.set_rights(0o500, 0o400)
        self.addCleanup(self.set_rights, 0o700, 0o600)
        terminal = self.chat(program=(*self.AS_OTHERS, CHAT))
        self.send(terminal, "about pears")
        self.leave(terminal)
        self.assertIn("; conversations are lost when this program ends", terminal.plain_seen)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
