"""Chat templates as transformers renders them: python3-jinja2 with its settings, to compare with ours."""
import json
import sys
from datetime import datetime

try:
    import jinja2
except ImportError:
    print("needs jinja2 (Debian: python3-jinja2)", file=sys.stderr)
    sys.exit(77)
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment


class Generation(Extension):
    """{% generation %}: transformers notes where the assistant's text is; the text does not change."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(line)

    def _render(self, caller):
        return caller()


def _tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment(mutable=False):
    """mutable: lists and dicts may change (append, pop, ...), which transformers' own sandbox refuses."""
    kind = SandboxedEnvironment if mutable else ImmutableSandboxedEnvironment
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = _tojson
    env.globals["raise_exception"] = _raise_exception
    env.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return env


_ENVIRONMENTS = {False: environment(False), True: environment(True)}
_COMPILED = {}


def render(template, variables, mutable=False):
    """(text, None), or (None, "Kind: message") where jinja2 refuses."""
    try:
        key = (template, mutable)
        if key not in _COMPILED:
            _COMPILED[key] = _ENVIRONMENTS[mutable].from_string(template)
        return _COMPILED[key].render(**json.loads(json.dumps(variables))), None
    except Exception as error:  # any error in a template
        return None, f"{type(error).__name__}: {error}"
