#!/usr/bin/env python3
"""Takes the pictures of README and manual: the start screen, the form of an assistant, a conversation with a real model
in both themes, the profiler with the kernels of an emulated GPU, and calls of tools, for which a server stands in that
always says the same: the calls and their results are real.

usage: screenshots.py CHAT MODEL FOLDER      (needs imagemagick; take_pictures.sh installs and builds what it needs)

A picture shows a right answer or is not taken: each answer is checked first, and the code in it is run.
"""
import contextlib
import http.server
import json
import os
import re
import sys
import tempfile
import threading
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
            has_model = bool(model) or "--endpoint" in arguments
            window.wait_for(lambda s: bool(s["model"]) == has_model and s["phase"] == "idle", "the model")
            yield window
        finally:
            window.kill()
    finally:
        display.close()


class Example(http.server.BaseHTTPRequestHandler):
    """A server whose model searches, reads what it has found, and answers."""
    CALLS = (("warpchat__search", {"text": "Lisbon"}), ("warpchat__read_file", {"path": "travel/portugal.md"}))
    ANSWER = "Your notes mention Lisbon once, in `travel/portugal.md`: the train to Porto leaves at **9:39**."

    def do_GET(self):
        self.reply("application/json", json.dumps({"data": [{"id": "example", "object": "model"}]}))

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        n_results = sum(message["role"] == "tool" for message in request["messages"])
        if n_results < len(self.CALLS):
            name, arguments = self.CALLS[n_results]
            delta = {"tool_calls": [{"index": 0, "id": f"call{n_results}", "type": "function",
                                     "function": {"name": name, "arguments": json.dumps(arguments)}}]}
            if n_results == 0:
                delta["content"] = "I will look into your notes."
        else:
            delta = {"content": self.ANSWER}
        end = "tool_calls" if "tool_calls" in delta else "stop"
        events = [{"delta": {"role": "assistant", **delta}}, {"delta": {}, "finish_reason": end}]
        lines = [json.dumps({"id": "1", "object": "chat.completion.chunk", "model": "example",
                             "choices": [{"index": 0, **event}]}) for event in events]
        self.reply("text/event-stream", "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]))

    def reply(self, kind, text):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def take_tools():
    """One call is over, and the next one waits for the user."""
    notes = os.path.join(tempfile.mkdtemp(dir=FOLDER), "notes")
    os.makedirs(os.path.join(notes, "travel"))
    with open(os.path.join(notes, "travel", "portugal.md"), "w", encoding="utf-8") as file:
        file.write("# Portugal\nLisbon: three days, then the train to Porto at 9:39.\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Example)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    flags = ("--endpoint", f"http://127.0.0.1:{server.server_port}", "-m", "example", "--no-titles")
    with opened(1280, 800, *flags, "--open-folder", notes, model=None) as window:
        question = "Which of my notes mention Lisbon?"
        window.key("ctrl+l")
        window.type(question)
        window.wait_for(lambda s: s["composer"] == question, "the typed question")
        window.key("Return")
        asks = lambda s: next((name for name in s["widgets"] if name.startswith("allow:")), None)
        first = asks(window.wait_for(asks, "the first question"))
        window.click(first)
        window.wait_for(lambda s: asks(s) and any(call.endswith(" ok") for message in s["conversation"]["messages"]
                                                  for call in message["calls"]), "the second question")
        take(window, "tools.png")
        window.click(first)
        state = window.wait_for(lambda s: s["phase"] == "idle", "the answer")
        if state["conversation"]["last_text"] != Example.ANSWER:
            sys.exit("no picture of tools: the answer is wrong")
    server.shutdown()


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
    take_tools()
    take_conversation()
    take_profiler()


main()
