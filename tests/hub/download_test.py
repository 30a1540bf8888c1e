#!/usr/bin/env python3
"""Downloads through the chat program, from a hub with faults on demand.

usage: download_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from fake_hub import COMMIT, FakeHub, Fault, Repository, sha256  # noqa: E402
from program import CHAT, FOLDER, TINY, Run, environment, self_signed_certificate  # noqa: E402
from pseudo_terminal import Terminal  # noqa: E402

NAME = "org/Tiny-GGUF"
MAIN = "models--org--Tiny-GGUF"
N_KILLS = 200 if os.environ.get("WARPCHAT_FULL_TESTS") else 20
MAX_TRIES = 5
with open(TINY, "rb") as model_file:
    MODEL = model_file.read()
SIZE = len(MODEL)
CLOSES = Fault(close_after=100 * 1024)


class Case(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(dir=FOLDER)
        self.cache = os.path.join(self.home, ".cache/huggingface/hub")

    def hub(self, files=None, **more):
        return self.enterContext(FakeHub({NAME: files or {"tiny-q4_k_m.gguf": MODEL, "README.md": b"x"}}, **more))

    def env(self, hub, **more):
        url = hub if isinstance(hub, str) else hub.url
        return environment(self.home, **{"HF_ENDPOINT": url, "WARPCHAT_HUB_WAIT_MS": "1", "no_proxy": "*", **more})

    def pull(self, hub, name=NAME, flags=(), shell_limits="", **variables):
        return Run("pull", name, *flags, env=self.env(hub, **variables), shell_limits=shell_limits)

    def pull_well(self, hub, *arguments, **more):
        run = self.pull(hub, *arguments, **more)
        self.assertEqual(run.code, 0, run)
        return run

    def assert_fails(self, run, *words, code=1):
        """One last sentence with all the words, nothing on stdout, and no file under its final name."""
        self.assertEqual((run.code, run.out), (code, b""), run)
        last = run.err.decode().splitlines()[-1]
        self.assertRegex(last, r"\Achat: .*[^.]\Z", run)
        for word in words:
            self.assertIn(word, last, run)
        self.check_cache({})
        self.assertFalse(os.path.exists(self.below("refs/main")))

    def below(self, path):
        return os.path.join(self.cache, MAIN, path)

    def blob(self, data=MODEL):
        return self.below("blobs/" + sha256(data))

    def half(self, data=MODEL):
        return self.blob(data) + ".incomplete"

    def leave_half(self, data):
        os.makedirs(self.below("blobs"))
        with open(self.half(), "wb") as file:
            file.write(data)

    def check_cache(self, expected=None):
        """Every file under a final name is whole; expected: {path in the snapshot: bytes}, all files."""
        blobs = self.below("blobs")
        for name in os.listdir(blobs) if os.path.isdir(blobs) else ():
            if not name.endswith(".incomplete"):
                with open(os.path.join(blobs, name), "rb") as file:
                    self.assertEqual(sha256(file.read()), name)
        found = {}
        top = self.below("snapshots/" + COMMIT)
        for folder, _, names in os.walk(top):
            for name in names:
                path = os.path.join(folder, name)
                self.assertFalse(os.path.isabs(os.readlink(path)))
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = file.read()
        if expected is not None:
            self.assertEqual(found, expected)
        return found

    def ranges(self, hub):
        return [headers.get("Range") for kind, _, _, headers in hub.requests if kind == "content"]


class Whole(Case):
    def test_a_model_lands_in_the_cache_and_answers_without_a_network(self):
        hub = self.hub()
        run = self.pull_well(hub)
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})
        with open(self.below("refs/main")) as file:
            self.assertEqual(file.read(), COMMIT)
        path = self.below(f"snapshots/{COMMIT}/tiny-q4_k_m.gguf")
        self.assertEqual(run.out.decode(), path + "\n")
        self.assertEqual(os.readlink(path), "../../blobs/" + sha256(MODEL))
        self.assertFalse(os.path.exists(self.half()))
        ask = ("-p", "x", "-n", "4", "--temp", "0")
        offline = self.env("http://127.0.0.1:1", HF_HUB_OFFLINE="1")
        expected = Run("-m", TINY, *ask).out
        for name in (NAME, NAME.lower() + ":q4_k_m", "hf.co/" + NAME, "tiny-q4"):
            self.assertEqual(Run("-m", name, *ask, env=offline).out, expected)

    def test_what_is_there_is_not_fetched_again(self):
        hub = self.hub()
        self.pull_well(hub)
        shutil.rmtree(self.below("snapshots"))
        self.assertIn("already downloaded", self.pull_well(hub).err.decode())
        self.assertEqual(hub.kinds().count("content"), 1)
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_a_blob_of_another_length_is_fetched_again(self):
        os.makedirs(self.below("blobs"))
        with open(self.blob(), "wb") as file:
            file.write(b"x")
        self.pull_well(self.hub())
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def leave_blob(self, data):
        os.makedirs(self.below("blobs"), exist_ok=True)
        with open(self.blob(), "wb") as file:
            file.write(data)

    def test_a_blob_of_another_content_is_fetched_again(self):
        wrong = MODEL[:-1] + bytes([MODEL[-1] ^ 1])
        self.leave_blob(wrong)
        hub = self.hub()
        run = self.pull_well(hub)
        self.assertIn("tiny-q4_k_m.gguf in the cache is not the hub's file", run.err.decode())
        self.assertIn("is downloaded and verified", run.err.decode())
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})
        self.leave_blob(wrong)  # after it was verified
        self.pull_well(hub)
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})
        self.assertEqual(hub.kinds().count("content"), 2)

    def test_a_blob_of_another_program_is_read_once(self):
        self.leave_blob(MODEL)
        os.utime(self.blob(), ns=(10**18, 10**18))
        hub = self.hub()
        self.assertIn("is already downloaded", self.pull_well(hub).err.decode())
        before = os.stat(self.blob())
        with open(self.blob(), "r+b") as file:  # neither length nor time tells
            file.write(b"x")
        os.utime(self.blob(), ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertIn("is already downloaded", self.pull_well(hub).err.decode())
        self.assertEqual(hub.kinds().count("content"), 0)

    def test_the_quantisation_and_the_folder_it_lies_in(self):
        other = MODEL + b"8"
        hub = self.hub({"a-q4_k_m.gguf": MODEL, "Q8_0/a-Q8_0.gguf": other, "mmproj-a-q8_0.gguf": b"x" * 5000}, page=1)
        self.pull_well(hub, NAME + ":q8_0")
        self.check_cache({"Q8_0/a-Q8_0.gguf": other})

    def test_an_address_of_a_browser(self):
        hub = self.hub({"a-q4_k_m.gguf": MODEL, "a-q8_0.gguf": MODEL + b"8"})
        self.pull_well(hub, f"https://huggingface.co/{NAME}/blob/main/a-q8_0.gguf")
        self.check_cache({"a-q8_0.gguf": MODEL + b"8"})
        run = Run("-m", f"https://huggingface.co/{NAME}/tree/main", "--yes", "-p", "x", "-n", "1", env=self.env(hub))
        self.assertEqual(run.code, 0, run)

    def test_a_split_model_is_linked_when_all_of_it_is_there(self):
        first, second = MODEL[:400000], MODEL[400000:]
        names = [f"a-q4_k_m-0000{i}-of-00002.gguf" for i in (1, 2)]
        hub = self.hub({names[0]: first, names[1]: second})
        hub.fail("content", Fault(), *[Fault(close_after=1000)] * MAX_TRIES)
        self.assert_fails(self.pull(hub), "given up", "same command")
        self.assertTrue(os.path.exists(self.blob(first)))
        run = self.pull_well(hub)
        self.assertTrue(run.out.decode().strip().endswith(names[0]), run)
        self.check_cache({names[0]: first, names[1]: second})
        self.assertEqual(hub.kinds().count("content"), 1 + MAX_TRIES + 1)

    def test_the_cache_is_where_the_environment_says(self):
        for variable, below in (("HF_HUB_CACHE", ""), ("HF_HOME", "/hub")):
            folder = os.path.join(self.home, variable)
            self.assertIn(folder + below + "/models--", self.pull_well(self.hub(), **{variable: folder}).out.decode())

    def test_two_programs_fetch_it_once(self):
        hub = self.hub()
        hub.fail("content", Fault(delay=0.01), always=True)
        both = [subprocess.Popen([CHAT, "pull", NAME], env=self.env(hub), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE) for _ in range(2)]
        for process in both:
            out, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(hub.served, SIZE)
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})


class Interrupted(Case):
    def test_a_connection_that_closes_goes_on_where_it_was(self):
        hub = self.hub()
        hub.fail("content", CLOSES, CLOSES)
        run = self.pull_well(hub)
        self.assertEqual(self.ranges(hub), [None, "bytes=102400-", "bytes=204800-"])
        self.assertIn("try 2 of 5", run.err.decode())
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_the_next_start_goes_on_where_the_last_one_gave_up(self):
        hub = self.hub()
        hub.fail("content", CLOSES, *[Fault(close_after=0)] * MAX_TRIES)
        self.assert_fails(self.pull(hub), "given up after 5 tries", "same command")
        self.assertEqual(os.path.getsize(self.half()), 102400)
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub)[-1], "bytes=102400-")
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_a_connection_that_stalls_is_left(self):
        hub = self.hub()
        hub.fail("content", Fault(stall_after=102400))
        self.pull_well(hub, HF_HUB_DOWNLOAD_TIMEOUT="1")
        self.assertEqual(self.ranges(hub), [None, "bytes=102400-"])

    def test_a_server_that_says_nothing_is_left(self):
        hub = self.hub()
        hub.fail("list", Fault(silent=30))
        self.assert_fails(self.pull(hub, HF_HUB_DOWNLOAD_TIMEOUT="1"), "cannot reach 127.0.0.1", "no data in time")

    def test_a_server_that_cannot_continue_begins_anew(self):
        hub = self.hub()
        hub.fail("content", CLOSES, Fault(ignore_range=True))
        self.assertIn("begins anew", self.pull_well(hub).err.decode())
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_a_server_that_refuses_to_continue_begins_anew(self):
        hub = self.hub()
        hub.fail("content", CLOSES, Fault(status=416))
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub), [None, "bytes=102400-", None])

    def test_another_part_than_asked_for_is_not_taken(self):
        hub = self.hub()
        hub.fail("content", CLOSES, Fault(wrong_range=True), always=True)
        self.assert_fails(self.pull(hub), "another part")
        self.assertEqual(os.path.getsize(self.half()), 102400)

    def test_a_half_file_that_is_too_long_begins_anew(self):
        self.leave_half(MODEL + b"more")
        hub = self.hub()
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub), [None])

    def test_a_half_file_that_is_whole_needs_no_more(self):
        self.leave_half(MODEL)
        hub = self.hub()
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub), [])
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})
        self.assertNotIn(b"paused", Run("--list-models", env=self.env(hub)).out)

    def test_interrupt_pauses(self):
        hub = self.hub()
        hub.fail("content", Fault(stall_after=102400))
        process = subprocess.Popen([CHAT, "pull", NAME], env=self.env(hub), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        while not os.path.exists(self.half()) or os.path.getsize(self.half()) < 102400:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertIn("chat: paused with 102 kB of 826 kB; run the same command to resume\n", err.decode())
        self.check_cache({})
        listed = Run("--list-models", env=self.env(hub))
        self.assertEqual(listed.out, f"{NAME}:Q4_K_M  its download is paused at 12%; chat pull goes on\n".encode())
        hub.fail("content", Fault(stall_after=102400))
        process = subprocess.Popen([CHAT, "-m", NAME, "--yes", "-p", "x"], env=self.env(hub), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while os.path.getsize(self.half()) < 204800:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub)[-1], "bytes=204800-")

    def test_a_full_disk_keeps_what_came(self):
        hub = self.hub()
        self.assert_fails(self.pull(hub, shell_limits="ulimit -f 200"), "cannot write", "204,800 bytes", "same command")
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub)[-1], "bytes=204800-")

    def test_kills_at_random_moments(self):
        """After a kill, every file under a final name is whole, and the next start completes all of them."""
        data = random.Random(1).randbytes(2 << 20)
        half = len(data) // 2
        names = [f"a-q4_k_m-0000{i}-of-00002.gguf" for i in (1, 2)]
        files = dict(zip(names, (data[:half], data[half:])))
        hub = self.hub(files)
        hub.fail("content", Fault(delay=0.0005), always=True)
        moments, n_whole = random.Random(2), 0
        for _ in range(N_KILLS):
            start, most = hub.served, moments.uniform(0, 1.2) * half
            process = subprocess.Popen([CHAT, "pull", NAME], env=self.env(hub), stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
            while process.poll() is None and hub.served - start < most:
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.02))
            process.kill()
            process.wait()
            found = self.check_cache()
            if os.path.exists(self.below("refs/main")):
                self.assertEqual(found, files)
            if process.returncode == 0:
                shutil.rmtree(self.cache)
                n_whole += 1
        self.pull_well(hub)
        self.check_cache(files)
        self.assertLess(n_whole, N_KILLS)


class Wrong(Case):
    def test_a_wrong_hash_removes_the_file(self):
        hub = self.hub()
        hub.fail("content", Fault(corrupt=True))
        self.assert_fails(self.pull(hub), "SHA-256", sha256(MODEL), "removed")
        self.assertFalse(os.path.exists(self.half()))
        self.pull_well(hub)

    def test_a_wrong_half_file_is_found_out(self):
        self.leave_half(b"x" * 1000)
        hub = self.hub()
        self.assert_fails(self.pull(hub), "SHA-256", "removed")
        self.pull_well(hub)
        self.assertEqual(self.ranges(hub), ["bytes=1000-", None])

    def test_web_pages_are_no_answers(self):
        page = Fault(body=b"<!DOCTYPE html><html>Please log in</html>", headers={"Content-Type": "text/html"})
        for kind, words in (("list", ("web page", "HF_ENDPOINT")), ("content", ("web page", "tiny-q4_k_m.gguf"))):
            hub = self.hub()
            hub.fail(kind, page, always=True)
            self.assert_fails(self.pull(hub), *words)

    def test_lists_that_are_none(self):
        for body in (b"", b"{}", b"[1]", b'{"error": "x"}', b"[" * 100000, b"\xff\xfe"):
            hub = self.hub()
            hub.fail("list", Fault(body=body))
            self.assert_fails(self.pull(hub), "cannot use what 127.0.0.1")

    def test_endless_answers_end(self):
        hub = self.hub()
        hub.fail("list", Fault(endless=b'[{"path": "a", '))
        self.assert_fails(self.pull(hub), "8,388,608 bytes")

    def test_lists_of_many_pages_end(self):
        entry = b'{"path": "a", "size": 1, "x": "%s"}'
        for page in (b"[" + b",".join([entry % b""] * 40000) + b"]", b"[" + entry % (b"x" * (7 << 20)) + b"]"):
            hub = self.hub()
            more = {"Link": f'<{hub.url}/api/models/{NAME}/tree/main?page=2>; rel="next"'}
            hub.fail("list", Fault(body=page, headers=more), always=True)
            self.assert_fails(self.pull(hub), "lists more than 64,000 files or 67 MB of them; that is no model")
            self.assertLess(len(hub.requests), 12)

    def test_lists_that_lead_out_of_the_cache(self):
        for lie in ({"path": "../../../../evil-q4_k_m.gguf"}, {"path": "/tmp/evil-q4_k_m.gguf"},
                    {"lfs": {"oid": "../../evil", "size": 5}}):
            hub = self.hub()
            hub.repositories[NAME].lies["tiny-q4_k_m.gguf"] = lie
            self.assert_fails(self.pull(hub), "cannot use what")
        hub = self.hub()
        hub.fail("head", Fault(status=302, headers={"X-Repo-Commit": "../../evil", "Location": hub.content_url}))
        self.assert_fails(self.pull(hub), "commit")
        self.assertEqual(os.listdir(self.home), [])

    def test_a_repository_that_changes_meanwhile(self):
        hub = self.hub()
        hub.fail("head", Fault(status=302, headers={"X-Repo-Commit": COMMIT, "X-Linked-Etag": '"' + "a" * 64 + '"'}))
        self.assert_fails(self.pull(hub), "changed", "run the same command again")

    def test_redirects_in_a_circle(self):
        for kind in ("list", "head", "content"):
            hub = self.hub()
            to = hub.content_url + "/x" if kind == "content" else hub.url + f"/{NAME}/resolve/main/tiny-q4_k_m.gguf"
            if kind == "list":
                to = hub.url + f"/api/models/{NAME}/tree/main"
            hub.fail(kind, Fault(redirect=to), always=True)
            self.assert_fails(self.pull(hub), "circle")

    def test_redirects_of_the_list_to_elsewhere(self):
        hub = self.hub()
        hub.fail("list", Fault(redirect=hub.content_url + "/login"))
        self.assert_fails(self.pull(hub), "instead of listing files", "login page")
        hub.fail("list", Fault(redirect="file:///etc/passwd"))
        self.assert_fails(self.pull(hub), "no web address")


class Refused(Case):
    def test_unknown_repositories_have_near_names(self):
        hub = self.hub()
        for name in ("org/Tiny", "other/Tiny-GGUF"):
            self.assert_fails(self.pull(hub, name), f"there is no {name} at", NAME, "HF_TOKEN")
        self.assert_fails(self.pull(hub, "org/unlike"), "there is no org/unlike at")

    def test_unknown_quantisations_list_what_there_is(self):
        self.assert_fails(self.pull(self.hub(), NAME + ":Q2_K"), "no Q2_K", "Q4_K_M (826 kB)")
        self.assert_fails(self.pull(self.hub({"model.bin": MODEL})), "no GGUF file")

    def test_private_and_gated_repositories_name_the_token(self):
        for kind in ("private", "gated"):
            hub = self.hub(token="hf_right")
            setattr(hub.repositories[NAME], kind, True)
            self.assert_fails(self.pull(hub), "HF_TOKEN")
            self.assert_fails(self.pull(hub, HF_TOKEN="hf_wrong"), "HF_TOKEN")
            if kind == "gated":
                self.assert_fails(self.pull(hub), f"{hub.url}/{NAME}", "terms")
            self.pull_well(hub, HF_TOKEN="hf_right")
            shutil.rmtree(self.cache)

    def test_plain_401_and_403(self):
        for status in (401, 403):
            hub = self.hub()
            hub.fail("list", Fault(status=status))
            self.assert_fails(self.pull(hub), f"answers {status}", "HF_TOKEN")

    def test_the_token_goes_to_the_hub_alone(self):
        hub = self.hub(token="hf_right")
        self.pull_well(hub, HF_TOKEN="hf_right")
        sent = {kind: headers.get("Authorization") for kind, _, _, headers in hub.requests}
        self.assertEqual(sent, {"list": "Bearer hf_right", "head": "Bearer hf_right", "file": "Bearer hf_right",
                                "content": None})
        bad = self.pull(hub, HF_TOKEN="hf_x\r\nEvil: 1")
        self.assert_usage_or_error(bad, "HF_TOKEN")

    def assert_usage_or_error(self, run, word):
        self.assertEqual((run.code, run.out), (1, b""), run)
        self.assertIn(word, run.err.decode())

    def test_too_many_requests_are_waited_for_and_shown(self):
        hub = self.hub()
        for kind, status in (("list", 429), ("head", 503), ("file", 429), ("content", 502)):
            hub.fail(kind, Fault(status=status), Fault(status=status))
        run = self.pull_well(hub)
        notes = re.findall(r"answers (\d+).*; try (\d) of 5 in", run.err.decode())
        self.assertEqual(notes, [("429", "2"), ("429", "3"), ("503", "2"), ("503", "3"),
                                 ("429", "2"), ("429", "3"), ("502", "4"), ("502", "5")])  # one file, several ways

    def test_retry_after(self):
        hub = self.hub()
        hub.fail("list", Fault(status=429, headers={"Retry-After": "1"}))
        self.assertIn("try 2 of 5 in 1 s", self.pull_well(hub).err.decode())
        shutil.rmtree(self.cache)
        hub.fail("list", Fault(status=429, headers={"Retry-After": "86400"}))
        self.assert_fails(self.pull(hub), "86,400 s")

    def test_tries_are_bounded(self):
        for kind in ("list", "content"):
            hub = self.hub()
            hub.fail(kind, Fault(status=503), always=True)
            self.assert_fails(self.pull(hub), "503", "given up after 5 tries")
            self.assertEqual(hub.kinds().count(kind), MAX_TRIES)

    def test_no_network(self):
        self.assert_fails(self.pull("http://no-such-host.invalid"), "no-such-host.invalid", "network")
        self.assert_fails(self.pull("http://127.0.0.1:1"), "127.0.0.1:1")
        self.assert_fails(self.pull("nonsense"), "HF_ENDPOINT")

    def test_untrusted_certificates(self):
        hub = self.hub(certificate=self_signed_certificate(self.home), token="hf_right")
        self.assert_fails(self.pull(hub, HF_TOKEN="hf_right"), "cannot trust 127.0.0.1")
        self.assertEqual(hub.requests, [])

    def test_offline(self):
        hub = self.hub()
        self.assert_fails(self.pull(hub, flags=["--offline"]), "--offline")
        self.assert_fails(self.pull(hub, HF_HUB_OFFLINE="1"), "HF_HUB_OFFLINE")
        run = Run("-m", NAME, "-p", "x", "--yes", "--offline", env=self.env(hub))
        self.assert_fails(run, "--offline")
        self.assertEqual(hub.requests, [])

    def test_space_is_looked_at_first(self):
        hub = self.hub()
        hub.repositories[NAME].lies["tiny-q4_k_m.gguf"] = {"lfs": {"oid": sha256(MODEL), "size": 60 << 40}}
        self.assert_fails(self.pull(hub), "needs 66 TB", "free")
        self.assertEqual(hub.kinds().count("content"), 0)
        self.assertFalse(os.path.exists(self.cache))

    def test_a_cache_that_cannot_be_written(self):
        self.assert_fails(self.pull(self.hub(), HF_HUB_CACHE=TINY + "/below"), "cannot write", "HF_HUB_CACHE")

    def test_words_list_what_the_hub_has(self):
        hub = self.hub({"tiny-q8_0.gguf": MODEL})
        hub.repositories["other/Tiny-Gemma-GGUF"] = other = Repository({"x-q4_k_m.gguf": MODEL})
        other.architecture, other.downloads = "gemma3", 1234567
        hub.repositories["other/Tiny-Weights"] = Repository({"model.safetensors": MODEL})
        run = self.pull_fails(hub, "tiny", "gguf")
        self.assertEqual(re.findall(r"^  (\d)  (\S+) +(.*)$", run.err.decode(), re.M),
                         [("1", "other/Tiny-Gemma-GGUF", "cannot run"), ("2", NAME + ":Q8_0", "826 kB  fits")])
        self.assertIn("1,234,567 downloads; models of the architecture gemma3 cannot run here", run.err.decode())
        self.assertRegex(run.err.decode(), r"1 download; needs about [\d.]+ MB of memory, [\d.]+ [GM]B are free")
        nothing = self.pull_fails(hub, "no", "such", code=1)
        self.assertIn("has no GGUF model with 'no such'", nothing.err.decode())
        self.assertEqual(hub.searches, ["tiny gguf", "no such"])
        self.leave_half(MODEL[:100000])
        self.assertIn("100 kB of it are downloaded already; needs", self.pull_fails(hub, "tiny").err.decode())

    def pull_fails(self, hub, *words, code=2):
        run = Run("pull", *words, env=self.env(hub))
        self.assertEqual((run.code, run.out), (code, b""), run)
        return run

    def test_searches_that_fail(self):
        hub = self.hub()
        hub.fail("search", Fault(status=400))
        self.assert_fails(self.pull(hub, "tiny"), "answers 400 to a search")
        hub.fail("search", Fault(body=b"<html>log in</html>"))
        self.assert_fails(self.pull(hub, "tiny"), "web page", "models")
        hub.fail("search", Fault(body=b"{}"))
        self.assert_fails(self.pull(hub, "tiny"), "no JSON list of models")
        hub.fail("list", Fault(body=b"{}"))
        self.assert_fails(self.pull(hub, "tiny"), "no JSON list of files")
        self.assert_fails(self.pull(hub, "tiny", HF_HUB_OFFLINE="1"), "HF_HUB_OFFLINE")

    def test_names_that_are_none(self):
        for name in ("tiny.gguf", "a/b/c", "../x", "org/repo:", "https://huggingface.co/org/repo/discussions"):
            self.assert_fails(self.pull(self.hub(), name), "org/repo[:QUANT]", code=2)


class Asked(Case):
    """chat itself, when the model is missing."""

    ASK = ("-p", "x", "-n", "4", "--temp", "0")

    def terminal(self, *arguments, hub="http://127.0.0.1:1", **more):
        env = self.env(hub)
        terminal = Terminal(*arguments, home=self.home, **more, **{key: env[key] for key in env if key != "HOME"})
        self.addCleanup(lambda: terminal.status is None and (os.kill(terminal.pid, signal.SIGKILL), terminal.wait()))
        return terminal

    def question(self, terminal):
        """The text before the first start's question. The line editor asks the terminal for its widths before its mark."""
        offer = terminal.wait_for("quits):\n")
        terminal.wait_for("> ")
        return offer

    def place(self, *names):
        folder = os.path.join(self.home, ".cache/warpchat/models")
        os.makedirs(folder)
        for name in names:
            shutil.copy(TINY, os.path.join(folder, name))

    def test_without_a_terminal_nobody_is_asked(self):
        hub = self.hub()
        self.assert_fails(Run("-m", NAME, *self.ASK, env=self.env(hub)), f"chat pull {NAME}, or add --yes", code=2)
        self.assertEqual(hub.requests, [])
        self.assert_fails(Run(*self.ASK, env=self.env(hub)), "no model found", code=2)

    def test_yes_fetches_and_answers(self):
        run = Run("-m", NAME, "--yes", *self.ASK, env=self.env(self.hub()))
        self.assertEqual((run.code, run.out), (0, Run("-m", TINY, *self.ASK).out), run)

    def test_at_a_terminal_it_asks(self):
        hub = self.hub()
        terminal = self.terminal("-m", NAME, *self.ASK, hub=hub)
        terminal.wait_for(f"download {NAME}:Q4_K_M, 826 kB, into {self.cache}? [y/N] ")
        terminal.type("\n")
        self.assertEqual(terminal.wait(), 1)
        self.assertEqual(hub.kinds(), ["list"])
        terminal = self.terminal("-m", NAME, hub=hub)
        terminal.wait_for("[y/N] ")
        terminal.type("y\n")
        terminal.wait_for("100%")
        terminal.wait_for("Ctrl-D leaves")
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_a_first_start_offers_a_list(self):
        hub = self.hub()
        hub.repositories["Qwen/Qwen2.5-0.5B-Instruct-GGUF"] = hub.repositories[NAME]
        terminal = self.terminal(*self.ASK, hub=hub)
        offer = self.question(terminal)
        self.assertEqual(re.findall(r"^  (\d)  Qwen/\S+ +[\d.]+ [MG]B .*(?:fits|too large)$", offer, re.M),
                         list("12345"), offer)
        self.assertIn(self.cache, offer)
        terminal.type("9\r")
        self.question(terminal)
        terminal.type("1\r")
        terminal.wait_for("downloaded and verified")
        self.assertEqual(terminal.wait(), 0)

    def test_the_first_question_has_the_line_editor_and_asks_again(self):
        hub = self.hub()
        hub.repositories["Qwen/Qwen2.5-0.5B-Instruct-GGUF"] = hub.repositories[NAME]
        os.makedirs(os.path.join(self.home, "models"))
        text, model = (os.path.join(self.home, "models", name) for name in ("notes.txt", "tiny.gguf"))
        with open(text, "w") as file:
            file.write("no model")
        shutil.copy(TINY, model)
        terminal = self.terminal(*self.ASK, hub=hub)
        for typed, seen in (("0", "choose a number from 1 to 5"), ("00", "choose a number from 1 to 5"),
                            ("help", "These can be downloaded"), ("?", "These can be downloaded"),
                            (text, f"{text}: ")):
            self.question(terminal)
            terminal.type(typed + "\r")
            terminal.wait_for(seen)
        self.question(terminal)
        self.assertEqual(hub.requests, [])
        terminal.type("/models/\x01~\x05t\t")  # to the line's begin, and to its end
        terminal.wait_for("> ~/models/tiny.gguf")
        terminal.type("\r")
        self.assertEqual(terminal.wait(), 0)

    def test_a_first_start_mentions_a_paused_download(self):
        blobs = os.path.join(self.cache, "models--Qwen--Qwen2.5-3B-Instruct-GGUF/blobs")
        os.makedirs(blobs)
        with open(os.path.join(blobs, "0" * 64 + ".incomplete"), "wb") as half:
            half.truncate(700_000_000)
        terminal = self.terminal(*self.ASK, hub=self.hub())
        offer = self.question(terminal)
        self.assertEqual(offer.count("700 MB of it are downloaded already"), 1, offer)

    def test_the_first_question_is_left(self):
        for typed, code in (("\r", 1), ("quit\r", 1), ("/exit\r", 1), ("\x04", 1), ("\x03", 130)):
            terminal = self.terminal(*self.ASK, hub=self.hub())
            self.question(terminal)
            terminal.type(typed)
            self.assertEqual(terminal.wait(), code, typed)

    def test_questions_are_broken_at_words(self):
        terminal = self.terminal(*self.ASK, hub=self.hub(), columns=60)
        offer = self.question(terminal)
        self.assertLessEqual(max(map(len, offer.split("\n"))), 60, offer)
        self.assertIn("search words, a file's path or a server's address (Enter", " ".join(offer.split()))

    def test_a_plain_terminal_gets_lines_of_a_download(self):
        terminal = self.terminal("--plain", "-m", NAME, "--yes", *self.ASK, hub=self.hub())
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("downloaded and verified", terminal.seen)
        self.assertNotRegex(terminal.seen, "[\r\x1b]")

    def test_a_first_start_searches_the_hub(self):
        hub = self.hub()
        terminal = self.terminal(*self.ASK, hub=hub)
        self.question(terminal)
        terminal.type("nothing like it\r")
        terminal.wait_for("has no GGUF model with 'nothing like it'")
        self.question(terminal)
        lies = hub.repositories[NAME].lies
        lies["tiny-q4_k_m.gguf"] = {"lfs": {"oid": sha256(MODEL), "size": 60 << 40}}
        terminal.type("tiny\r")
        terminal.wait_for("too large")
        self.question(terminal)
        terminal.type("1\r")
        terminal.wait_for("download it anyway? [y/N] ")
        terminal.type("\n")
        terminal.wait_for("nothing was downloaded")
        self.question(terminal)
        lies.clear()
        terminal.type("tiny\r")
        terminal.wait_for(f"1  {NAME}:Q4_K_M")
        self.question(terminal)
        terminal.type("1\r")
        terminal.wait_for("downloaded and verified")
        self.assertEqual(terminal.wait(), 0)

    def test_a_conversation_asks_which_of_several(self):
        self.place("one-a.gguf", "one-b.gguf")
        terminal = self.terminal("-m", TINY, "-c", "256")
        terminal.wait_for("Ctrl-D leaves")
        for name, more, expected in (("B one", "", "one-b, 826 kB"), ("ONE", "1\n", "one-a, 826 kB"),
                                     ("one", "\n", "no model was chosen"), ("one-b.gguf", "", "one-b, 826 kB")):
            terminal.wait_for("> ")
            terminal.type(f"/model {name}\r")
            if more:
                terminal.wait_for("1  one-a.gguf\n")
                terminal.wait_for("Which one? ")
                terminal.type(more)
            terminal.wait_for(expected)

    def test_a_first_start_offline_asks_for_a_file(self):
        hub = self.hub()
        terminal = self.terminal("--offline", *self.ASK, hub=hub)
        offer = terminal.wait_for("--offline was given, so none can be downloaded.\nA file's path (Enter quits):\n")
        terminal.wait_for("> ")
        self.assertIn(self.cache, offer)
        terminal.type(TINY + "\r")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(hub.requests, [])

    def test_words_are_pulled_by_a_number(self):
        terminal = self.terminal("pull", "gguf", "tiny", hub=self.hub())
        terminal.wait_for(f"1  {NAME}:Q4_K_M")
        terminal.wait_for("Which one? ")
        terminal.type("2\n")
        terminal.wait_for("Choose a number from 1 to 1")
        terminal.wait_for("Which one? ")
        terminal.type("1\n")
        terminal.wait_for("downloaded and verified")
        self.assertEqual(terminal.wait(), 0)
        self.check_cache({"tiny-q4_k_m.gguf": MODEL})

    def test_a_conversation_changes_to_a_model_of_the_hub(self):
        hub = self.hub()
        terminal = self.terminal("-m", TINY, "-c", "256", hub=hub)
        terminal.wait_for("Ctrl-D leaves")

        def change_to(name, *expected):
            terminal.wait_for("> ")
            terminal.type(f"/model {name}\r")
            for text in expected:
                terminal.wait_for(text)
        question = f"download {NAME}:Q4_K_M, 826 kB, into {self.cache}? [y/N] "
        change_to("org/Tiny", "there is no org/Tiny at", NAME)
        change_to(NAME, question)
        terminal.type("\n")
        terminal.wait_for("nothing was downloaded")
        change_to(NAME, question)
        terminal.type("\x03")
        terminal.wait_for("nothing was downloaded")
        hub.fail("content", Fault(stall_after=102400))
        change_to(NAME, question)
        terminal.type("y\n")
        terminal.wait_for(" 12%")
        terminal.type("\x03")
        terminal.wait_for("paused with 102 kB of 826 kB; run the same command to resume")
        change_to(NAME, f"download the missing 724 kB of {NAME}:Q4_K_M")
        terminal.type("y\n")
        terminal.wait_for("downloaded and verified")
        terminal.wait_for("tiny-q4_k_m, 826 kB")
        change_to("Q4_K tiny", "tiny-q4_k_m, 826 kB")
        terminal.wait_for("> ")
        terminal.type("\x04")
        self.assertEqual(terminal.wait(), 0)
        self.assertEqual(self.ranges(hub), [None, "bytes=102400-"])

    def test_a_first_start_takes_a_file_or_nothing(self):
        terminal = self.terminal(*self.ASK)
        self.question(terminal)
        terminal.type(TINY + "\r")
        self.assertEqual(terminal.wait(), 0)
        terminal = self.terminal(*self.ASK)
        self.assertEqual(terminal.wait(), 0)  # the model used before
        shutil.rmtree(os.path.join(self.home, ".local"))
        terminal = self.terminal(*self.ASK)
        self.question(terminal)
        terminal.type("\r")
        self.assertEqual(terminal.wait(), 1)

    def test_of_several_one_is_asked_for(self):
        self.place("a.gguf", "b.gguf")
        terminal = self.terminal(*self.ASK)
        terminal.wait_for("1  a.gguf\n")
        terminal.wait_for("2  b.gguf\n")
        terminal.type("3\n")
        terminal.wait_for("from 1 to 2")
        terminal.type("2\n")
        self.assertEqual(terminal.wait(), 0)
        with open(os.path.join(self.home, ".local/state/warpchat/last_model")) as file:
            self.assertTrue(file.read().endswith("b.gguf\n"))

    def test_a_part_of_a_name_is_enough(self):
        self.place("one-a.gguf", "one-b.gguf")
        env = self.env("http://127.0.0.1:1")
        self.assertEqual(Run("-m", "a ONE", *self.ASK, env=env).code, 0)
        self.assert_fails(Run("-m", "one", *self.ASK, env=env), "one-a.gguf", "one-b.gguf", code=2)
        terminal = self.terminal("-m", "one", *self.ASK)
        terminal.wait_for("2  one-b.gguf\n")
        terminal.type("2\n")
        self.assertEqual(terminal.wait(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
