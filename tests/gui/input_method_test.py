#!/usr/bin/env python3
"""The window with a real input method (uim over XIM): keys that it consumes are not the window's, and the text that it
composes is shown. Exit code 77: uim or localedef is not installed.

usage: input_method_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from desktop import FOLDER, MAX_SECONDS, Display
from program import ENDLESS
from window_case import WindowCase, last_status, n_messages

LOCALES = os.path.join(FOLDER, "locales")
ENGINES = {"byeoru": "ko_KR.UTF-8", "anthy-utf8": "ja_JP.UTF-8"}


class InputMethods(WindowCase):
    def setUp(self):
        """A display per test, since its properties name input methods that have gone."""
        super().setUp()
        self.display = Display()
        self.addCleanup(self.display.close)

    def open_with(self, engine, *flags, **more):
        """A window whose input method composes already; both speak the engine's language."""
        locale = {"LC_ALL": ENGINES[engine], "LOCPATH": LOCALES}
        self.server = subprocess.Popen(
            ["uim-xim", "--engine=" + engine], start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, **locale, "HOME": tempfile.mkdtemp(dir=FOLDER), "DISPLAY": self.display.name})
        self.addCleanup(self.end_server)
        end = time.monotonic() + MAX_SECONDS
        while "uim" not in self.xprop("-root", "XIM_SERVERS"):
            self.assertLess(time.monotonic(), end, "uim-xim does not start")
            time.sleep(0.05)
        self.open(*flags, XMODIFIERS="@im=uim", **locale, **more)
        self.window.key("ctrl+l")
        self.wait(focus="composer")
        self.window.key("shift+space")

    def xprop(self, *arguments):
        return subprocess.run(["xprop", "-display", self.display.name, *arguments], capture_output=True, text=True,
                              timeout=MAX_SECONDS).stdout

    def end_server(self):
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()

    def wait(self, **wanted):
        return self.window.wait_for(lambda s: all(s[name] == value for name, value in wanted.items()), wanted)

    def test_enter_sends_the_syllable_that_it_finishes(self):
        self.open_with("byeoru")
        for key, composition, composer in (("g", "ㅎ", ""), ("k", "하", ""), ("s", "한", ""), ("r", "ㄱ", "한"),
                                           ("m", "그", "한"), ("f", "글", "한")):
            self.window.key(key)
            self.wait(composition=composition, composer=composer)
        self.window.key("Return")
        state = self.answered(2)
        self.assertEqual((state["conversation"]["title"], state["composer"]), ("한글", ""))

    def test_keys_of_the_input_method_are_not_the_windows(self):
        self.open_with("anthy-utf8")
        self.window.key(*"kyouha")
        self.wait(composition="きょうは", composer="")
        self.window.key("Return")
        state = self.wait(composition="", composer="きょうは")
        self.assertEqual(n_messages(state), 0)
        self.window.key(*"ii")
        self.wait(composition="いい", composer="きょうは")
        self.window.key("BackSpace")
        self.wait(composition="い", composer="きょうは")
        self.window.key("BackSpace")
        self.wait(composition="", composer="きょうは")
        self.window.key("BackSpace")
        self.wait(composition="", composer="きょう")
        self.window.key(*"ka")
        self.wait(composition="か", composer="きょう")
        self.window.key("Left", "Escape")
        self.wait(composition="", composer="きょう")
        self.window.key("ctrl+k")
        self.wait(focus="search")
        self.window.key(*"umi")
        self.wait(composition="うみ")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["search"] == "うみ" and not s["composition"], "the words")
        self.assertEqual(self.window.state()["composer"], "きょう")

    def test_escape_that_cancels_stops_no_answer(self):
        self.open_with("anthy-utf8", "-c", "0", model=ENDLESS)
        self.window.key(*"ka", "Return")
        self.wait(composition="", composer="か")
        self.window.key("Return")
        self.window.wait_for(lambda s: last_status(s) == "streaming", "an answer")
        self.window.key(*"ki")
        self.wait(composition="き")
        self.window.key("Escape")
        self.assertEqual(last_status(self.wait(composition="")), "streaming")
        self.window.key("Escape")
        self.window.wait_for(lambda s: last_status(s) == "stopped", "its end")

    def test_one_that_stops_answering_stops_no_frame(self):
        self.open_with("byeoru")
        self.window.key("g", "k")
        self.wait(composition="하")
        os.killpg(self.server.pid, signal.SIGSTOP)
        self.window.key("s")
        dark = self.window.state()["theme"]
        self.window.click("theme")
        self.window.wait_for(lambda s: s["theme"] != dark, "the other theme")
        os.killpg(self.server.pid, signal.SIGCONT)
        self.wait(composition="한")

    def test_without_it_keys_are_text_again(self):
        self.open_with("byeoru")
        self.window.key("g", "k")
        self.wait(composition="하")
        self.end_server()
        self.wait(composition="")
        self.window.type("keys")
        self.window.wait_for(lambda s: s["composer"].endswith("keys"), "typed text")


if __name__ == "__main__":
    if not shutil.which("uim-xim") or not shutil.which("localedef"):
        sys.exit(77)
    os.mkdir(LOCALES)
    for locale in ENGINES.values():
        name, encoding = locale.split(".")
        subprocess.run(["localedef", "-i", name, "-f", encoding, os.path.join(LOCALES, locale)], check=True)
    unittest.main(argv=[sys.argv[0]] + sys.argv[3:])
