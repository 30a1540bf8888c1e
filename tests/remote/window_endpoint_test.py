#!/usr/bin/env python3
"""The window with an endpoint instead of a local model.

usage: window_endpoint_test.py CHAT CLI_MODELS [unittest arguments]
"""
import json
import os
import stat
import subprocess
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "gui")]
from fake_endpoint import HELLO, TEXT, FakeEndpoint  # noqa: E402
from desktop import DisplayCase, Window  # noqa: E402


def last(state):
    messages = state["conversation"]["messages"]
    return messages[-1] if messages else {}


class WindowEndpoint(DisplayCase):
    def setUp(self):
        super().setUp()
        self.server = self.enterContext(FakeEndpoint())

    def open(self, script="well", *flags):
        self.window = Window(self.display, "--endpoint", f"{self.server.origin}/{script}/v1", *flags, home=self.home,
                             DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
        self.addCleanup(self.window.kill)

    def ask(self, text="Hi"):
        self.window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        self.window.key("ctrl+l")
        self.window.type(text)
        self.window.wait_for(lambda s: s["composer"] == text, "the typed text")
        self.window.key("Return")

    def ended(self, status):
        return self.window.wait_for(lambda s: s["phase"] == "idle" and last(s).get("status") == status, status)

    def test_a_question_is_answered_and_stored_with_who_answered(self):
        self.open()
        self.ask()
        self.assertEqual(self.ended("complete")["conversation"]["last_text"], TEXT)
        self.ask("More")
        self.window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 4, "the second")
        self.assertEqual([message["content"] for message in self.server.bodies()[1]["messages"]], ["Hi", TEXT, "More"])
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        rows = self.rows("SELECT extra FROM turns WHERE role = 'assistant'")
        self.assertEqual(len(rows), 2)
        for extra, in rows:
            by = json.loads(extra)
            self.assertEqual((by["model"], by["endpoint"], by["timings"]["generated_tokens"]),
                             ("qwen3-4b", self.server.origin + "/well/v1", len(HELLO)))

    def test_a_title_by_the_model_and_its_switch(self):
        arguments = ("--endpoint", self.server.origin + "/titled/v1")
        for is_on in (True, False):
            with self.subTest(is_on=is_on):
                self.window = Window(self.display, *arguments, home=self.home, titles=True, DBUS_SESSION_BUS_ADDRESS="",
                                     no_proxy="*")
                self.addCleanup(self.window.kill)
                self.ask("Hi there")
                if not is_on:
                    self.window.wait_for(lambda s: last(s).get("status") == "complete", "the answer")
                state = self.window.wait_for(
                    lambda s: s["conversation"]["title"] == ("A warm greeting" if is_on else "Hi there"), "the title")
                self.assertEqual(state["conversations"][0]["title"], state["conversation"]["title"])
                self.assertEqual(len(state["conversation"]["messages"]), 2)
                self.assertEqual(len(self.server.bodies()), 2 if is_on else 3)
                if is_on:
                    self.window.key("ctrl+comma")
                    self.window.click("titles")
                    self.window.wait_for(lambda s: not s["settings"]["titles"], "the switch")
                self.window.key("ctrl+q")
                self.assertEqual(self.window.wait(), 0)
        self.assertEqual(self.rows("SELECT count(*) FROM turns"), [(4,)])

    def test_four_conversations_are_answered_at_once(self):
        self.open("paced")
        for i in range(1, 5):
            self.window.key("ctrl+n")
            self.window.wait_for(lambda s: not s["conversation"]["messages"], "a new conversation")
            self.ask(str(100 + i))
            self.window.wait_for(lambda s: len(self.server.bodies()) == i, "the request")
        sql = "SELECT text FROM turns WHERE role = 'assistant'"
        self.window.wait_for(lambda _: sorted(len(text.split()) for text, in self.rows(sql)) == [101, 102, 103, 104],
                             "four whole answers")

    def test_an_answer_is_stopped(self):
        self.open("endless")
        self.ask()
        self.window.wait_for(lambda s: last(s).get("status") == "streaming" and s["conversation"]["last_text"], "text")
        self.window.key("Escape")
        self.assertTrue(self.ended("stopped")["conversation"]["last_text"].startswith("a "))
        self.assertTrue(self.server.cancelled.wait(10))

    def test_an_answer_that_breaks_keeps_its_text(self):
        self.open("closes")
        self.ask()
        self.assertEqual(self.ended("failed")["conversation"]["last_text"], "".join(HELLO[:2]))

    def test_the_profiler_shows_what_is_known_of_another_machine(self):
        self.open("cached")
        self.ask()
        self.ended("complete")
        self.window.key("F12")
        state = self.window.wait_for(lambda s: s["endpoint_profile"] and s["endpoint_profile"]["absence"], "no metrics")
        profile = state["endpoint_profile"]
        self.assertEqual(profile["absence"],
                         f"{self.server.host} does not tell its load: nothing in its /metrics is known here")
        first, gaps, prompt = profile["pace"]
        self.assertRegex(first, r"\Afirst token after .*, then .* tokens/s\Z")
        self.assertRegex(gaps, r"\Agaps: median .*, 95% within .*, longest .*\Z")
        self.assertEqual(prompt, "prompt: 1,024 tokens, 512 of them from a cache")
        self.server.metrics = "llamacpp:requests_processing 1\nllamacpp:tokens_predicted_total 7\n"
        self.window.key("F12", "F12")  # reopens it
        state = self.window.wait_for(lambda s: s["endpoint_profile"] and s["endpoint_profile"]["load"].get(
            "answer speed, all"), "two samples")
        self.assertEqual(state["endpoint_profile"]["load"], {
            "requests running": "1", "answer speed, all": "0 tokens/s", "answer tokens so far": "7"})
        self.window.key("F12")
        self.window.wait_for(lambda s: "profiler" not in s["panels"], "the profiler closed")

    def test_what_is_surely_too_long_stays_in_the_composer(self):
        self.open()
        self.window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        path = os.path.join(self.home, "long.txt")
        with open(path, "w") as file:
            file.write("word " * 5000)
        self.window.key("ctrl+l")
        self.window.type("Hi")
        subprocess.run(["xclip", "-selection", "clipboard", "-display", self.display.name, path], check=True)
        self.window.key("ctrl+v", "Return")
        state = self.window.wait_for(lambda s: s["refusal"], "the refusal")
        self.assertEqual((state["refusal"]["tokens"], state["refusal"]["context"]), (5000, 4096))
        self.assertTrue(state["composer"].startswith("Hiword"), state["composer"][:40])
        self.assertFalse([n for n in state["notices"] if n["error"]])  # the message itself shows it
        self.assertEqual(self.server.bodies(), [])

    def start(self, *arguments):
        """Without a server or a model on the command line."""
        self.window = Window(self.display, *arguments, home=self.home, DBUS_SESSION_BUS_ADDRESS="",
                             XDG_RUNTIME_DIR=self.home, HF_HUB_OFFLINE="1", no_proxy="*")
        self.addCleanup(self.window.kill)
        self.window.wait_for(lambda s: s["focus"] == "composer", "the window")

    def open_picker(self):
        self.window.key("ctrl+o")
        self.window.wait_for(lambda s: s["focus"] == "model_filter", "the picker")

    def connect(self, address, key=""):
        """Through the form, which is open afterwards if the server does not answer with models."""
        self.open_picker()
        self.window.click("connect_server")
        self.window.wait_for(lambda s: s["focus"] == "server_address", "the form")
        self.window.type(address)
        if key:
            self.window.click("server_key")
            self.window.type(key)
        self.window.key("Return")

    def connected(self, model):
        return self.window.wait_for(lambda s: s["model"] and s["model"]["name"] == model and not s["loading"],
                                    f"the model {model}")

    def fault(self):
        return self.window.wait_for(lambda s: s["served"]["fault"] and not s["served"]["running"], "a fault")["served"]["fault"]

    def configured(self, name):
        with open(os.path.join(self.home, ".config/warpchat", name)) as file:
            return json.load(file)

    def other_server(self, **how):
        return self.enterContext(FakeEndpoint(**how))

    def test_one_of_a_servers_models_is_chosen_and_remembered(self):
        server = self.other_server(models=["big", "small", "tiny"])
        name = server.host.replace(":", "-")
        self.start()
        self.connect(server.host)  # without http://
        state = self.window.wait_for(lambda s: "served:1" in s["widgets"], "the server's models")
        self.assertEqual(state["served"]["models"], ["big", "small", "tiny"])
        self.assertNotIn("server_address", state["widgets"])
        self.assertIsNone(state["model"])
        self.assertEqual(self.configured("endpoints.json"), {"endpoints": [{"name": name, "url": server.url}]})
        self.window.click("served:1")
        self.connected("small")
        self.ask()
        self.ended("complete")
        self.assertEqual(server.bodies()[0]["model"], "small")
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)

        self.start()
        state = self.connected("small")
        self.assertEqual(state["notices"], [])
        self.open_picker()
        self.window.wait_for(lambda s: "served:2" in s["widgets"], "the models of the server in use")
        self.window.type("tin")
        self.window.wait_for(lambda s: "served:0" not in s["widgets"], "the one that is meant")
        self.window.key("Return")
        self.connected("tiny")
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.start()
        self.connected("tiny")

    def start_with_two_servers(self):
        """box has one model, qwen3-4b; two has a and b."""
        several = self.other_server(models=["a", "b"])
        folder = os.path.join(self.home, ".config/warpchat")
        os.makedirs(folder, mode=0o700)
        with open(os.path.join(folder, "endpoints.json"), "w") as file:
            json.dump({"endpoints": [{"name": "box", "url": self.server.url}, {"name": "two", "url": several.url}]}, file)
        self.start()

    def test_a_conversation_offers_its_server(self):
        self.start_with_two_servers()
        self.open_picker()
        self.window.click("endpoint:two")
        self.window.click("served:1")
        self.connected("b")
        self.ask()
        conversation = self.ended("complete")["conversation"]["id"]
        self.window.key("ctrl+n")
        self.open_picker()
        self.window.click("endpoint:box")
        state = self.connected("qwen3-4b")
        self.assertIsNone(state["offer"], "a new conversation")
        self.window.click(f"conversation:{conversation}")
        state = self.window.wait_for(lambda s: "use_offered_model" in s["widgets"], "the offer")
        self.assertEqual(state["offer"], {"name": "b", "model": "b", "endpoint": "two", "is_gone": False})
        self.window.click("use_offered_model")
        self.connected("b")
        self.window.wait_for(lambda s: s["offer"] is None, "no offer")

    def test_a_named_server_is_chosen_by_a_click(self):
        self.start_with_two_servers()
        self.open_picker()
        self.window.click("endpoint:box")
        self.connected("qwen3-4b")  # its only model
        self.open_picker()
        self.window.click("endpoint:two")
        self.window.click("served:1")
        self.connected("b")

    def test_a_servers_default_model_is_used_where_none_is_named(self):
        server = self.other_server(models=["big", "small"])
        self.start()
        self.connect(server.url)
        self.window.move_to("served:1")
        self.window.click("default_served:1")
        name = server.host.replace(":", "-")
        row = {"name": name, "url": server.url, "model": "small"}
        self.window.wait_for(lambda _: self.configured("endpoints.json") == {"endpoints": [row]}, "its default")
        self.window.click(f"endpoint:{name}")
        self.connected("small")
        self.open_picker()
        self.window.click("served:0")
        self.connected("big")
        self.window.key("ctrl+shift+p")
        self.window.wait_for(lambda s: s["focus"] == "palette", "the palette")
        self.window.type(name)
        self.window.wait_for(lambda s: s["palette"][:1] == [name], "the server")
        self.window.key("Return")
        self.connected("small")
        self.open_picker()
        self.window.wait_for(lambda s: "default_served:1" in s["widgets"], "the sign")
        self.window.click("served:1", button=3)
        self.window.click("menu_default")
        self.window.wait_for(lambda _: "model" not in self.configured("endpoints.json")["endpoints"][0], "no default")
        self.window.click(f"endpoint_models:{name}")
        self.window.key("Escape", "ctrl+q")
        self.assertEqual(self.window.wait(), 0)

    def test_a_server_that_only_a_flag_names_is_listed_and_saved(self):
        server = self.other_server(models=["a", "b"], key="sk-right")
        name = server.host.replace(":", "-")
        self.window = Window(self.display, "--endpoint", server.host, "-m", "a", "--api-key-env", "MY_KEY", home=self.home,
                             MY_KEY="sk-right", DBUS_SESSION_BUS_ADDRESS="", XDG_RUNTIME_DIR=self.home, no_proxy="*")
        self.addCleanup(self.window.kill)
        self.connected("a")
        self.open_picker()
        state = self.window.wait_for(lambda s: "served:1" in s["widgets"], "its models")
        self.assertIn(f"endpoint:{server.url}", state["widgets"])
        self.assertNotIn(f"endpoint_menu:{server.url}", state["widgets"])
        self.assertFalse(os.path.exists(os.path.join(self.home, ".config/warpchat/endpoints.json")))
        self.window.click("served:1")  # the flag's key is used for it, too
        self.connected("b")
        self.open_picker()
        self.window.click("endpoint_save")
        self.window.wait_for(lambda s: f"endpoint:{name}" in s["widgets"] and "endpoint_save" not in s["widgets"], "its row")
        self.assertEqual(self.configured("endpoints.json")["endpoints"][0]["url"], server.url)
        self.assertEqual(self.configured("keys.json"), {name: "sk-right"})
        self.window.key("Escape", "ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.start()
        self.connected("b")  # without flags

    def test_a_flag_names_a_server_of_several_models(self):
        server = self.other_server(models=["a", "b"], key="sk-right")
        self.window = Window(self.display, "--endpoint", server.url, "--api-key-env", "MY_KEY", home=self.home,
                             MY_KEY="sk-right", DBUS_SESSION_BUS_ADDRESS="", HF_HUB_OFFLINE="1", no_proxy="*")
        self.addCleanup(self.window.kill)
        notice, = self.window.wait_for(lambda s: s["notices"], "that there are several")["notices"]
        self.assertIn("several models", notice["text"])
        self.assertNotIn("-m", notice["text"])
        self.assertEqual(notice["action"], "Choose a model")
        self.window.click(f"notice:{notice['id']}:action")
        self.window.wait_for(lambda s: {f"endpoint:{server.url}", "endpoint_save"} <= set(s["widgets"]), "its row")
        self.window.click("served:1")
        self.connected("b")
        self.ask()
        self.ended("complete")

    def test_a_server_is_renamed_gets_another_key_and_is_removed(self):
        server = self.other_server(models=["a", "b"], key="sk-right")
        name = server.host.replace(":", "-")
        self.start()
        self.connect(server.url, "sk-right")
        self.window.click("served:0")
        self.connected("a")
        self.open_picker()
        self.window.click(f"endpoint:{name}", button=3)
        self.window.click("menu_endpoint_rename")
        self.window.wait_for(lambda s: s["focus"] == "endpoint_name", "the name's field")
        self.window.key("ctrl+a")
        self.window.type("my box")  # a blank is refused
        self.window.key("Return")
        self.assertIn("endpoint_name", self.window.wait_for(lambda s: True, "a state")["widgets"])
        self.window.key("ctrl+a")
        self.window.type("box")
        self.window.key("Return")
        self.window.wait_for(lambda s: "endpoint:box" in s["widgets"] and f"endpoint:{name}" not in s["widgets"], "its name")
        self.assertEqual(self.configured("keys.json"), {"box": "sk-right"})
        self.window.key("F2")
        self.window.wait_for(lambda s: s["focus"] == "endpoint_name", "the name's field by its key")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "models" in s["panels"] and "endpoint_name" not in s["widgets"], "the row again")

        server.key = "sk-new"
        self.window.click("endpoint_menu:box")
        self.window.click("menu_endpoint_key")
        self.window.wait_for(lambda s: s["focus"] == "endpoint_key", "the key's field")
        self.window.type("sk-wrong")
        self.window.key("Return")
        self.assertIn("rejects the API key", self.fault())
        self.assertEqual(self.configured("keys.json"), {"box": "sk-right"})
        self.window.click("endpoint_enter_key")
        self.window.wait_for(lambda s: s["focus"] == "endpoint_key", "the key's field again")
        self.window.type("sk-new")
        self.window.key("Return")
        self.window.click("served:1")
        self.connected("b")
        self.assertEqual(self.configured("keys.json"), {"box": "sk-new"})
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.start()
        self.connected("b")  # by its new name and key

        self.open_picker()
        self.window.click("endpoint_menu:box")
        self.window.click("menu_endpoint_remove")
        self.window.click("endpoint_keep")
        self.window.wait_for(lambda s: "endpoint_keep" not in s["widgets"], "the row again")
        self.window.key("Delete")
        self.window.click("endpoint_remove")
        self.window.wait_for(lambda s: not {"endpoint:box", "endpoint_remove"} & set(s["widgets"]), "no such server")
        self.assertEqual((self.configured("endpoints.json"), self.configured("keys.json")), ({"endpoints": []}, {}))
        self.window.key("Escape", "ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.start()
        self.window.key("ctrl+b")
        self.assertEqual(self.window.wait_for(lambda s: "sidebar" not in s["panels"], "a frame")["notices"], [])

    def test_a_server_that_does_not_list_its_models(self):
        for script, sentence in (("page", "web page"), ("listless", "not a list of models"), ("nolist", "404")):
            with self.subTest(script=script):
                self.server.pages["/listless/v1/models"] = {"models": 7}
                self.start()
                self.connect(f"{self.server.origin}/{script}/v1")
                self.assertIn(sentence, self.fault())
                self.assertNotIn("\n", self.fault())
                self.assertFalse(os.path.exists(os.path.join(self.home, ".config/warpchat/endpoints.json")))
                if script == "nolist":  # a model's name is enough for it
                    self.window.click("server_model")
                    self.window.type("qwen3-4b")
                    self.window.key("Return")
                    self.connected("qwen3-4b")
                    self.ask()
                    self.ended("complete")
                self.window.key("ctrl+q")
                self.assertEqual(self.window.wait(), 0)

    def test_the_form_in_a_small_window(self):
        folder = os.path.join(self.home, ".local/state/warpchat")
        os.makedirs(folder)
        with open(os.path.join(folder, "window.json"), "w") as file:
            json.dump({"width": 480, "height": 360, "x": 0, "y": 0}, file)
        self.start()
        self.connect(f"{self.server.origin}/nolist/v1")
        self.fault()
        for focus in ("server_key", "server_model", "server_connect", "server_cancel"):
            self.window.key("Tab")
            state = self.window.wait_for(lambda s: s["focus"] == focus and focus in s["widgets"], focus)
            x, y, width, height = state["widgets"][focus]
            self.assertGreater(height, 20, f"{focus} is seen")
            self.assertLess(y + height, 360)
        self.window.key("Return")
        self.window.wait_for(lambda s: s["focus"] == "model_filter", "the list")

    def test_nobody_there(self):
        self.start()
        self.connect("127.0.0.1:1")
        self.assertIn("cannot reach 127.0.0.1:1", self.fault())
        for nonsense, sentence in (("gpu box", "web address"), ("http://x/?a", "has no '?'")):
            self.window.click("server_address")
            self.window.key("ctrl+a")
            self.window.type(nonsense)
            self.window.key("Return")
            self.window.wait_for(lambda s: sentence in s["served"]["fault"], sentence)
        self.window.key("Escape")
        self.window.wait_for(lambda s: s["focus"] == "model_filter" and "server_address" not in s["widgets"], "the list")
        self.window.key("Escape")
        self.window.wait_for(lambda s: "models" not in s["panels"] and s["focus"] == "composer", "the composer")

    def test_a_key_is_typed_kept_and_sent(self):
        server = self.other_server(key="sk-right")
        self.start()
        self.open_picker()
        self.window.type(server.origin)
        self.window.key("Return")  # the form, which connects
        self.assertIn("needs an API key", self.fault())
        self.window.click("server_key")
        self.window.type("sk-right")
        self.window.key("ctrl+a", "ctrl+c")  # copies nothing
        self.window.key("Return")
        self.connected("qwen3-4b")
        keys = os.path.join(self.home, ".config/warpchat/keys.json")
        self.assertEqual(stat.S_IMODE(os.stat(keys).st_mode), 0o600)
        self.assertEqual(self.configured("keys.json"), {server.host.replace(":", "-"): "sk-right"})
        self.assertNotIn("sk-right", json.dumps(self.window.state()))
        clip = subprocess.run(["xclip", "-selection", "clipboard", "-o", "-display", self.display.name],
                              capture_output=True, text=True, check=False)
        self.assertNotIn("sk-right", clip.stdout)
        self.ask()
        self.assertEqual(self.ended("complete")["conversation"]["last_text"], TEXT)
        self.window.key("ctrl+q")
        self.assertEqual(self.window.wait(), 0)
        self.start("--endpoint", server.host.replace(":", "-"))
        self.ask("Again")
        self.ended("complete")

    def test_a_failed_answer_says_why_also_after_a_restart(self):
        """Without text it can be regenerated, and an answer without an error, too."""
        for script, sentence, text in (("broken", "500", ""), ("empty", "empty answer", ""),
                                       ("closes", "closed the connection", "".join(HELLO[:2]))):
            with self.subTest(script=script):
                self.open(script)
                self.ask(script)
                state = self.ended("failed")
                self.assertEqual(state["conversation"]["last_text"], text)
                self.assertIn(sentence, state["conversation"]["failure"])
                conversation = state["conversation"]["id"]
                self.window.key("ctrl+q")
                self.assertEqual(self.window.wait(), 0)
                self.open()
                self.window.wait_for(lambda s: s["model"] and s["conversations"], "the list")
                self.window.click(f"conversation:{conversation}")
                state = self.ended("failed")
                self.assertIn(sentence, state["conversation"]["failure"])
                answer = state["conversation"]["messages"][1]["key"]
                self.window.click(f"regenerate:{answer}" if script == "empty" else f"try_again:{answer}")
                state = self.ended("complete")
                self.assertEqual(state["conversation"]["last_text"], TEXT)
                self.assertNotIn(f"try_again:{answer}", state["widgets"])
                self.window.key("ctrl+q")
                self.assertEqual(self.window.wait(), 0)

    def test_a_message_whose_answer_was_stopped_early_is_answered_again(self):
        self.open("silent")
        self.ask()
        self.window.wait_for(lambda s: s["phase"] == "prompt" and self.server.bodies(), "the request")
        self.window.key("Escape")
        state = self.window.wait_for(lambda s: s["phase"] == "idle" and len(s["conversation"]["messages"]) == 1, "no answer")
        conversation, message = state["conversation"]["id"], state["conversation"]["messages"][0]["key"]
        self.assertIn(f"regenerate:{message}", self.window.wait_for(lambda s: f"regenerate:{message}" in s["widgets"],
                                                                    "the button")["widgets"])
        self.window.kill()
        self.open()
        self.window.wait_for(lambda s: s["model"] and s["conversations"], "the list")
        self.window.click(f"conversation:{conversation}")
        state = self.window.wait_for(lambda s: s["conversation"]["id"] == conversation, "the conversation")
        self.window.click(f"regenerate:{state['conversation']['messages'][0]['key']}")
        self.window.wait_for(lambda s: len(s["conversation"]["messages"]) == 2, "an answer")
        self.assertEqual(self.ended("complete")["conversation"]["last_text"], TEXT)

    def test_a_server_that_does_not_tell_its_context(self):
        self.server.context = None
        self.open()
        self.ask()
        state = self.ended("complete")
        self.assertEqual((state["model"]["context"], state["context_text"]), (0, "16 tokens"))
        self.open_picker()
        self.assertNotIn("model_context", self.window.wait_for(lambda s: "connect_server" in s["widgets"], "it")["widgets"])

    def test_no_server(self):
        self.window = Window(self.display, "--endpoint", "http://127.0.0.1:1", home=self.home, no_proxy="*")
        self.addCleanup(self.window.kill)
        state = self.window.wait_for(lambda s: s["notices"], "a notice")
        self.assertIn("cannot reach 127.0.0.1:1", str(state["notices"]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
