#!/usr/bin/env python3
"""Takes pictures of the window's states for visual checks: each in the sizes and themes of LOOKS.

usage: states.py CHAT CLI_MODELS FOLDER [LOOK ...]      (needs imagemagick)
"""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hub"))
from desktop import Display, Window
from fake_hub import FakeHub
from program import ENDLESS, FOLDER, TINY, path

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
    return "a string that is far too long for its place, so that it must be scrolled to be read, which takes a moment at most" + x
```

| left | centred | right |
| --- | :---: | ---: |
| one | a cell with so many words that it must be wrapped onto several lines in its column, which is centred | 1 |
| two | short | 22 |
"""
FORMULAS = r"""The roots of $ax^2 + bx + c$ are

$$x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}$$

and with \(\alpha \le \beta\) a sum, a matrix and cases:

\[\sum_{k=1}^{n} k^2 = \frac{n(n+1)(2n+1)}{6}, \quad A = \begin{pmatrix} a & b \\ c & d \end{pmatrix}, \quad
f(x) = \begin{cases} x & x > 0 \\ 0 & \text{else} \end{cases}\]

| formula | in a cell |
| --- | :---: |
| $e^{i\pi} + 1 = 0$ | $\hat{x} \cdot \vec{y}$ |

What is not known stays as it is: $\unknown{x}$.
"""
CODE = r"""```cpp
// A comment.
#include <vector>
template <class T> constexpr T twice(const T& value) { return value + 2 * 0x1F; }  // 'c' and "text\n"
```

```sql
SELECT name, count(*) FROM people WHERE age > 42 GROUP BY name; -- of all
```

```diff
@@ -1,2 +1,2 @@
-before
+after
```

1. An item with code:
   ```json
   {"key": [1, 2.5, true, null]}
   ```
"""
TALKS = [("Of the middle ages", [("user", "A question of one line"), ("assistant", ANSWER),
                                 ("user", "Another question, which is so long that the bubble around it has to be wrapped "
                                          "at the end of a line and is then as wide as it may be, and no wider than its text"),
                                 ("assistant", "A short answer.")]),
         ("Long talk", [(role, f"{role} says something, number {i}. " + ("word " * (i % 40)))
                        for i in range(150) for role in ("user", "assistant")]),
         ("Haus am See – Entwurf für den Garten", [("user", "Haus"), ("assistant", "…")]),
         ("Formulas", [("user", "Formulas?"), ("assistant", FORMULAS)]),
         ("Code", [("user", "Code?"), ("assistant", CODE)])]


class Pictures:
    def __init__(self, look):
        self.look = look
        width, height, zoom, dark = LOOKS[look]
        self.display = Display(width, height)
        self.home, self.empty_home = (os.path.join(FOLDER, look + name) for name in ("", "_empty"))
        for home in (self.home, self.empty_home):
            state = os.path.join(home, ".local/state/warpchat")
            os.makedirs(state)
            with open(os.path.join(state, "window.json"), "w") as file:
                json.dump({"width": width, "height": height, "x": 0, "y": 0, "zoom": zoom, "dark": dark,
                           "sidebar_open": width > 700 and zoom < 2}, file)
        self.window = None
        with open(TINY, "rb") as model:
            self.hub = FakeHub({"org/Tiny-GGUF": {"tiny-q4_k_m.gguf": model.read()}})

    def open(self, model, *arguments, home=None):
        self.window = Window(self.display, "-m", model, *arguments, home=home or self.home, HF_ENDPOINT=self.hub.url,
                             no_proxy="*", DBUS_SESSION_BUS_ADDRESS="")
        self.window.wait_for(lambda s: s["model"] and s["phase"] == "idle", "the model")

    def reopen(self, model, *arguments):
        self.window.kill()
        self.open(model, *arguments)

    def take(self, name):
        """Once nothing is drawn any more."""
        frames = None
        while frames != self.window.state()["frames"]:
            frames = self.window.state()["frames"]
            time.sleep(0.4)
        self.display.screenshot(os.path.join(PICTURES, f"{self.look}_{name}.png"))

    def import_talk(self, messages):
        file = path("talk.json", json.dumps([{"role": r, "content": c} for r, c in messages]).encode())
        self.window.import_file(file)

    def walk_to(self, title, key):
        while (now := self.window.state()["conversation"]["title"]) != title:
            self.window.key(key)
            self.window.wait_for(lambda s: s["conversation"]["title"] != now, "another conversation")

    def hover(self, widget):
        self.window.move_to(widget)
        time.sleep(0.7)

    def away(self):
        self.display.xdotool("mousemove", 4, 4)

    def run(self):
        w = self.window
        self.take("welcome")
        w.key("ctrl+shift+p")
        w.wait_for(lambda s: s["focus"] == "palette", "the palette")
        self.take("palette")
        w.type("view")
        w.wait_for(lambda s: s["palette"][0].startswith("View"), "the command")
        w.key("Return")
        w.wait_for(lambda s: "view" in s["panels"], "the panel")
        self.take("view")
        w.key("Escape", "F1")
        self.take("shortcuts")
        w.key("Escape")
        for talk in reversed(TALKS):
            self.import_talk(talk[1])
        self.take("notice")
        w.key("alt+Down")
        w.wait_for(lambda s: len(s["conversation"]["messages"]) == 300, "the long talk")
        w.key("Page_Up")
        self.take("long_up")
        w.key("F2")
        self.take("rename")
        w.key("Escape", "Escape", "ctrl+b")
        self.take("sidebar_changed")
        w.key("ctrl+b")
        w.key("alt+Up")
        w.wait_for(lambda s: len(s["conversation"]["messages"]) == 4, "the short talk")
        self.away()
        self.take("talk_end")
        for title, name in (("Formulas?", "formulas"), ("Code?", "code")):
            self.walk_to(title, "alt+Down")
            self.take(name)
        self.walk_to("A question of one line", "alt+Up")
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
        w.type("tiny gguf")
        w.wait_for(lambda s: any(name.startswith("hub:") for name in s["widgets"]), "what the hub has")
        self.take("hub")
        w.key("ctrl+a")
        w.type("https://gpu-box:8000")
        self.take("address")
        w.key("ctrl+a")
        w.type("/no/such.gguf")
        w.key("Return")
        w.wait_for(lambda s: any(n["error"] for n in s["notices"]), "an error")
        self.take("error")
        w.key("Escape", "ctrl+comma")
        self.take("settings")
        w.key("Escape", "Escape", "Escape")
        w.wait_for(lambda s: "settings" not in s["panels"], "no settings")
        w.key("ctrl+s")
        self.take("export")
        w.key("Escape", "ctrl+u")
        w.wait_for(lambda s: "path" in s["panels"], "the browser")
        self.take("attach")
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
        w.key("ctrl+r")
        w.wait_for(lambda s: s["phase"] == "idle" and s["conversation"]["messages"][-1]["siblings"] == 2, "a version")
        for name in ("profiler:compare", "profiler:a"):
            w.click(name)
            self.away()
            self.take(name.replace(":", "_"))
        w.key("F12")
        self.reopen(ENDLESS, "-c", "0", "--temp", "0")
        w = self.window
        w.type("hello")
        w.key("Return")
        w.wait_for(lambda s: len(s["conversation"]["last_text"]) > 200, "text")
        self.display.screenshot(os.path.join(PICTURES, f"{self.look}_streaming.png"))
        w.key("Escape")
        w.wait_for(lambda s: s["phase"] == "idle", "the end")
        self.take("stopped")
        self.reopen(TINY, "-c", "64", "-n", "4")
        w = self.window
        w.type("x y " * 40)
        w.key("Return")
        w.wait_for(lambda s: s["refusal"], "a refusal")
        self.take("refused_message")
        w.key("ctrl+a")
        w.type("x y z " * 7)
        w.key("Return")
        w.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 2, "an answer")
        w.type("x y z " * 3)
        w.key("Return")
        w.wait_for(lambda s: s["refusal"], "a refusal")
        self.take("refused_later")
        w.kill()
        self.window = w = Window(self.display, home=self.empty_home, HF_ENDPOINT=self.hub.url,
                                 no_proxy="*", DBUS_SESSION_BUS_ADDRESS="")
        w.wait_for(lambda s: s["focus"] == "composer", "the window")
        self.take("first_start")
        w.key("ctrl+o")
        self.take("first_models")


def main():
    os.makedirs(PICTURES, exist_ok=True)
    for look in sys.argv[4:] or LOOKS:
        pictures = Pictures(look)
        try:
            with pictures.hub:
                pictures.open(TINY, "-n", "40", "--temp", "0")
                pictures.run()
        finally:
            pictures.window.kill()
            pictures.display.close()


main()
