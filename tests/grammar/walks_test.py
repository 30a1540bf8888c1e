#!/usr/bin/env python3
"""Random texts that schemas allow, judged by the Python package jsonschema: no invalid one.

usage: walks_test.py GRAMMAR_WALKS [FILE.jsonl] [unittest arguments]

FILE: more schemas, a line each, {"name", "schema"}. Skipped without the package.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

WALKS = os.path.abspath(sys.argv[1])
MORE = sys.argv.pop(2) if len(sys.argv) > 2 and sys.argv[2].endswith(".jsonl") else None
N_TEXTS = 40

SCHEMAS = [
    {},
    {"type": ["integer", "boolean"]},
    {"type": "integer", "minimum": -17, "maximum": 230},
    {"type": "integer", "exclusiveMinimum": 99, "multipleOf": 7},
    {"type": "number", "minimum": -0.5, "exclusiveMaximum": 12.25},
    {"type": "number", "minimum": 1e-7, "maximum": 3.5e20},
    {"type": "number", "multipleOf": 0.25, "minimum": 0},
    {"not": {"type": "integer"}, "type": "number"},
    {"type": "string", "minLength": 3, "maxLength": 5},
    {"type": "string", "pattern": "^[a-c]{2}(x|yz)?$|foo"},
    {"type": "string", "pattern": "\\d{2}", "maxLength": 4, "not": {"const": "12"}},
    {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 4},
    {"prefixItems": [{"type": "string"}, {"const": None}], "items": False, "type": "array"},
    {"type": "array", "items": {"enum": ["a", "b", 3, None]}, "uniqueItems": True, "minItems": 2},
    {"type": "array", "contains": {"type": "string"}, "maxContains": 2, "items": {"type": ["string", "null"]}},
    {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxItems": 3},
    {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "y"]}}, "required": ["b"]},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["z"], "additionalProperties": {"type": "null"}},
    {"type": "object", "patternProperties": {"^a": {"type": "integer"}, "b$": {"minimum": 5}}, "minProperties": 1},
    {"type": "object", "propertyNames": {"pattern": "^[a-d]{1,2}$"}, "maxProperties": 2},
    {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "additionalProperties": False, "minProperties": 2},
    {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "required": ["c"], "maxProperties": 2},
    {"type": "object", "dependentRequired": {"a": ["b"]}, "propertyNames": {"enum": ["a", "b", "c"]}},
    {"type": "object", "dependentSchemas": {"a": {"required": ["c"]}}, "propertyNames": {"enum": ["a", "b", "c"]}},
    {"allOf": [{"properties": {"a": {"minimum": 3}}}, {"properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
    {"anyOf": [{"type": "string", "maxLength": 2}, {"type": "array", "maxItems": 1}]},
    {"oneOf": [{"type": "string", "minLength": 2}, {"type": "string", "maxLength": 3}]},
    {"oneOf": [{"type": "object", "required": ["a"]}, {"type": "object", "required": ["b"]}],
     "propertyNames": {"enum": ["a", "b", "c"]}},
    {"type": "object", "if": {"properties": {"k": {"const": 1}}, "required": ["k"]}, "then": {"required": ["a"]},
     "else": {"maxProperties": 1}, "propertyNames": {"enum": ["a", "k", "c"]}},
    {"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}, "required": ["v"]},
    {"not": {"type": ["object", "string"]}, "anyOf": [{}, False]},
    {"enum": [{"a": [1, "x"]}, [], "t", 4.5, None]},
    {"const": {"b": 2, "a": {"c": None}}},
    # The package does not know leap seconds.
    *({"type": "string", "format": name, "not": {"pattern": ":60"}} for name in ("date", "time", "date-time", "duration", "email", "ipv4", "ipv6",
                                                      "uuid", "hostname", "uri", "json-pointer")),
]


def texts_of(schema, seed):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(schema, file)
        file.flush()
        run = subprocess.run([WALKS, file.name, str(N_TEXTS), str(seed)], capture_output=True, check=False, timeout=300)
    return run.stdout.decode().split("\n")[:-1], run


def faults_of(schema, texts):
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    found = []
    for text in texts:
        try:
            validator.validate(json.loads(text))
        except jsonschema.ValidationError as error:
            found.append((schema, text, error.message[:200]))
    return found


@unittest.skipUnless(jsonschema, "the Python package jsonschema is not installed")
class Walks(unittest.TestCase):
    maxDiff = None

    def test_no_text_is_invalid(self):
        for seed, schema in enumerate(SCHEMAS):
            with self.subTest(schema):
                texts, run = texts_of(schema, seed)
                self.assertEqual((run.returncode, run.stderr), (0, b""))
                self.assertGreater(len(texts), N_TEXTS // 2)
                self.assertEqual(faults_of(schema, texts), [])

    def test_more_schemas(self):
        if not MORE:
            self.skipTest("no file with schemas was named")
        n_held = n_all = 0
        with open(MORE, encoding="utf-8") as file:
            for seed, line in enumerate(file):
                schema = json.loads(line)["schema"]
                texts, _ = texts_of(schema, seed)
                n_all += 1
                n_held += bool(texts)
                with self.subTest(schema):
                    self.assertEqual(faults_of(schema, texts), [])
        self.assertGreater(n_held, 0.9 * n_all)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[2:])
