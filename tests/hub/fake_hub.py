#!/usr/bin/env python3
"""A model hub on 127.0.0.1 with faults on demand: the hub itself and, as another origin, the content network that it
redirects downloads to. Its interface is sufficient for huggingface_hub's client.

As a program: fake_hub.py PORT ORG/REPO FOLDER serves the files of a folder until it is interrupted.
"""
import collections
import hashlib
import http.server
import json
import os
import re
import ssl
import sys
import threading
import time
import urllib.parse

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CHUNK = 16 << 10
MIN_LARGE_FILE = 1024  # smaller files have no SHA-256, as on the real hub


class Fault(dict):
    """A fault of an answer. Keys, all optional:

    status, headers, body   another answer; body is bytes
    redirect                302 to this address
    close_after, stall_after  bytes of the body until the connection closes, or hangs
    endless                 an endless body that repeats this chunk
    corrupt                 one byte of the body is wrong
    ignore_range            200 and the whole file for any range
    wrong_range             206 from another byte than requested
    delay                   seconds before each chunk of the body
    silent                  seconds of silence, then the connection closes
    """


class Repository:
    def __init__(self, files):
        self.files = dict(files)  # path: bytes
        self.commit = COMMIT
        self.gated = self.private = False
        self.downloads, self.architecture = 1, "qwen2"
        self.lies = {}  # path: entries of the list that replace the true ones

    def entry(self, path):
        data = self.files[path]
        entry = {"type": "file", "oid": hashlib.sha1(data).hexdigest(), "size": len(data), "path": path}
        if len(data) >= MIN_LARGE_FILE:
            entry["lfs"] = {"oid": sha256(data), "size": len(data), "pointerSize": 134}
        entry.update(self.lies.get(path, {}))
        return entry


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class FakeHub:
    """with FakeHub({"org/repo": {"a.gguf": b"..."}}) as hub: ... hub.url"""

    def __init__(self, repositories=(), certificate=None, token=None, page=1000):
        self.repositories = {name: Repository(files) for name, files in dict(repositories).items()}
        self.token = token  # required by private and gated repositories
        self.page = page    # files per page of a list
        self.requests = []  # (kind, method, path, headers), in order
        self.searches = []  # the words of each search
        self.faults = collections.defaultdict(collections.deque)
        self.served = 0     # total bytes of files
        self.hub, self.content = (self._server(certificate) for _ in range(2))
        scheme = "https" if certificate else "http"
        self.url, self.content_url = (f"{scheme}://127.0.0.1:{s.server_port}" for s in (self.hub, self.content))

    def _server(self, certificate, port=0):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        server.daemon_threads, server.fake = True, self
        server.handle_error = lambda *_: None  # these tests let clients disconnect
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        return server

    def __enter__(self):
        for server in (self.hub, self.content):
            threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        for server in (self.hub, self.content):
            server.shutdown()
            server.server_close()

    def fail(self, kind, *faults, always=False):
        """Faults for the next answers of a kind: list, search, head (of a file), file (the redirect), content. always:
        the last fault repeats forever."""
        queue = self.faults[kind]
        queue.clear()
        queue.extend(faults)
        if always:
            queue.append(None)

    def next_fault(self, kind):
        queue = self.faults[kind]
        if not queue:
            return Fault()
        if len(queue) == 2 and queue[1] is None:
            return queue[0]
        return queue.popleft()

    def kinds(self):
        return [kind for kind, *_ in self.requests]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        fake, url = self.server.fake, urllib.parse.urlsplit(self.path)
        path, query = urllib.parse.unquote(url.path), urllib.parse.parse_qs(url.query)
        kind, answer = self.route(path, query)
        fake.requests.append((kind, self.command, path, dict(self.headers)))
        fault = fake.next_fault(kind)
        if "silent" in fault:
            self.close_connection = True
            return time.sleep(fault["silent"])
        if "redirect" in fault:
            return self.send(302, b"", {"Location": fault["redirect"]})
        if "status" in fault or "body" in fault:
            return self.send(fault.get("status", 200), fault.get("body", b""), fault.get("headers", {}))
        if "endless" in fault:
            return self.send_endless(fault["endless"])
        answer(fault)

    do_HEAD = do_GET

    def route(self, path, query):
        if self.server is self.server.fake.content:
            return "content", lambda fault: self.content(path[1:], fault)
        if path == "/api/models":
            self.server.fake.searches.append(query.get("search", [""])[0])
            return "search", lambda fault: self.search(query)
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+)/tree/([^/]+)", path):
            return "list", lambda fault: self.list(match[1], match[2], query)
        if match := re.fullmatch(r"/api/models/([^/]+/[^/]+?)(?:/revision/([^/]+))?", path):
            return "info", lambda fault: self.info(match[1], match[2])
        if match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            kind = "head" if self.command == "HEAD" else "file"
            return kind, lambda fault: self.file(match[1], match[2], match[3])
        return "unknown", lambda fault: self.send(404, b"Not Found")

    # The repository, or None when a refusal was sent.
    def repository(self, name, revision, for_file=False):
        fake = self.server.fake
        found = fake.repositories.get(name)
        allowed = self.headers.get("Authorization") == f"Bearer {fake.token}"
        if not found or found.private and not allowed:
            status = 404 if allowed else 401  # outsiders are not told which it is
            return self.send(status, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})
        if revision not in (None, "main", found.commit):
            return self.send(404, b'{"error": "Invalid rev id"}', {"X-Error-Code": "RevisionNotFound"})
        if found.gated and for_file and not allowed:
            return self.send(403 if "Authorization" in self.headers else 401, b"Access is restricted",
                             {"X-Error-Code": "GatedRepo"})
        return found

    def list(self, name, revision, query):
        if not (found := self.repository(name, revision)):
            return
        page, fake = int(query.get("page", ["0"])[0]), self.server.fake
        paths = sorted(found.files)
        headers = {}
        if len(paths) > (page + 1) * fake.page:
            headers["Link"] = f'<{fake.url}/api/models/{name}/tree/main?recursive=true&page={page + 1}>; rel="next"'
        entries = [found.entry(p) for p in paths[page * fake.page:(page + 1) * fake.page]]
        folders = {"type": "directory", "oid": "0" * 40, "size": 0, "path": "folder"}
        self.send_json(entries + [folders], headers)

    def info(self, name, revision):
        if found := self.repository(name, revision):
            self.send_json({"_id": "0" * 24, "id": name, "modelId": name, "sha": found.commit, "private": found.private,
                            "tags": ["gguf"], "downloads": 1, "likes": 0,
                            "siblings": [{"rfilename": path} for path in sorted(found.files)]})

    def search(self, query):
        words, fields = query.get("search", [""])[0].lower().split(), query.get("expand", [])
        found = [(name, repository) for name, repository in sorted(self.server.fake.repositories.items())
                 if all(word in name.lower() for word in words) and not repository.private]
        if query.get("sort") == ["downloads"]:
            found.sort(key=lambda pair: -pair[1].downloads)
        extra = {"downloads": lambda r: r.downloads, "gguf": lambda r: {"total": 1, "architecture": r.architecture}}
        self.send_json([{"_id": "0" * 24, "id": name, "modelId": name, "tags": ["gguf"],
                         **{field: extra[field](repository) for field in fields if field in extra}}
                        for name, repository in found[:int(query.get("limit", ["1000"])[0])]])

    def file(self, name, revision, path):
        if not (found := self.repository(name, revision, for_file=True)):
            return
        if path not in found.files:
            return self.send(404, b"Entry not found", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": found.commit})
        data, headers = found.files[path], {"X-Repo-Commit": found.commit, "Accept-Ranges": "bytes"}
        if len(data) < MIN_LARGE_FILE:
            return self.send(200, data, {**headers, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'})
        digest = sha256(data)
        self.send(302, b"Found", {**headers, "Location": f"{self.server.fake.content_url}/{digest}?signature=x",
                                  "X-Linked-Size": str(len(data)), "X-Linked-Etag": f'"{digest}"', "ETag": '"x"'})

    def content(self, digest, fault):
        for repository in self.server.fake.repositories.values():
            for data in repository.files.values():
                if sha256(data) == digest:
                    return self.send_content(data, fault)
        self.send(403, b"expired")

    def send_content(self, data, fault):
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        first = int(asked[1]) if asked and not fault.get("ignore_range") else 0
        if first >= len(data):
            return self.send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
        partial = asked and not fault.get("ignore_range")
        if fault.get("wrong_range"):
            first = first // 2
        body = bytearray(data[first:])
        if fault.get("corrupt"):
            body[len(body) // 2] ^= 1
        self.send_response(206 if partial else 200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Accept-Ranges", "bytes")
        if partial:
            self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        if self.command != "HEAD":
            self.send_slowly(bytes(body), fault)

    def send_slowly(self, body, fault):
        end = min(fault.get("close_after", len(body)), fault.get("stall_after", len(body)))
        for start in range(0, end, CHUNK):
            time.sleep(fault.get("delay", 0))
            chunk = body[start:min(start + CHUNK, end)]
            self.wfile.write(chunk)
            self.server.fake.served += len(chunk)
        self.wfile.flush()
        if "stall_after" in fault:
            time.sleep(30)
        if end < len(body):
            self.close_connection = True

    def send_endless(self, chunk):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while True:
            self.wfile.write(chunk * (CHUNK // len(chunk)))

    def send_json(self, value, headers=()):
        self.send(200, json.dumps(value).encode(), {"Content-Type": "application/json", **dict(headers)})

    def send(self, status, body, headers=()):
        self.send_response(status)
        headers = dict(headers)
        headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def main():
    port, name, folder = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    files = {}
    for path in os.listdir(folder):
        with open(os.path.join(folder, path), "rb") as file:
            files[path] = file.read()
    hub = FakeHub({name: files})
    hub.hub.server_close()
    hub.hub = hub._server(None, port)
    hub.url = f"http://127.0.0.1:{port}"
    with hub:
        print(f"HF_ENDPOINT={hub.url}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
