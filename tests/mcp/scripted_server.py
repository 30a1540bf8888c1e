#!/usr/bin/env python3
"""A server of MCP on its standard streams that behaves as it is told, well or badly. Standard library alone.

usage: scripted_server.py ERA [FAULT] [LOG]
  ERA: modern (2026-07-28), legacy, or a version of the legacy era
  FAULT: see the branches below; "-" or nothing: none
  LOG: a file that gets a line per event: start, message, signal, end of input
"""
import json
import os
import signal
import sys
import time

ERA = sys.argv[1]
FAULT = sys.argv[2] if len(sys.argv) > 2 else "-"
LOG = sys.argv[3] if len(sys.argv) > 3 else None
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
VERSION = ERA if ERA[0].isdigit() else "2025-06-18"


def note(event):
    if LOG:
        with open(LOG, "a") as file:
            file.write(f"{event}\n")


def n_starts():
    with open(LOG) as file:
        return file.read().count("start ")


def write(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def result(request, value):
    send({"id": request["id"], "result": value if ERA != "modern" else {"resultType": "complete", **value}})


def error(request, code, message, **data):
    send({"id": request["id"], "error": {"code": code, "message": message, **({"data": data} if data else {})}})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


TOOLS = [
    {"name": "echo", "title": "Echo", "description": "Give the text back.\nSecond line",
     "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}},
    {"name": "environment", "description": "The names of its variables", "inputSchema": {"type": "object"}},
    {"name": "do it.now", "description": "Odd name \u001b[31mred\u202e"},
]


n_called = 0


def tools_list(request):
    cursor = request.get("params", {}).get("cursor")
    if FAULT == "pages":  # three pages, one of which has an empty text as cursor
        page = {None: (0, ""), "": (1, "last"), "last": (2, None)}[cursor]
        value = {"tools": [TOOLS[page[0]]]}
        return result(request, value if page[1] is None else {**value, "nextCursor": page[1]})
    if FAULT == "same_cursor":
        return result(request, {"tools": [{**TOOLS[0], "name": f"echo{time.monotonic_ns()}"}], "nextCursor": "again"})
    if FAULT == "endless_pages":
        return result(request, {"tools": [{**TOOLS[0], "name": f"t{cursor}"}], "nextCursor": str(int(cursor or 0) + 1)})
    if FAULT == "many_tools":
        return result(request, {"tools": [{"name": f"t{i}"} for i in range(10_001)]})
    if FAULT == "bad_entries":
        return result(request, {"tools": [1, {"name": 2}, {"name": "x", "inputSchema": 3}, {"description": "y"}, TOOLS[0]]})
    if FAULT == "odd_schema":
        return result(request, {"tools": [{**TOOLS[0], "inputSchema": {"$ref": "https://example.org/schema"}}]})
    if FAULT == "same_names":
        return result(request, {"tools": [{"name": "a b"}, {"name": "a.b"}, {"name": "A_B"}, {"name": "n" * 100},
                                          {"name": "n" * 101}, {"name": "\u00e9"}]})
    if FAULT == "changes":  # the description after each call; it tells of it each time it is asked, too
        send({"method": "notifications/tools/list_changed"})
        tools = [{**TOOLS[0], "description": f"Give the text back. Version {n_called}"}] * 2 + TOOLS[1:]
        return result(request, {"tools": tools + [{"name": "added"}] if n_called else tools})
    if FAULT == "list_crash":
        os._exit(3)
    if FAULT == "no_list":
        return error(request, -32603, "no list today")
    result(request, {"tools": TOOLS})


def tools_call(request):
    global n_called
    n_called += 1
    params = request["params"]
    name, arguments = params["name"], params.get("arguments", {})
    note("call " + json.dumps({"name": name, "arguments": arguments}))
    if FAULT == "crash" or (FAULT == "crash_once" and n_starts() == 1):
        os._exit(7)
    if FAULT == "hang":
        return None
    if FAULT == "slow":
        time.sleep(float(arguments["text"]))
    if FAULT == "progress":
        for step in range(4):
            send({"method": "notifications/progress",
                  "params": {"progressToken": params["_meta"]["progressToken"], "progress": step + 1, "total": 4,
                             "message": "step \u001b[31m"}})
            time.sleep(1.2)
    if FAULT == "asks":
        send({"id": "q1", "method": "ping"})
        send({"id": 2, "method": "elicitation/create", "params": {}})
        send({"id": 3, "method": "sampling/createMessage", "params": {}})
        answers = [json.loads(sys.stdin.readline()) for _ in range(3)]
        return result(request, text(json.dumps(answers)))
    if FAULT == "input" and "requestState" not in params:
        return send({"id": request["id"], "result": {
            "resultType": "input_required", "requestState": "s1",
            "inputRequests": {"who": {"method": "elicitation/create", "params": {}}}}})
    if FAULT == "input":
        return result(request, text(json.dumps([params["requestState"], params["inputResponses"]])))
    if FAULT == "input_for_ever":
        return send({"id": request["id"], "result": {"resultType": "input_required", "requestState": "s"}})
    if FAULT == "wants_sampling":
        return send({"id": request["id"], "result": {
            "resultType": "input_required", "inputRequests": {"x": {"method": "sampling/createMessage"}}}})
    if FAULT == "unknown_type":
        return send({"id": request["id"], "result": {"resultType": "later"}})
    if FAULT == "bad_responses":
        write("no json\n[1]\n\xff\xfe\n" + '{"jsonrpc": "2.0", "id": 999999, "result": {}}\n' + "[" * 200_000 + "\n")
        sys.stdout.buffer.write(b'{"id": 1, "result": "\xff"}\n')
        send({"method": "notifications/unheard_of"})
        return send({"id": request["id"], "result": {"content": "none"}})
    if FAULT == "no_response":
        return send({"id": request["id"]})
    if FAULT == "deep":
        return write('{"jsonrpc": "2.0", "id": %d, "result": %s1%s}\n' % (request["id"], "[" * 200_000, "]" * 200_000))
    if FAULT == "big":
        return write('{"id": %d, "result": {"content": [{"type": "text", "text": "%s"}]}}\n'
                     % (request["id"], "\u00e9" * 5_000_000))
    if FAULT == "huge_line":
        write('{"jsonrpc": "2.0", "id": %d, "result": "' % request["id"])
        for _ in range(512):
            write("x" * (1 << 20))
        return write('"}\n')
    if FAULT == "error":
        return error(request, -32602, "the argument \u001b[31mtext is missing")
    if FAULT == "tool_error":
        return result(request, text("it went wrong", isError=True))
    if FAULT == "parts":
        return result(request, {"content": [
            {"type": "text", "text": "one"}, {"type": "image", "data": "QUJD" * 100, "mimeType": "image/png"},
            {"type": "audio", "data": "QUJD", "mimeType": "audio/wav"},
            {"type": "resource_link", "name": "notes", "uri": "file:///n.txt"},
            {"type": "resource", "resource": {"uri": "file:///a", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "QUJD"}}, {"type": "smell"}, 7]})
    if FAULT == "structured":
        return result(request, {"structuredContent": {"a": [1, 2]}, "content": []})
    if FAULT == "empty":
        return result(request, {"content": []})
    if FAULT == "descriptors":
        open_now = os.listdir("/proc/self/fd")  # one of which is the list's own
        return result(request, text(json.dumps([len(open_now), os.getpgid(0) == os.getpid(), os.getcwd()])))
    if name == "environment":
        return result(request, text(json.dumps(dict(os.environ))))
    result(request, text(arguments.get("text", name)))


def answer(request):
    method = request.get("method")
    params = request.get("params", {})
    if ERA == "modern":
        meta = params.get("_meta", {})
        if "id" in request and meta.get(META + "protocolVersion") != MODERN:
            return error(request, -32022, "which version?", supported=[MODERN])
        if META + "clientCapabilities" not in meta and "id" in request:
            return error(request, -32602, "no capabilities")
    if method == "server/discover":
        if FAULT == "dies_at_discover":
            sys.exit(1)
        if FAULT == "silent_at_discover":
            return None
        if FAULT == "other_versions":
            return error(request, -32022, "no", supported=["2031-01-01"])
        if FAULT == "late_modern":
            time.sleep(3)
        if ERA != "modern":
            return error(request, -32601, "Method not found")
        return result(request, {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "instructions": "Be kind."})
    if method == "initialize" and ERA != "modern":
        if FAULT == "bad_version":
            return result(request, {"protocolVersion": "1999-01-01", "capabilities": {}})
        return result(request, {"protocolVersion": VERSION, "capabilities": {"tools": {"listChanged": True}},
                                "serverInfo": {"name": "scripted", "version": "1"}, "instructions": "Be kind."})
    if method == "tools/list":
        return tools_list(request)
    if method == "tools/call":
        return tools_call(request)
    if "id" in request:
        error(request, -32601, "Method not found")


def main():
    note(f"start {os.getpid()}")
    if FAULT == "ends":
        sys.exit(4)
    if FAULT == "mute":
        time.sleep(600)
    if FAULT == "stubborn":
        signal.signal(signal.SIGTERM, lambda *_: note("SIGTERM"))
    else:
        signal.signal(signal.SIGTERM, lambda *_: (note("SIGTERM"), sys.exit(0)))
    if FAULT == "banner":
        write("Welcome to the server!\n\n")
        sys.stderr.write("it begins \u001b[31mred\n" * 5_000)  # more than a pipe holds
        sys.stderr.write("key " + os.environ.get("SECRET", "") + "\n")
        sys.stderr.flush()
    if FAULT == "endless":
        while True:
            write("y" * 65536)
    if FAULT == "child":  # a process of its own, which nothing else ends
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            note(f"start {os.getpid()}")
            time.sleep(600)
    for line in sys.stdin:
        message = json.loads(line)
        note("message " + str(message.get("method")) + " " + json.dumps(message.get("params", {})))
        answer(message)
    note("end of input")
    while FAULT == "stubborn":
        time.sleep(1)
    note("leaves")


main()
