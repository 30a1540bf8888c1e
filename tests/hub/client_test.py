#!/usr/bin/env python3
"""The hub's own client, huggingface_hub, accepts the fake hub, and the cache that chat fills.

usage: client_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(__file__), "..", "app")]
from fake_hub import COMMIT, FakeHub, Fault, sha256  # noqa: E402
from program import CHAT, FOLDER, Run, environment  # noqa: E402

os.environ.update(HF_HOME=tempfile.mkdtemp(dir=FOLDER), HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1",
                  HF_HUB_DISABLE_PROGRESS_BARS="1", no_proxy="*")
for variable in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HF_HUB_CACHE"):
    os.environ.pop(variable, None)
import huggingface_hub  # noqa: E402
from huggingface_hub import HfApi, errors, hf_hub_download, scan_cache_dir, utils  # noqa: E402

NAME, FILE, DATA = "org/Tiny-GGUF", "folder/tiny-q4_k_m.gguf", os.urandom(300000)


class Client(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp(dir=FOLDER)
        self.hub = self.enterContext(FakeHub({NAME: {FILE: DATA, "README.md": b"x"}}, token="hf_right", page=1))
        self.api = HfApi(endpoint=self.hub.url)
        self.env = environment(FOLDER, HF_ENDPOINT=self.hub.url, HF_HUB_CACHE=self.cache, no_proxy="*")

    def client_downloads(self, **more):
        return hf_hub_download(NAME, FILE, endpoint=self.hub.url, cache_dir=self.cache, **more)

    def pull(self):
        run = Run("pull", NAME, env=self.env)
        self.assertEqual(run.code, 0, run)
        return run

    def test_the_fake_hub_is_a_hub(self):
        with open(self.client_downloads(), "rb") as file:
            self.assertEqual(file.read(), DATA)
        self.assertEqual(self.api.model_info(NAME).sha, COMMIT)
        listed = {entry.path: entry for entry in self.api.list_repo_tree(NAME, recursive=True)}
        self.assertEqual(listed[FILE].lfs.sha256, sha256(DATA))
        [found] = self.api.list_models(search="tiny", filter="gguf", sort="downloads", limit=5,
                                       expand=["downloads", "gguf", "pipeline_tag"])
        self.assertEqual((found.id, found.downloads, found.gguf["architecture"]), (NAME, 1, "qwen2"))

    def test_its_refusals_are_a_hubs(self):
        with self.assertRaises(errors.RepositoryNotFoundError):
            self.api.model_info("org/none")
        with self.assertRaises(errors.RemoteEntryNotFoundError):
            hf_hub_download(NAME, "none.gguf", endpoint=self.hub.url, cache_dir=self.cache)
        self.hub.repositories[NAME].gated = True
        with self.assertRaises(errors.GatedRepoError):
            self.client_downloads()
        self.client_downloads(token="hf_right")

    def test_its_client_continues_what_breaks(self):
        self.hub.fail("content", Fault(close_after=100000))
        with open(self.client_downloads(), "rb") as file:
            self.assertEqual(file.read(), DATA)

    def test_what_chat_fetched_is_the_clients(self):
        path = self.pull().out.decode().strip()
        cache = scan_cache_dir(self.cache)
        self.assertEqual(cache.warnings, [])
        [repository] = cache.repos
        [revision] = repository.revisions
        [file] = revision.files
        self.assertEqual((repository.repo_id, revision.commit_hash, set(revision.refs)), (NAME, COMMIT, {"main"}))
        self.assertEqual((str(file.file_path), file.size_on_disk), (path, len(DATA)))
        n_requests = len(self.hub.requests)
        self.assertEqual(self.client_downloads(local_files_only=True), path)
        self.assertEqual(len(self.hub.requests), n_requests)
        self.assertEqual(self.client_downloads(), path)
        self.assertEqual(self.hub.kinds().count("content"), 1)

    def test_what_the_client_fetched_is_chats(self):
        path = self.client_downloads()
        run = self.pull()
        self.assertEqual(run.out.decode().strip(), path)
        self.assertIn("already downloaded", run.err.decode())
        self.assertEqual(self.hub.kinds().count("content"), 1)

    def test_the_clients_lock_is_waited_for(self):
        lock = os.path.join(self.cache, ".locks/models--org--Tiny-GGUF", sha256(DATA) + ".lock")
        os.makedirs(os.path.dirname(lock))
        with utils.WeakFileLock(lock):
            process = subprocess.Popen([CHAT, "pull", NAME], env=self.env, stdout=subprocess.PIPE)
            with self.assertRaises(subprocess.TimeoutExpired):
                process.wait(0.5)
            self.assertNotIn("content", self.hub.kinds())
        self.assertEqual(process.communicate(timeout=30)[0].decode().strip(), self.client_downloads())


if __name__ == "__main__":
    print("huggingface_hub", huggingface_hub.__version__)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
