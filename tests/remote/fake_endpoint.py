"""A scripted OpenAI-compatible endpoint on 127.0.0.1: the first part of the path names the script.

http://127.0.0.1:PORT/v1 answers well; http://127.0.0.1:PORT/redirect/v1 redirects, and so on. The scripts are the
methods script_* of Handler.
"""
import gzip
import http.server
import json
import select
import socket
import ssl
import struct
import threading
import time

HELLO = ["Hel", "lo", " wörld", " 🙂", "!"]
TEXT = "".join(HELLO)


def event(value):
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()) + b"\n\n"


def chunk(delta, finish=None, **more):
    return event({"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m",
                  "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


def usage(prompt, generated):
    return event({"id": "x", "choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": generated,
                                                      "total_tokens": prompt + generated}})


DONE = b"data: [DONE]\n\n"
END = chunk({}, "stop") + usage(11, len(HELLO)) + DONE


def deltas(texts, name="content"):
    return b"".join(chunk({name: text}) for text in texts)


class FakeEndpoint:
    """with FakeEndpoint() as server: ... server.url"""

    def __init__(self, models=("qwen3-4b",), certificate=None, key=None, owner="someone", together=1):
        self.models, self.key, self.owner = list(models), key, owner
        self.context = 4096  # of each model; None: not told
        self.requests = []  # (method, path, headers, body as an object)
        self.metrics = ""
        self.pages = {}  # path beside /v1: JSON to be read, or returned for a body
        self.n_tries = 0
        self.together = threading.Barrier(int(together))
        self.cancelled = threading.Event()  # a client left during its answer
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.fake = True, self
        self.server.handle_error = lambda *_: None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.host = f"127.0.0.1:{self.server.server_port}"
        self.origin = f"{'https' if certificate else 'http'}://{self.host}"
        self.url = self.origin + "/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def bodies(self):
        return [body for method, _, _, body in self.requests if method == "POST"]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        fake = self.server.fake
        if self.path in fake.pages:
            return self.send_json(200, fake.pages[self.path])
        script, path = self.route()
        fake.requests.append(("GET", path, dict(self.headers), None))
        if script == "nolist":
            return self.send(404, b"Not Found")
        if script == "redirect":
            return self.send(307, b"", {"Location": "http://elsewhere.invalid/v1/models"})
        if script == "page":
            return self.send(200, b"<!DOCTYPE html><html>log in</html>")
        if not self.allowed():
            return
        if path == "/metrics":
            return self.send(200, fake.metrics.encode())
        if path == "/models":
            self.send_json(200, {"object": "list", "data": [
                {"id": name, "object": "model", "owned_by": fake.owner,
                 **({"max_model_len": fake.context} if fake.context else {})} for name in fake.models]})
        else:
            self.send(404, b"Not Found")

    def do_POST(self):
        fake = self.server.fake
        script, path = self.route()
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path in fake.pages:
            return self.send_json(200, fake.pages[self.path])
        fake.requests.append(("POST", path, dict(self.headers), body))
        if not self.allowed():
            return
        if body["model"] not in fake.models:
            return self.error(404, f"The model `{body['model']}` does not exist.")
        try:
            getattr(self, "script_" + script)(body)
        except (BrokenPipeError, ConnectionResetError):
            fake.cancelled.set()

    def route(self):
        path = self.path
        if path.startswith("http://"):  # through a proxy
            path = "/" + path.split("/", 3)[3]
        parts = path.split("/")
        if len(parts) == 2:  # beside /v1
            return "well", path
        script = "well" if parts[1] == "v1" else parts[1]
        return script, "/" + "/".join(part for part in parts[2:] if part != "v1")

    def allowed(self):
        key = self.server.fake.key
        if not key or self.headers.get("Authorization") == f"Bearer {key}":
            return True
        self.error(401, "Incorrect API key provided.")
        return False

    def error(self, status, message, headers=()):
        self.send_json(status, {"error": {"message": message, "type": "x", "code": status}}, headers)

    def send_json(self, status, value, headers=()):
        self.send(status, json.dumps(value).encode(), {"Content-Type": "application/json", **dict(headers)})

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self):
        """An event stream that ends when the connection does."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def stream(self, *pieces, delay=0):
        self.begin()
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            time.sleep(delay)

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    # --- scripts ---------------------------------------------------------------------------------------------------
    def script_well(self, _):
        self.stream(b": ping\n\n", chunk({"role": "assistant", "content": ""}), *map(deltas, zip(HELLO)), END)

    script_nolist = script_well

    def script_bytes(self, _):  # one byte at a time
        whole = deltas(HELLO) + END
        self.stream(*(whole[i:i + 1] for i in range(len(whole))))

    def script_titled(self, body):  # like a model that returns a title on request
        if "title" not in body["messages"][-1]["content"]:
            return self.script_well(body)
        self.stream(deltas(['"A warm ', 'greeting"']), END)

    def script_text(self, _):
        self.stream(event({"choices": [{"index": 0, "text": "Once upon", "finish_reason": None}]}),
                    event({"choices": [{"index": 0, "text": " a time", "finish_reason": "stop"}]}), DONE)

    def script_long(self, _):  # more than fits any buffer of a terminal, in one event
        self.stream(deltas(["begin " + "some words " * 100000 + "end"]), END)

    def script_whole(self, _):  # no streaming
        self.send_json(200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT},
                                          "finish_reason": "stop"}]})

    def script_reasoning(self, _):
        self.stream(deltas(["Hmm", "."], "reasoning"), deltas(["\n\n", "Yes."]), END)

    def script_tags(self, _):
        self.stream(deltas(["<th", "ink>\nHmm", ".\n</thi", "nk>\n\nYes", "."]), END)

    def script_length(self, _):
        self.stream(deltas(HELLO), chunk({}, "length"), DONE)

    def script_picky(self, body):
        extras = [name for name in ("top_k", "min_p", "repeat_penalty") if name in body]
        if extras:
            return self.error(400, f"Unrecognized request argument supplied: {extras[0]}")
        if body.get("temperature", 1) != 1:
            return self.error(400, "Unsupported value: 'temperature' does not support this value with this model.")
        self.script_well(body)

    def script_bounded(self, body):
        self.error(400, "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 5 instead.")

    def script_refuses(self, _):
        self.error(400, "This model's maximum context length is 4096 tokens.")

    def script_forbidden(self, _):
        self.error(403, "No.")

    def busy(self, status, headers=()):
        self.server.fake.n_tries += 1
        self.error(status, "Slow down.", headers)

    def script_busy_twice(self, body):
        if self.server.fake.n_tries < 2:
            return self.busy(429 if self.server.fake.n_tries else 503)
        self.script_well(body)

    def script_busy(self, _):
        self.busy(429)

    def script_busy_for_long(self, _):
        self.busy(503, {"Retry-After": "60"})

    def script_busy_for_days(self, _):
        self.busy(429, {"Retry-After": "86400"})

    def script_broken(self, _):
        self.error(500, "CUDA error: an illegal memory access was encountered")

    def script_closes(self, _):
        self.stream(deltas(HELLO[:2]))

    def script_closes_in_an_event(self, _):
        self.stream(deltas(HELLO[:2]) + chunk({"content": "lost"})[:40])

    def script_resets(self, _):
        self.stream(deltas(HELLO[:2]))
        time.sleep(0.2)  # time for the client to read what was sent
        self.reset()

    def script_stalls(self, _):
        self.stream(deltas(HELLO[:2]))
        time.sleep(60)

    def script_silent(self, _):
        time.sleep(60)

    def script_reports(self, _):
        self.stream(deltas(HELLO[:2]), event({"error": {"message": "The engine died.", "code": 500}}))

    def script_nonsense(self, _):
        self.stream(deltas(HELLO[:2]), event(b"{nonsense"), END)

    def until_the_client_leaves(self, *pieces, drip=b": ping\n\n"):
        self.begin()
        self.wfile.write(b"".join(pieces))
        self.wfile.flush()
        for _ in range(600):
            time.sleep(0.1)
            if drip:
                self.wfile.write(drip)
                self.wfile.flush()
            elif select.select([self.connection], [], [], 0)[0]:  # it has closed its end
                raise BrokenPipeError

    def script_open_after_done(self, _):
        self.until_the_client_leaves(deltas(HELLO), END)

    def script_silent_after_done(self, _):
        self.until_the_client_leaves(deltas(HELLO), END, drip=b"")

    def script_open_after_reason(self, _):
        self.until_the_client_leaves(deltas(HELLO), chunk({}, "stop"))

    def script_drips(self, _):
        self.until_the_client_leaves(deltas(HELLO[:2]))

    def script_drips_blanks(self, _):
        self.until_the_client_leaves(deltas(HELLO[:2]), drip=b"data:\n\ndata: : waiting\n\n")

    def script_aborts(self, _):
        self.stream(deltas(HELLO[:2]), chunk({}, "abort"), DONE)

    def script_filters(self, _):
        self.stream(deltas(HELLO[:2]), chunk({}, "content_filter"), DONE)

    def script_cut_by_server(self, _):
        self.stream(deltas(HELLO), chunk({}, "max_tokens"), DONE)

    def script_calls(self, _):
        self.stream(chunk({"role": "assistant", "content": None}), chunk({"tool_calls": [
            {"index": 0, "id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q":1}'}}]}),
            chunk({}, "tool_calls"), DONE)

    def script_strict(self, body):  # a call first, then a thought alone; refuses to read either
        turns = [message for message in body["messages"] if message["role"] == "assistant"]
        if any("tool_calls" in turn or not turn["content"].strip() for turn in turns):
            return self.error(400, "An assistant message must have content, and its calls an answer")
        self.server.fake.n_tries += 1
        if self.server.fake.n_tries == 1:
            return self.script_calls(body)
        if self.server.fake.n_tries == 2:
            return self.stream(deltas(["Let me think"], "reasoning"), chunk({}, "length"), DONE)
        self.script_well(body)

    def script_picky_titles(self, body):
        if "title" not in body["messages"][-1]["content"]:
            return self.script_well(body)
        if "temperature" in body:
            return self.error(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        self.stream(deltas(['"A warm greeting"']), END)

    def script_thinks_until_cut(self, _):  # its thought has ended when the limit cuts it; then the answer
        self.server.fake.n_tries += 1
        if self.server.fake.n_tries == 1:
            return self.stream(deltas(["<think>\nHm", ".", "\n</think>"]), chunk({}, "length"), DONE)
        self.stream(deltas(["\n\nFour", "."]), END)

    def script_opens_thoughts(self, body):  # in the prompt; their end is in the text
        if "title" in body["messages"][-1]["content"]:
            return self.stream(deltas(["A title is", " short.\n</think>\n\n", "A sum\n"]), END)
        self.server.fake.n_tries += 1
        if self.server.fake.n_tries == 3:  # once without
            return self.stream(deltas(["Bye", "."]), END)
        self.stream(deltas(["Two and two, ", "so add.</thi", "nk>\n\nFo", "ur."]), END)

    def script_empty(self, _):
        self.stream(chunk({"role": "assistant", "content": ""}), chunk({}, "stop"), DONE)

    def script_array(self, body):  # as Gemini refuses
        if "seed" not in body and "top_k" not in body:
            return self.script_well(body)
        name = "seed" if "seed" in body else "top_k"
        self.send_json(400, [{"error": {"code": 400, "message": f'Unknown name "{name}": Cannot find field.'}}])

    def script_names_a_field(self, _):
        self.error(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")

    def script_refuses_twice(self, body):
        self.error(400, "unsupported parameter: temperature" if "temperature" in body else "too many messages")

    def script_refuses_then_reports(self, body):
        if "temperature" in body:
            return self.error(400, "unsupported parameter: temperature")
        self.stream(event({"error": {"message": "too many messages"}}))

    def script_quota(self, _):
        self.server.fake.n_tries += 1
        self.send_json(429, {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}})

    def script_busy_until(self, _):
        self.busy(429, {"Date": "Thu, 26 Nov 2026 10:00:00 GMT", "Retry-After": "Thu, 26 Nov 2026 12:00:00 GMT"})

    def script_echoes(self, _):
        key = self.headers["Authorization"].split()[1]
        self.error(401, f"Incorrect API key provided: {key}.")

    def script_echoes_within(self, _):
        key = self.headers["Authorization"].split()[1]
        self.stream(deltas(HELLO[:2]), event({"error": {"message": f"{key} has expired"}}))

    def script_compressed(self, _):  # although nothing asked for it
        self.send(200, gzip.compress(deltas(HELLO) + END), {"Content-Type": "text/event-stream",
                                                            "Content-Encoding": "gzip"})

    def script_page(self, _):
        self.send(200, b"<!DOCTYPE html><html>log in</html>", {"Content-Type": "text/html"})

    def script_nothing(self, _):
        self.stream()

    def script_endless_line(self, _):
        self.endless(b"x" * 65536)

    def script_endless_event(self, _):
        self.endless(b"data: " + b"x" * 65536 + b"\n")

    def script_garbage(self, _):
        self.endless(b"\x00\xff\x13\x37" * 64 + b"\n")

    def endless(self, piece):
        self.begin()
        while True:
            self.wfile.write(piece)

    def script_redirect(self, _):
        self.send(307, b"", {"Location": "http://elsewhere.invalid/v1/chat/completions"})

    def script_endless(self, _):  # an answer until the client leaves
        self.begin()
        while True:
            self.wfile.write(deltas(["a "]))
            self.wfile.flush()
            time.sleep(0.01)

    def script_nearly_full(self, _):
        self.stream(deltas(HELLO), chunk({}, "stop"), usage(4090, 5), DONE)

    def script_cached(self, _):  # tokens one by one; a part of the prompt is cached
        self.stream(*map(deltas, zip(HELLO)), chunk({}, "stop"), event({"choices": [], "usage": {
            "prompt_tokens": 1024, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 512}}}), DONE,
            delay=0.02)

    def script_paced(self, body):  # a hundred tokens a second, as many as the prompt says
        self.begin()
        start, n = time.monotonic(), int(body["messages"][-1]["content"])
        for i in range(n):
            time.sleep(max(0, start + i / 100 - time.monotonic()))
            self.wfile.write(deltas([f"word{i} "]))
            self.wfile.flush()
        self.wfile.write(chunk({}, "stop") + usage(11, n) + DONE)

    def script_together(self, body):  # answers only after all have asked
        self.server.fake.together.wait(30)
        self.script_well(body)

    def script_many(self, body):
        self.begin()
        piece = deltas(["token "])
        for _ in range(int(body["messages"][-1]["content"])):
            self.wfile.write(piece)
        self.wfile.write(END)
