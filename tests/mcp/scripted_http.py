"""A server of MCP over HTTP, for tests: both eras, both kinds of answers, and faults. Standard library alone."""
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
TOOLS = [{"name": "echo", "description": "Give the text back", "inputSchema": {
    "type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}}}]


class Server:
    """fault: see the branches below. requests: (method, headers, body) of each, in order."""

    def __init__(self, era="legacy", fault="", target=""):
        self.era, self.fault, self.target = era, fault, target
        self.requests, self.sessions, self.lock = [], set(), threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.requests.append(("POST", dict(self.headers), body))
                try:
                    outer.answer(self, body)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def do_DELETE(self):
                with outer.lock:
                    outer.requests.append(("DELETE", dict(self.headers), None))
                self.send_response(405)
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # clients that leave early
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        self.origin = f"http://127.0.0.1:{self.http.server_port}"
        self.url = self.origin + "/mcp"

    def close(self):
        self.http.shutdown()
        self.http.server_close()

    def bodies(self, method):
        return [body for _, _, body in self.requests if body and body.get("method") == method]

    def headers(self, method):
        return [headers for _, headers, body in self.requests if body and body.get("method") == method]

    @staticmethod
    def send(handler, status, body, kind="application/json", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    def stream(self, handler, request, value):
        """A response as events, byte by byte, with all that a stream may have."""
        notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "hi"}}
        response = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": value}, indent=1).splitlines()
        text = ": a comment\r\n\r\nid: 1\ndata:\n\ndata: " + json.dumps(notice) + "\n\nevent: message\nid: 2\n"
        if self.fault == "cut":
            response = []
        if self.fault == "asks":
            for number, asked in ((f"q{i}", method) for i, method in enumerate(("ping", "elicitation/create", "roots/list"))):
                text += "data: " + json.dumps({"jsonrpc": "2.0", "id": number, "method": asked}) + "\n\n"
        text += "".join(f"data: {line}\r\n" for line in response) + "\r\n"
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for byte in text.encode():
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
        if self.fault == "stays_open":
            time.sleep(60)
        handler.close_connection = True

    def drip(self, handler):
        """Never ends, and is never silent."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        while True:
            handler.wfile.write(b": waiting\n\n")
            time.sleep(0.1)

    def answer(self, handler, body):
        method, fault = body.get("method"), self.fault
        if fault in ("401", "401_plain", "403", "500"):
            extra = {"WWW_Authenticate": "Bearer"} if fault == "401" else {}
            return self.send(handler, int(fault[:3]), b"no entry", "text/plain", **extra)
        if fault == "page":
            return self.send(handler, 200, b"<html>hello</html>", "text/html")
        if fault == "redirect":
            return self.send(handler, 307, b"", Location=self.target)
        if fault == "moved" and handler.path == "/mcp":
            return self.send(handler, 308, b"", Location="/other")
        if self.era == "modern":
            return self.answer_modern(handler, body)
        if method == "server/discover":
            return self.send(handler, 400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no session"}})
        if method == "initialize":
            session = f"session-{len(self.sessions)}"
            self.sessions.add(session)
            return self.give(handler, body, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                             "serverInfo": {"name": "http", "version": "1"}}, Mcp_Session_Id=session)
        if handler.headers["Mcp-Session-Id"] not in self.sessions:
            return self.send(handler, 404, b"", "text/plain")
        if "id" not in body or method is None:
            return self.send(handler, 202, b"")
        if method == "tools/call" and fault == "forgets" and len(self.sessions) == 1:
            self.sessions = {"session-none"}
            return self.send(handler, 404, b"", "text/plain")
        self.answer_tools(handler, body)

    def answer_modern(self, handler, body):
        method, meta = body["method"], body.get("params", {}).get("_meta", {})
        headers = handler.headers

        def refuse(code, message, status=400, **data):
            self.send(handler, status, {"jsonrpc": "2.0", "id": body.get("id"),
                                        "error": {"code": code, "message": message, "data": data}})

        if meta.get(META + "protocolVersion") != MODERN:
            return refuse(-32022, "which version?", supported=[MODERN])
        if self.fault == "only_future":
            return refuse(-32022, "which version?", supported=["2031-01-01"])
        if headers["MCP-Protocol-Version"] != MODERN or headers["Mcp-Method"] != method:
            return refuse(-32020, "headers do not match")
        if method == "server/discover" and self.fault == "no_discover":
            return refuse(-32021, "it needs elicitation")
        if method == "server/discover":
            return self.give(handler, body, {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": {"tools": {}}})
        if method not in ("tools/list", "tools/call"):
            return refuse(-32601, "unknown method", 404)
        self.answer_tools(handler, body)

    def answer_tools(self, handler, body):
        if body["method"] == "tools/list":
            tools = list(TOOLS)
            if self.fault == "bad_header":
                tools.append({"name": "bad", "inputSchema": {"type": "array", "items": {"type": "string", "x-mcp-header": "X"}}})
            return self.give(handler, body, {"tools": tools})
        if self.fault == "call_500":
            return self.send(handler, 500, b"out of order", "text/plain")
        if self.fault == "call_page":
            return self.send(handler, 200, b"<html>hello</html>", "text/html")
        if self.fault == "drip":
            return self.drip(handler)
        if self.fault == "hang":
            return time.sleep(60)
        if self.fault == "big":
            return self.send(handler, 200, b'{"jsonrpc": "2.0", "result": "' + b"x" * (17 << 20) + b'"}')
        text = body["params"]["arguments"].get("text", "")
        value = {"content": [{"type": "text", "text": text}]}
        if self.fault in ("asks", "cut", "stays_open", "stream"):
            return self.stream(handler, body, value)
        self.give(handler, body, value)

    def give(self, handler, request, value, **headers):
        self.send(handler, 200, {"jsonrpc": "2.0", "id": request["id"], "result": value}, **headers)
