#!/usr/bin/env python3
"""Takes the pictures of README and manual: the start screen, the form of an assistant, a conversation with a real model
in both themes, and the profiler with the kernels of an emulated GPU.

usage: screenshots.py CHAT MODEL FOLDER      (needs imagemagick; take_pictures.sh installs and builds what it needs)

A picture shows a right answer or is not taken: each answer is checked first, and the code in it is run.
"""
import contextlib
import json
import os
import re
import sys
import tempfile
import time

sys.argv.insert(2, "/bin/true")  # program.py has it write the small models, which no picture shows
import desktop
from desktop import Display, Window
from program import FOLDER, path

MODEL, PICTURES = (os.path.abspath(name) for name in sys.argv[3:5])
FIRST_ROW = 150  # of the profiler's table, below the profiler's upper edge

# Titles in the sidebar; these conversations are not opened.
OTHERS = ["Haus am See – Entwurf für den Garten", "日本語の文法について", "🎉 Birthday ideas for a seven-year-old",
          "مرحبا بالعالم", "SQL joins"]


def finds_palindromes(answer):
    names = {"__builtins__": {}}  # the answer's code may use nothing but the language
    exec("\n".join(re.findall(r"```python\n(.*?)```", answer, re.S)), names)
    is_palindrome = next((value for name, value in names.items() if "palindrome" in name), None)
    cases = ("", "a", "level", "noon", "ab", "levels")
    return is_palindrome is not None and all(is_palindrome(text) == (text == text[::-1]) for text in cases)


def is_area_of_circle(answer):
    return re.findall(r"\$\$(.*?)\$\$", answer) == [r"A = \pi r^2"]


# Each with a function that tells whether an answer is right.
QUESTIONS = [(r"Which formula gives the area of a circle: $$A = \pi r^2$$ or $$A = 2 \pi r$$?", is_area_of_circle),
             ("Write a Python function that checks whether a string is a palindrome.", finds_palindromes)]
TITLE = "Circles and palindromes"
ASSISTANT = ("Editor", "Correct spelling and grammar. Give the corrected text only.")
PROFILED = ("What is the capital of France?", lambda answer: answer == "The capital of France is Paris.")


def fill(window):
    for title in OTHERS:
        file = path("import.json", json.dumps([{"role": "user", "content": title},
                                               {"role": "assistant", "content": "…"}]).encode())
        window.import_file(file)
    window.key("ctrl+n")
    window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")


def ask(window, question, is_right):
    before = len(window.state()["conversation"]["messages"])
    window.key("ctrl+l")
    window.type(question)
    window.wait_for(lambda s: s["composer"] == question, "the typed question")
    window.key("Return")
    state = window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == before + 2
                            and s["conversation"]["messages"][-1]["status"] == "complete", "the answer")
    answer = state["conversation"]["last_text"]
    if not is_right(answer):
        sys.exit(f"no picture: the answer to \"{question}\" is wrong:\n{answer}")


def take(window, name):
    """Takes a picture once nothing is drawn any more, with the mouse in the corner and without notices."""
    for notice in window.state()["notices"]:
        window.click(f"notice:{notice['id']}:dismiss")
    width, height = window.state()["window"]
    window.display.xdotool("mousemove", width - 1, height - 1)
    frames = None
    while frames != window.state()["frames"]:
        frames = window.state()["frames"]
        time.sleep(2)
    window.display.screenshot(os.path.join(PICTURES, name))


def rename(window, title):
    window.key("F2")
    window.wait_for(lambda s: s["focus"] == "rename", "the title's field")
    window.key("ctrl+a")
    window.type(title)
    window.key("Return")
    window.wait_for(lambda s: s["conversation"]["title"] == title, "the new title")


@contextlib.contextmanager
def opened(width, height, *arguments, model=MODEL):
    """A window that fills a display of this size, with the model loaded, if there is one."""
    home = tempfile.mkdtemp(dir=FOLDER)
    os.makedirs(os.path.join(home, ".local/state/warpchat"))
    with open(os.path.join(home, ".local/state/warpchat/window.json"), "w", encoding="utf-8") as file:
        json.dump({"width": width, "height": height, "x": 0, "y": 0}, file)
    display = Display(width, height)
    try:
        flags = ["-m", model] if model else []
        window = Window(display, *flags, "--temp", "0", *arguments, home=home)
        try:
            window.wait_for(lambda s: bool(s["model"]) == bool(model) and s["phase"] == "idle", "the model")
            yield window
        finally:
            window.kill()
    finally:
        display.close()


def take_first_steps():
    """What a first start shows, and how an assistant is made."""
    with opened(1280, 800, model=None) as window:
        window.wait_for(lambda s: "start:server" in s["widgets"], "the start screen")
        take(window, "start.png")
    with opened(1280, 800, "--device", "cpu") as window:
        window.key("ctrl+shift+p")
        window.wait_for(lambda s: s["focus"] == "palette", "the palette")
        window.type("assistants")
        window.key("Return")
        window.click("assistants_new")
        window.wait_for(lambda s: s["focus"] == "assistant_name", "the assistant's form")
        window.type(ASSISTANT[0])
        window.click("assistant_prompt")
        window.type(ASSISTANT[1])
        window.click("assistant_use_loaded")
        window.wait_for(lambda s: s["focus"] != "", "a field")
        take(window, "assistant.png")


def take_conversation():
    with opened(1280, 800, "--device", "cpu") as window:
        fill(window)
        for question, is_right in QUESTIONS:
            ask(window, question, is_right)
        rename(window, TITLE)
        take(window, "chat_light.png")
        window.key("ctrl+shift+l")
        take(window, "chat_dark.png")


def take_profiler():
    """Closes the sidebar, so that the kernels' names have room beside the text of the one that costs most."""
    with opened(1440, 900, "--device", "emulator") as window:
        window.key("ctrl+b")
        window.key("F12")
        state = window.wait_for(lambda s: "profiler" in s["panels"] and "sidebar" not in s["panels"], "the profiler")
        ask(window, *PROFILED)
        x, y, _, _ = state["widgets"]["profiler_overlay"]
        window.display.xdotool("mousemove", x + 100, y + FIRST_ROW, "click", 1)
        take(window, "profiler.png")


def main():
    desktop.MAX_SECONDS = 600  # the emulator computes a prompt token in about a second
    take_first_steps()
    take_conversation()
    take_profiler()


main()
