#!/usr/bin/env python3
"""Compares random templates, made of every construct, with jinja2.

  compare_random.py --renderer BUILD/render_template [--count 20000] [--seed 1]

The texts must be equal, or both must refuse. In every second round the variables hold marks, which must come out as
content. Skipped: templates that print an address in jinja2 (a method, a generator), and those with unknown filters,
which jinja2 refuses earlier. Exit code 1: there are differences.
"""
import argparse
import random
import re
import sys
import warnings

import case_templates
import compare_jinja2
import conversations
import jinja2_oracle

NAMES = ["n", "x", "yes", "no", "nothing", "name", "empty", "numbers", "words", "nested", "person", "people", "text",
         "unicode", "html", "nope", "a", "b", "c", "ns"]
ATTRIBUTES = ["name", "age", "tags", "address", "city", "items", "nope", "a", "0", "index"]
TEXT_CALLS = [
    "strip()", "split()", "split('a')", "upper()", "lower()", "title()", "replace('a', 'b')", "startswith('A')",
    "endswith('a')", "splitlines()", "lstrip('A')", "rstrip('a')", "find('a')", "count('a')", "items()",
    "get('name')", "keys()", "values()", "get('x', 1)", "strip('\\n')", "format(1, 'b')", "capitalize()",
    "partition('a')", "join(['x', 'y'])", "isdigit()", "rsplit('a', 1)", "index(1)", "copy()",
]
FILTERS = [
    "trim", "upper", "lower", "title", "capitalize", "length", "string", "tojson", "list", "join", "join(', ')",
    "first", "last", "default('d')", "default('d', true)", "int", "float", "abs", "round", "round(1)", "sort",
    "reverse|list", "unique|list", "sum", "min", "max", "map('upper')|list", "map(attribute='name')|list",
    "select|list", "reject('none')|list", "selectattr('age')|list", "items|list", "dictsort", "tojson(indent=2)",
    "replace('a', 'o')", "indent", "escape", "safe", "string|safe", "batch(2)|list", "count", "sort(reverse=true)",
    "map('string')|list", "wordcount", "center(9)", "urlencode", "slice(2)|list", "truncate(5)",
]
TESTS = [
    "defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float",
    "boolean", "true", "false", "odd", "even", "divisibleby 2", "eq 1", "in numbers", "lower", "upper", "callable",
    "not defined", "not none", "sameas n", "lt 2", "ge 2", "not string", "ne 'a'",
]
BINARY = [
    "+", "-", "*", "/", "//", "%", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in", "+", "~",
    "and", "or", "==",
]
LITERALS = [
    "0", "1", "2", "-1", "2.5", "1e3", "true", "false", "none", "''", "'a'", "'Ada'", "' b\\n'", "'<&>'", "'ü世🌍'",
    "[]", "{}", "[1, 2]", "('a', 1)", "{'a': 1, 'b': [2]}", "'%s'", "'{}'",
]


# Transformations of texts; @ stands for another text.
TEXTS = ["name", "text", "unicode", "html", "words[0]", "person.name", "'a'", "' b\\n'", "'<&>'", "'ü世🌍'"]
TEXT_OPERATIONS = [
    "@ ~ @", "(@) + (@)", "(@)|safe + @", "[@, @]|join(@)", "(@).join([@, 'x'])", "(@) * 2", "(@)|upper", "(@).lower()",
    "(@)|title", "(@).title()", "(@)|capitalize", "(@).swapcase()", "(@)|trim", "(@).strip()", "(@).lstrip('Aat ')",
    "(@).rstrip(@)", "(@)[1:]", "(@)[:-1]", "(@)[::-1]", "(@)[::2]", "(@)[2]", "(@)|first", "(@)|last",
    "(@)|reverse", "(@).replace('a', @)", "(@)|replace(@, 'x')", "(@)|replace(' ', @, 1)", "(@).split()|join('|')",
    "(@).split('a')[-1]", "(@).rsplit(' ', 1)|join('|')", "(@).splitlines()|join('|')", "(@).partition('a')|join('|')",
    "(@).rpartition(' ')|join('|')", "(@).removeprefix('A')", "(@).removesuffix('a')", "'<%s|%9s|%.3s|%r>' % (@, @, @, @)",
    "'%(k)s' % {'k': @}", "'{}-{:>9}{!r:.9}'.format(@, @, @)", "'{a}{0[0]}'.format(@, a=@)", "(@)|tojson",
    "{'k': @}|tojson(indent=2)", "[@]|tojson(ensure_ascii=true)", "[@]|string", "{'k': (@,)}|string", "(@)|indent(2, true)",
    "(@)|e", "(@)|forceescape", "(@)|urlencode", "{'k': @}|urlencode", "(@)|list|join('.')",
    "(@)|batch(3)|map('join')|join('/')", "(@)|slice(2)|map('first')|join", "(@)|center(40)", "(@).ljust(40, '.')",
    "(@).rjust(30)", "(@).zfill(40)", "(@)|truncate(9, true)", "(@)|truncate(9)", "[@, 'x']|unique|join",
    "[@, @]|sort|join", "[@, @]|max", "[@]|map('upper')|first", "m(@)", "{'k': @}.items()|list|string",
    "dict(k=@)['k']", "namespace(a=@).a", "(none or @)", "(nope|default(@))", "(@ if yes else '')",
]


class Maker:
    def __init__(self, rng):
        self.rng = rng

    def expression(self, depth):
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return rng.choice(NAMES) if rng.random() < 0.6 else rng.choice(LITERALS)
        inner = lambda: self.expression(depth - 1)
        kind = rng.randrange(12)
        if kind == 0:
            return f"{self.operand(depth)}.{rng.choice(ATTRIBUTES)}"
        if kind == 1:
            return f"{self.operand(depth)}[{inner()}]"
        if kind == 2:
            bound = lambda: rng.choice(["", "", "0", "1", "-1", "n", inner()])
            step = rng.choice(["", "", "", ":", ":-1", ":2"])
            return f"{self.operand(depth, is_sliced=True)}[{bound()}:{bound()}{step}]"
        if kind == 3:
            return f"{self.operand(depth)}.{rng.choice(TEXT_CALLS)}"
        if kind in (4, 5):
            return f"{self.operand(depth)}|{rng.choice(FILTERS)}"
        if kind == 6:
            return f"{self.operand(depth)} is {rng.choice(TESTS)}"
        if kind in (7, 8, 9):
            return f"{inner()} {rng.choice(BINARY)} {inner()}"
        if kind == 10:
            return f"({inner()} if {inner()}" + (f" else {inner()})" if rng.random() < 0.8 else ")")
        return self.wrapped(inner)

    def text_expression(self, depth):
        if depth <= 0 or self.rng.random() < 0.2:
            return self.rng.choice(TEXTS)
        return re.sub("@", lambda _: self.text_expression(depth - 1), self.rng.choice(TEXT_OPERATIONS))

    def wrapped(self, inner):
        shape = self.rng.choice([
            "not @", "-@", "[@, @]", "(@)", "{'k': @, n: @}", "range(@)|list", "dict(k=@)", "(@, @)",
            "namespace(a=@).a", "m(@)", "m(@, b=@)",
        ])
        return re.sub("@", lambda _: inner(), shape)

    def operand(self, depth, is_sliced=False):
        inner = self.expression(depth - 1)
        if is_sliced:  # jinja2 folds slices of constants wrongly
            inner = self.rng.choice(["numbers", "words", "name", "person", f"(b or {inner})"])
        return inner if re.fullmatch(r"\w+", inner) or self.rng.random() < 0.3 and " is " not in inner else f"({inner})"

    def tag(self, words):
        left, right = self.rng.choice(["", "", "-", "+"]), self.rng.choice(["", "", "-", "+"])
        return f"{{%{left} {words} {right}%}}"

    def text(self):
        return self.rng.choice(["", " ", "\n", "x", " \n  ", "  x\n", "\n\n", "\t"])

    def body(self, depth, in_loop=False):
        n = self.rng.randint(1, 3)
        return "".join(self.text() + self.statement(depth, in_loop) for _ in range(n)) + self.text()

    def statement(self, depth, in_loop):
        rng, e = self.rng, lambda: self.expression(rng.randint(0, 3))
        if depth <= 0 or rng.random() < 0.45:
            left, right = rng.choice(["", "", "-"]), rng.choice(["", "", "-"])
            return f"{{{{{left} {e()} {right}}}}}"
        kind = rng.randrange(11)
        inner = lambda loop=in_loop: self.body(depth - 1, loop)
        if kind in (0, 1):
            middle = self.tag(f"elif {e()}") + inner() if rng.random() < 0.3 else ""
            other = self.tag("else") + inner() if rng.random() < 0.5 else ""
            return self.tag(f"if {e()}") + inner() + middle + other + self.tag("endif")
        if kind in (2, 3):
            target = rng.choice(["a", "b", "a, b"])
            condition = f" if {e()}" if rng.random() < 0.2 else ""
            source = rng.choice(["numbers", "words", "nested", "people", "person.items()", "range(3)", e()])
            other = self.tag("else") + inner() if rng.random() < 0.2 else ""
            show = rng.choice([
                "", "{{ loop.index }}", "{{ loop.last }}", "{{ loop.length }}", "{{ loop.previtem }}",
                "{{ loop.nextitem }}", "{{ loop.revindex0 }}", "{{ loop.changed(a) }}", "{{ loop.cycle(1, 2) }}",
            ])
            return self.tag(f"for {target} in {source}{condition}") + show + inner(True) + other + self.tag("endfor")
        if kind in (4, 5):
            return self.tag(f"set {rng.choice(['a', 'b', 'c', 'name', 'ns.v', 'a, b'])} = {e()}")
        if kind == 6:
            return self.tag("set c") + inner() + self.tag("endset")
        if kind == 7:
            return self.tag(f"macro {rng.choice(['m', 'a'])}(a, b={e()})") + inner(False) + self.tag("endmacro")
        if kind == 8:
            return self.tag("call m(1)") + inner(False) + self.tag("endcall")
        if kind == 9 and in_loop:
            return self.tag(f"if {e()}") + self.tag(rng.choice(["break", "continue"])) + self.tag("endif")
        return rng.choice([
            self.tag("filter upper") + inner() + self.tag("endfilter"),
            self.tag(f"with a = {e()}, b = {e()}") + inner() + self.tag("endwith"),
            self.tag("generation") + inner(False) + self.tag("endgeneration"),
            "{# note #}", "{#- note -#}", "{% raw %}{{ x }}{% endraw %}"])

    def template(self):
        start = ("{% set ns = namespace(v=0) %}"
                 "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ caller() if caller is defined }}{% endmacro %}")
        if self.rng.random() < 0.5:
            return start + self.body(self.rng.randint(0, 3))
        return start + "".join("{{ " + self.text_expression(2) + " }}\n" for _ in range(3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--renderer", required=True)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # Python warns of code that jinja2 makes of such templates
    renderer = compare_jinja2.LineRenderer(arguments.renderer)
    maker, marker = Maker(random.Random(arguments.seed)), random.Random(arguments.seed + 1)
    differences = refused = 0
    for i in range(arguments.count):
        template = maker.template()
        data = conversations.marked(case_templates.DATA, marker) if i % 2 else case_templates.DATA
        theirs = jinja2_oracle.render(template, data, mutable=True)
        jinja2_oracle._COMPILED.clear()
        if " at 0x" in (theirs[0] or "") or "named" in (theirs[1] or ""):
            continue
        ours = renderer(template, data)
        refused += theirs[0] is None
        if ours[0] == theirs[0] or "has no text" in (ours[1] or ""):
            continue
        differences += 1
        if differences <= arguments.show:
            print(f"{template!r}\n{compare_jinja2.describe(ours, theirs)}", flush=True)
    print(f"{arguments.count} templates, {refused} refused by jinja2, {differences} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
