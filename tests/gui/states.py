#!/usr/bin/env python3
"""Takes pictures of what the window can look like, for eyes: each state in the sizes and themes of LOOKS.

usage: states.py CHAT CLI_MODELS FOLDER [LOOK ...]      (needs imagemagick)
"""
import json
import os
import sys
import time

from desktop import Display, Window
from program import FOLDER, TINY, path

PICTURES = os.path.abspath(sys.argv[3])

# name: width, height, zoom, dark
LOOKS = {"light": (1180, 800, 1, False), "dark": (1180, 800, 1, True), "small_light": (600, 400, 1, False),
         "small_dark": (600, 400, 1, True), "large_light": (1200, 800, 2, False), "large_dark": (1200, 800, 2, True)}

ANSWER = """# A heading
Text with **bold**, *italic*, `inline code` and [a link](https://example.org/). Long enough to be wrapped at the end of a line.

- first item with `code`
  - second level
- [x] done

> A quote, which says
> two lines.

```python
def f(x):
    return "a string that is far too long for its place, so that it must be scrolled to be read, which costs nobody anything" + x
```

| left | centred | right |
| --- | :---: | ---: |
| one | a cell with so many words that it must be wrapped onto several lines in its column, which is centred | 1 |
| two | short | 22 |
"""
TALKS = [("Of the middle ages", [("user", "A question of one line"), ("assistant", ANSWER),
                                 ("user", "Another question, which is so long that the bubble around it has to be wrapped "
                                          "at the end of a line and is then as wide as it may be, and no wider than its text"),
                                 ("assistant", "A short answer.")]),
         ("Long talk", [(role, f"{role} says something, number {i}. " + ("word " * (i % 40)))
                        for i in range(150) for role in ("user", "assistant")]),
         ("Haus am See – Entwurf für den Garten", [("user", "Haus"), ("assistant", "…")])]


class Pictures:
    def __init__(self, look):
        self.look = look
        width, height, zoom, dark = LOOKS[look]
        self.display = Display(width, height)
        self.home = os.path.join(FOLDER, look)
        state = os.path.join(self.home, ".local/state/warpchat")
        os.makedirs(state)
        with open(os.path.join(state, "window.json"), "w") as file:
            json.dump({"width": width, "height": height, "x": 0, "y": 0, "zoom": zoom, "dark": dark,
                       "sidebar_open": width > 700 and zoom < 2}, file)
        self.window = None

    def open(self, model, *arguments):
        self.window = Window(self.display, "-m", model, *arguments, home=self.home)
        self.window.wait_for(lambda s: s["model"] and s["phase"] == "idle", "the model")

    def take(self, name):
        """Once nothing is drawn any more."""
        frames = None
        while frames != self.window.state()["frames"]:
            frames = self.window.state()["frames"]
            time.sleep(0.4)
        self.display.screenshot(os.path.join(PICTURES, f"{self.look}_{name}.png"))

    def import_talk(self, messages):
        file = path("talk.json", json.dumps([{"role": r, "content": c} for r, c in messages]).encode())
        before = len(self.window.state()["conversations"])
        self.window.key("ctrl+shift+o")
        self.window.wait_for(lambda s: s["focus"] == "path", "the path's field")
        self.window.key("ctrl+a")
        self.window.type(file)
        self.window.key("Return")
        self.window.wait_for(lambda s: len(s["conversations"]) == before + 1, "the imported conversation")

    def hover(self, widget):
        self.window.move_to(widget)
        time.sleep(0.7)

    def away(self):
        self.display.xdotool("mousemove", 4, 4)

    def run(self):
        w = self.window
        self.take("welcome")
        w.key("F1")
        self.take("shortcuts")
        w.key("Escape")
        for talk in reversed(TALKS):
            self.import_talk(talk[1])
        self.take("notice")
        w.key("alt+Down")
        w.wait_for(lambda s: len(s["conversation"]["messages"]) == 300, "the long talk")
        w.key("Page_Up")
        self.take("long_up")
        w.key("alt+Up")
        w.wait_for(lambda s: len(s["conversation"]["messages"]) == 4, "the short talk")
        self.away()
        self.take("talk_end")
        w.key("Page_Up", "Page_Up", "Page_Up")
        self.take("talk_top")
        w.key("Page_Down", "Page_Down", "Page_Down", "Page_Down")
        w.key("ctrl+r")
        w.wait_for(lambda s: s["phase"] == "idle" and s["conversation"]["messages"][-1]["siblings"] == 2, "a version")
        w.key("Page_Down")
        self.take("versions")
        key = w.state()["conversation"]["messages"][3]["key"]
        self.hover(f"copy:{key}")
        self.take("tip")
        self.away()
        w.key("ctrl+o")
        self.take("models")
        w.key("Escape", "ctrl+comma")
        self.take("settings")
        w.key("Escape", "Escape", "Escape")
        w.wait_for(lambda s: "settings" not in s["panels"], "no settings")
        w.key("ctrl+s")
        self.take("export")
        w.key("Escape")
        w.key("ctrl+e")
        self.take("editing")
        w.key("Escape", "ctrl+f")
        w.type("string")
        w.wait_for(lambda s: s["found"][1] > 0, "what was looked for")
        self.take("find")
        w.key("Escape")
        w.click("composer", 3)
        self.take("field_menu")
        w.key("Escape")
        x, y, width, height = w.state()["widgets"]["transcript"]
        self.display.xdotool("mousemove", x + width // 3, y + height // 2, "click", 3)
        self.take("text_menu")
        w.key("Escape", "ctrl+k")
        w.type("far too long")
        w.wait_for(lambda s: s["hits"], "hits")
        self.take("hits")
        w.key("Escape", "ctrl+shift+BackSpace")
        w.wait_for(lambda s: s["trash"], "something thrown away")
        self.take("undo")
        w.key("ctrl+t")
        self.take("trash")
        w.key("Escape", "Escape", "ctrl+n", "F12")
        w.wait_for(lambda s: "profiler" in s["panels"], "the profiler")
        self.take("profiler_empty")
        w.key("ctrl+l")
        w.type("hello")
        w.key("Return")
        w.wait_for(lambda s: s["phase"] == "idle" and s["conversation"]["messages"]
                   and s["conversation"]["messages"][-1]["tokens"] > 0, "an answer")
        self.take("profiler_kernels")
        for name in ("profiler:timeline", "profiler:memory"):
            w.click(name)
            self.away()
            self.take(name.replace(":", "_"))
        w.key("F12")


def main():
    os.makedirs(PICTURES, exist_ok=True)
    for look in sys.argv[4:] or LOOKS:
        pictures = Pictures(look)
        try:
            pictures.open(TINY, "-n", "40", "--temp", "0")
            pictures.run()
        finally:
            pictures.window.kill()
            pictures.display.close()


main()
