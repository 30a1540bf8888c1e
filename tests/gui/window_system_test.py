#!/usr/bin/env python3
"""The window and the system around it: appearance, frames, scales, faults, kills.

usage: window_system_test.py CHAT CLI_MODELS SCRIPTED_GLFW [unittest arguments]
"""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from desktop import CHAT, FOLDER, MAX_SECONDS, Display, Window, environment, unserved_display
from program import ENDLESS, TINY
from window_case import WindowCase, is_idle, n_messages

SCRIPTED_GLFW = os.path.abspath(sys.argv[3])
N_KILLS = 200 if os.environ.get("WARPCHAT_FULL_TESTS") else 20


class Look(WindowCase):
    def test_it_is_remembered(self):
        self.open()
        for keys, wanted in (("ctrl+shift+l", ("theme", "dark")), ("ctrl+equal", ("zoom", None))):
            before = self.window.state()[wanted[0]]
            self.window.key(keys)
            self.window.wait_for(lambda s: s[wanted[0]] != before, wanted[0])
        self.window.type("not sent yet")
        self.window.wait_for(lambda s: s["composer"] == "not sent yet", "the draft")
        self.window.key("ctrl+b")
        state = self.window.wait_for(lambda s: "sidebar" not in s["panels"], "no sidebar")
        self.close()
        again = self.open()
        for name in ("theme", "zoom", "panels", "composer"):
            self.assertEqual(again[name], state[name])

    def test_the_window_has_the_programs_icon(self):
        self.open()
        icon = subprocess.run(["xprop", "-display", self.display.name, "-id", str(self.window.number()), "32c",
                               "_NET_WM_ICON"], capture_output=True, text=True, timeout=MAX_SECONDS).stdout
        self.assertIn("64, 64", icon)
        self.assertIn("4279201383", icon, "a pixel of the bubble, 0xff0f6e67")

    def test_any_script_is_shown(self):
        """Drawn, selected and copied; the look needs eyes."""
        lines = ["日本語と漢字、仮名", "한국어", "مرحبا بالعالم", "नमस्ते", "👩‍👩‍👧‍👦 🇯🇵 👍🏽", "e\u0301", "x" * 3000]
        self.open()
        self.import_talk("scripts", "\n\n".join(lines))
        x, y, width, height = self.window.state()["widgets"]["transcript"]
        self.window.display.xdotool("mousemove", x + width // 2, y + 4, "click", 1)
        self.window.key("ctrl+a")
        state = self.window.wait_for(lambda s: s["selection"], "the selection")
        for line in lines:
            self.assertIn(line, state["selection"])


class Selections(WindowCase):
    """What other programs have copied."""

    def own(self, text, *arguments):
        """Another program that has the text copied; its process."""
        owner = subprocess.Popen(["xclip", "-quiet", "-display", self.display.name, *arguments], stdin=subprocess.PIPE,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(owner.wait)
        self.addCleanup(owner.kill)
        owner.stdin.write(text.encode())
        owner.stdin.close()
        end = time.monotonic() + MAX_SECONDS
        while subprocess.run(["xclip", "-o", "-display", self.display.name, *arguments], capture_output=True,
                             timeout=MAX_SECONDS, check=False).stdout != text.encode():
            self.assertLess(time.monotonic(), end, "the text is copied")
            time.sleep(0.05)
        return owner

    def test_it_is_pasted_whole(self):
        self.open()
        for text in ("short", "zwölf, 日本語, 🙂", "line\nby line", "x" * 3_000_000):  # the last one comes in pieces
            with self.subTest(text=text[:20]):
                owner = self.own(text, "-selection", "clipboard")
                self.window.key("ctrl+l", "ctrl+a", "ctrl+v")
                self.window.wait_for(lambda s: s["composer"] == text, "the text")
                owner.kill()
        self.window.key("ctrl+a", "BackSpace")
        self.window.wait_for(lambda s: s["composer"] == "", "an empty composer")
        self.own("by the mouse", "-selection", "primary")
        self.window.click("composer", button=2)
        self.window.wait_for(lambda s: s["composer"] == "by the mouse", "the selected text")
        self.window.key("ctrl+a", "ctrl+c", "End", "ctrl+v")  # its own
        self.window.wait_for(lambda s: s["composer"] == "by the mouse" * 2, "the copied text")

    def test_a_program_that_does_not_answer_stops_nothing(self):
        self.open("-n", "4")
        for keys, selection in ((("ctrl+v",), "clipboard"), ((), "primary")):
            with self.subTest(selection=selection):
                owner = self.own("x", "-selection", selection)
                owner.send_signal(signal.SIGSTOP)
                self.addCleanup(owner.send_signal, signal.SIGCONT)
                self.window.key("ctrl+l", *keys)
                if not keys:
                    self.window.click("composer", button=2)
                state = self.window.wait_for(lambda s: s["own_notices"], "that nothing came", seconds=5)
                self.assertIn("does not answer", state["own_notices"][0])
                self.assertEqual(state["composer"], "")
                self.window.key("Escape")
                self.window.wait_for(lambda s: not s["own_notices"], "no notice")
        self.ask("still there", 2)
        self.window.key("ctrl+l", "ctrl+v")
        self.assertEqual(self.window.terminate(), 128 + signal.SIGTERM)

    def test_a_drop_by_a_program_that_is_stopped_holds_nothing_up(self):
        self.open("-n", "4")
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "silent_drop.py")
        dropper = subprocess.Popen([sys.executable, script, self.display.name, str(self.window.number())],
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(dropper.communicate)
        self.addCleanup(dropper.kill)
        self.assertEqual(dropper.stdout.readline(), "dropped\n")
        self.ask("How are you?", 2)
        self.assertEqual(self.window.terminate(), 128 + signal.SIGTERM)


class Frames(WindowCase):
    def test_nothing_is_drawn_when_nothing_changes(self):
        self.open("-n", "4")
        self.ask("hello", 2)
        self.window.display.xdotool("mousemove", 5, 795)
        before = None
        end = time.monotonic() + MAX_SECONDS
        while time.monotonic() < end:  # notices fade and lists are refreshed once; then drawing stops
            now = self.window.state()["frames"]
            if now == before:
                return
            before = now
            time.sleep(3)
        self.fail("frames are drawn for no reason")

    def test_streaming_draws_at_most_a_frame_a_token(self):
        self.open("-n", "64", model=ENDLESS)
        self.window.key("ctrl+l")
        self.window.type("hello")
        before = self.window.wait_for(lambda s: s["composer"] == "hello", "the text")["frames"]
        self.window.key("Return")
        state = self.answered(2)
        tokens = state["conversation"]["messages"][1]["tokens"]
        self.assertEqual(tokens, 64)
        self.assertLess(state["frames"] - before, tokens + 24)  # frames of key, prompt, list and end


    def test_nothing_is_drawn_while_it_is_minimised(self):
        def length_of_answer():
            return self.rows("SELECT length(CAST(text AS BLOB)) FROM whole_turns WHERE role = 'assistant'")[0][0]

        self.open("-c", "100000", model=ENDLESS)
        self.window.type("hello")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["phase"] == "answer" and s["conversation"]["last_text"], "some text")
        number = self.window.number()
        self.display.set_minimised(number, True)
        end = time.monotonic() + MAX_SECONDS
        before = None
        while before != self.window.state()["frames"]:  # the window has noticed it
            before = self.window.state()["frames"]
            time.sleep(0.3)
            self.assertLess(time.monotonic(), end, "it is drawn while it is invisible")
        length = length_of_answer()
        while length_of_answer() < length + 100:  # text that would have been drawn
            time.sleep(0.1)
            self.assertLess(time.monotonic(), end, "the answer does not go on")
        self.assertEqual(self.window.state()["frames"], before)
        self.display.set_minimised(number, False)
        self.window.wait_for(lambda s: s["frames"] > before and len(s["conversation"]["last_text"]) > length, "the rest")
        self.window.key("Escape")


class Scale(WindowCase):
    """A monitor with 192 dots per inch."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.fine = Display(2560, 1700, dpi=192)
        cls.addClassCleanup(cls.fine.close)

    def window_on(self, display, home, **variables):
        window = Window(display, "-m", TINY, home=home, **variables)
        self.addCleanup(window.kill)
        return window, window.wait_for(lambda s: is_idle(s) and "send" in s["widgets"], "the model")

    def test_everything_is_twice_as_large(self):
        states = [self.window_on(display, tempfile.mkdtemp(dir=FOLDER))[1] for display in (self.display, self.fine)]
        for name in ("sidebar", "settings", "new", "search", "composer", "send"):
            normal, large = (state["widgets"][name] for state in states)
            for at, (one, two) in enumerate(zip(normal, large)):
                self.assertAlmostEqual(2 * one, two, delta=4, msg=f"{name}[{at}]")

    def test_units_of_two_pixels(self):
        """As on Wayland: drawing and clicks are the same as with a unit of one pixel."""
        scale = os.path.join(self.home, "scale")
        with open(scale, "w") as file:
            file.write("2")
        normal, large = (self.window_on(self.fine, tempfile.mkdtemp(dir=FOLDER), LD_PRELOAD=SCRIPTED_GLFW,
                                        MONITOR_SCALE=scale, PIXELS_A_UNIT=unit) for unit in "12")
        self.assertEqual(normal[1]["window"], large[1]["window"])
        self.assertEqual(normal[1]["widgets"], large[1]["widgets"])
        normal[0].kill()
        large[0].click("settings")
        large[0].wait_for(lambda s: "settings" in s["panels"], "the settings")

    def test_the_scale_changes_while_it_runs(self):
        """As on the way to another monitor, on a desktop with one scale per monitor."""
        scale = os.path.join(self.home, "scale")
        with open(scale, "w") as file:
            file.write("1")
        window, state = self.window_on(self.fine, self.home, LD_PRELOAD=SCRIPTED_GLFW, MONITOR_SCALE=scale)
        window.type("some words")
        before = window.wait_for(lambda s: s["composer"] == "some words", "the text")["widgets"]
        for now in ("2", "1"):
            with open(scale + ".new", "w") as file:
                file.write(now)
            os.rename(scale + ".new", scale)
            window.display.xdotool("mousemove", 700 + int(now), 500)
            for name in ("settings", "send"):
                window.wait_for(lambda s: abs(s["widgets"][name][3] - int(now) * before[name][3]) <= 2, f"{name} x {now}")
        state = window.wait_for(lambda s: s["widgets"] == before, "all as it was")
        self.assertEqual(state["composer"], "some words")


class Faults(WindowCase):
    def run_to_end(self, *arguments, **variables):
        done = subprocess.run([CHAT, "--gui", *arguments], env=environment(self.home, **variables),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=MAX_SECONDS)
        return done.returncode, done.stderr

    def test_no_display(self):
        with unserved_display() as unserved:
            for display in (unserved, ""):
                code, errors = self.run_to_end("-m", TINY, DISPLAY=display, WAYLAND_DISPLAY="")
                self.assertEqual(code, 1, display)
                self.assertEqual(errors.count("\n"), 1, errors)
                self.assertIn("terminal", errors)

    def test_a_wayland_session_without_an_x_server(self):
        code, errors = self.run_to_end("-m", TINY, DISPLAY="", WAYLAND_DISPLAY="wayland-that-is-not-there",
                                       XDG_RUNTIME_DIR=self.home)
        self.assertEqual((code, errors.count("\n")), (1, 1), errors)
        self.assertIn("this Wayland session has no X server; install the package xwayland; run ", errors)

    def test_no_opengl(self):
        code, errors = self.run_to_end("-m", TINY, DISPLAY=self.display.name, LIBGL_ALWAYS_SOFTWARE="1",
                                       MESA_GL_VERSION_OVERRIDE="2.1")
        self.assertEqual(code, 1)
        self.assertIn("OpenGL", errors)

    def test_no_fonts(self):
        empty = tempfile.mkdtemp(dir=FOLDER)
        config = os.path.join(empty, "fonts.conf")
        with open(config, "w") as file:
            file.write(f'<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>{empty}</dir>'
                       f"<cachedir>{empty}/cache</cachedir></fontconfig>")
        code, errors = self.run_to_end("-m", TINY, DISPLAY=self.display.name, FONTCONFIG_FILE=config)
        self.assertEqual(code, 1)
        self.assertIn("font", errors)

    def test_no_model(self):
        self.window = Window(self.display, "-m", "/no/such.gguf", home=self.home)
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: any("/no/such.gguf" in n["text"] for n in s["notices"]), "the sentence")
        self.window.wait_for(lambda s: any(name.startswith("notice:") for name in s["widgets"]), "its row")
        self.window.key("Escape")
        self.window.wait_for(lambda s: not s["notices"], "it closed")
        self.window.click("composer")
        self.window.type("not lost")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["composer"] == "not lost" or n_messages(s) == 1, "the text kept")

    def test_a_damaged_store_is_set_aside(self):
        os.makedirs(self.folder)
        with open(self.file, "wb") as file:
            file.write(b"no database at all" * 1000)
        self.window = Window(self.display, "-m", TINY, "-n", "4", home=self.home)
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: any("set aside" in n["text"] for n in s["notices"]), "the notice")
        self.window.wait_for(is_idle, "the model")
        self.ask("hello", 2)
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_a_store_that_cannot_be_opened(self):
        os.makedirs(os.path.dirname(self.folder))
        with open(self.folder, "w") as file:
            file.write("a file where the folder should be")
        state = self.open("-n", "4")
        self.window.wait_for(lambda s: s["store_fault"], "the reason")
        self.ask("hello", 2)

    def test_a_disk_that_is_full(self):
        """The user is told once, and the conversation continues."""
        self.open("-n", "4")
        self.ask("hello", 2)
        limit = os.path.getsize(self.file + "-wal")
        resource.prlimit(self.window.process.pid, resource.RLIMIT_FSIZE, (limit, limit))
        self.ask("again", 4)
        state = self.window.wait_for(lambda s: any(n["error"] for n in s["notices"]), "the sentence")
        told = {n["id"] for n in state["notices"] if n["error"]}
        state = self.ask("and again", 6)
        self.assertEqual(len(told | {n["id"] for n in state["notices"] if n["error"]}), 1, state["notices"])
        self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_logging_out_keeps_the_answer(self):
        self.open("-c", "0", model=ENDLESS)
        self.window.type("hello")
        self.window.key("Return")
        self.window.wait_for(lambda s: s["phase"] == "answer" and len(s["conversation"]["last_text"]) > 20, "text")
        self.assertEqual(self.window.terminate(), 128 + signal.SIGTERM)
        (text, state), = self.rows("SELECT text, state FROM turns WHERE role = 'assistant'")
        self.assertGreater(len(text), 20)
        self.assertNotEqual(state, 0)


class Kills(WindowCase):
    def test_killed_while_streaming(self):
        """Every message is there, and of each answer at least all but its last second."""
        seed = random.randrange(1 << 30)
        chance = random.Random(seed)
        for n in range(N_KILLS):
            with self.subTest(seed=seed, n=n):
                self.open("-c", "0", model=ENDLESS)
                question = f"question {n}"
                self.window.key("ctrl+l")
                self.window.key("ctrl+a")  # the draft of the last one, where that was not yet known to be sent
                self.window.type(question)
                self.window.wait_for(lambda s: s["composer"] == question, "the typed text")
                self.window.key("Return")
                self.window.wait_for(lambda s: s["phase"] == "answer", "the answer")  # it begins once all is stored
                seen, began = [], time.monotonic()
                lives = chance.uniform(0, 2.5)
                while time.monotonic() - began < lives:
                    seen.append((time.monotonic(), self.window.state()["conversation"]["last_text"]))
                    time.sleep(0.02)
                killed = time.monotonic()
                self.window.kill()
                self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])
                self.assertEqual(self.rows("SELECT text FROM turns WHERE role = 'user' ORDER BY id DESC LIMIT 1"),
                                 [(question,)])
                old = [text for at, text in seen if at < killed - 1.5]  # a second, and some time for a loaded machine
                if old:
                    stored = self.rows("SELECT text FROM whole_turns WHERE role = 'assistant' ORDER BY id DESC LIMIT 1")
                    self.assertTrue(stored and stored[0][0].startswith(old[-1]), f"{stored[-1:]} lacks {old[-1]!r}")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[4:])
