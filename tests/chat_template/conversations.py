"""Conversations of every kind that templates distinguish, and random ones from the same parts."""
import json
import random
import re

# A private-use character that no template writes. Wherever it appears, there is content.
MARK = "\ue000"
SPELLINGS_OF_MARK = re.compile(r"\ue000|\\ue000|%EE%80%80")  # also by repr() and in URLs


def marked(value, rng):
    """The value with marks in all its texts except object keys."""
    if isinstance(value, str):
        return "".join(c + MARK * (rng.random() < 0.3) for c in value) + MARK * (rng.random() < 0.3)
    if isinstance(value, list):
        return [marked(item, rng) for item in value]
    if isinstance(value, dict):
        return {key: marked(item, rng) for key, item in value.items()}
    return value


def fault_of_content(text, ranges, variables):
    """The error in the given content ranges, or None."""
    size, last = len(text.encode()), -1
    for begin, end in ranges:
        if not last < begin < end <= size:
            return f"range {begin} to {end} of {size} bytes, behind {last}"
        last = end
    if MARK not in json.dumps(variables, ensure_ascii=False):
        return None
    begins = {}  # byte offsets of each mark
    for found in SPELLINGS_OF_MARK.finditer(text):
        begin = len(text[:found.start()].encode())
        begins[begin] = begin + len(found.group().encode())
    for begin, end in begins.items():
        if not any(b <= begin and end <= e for b, e in ranges):
            return f"the mark at byte {begin} is not in the content"
    return None

TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather at a place, with \"quotes\", 'apostrophes' & <tags>.",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "the city, e.g. Zürich or 東京"},
            "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            "exact": {"type": "boolean"}, "scale": {"type": "number", "default": 0.5},
            "tags": {"type": "array", "items": {"type": "string"}}}},
        "return": {"type": "object", "properties": {"temperature": {"type": "number"}}}}},
    {"type": "function", "function": {
        "name": "no_arguments", "description": "", "parameters": {"type": "object", "properties": {}}}},
]

TEXTS = ["Hello", "How are you?", "", " leading and trailing \n", "two\nlines", "Grüße, 世界 🌍!", "a\\b \"c\" 'd'",
         "<|im_end|>{{ not jinja }}", "tab\there", "1 < 2 & 3 > 2", "\u00a0wide\u3000space\u2028", "e\u0301 x\x7f\x01",
         "<tool_response>\nfake\n</tool_response>", "```python\nprint('hi')\n```", "[INST] x [/INST]"]

THOUGHTS = ["", "I think.\nTherefore.", "深く考える", "  spaces  ", "a </think> inside"]

ARGUMENTS = [{"city": "Zürich", "days": 2}, {}, {"nested": {"a": [1, 2.5, None, True], "b": "x\"y"}, "n": -3},
             {"text": "line\nbreak", "flag": False}, {"big": 9007199254740993, "small": 1e-7, "e": 1e22}]


def message(role, content, **more):
    return {"role": role, "content": content, **more}


def call(name="get_weather", arguments=None, **more):
    return {"type": "function", "function": {"name": name, "arguments": arguments if arguments is not None else {}},
            **more}


def fixed():
    """(name, variables): each for one feature of templates."""
    user, system = message("user", "What is 1 < 2?"), message("system", "You are terse.")
    think = message("assistant", "<think>\nLet me see.\n</think>\n\nIt is true.")
    calls = message("assistant", "", tool_calls=[call(arguments=ARGUMENTS[0], id="call00001")])
    answer = message("tool", "{\"temperature\": 21.5}", name="get_weather", tool_call_id="call00001")
    base = {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "date_string": "26 Jul 2024"}
    rows = {
        "user": [user],
        "system": [system, user],
        "turns": [system, user, message("assistant", "Yes."), message("user", "Sure?")],
        "thinking in content": [user, think, message("user", "And 2 < 3?")],
        "thinking at the end": [user, think],
        "reasoning_content": [user, message("assistant", "Yes.", reasoning_content="Easy.\n"), message("user", "OK")],
        "reasoning_content at the end": [user, message("assistant", "Yes.", reasoning_content="Easy.\n")],
        "tool call": [system, user, calls],
        "tool call and answer": [user, calls, answer],
        "tool answers, then text": [user, calls, answer, message("assistant", "21.5 degrees"), user],
        "two tool calls": [user, message("assistant", "Both.", tool_calls=[
            call(arguments=ARGUMENTS[2], id="call00001"), call("no_arguments", {}, id="call00002")]),
            answer, message("tool", "nothing", name="no_arguments", tool_call_id="call00002")],
        "arguments as text": [user, message("assistant", None, tool_calls=[
            {"id": "abcdef123", "type": "function", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]), answer],
        "content missing": [user, {"role": "assistant", "tool_calls": [call(id="call00001")]}, answer],
        "content as parts": [message("user", [{"type": "text", "text": "part one"}, {"type": "text", "text": "two"}])],
        "image part": [message("user", [{"type": "image"}, {"type": "text", "text": "What is it?"}])],
        "developer": [message("developer", "Be brief."), user],
        "unknown role": [message("narrator", "Once upon a time"), user],
        "no messages": [],
        "assistant first": [message("assistant", "Hi"), user],
        "system last": [user, message("system", "Stop.")],
        "two users": [user, user],
    }
    rows.update({f"text {i}": [message("user", text), message("assistant", text), message("user", "?")]
                 for i, text in enumerate(TEXTS)})
    for name, messages in rows.items():
        yield name, {"messages": messages, **base}
        yield name + ", with tools", {"messages": messages, "tools": TOOLS, **base}
    for name in ("turns", "tool answers, then text", "thinking in content"):
        for more in ({"enable_thinking": False}, {"enable_thinking": True}, {"add_generation_prompt": False},
                     {"tools": None}, {"tools": []}, {"documents": [{"title": "T", "text": "body"}]},
                     {"reasoning_effort": "high", "keep_past_thinking": True}):
            yield f"{name}, {more}", {"messages": rows[name], **base, **more}


def random_message(rng):
    role = rng.choice(["user", "user", "assistant", "assistant", "system", "tool"])
    content = rng.choice(TEXTS)
    made = message(role, content)
    if role == "assistant":
        kind = rng.random()
        if kind < 0.25:
            made["content"] = "<think>\n" + rng.choice(THOUGHTS) + "\n</think>\n\n" + content
        elif kind < 0.45:
            made["reasoning_content"] = rng.choice(THOUGHTS + [None])
        if rng.random() < 0.35:
            made["tool_calls"] = [call(rng.choice(["get_weather", "no_arguments"]), rng.choice(ARGUMENTS),
                                       id=f"call{rng.randrange(100000):05d}") for _ in range(rng.randint(1, 3))]
            if rng.random() < 0.2:
                made["content"] = None
    elif role == "tool":
        made.update(name="get_weather", tool_call_id="call00001")
        if rng.random() < 0.3:
            made["content"] = rng.choice([{"temperature": 21.5, "ok": True}, ["a", 1]])
    elif rng.random() < 0.1:
        made["content"] = [{"type": "text", "text": content}, {"type": "text", "text": rng.choice(TEXTS)}]
    return made


def random_conversations(n, seed):
    rng = random.Random(seed)
    for i in range(n):
        variables = {"messages": [random_message(rng) for _ in range(rng.randint(1, 7))], "bos_token": "<s>",
                     "eos_token": "</s>", "date_string": "26 Jul 2024",
                     "add_generation_prompt": rng.random() < 0.8}
        if rng.random() < 0.7:  # most templates want turns in order
            turns = [m for m in variables["messages"] if m["role"] != "system"]
            for j, m in enumerate(turns):
                if m["role"] != "tool":
                    m["role"] = "assistant" if j % 2 else "user"
            first = [message("system", rng.choice(TEXTS))] if rng.random() < 0.5 else []
            variables["messages"] = first + turns
        if rng.random() < 0.4:
            variables["tools"] = TOOLS[:rng.randint(0, 2)]
        if rng.random() < 0.3:
            variables["enable_thinking"] = rng.random() < 0.5
        if rng.random() < 0.3:
            for key in ("messages", "tools"):
                variables[key] = marked(variables.get(key), rng)
            for m in variables["messages"]:
                if rng.random() < 0.8:  # few templates accept other roles
                    m["role"] = m["role"].replace(MARK, "")
        yield f"random {seed}/{i}", variables
