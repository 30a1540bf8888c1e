#!/usr/bin/env python3
"""Takes the pictures of README and manual: a conversation with a real model in both themes, and the profiler.

usage: screenshots.py CHAT CLI_MODELS MODEL FOLDER      (needs imagemagick)
"""
import json
import os
import sys
import time

from desktop import Display, Window
from program import FOLDER, path

MODEL, PICTURES = (os.path.abspath(name) for name in sys.argv[3:5])

# Titles in the list; these conversations are not opened.
OTHERS = ["Haus am See – Entwurf für den Garten", "日本語の文法について", "🎉 Birthday ideas for a seven-year-old",
          "مرحبا بالعالم", "SQL joins"]
QUESTIONS = ["Explain in three short points why the sky is blue.",
             "Write a Python function that reverses the words of a sentence."]


def fill(window):
    for title in OTHERS:
        file = path("import.json", json.dumps([{"role": "user", "content": title},
                                               {"role": "assistant", "content": "…"}]).encode())
        window.import_file(file)
    window.key("ctrl+n")
    window.wait_for(lambda s: s["conversation"]["id"] == 0, "a new conversation")


def ask(window, question):
    before = len(window.state()["conversation"]["messages"])
    window.key("ctrl+l")
    window.type(question)
    window.key("Return")
    window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == before + 2
                    and s["conversation"]["messages"][-1]["status"] == "complete", "the answer")


def take(window, name):
    """Takes it when drawing has stopped."""
    frames = None
    while frames != window.state()["frames"]:
        frames = window.state()["frames"]
        time.sleep(2)
    window.display.screenshot(os.path.join(PICTURES, name))


def main():
    display = Display(1180, 800)
    window = Window(display, "-m", MODEL, "--temp", "0", home=os.path.join(FOLDER, "pictures"))
    try:
        window.wait_for(lambda s: s["model"], "the model")
        fill(window)
        for question in QUESTIONS:
            ask(window, question)
        display.xdotool("mousemove", 720, 795)
        for notice in window.state()["notices"]:
            window.click(f"notice:{notice['id']}:dismiss")
        take(window, "chat_light.png")
        window.key("ctrl+shift+l")
        take(window, "chat_dark.png")
        window.key("ctrl+shift+l")
        window.key("F12")
        window.key("ctrl+r")
        window.wait_for(lambda s: s["phase"] == "answer", "the answer again")
        window.wait_for(lambda s: s["phase"] == "idle", "its end")
        take(window, "profiler.png")
    finally:
        window.kill()
        display.close()


main()
