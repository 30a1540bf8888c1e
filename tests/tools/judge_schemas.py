#!/usr/bin/env python3
"""How `chat grammar` judges the instances of JSON-Schema-Test-Suite, and of schemas in JSON lines.

usage: judge_schemas.py CHAT PATH...

PATH: a folder of the suite (draft2020-12, whose cases are judged with its draft), one of its files, or a file of lines
{"name", "schema", "valid": [...], "invalid": [...]}. The suite lies in the source package of `jsonschema` on PyPI:
`pip download --no-binary :all: --no-deps jsonschema`, folder json/tests. Prints each wrong verdict, and for each file
how many schemas and cases there were, were refused, and were judged wrongly. Exit code 1 if an invalid instance was
accepted or a valid one rejected.

An instance is written as json.dumps does, with whole numbers without a fraction, as `type: integer` wants them.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

MAX_SECONDS = 60
DRAFTS = {f"draft{n}": f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 6, 7)}


def whole(value):
    """The value with floats that are whole numbers as integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {key: whole(item) for key, item in value.items()}
    return value


def cases_of(path):
    """(name, schema as text, [(instance, is valid)])."""
    with open(path, encoding="utf-8") as file:
        if path.endswith(".jsonl"):
            for line in file:
                entry = json.loads(line)
                yield (entry["name"], entry["schema"],
                       [(i, True) for i in entry["valid"]] + [(i, False) for i in entry["invalid"]])
            return
        draft = next((text for folder, text in DRAFTS.items() if f"/{folder}/" in path), None)
        for group in json.load(file):
            if draft and isinstance(group["schema"], dict):
                group["schema"].setdefault("$schema", draft)
            tests = [(test["data"], test["valid"]) for test in group["tests"]]
            yield group["description"], group["schema"], tests


def judge(chat, schema, instances):
    """(None, [whether accepted]) or (why it is refused, [])."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(schema, file)
        file.flush()
        lines = "".join(json.dumps(whole(instance), ensure_ascii=False) + "\n" for instance in instances)
        run = subprocess.run([chat, "grammar", "-jf", file.name, "--check", "--lines"], input=lines.encode("utf-8", "surrogatepass"),
                             capture_output=True, timeout=MAX_SECONDS, check=False)
    verdicts = run.stdout.decode().splitlines()
    if not verdicts:
        assert run.returncode == 1 and run.stderr.count(b"\n") == 1, (run, schema)
        return run.stderr.decode().strip(), []
    assert len(verdicts) == len(instances), (verdicts, run.stderr)
    return None, [verdict == "accepted" for verdict in verdicts]


def main():
    chat, n_wrong, totals = os.path.abspath(sys.argv[1]), 0, [0, 0, 0, 0, 0, 0]
    paths = [found for path in sys.argv[2:]
             for found in (sorted(glob.glob(os.path.join(path, "*.json"))) if os.path.isdir(path) else [path])]
    for path in paths:
        counts = [0, 0, 0, 0, 0, 0]
        for name, schema, tests in cases_of(path):
            refused, verdicts = judge(chat, schema, [instance for instance, _ in tests])
            counts[0] += 1
            counts[2] += len(tests)
            if refused:
                counts[1] += 1
                counts[3] += len(tests)
                print(f"  refused: {os.path.basename(path)}: {name}: {refused}")
            for (instance, is_valid), accepted in zip(tests, verdicts):
                if accepted != is_valid:
                    counts[4 if accepted else 5] += 1
                    print(f"  WRONG: {os.path.basename(path)}: {name}: {'accepted' if accepted else 'rejected'} "
                          f"{json.dumps(instance)[:300]}")
        print("{}: {} schemas, {} refused; {} cases, {} refused; {} invalid accepted, {} valid rejected".format(
            os.path.basename(path), *counts))
        totals = [total + count for total, count in zip(totals, counts)]
        n_wrong += counts[4] + counts[5]
    print("all: {} schemas, {} refused; {} cases, {} refused; {} invalid accepted, {} valid rejected".format(*totals))
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
