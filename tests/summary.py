#!/usr/bin/env python3
"""What a run of ctest ran: summary.py BUILD_FOLDER [passed-otherwise EXIT_CODE].

Reads the reports that GoogleTest left in BUILD_FOLDER/reports and ctest's own log, and prints every test that was
skipped with its reason, and a last line of counts. Exit code: 0 if nothing failed and nothing was skipped, 3 if
something was skipped, 1 if something failed or nothing ran.
"""
import collections
import glob
import json
import os
import re
import sys


def google_tests(folder):
    """(passed, failed, {reason: [names]}) of the reports."""
    passed, failed, skipped = 0, 0, collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "reports", "*.json"))):
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        for suite in report["testsuites"]:
            for test in suite["testsuite"]:
                name = f"{suite['name']}.{test['name']}"
                if test.get("failures"):
                    failed += 1
                elif test.get("result") == "SKIPPED":
                    said = "".join(entry.get("message", "") for entry in test.get("skipped", []))
                    skipped[said.strip().splitlines()[-1] if said.strip() else "no reason given"].append(name)
                elif test.get("result") == "COMPLETED":
                    passed += 1
    return passed, failed, skipped


def other_tests(folder):
    """(passed, failed, {reason: [names]}) of what ctest ran that is no GoogleTest binary: Python's tests one by one."""
    passed, failed, skipped = 0, 0, collections.defaultdict(list)
    reported = {os.path.basename(path)[:-5] for path in glob.glob(os.path.join(folder, "reports", "*.json"))}
    with open(os.path.join(folder, "Testing/Temporary/LastTest.log"), encoding="utf-8", errors="replace") as file:
        log = file.read()
    for part in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        name = part.split("\n", 1)[0]
        if name in reported:
            continue
        has_passed = re.search(r"^Test Passed\.$", part, re.M) is not None
        python = re.search(r"^Ran (\d+) tests? in ", part, re.M)
        n_tests = int(python.group(1)) if python else 1
        n_skipped = sum(map(int, re.findall(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", part, re.M)))
        if n_skipped or "Test Skipped" in part:
            skipped["said in its own output"] += [name] * max(1, n_skipped)
        if has_passed:
            passed += n_tests - n_skipped
        elif "Test Skipped" not in part:
            failed += 1
    return passed, failed, skipped


def main():
    folder = sys.argv[1]
    passed, failed, skipped = google_tests(folder)
    more_passed, more_failed, more_skipped = other_tests(folder)
    passed, failed = passed + more_passed, failed + more_failed
    skipped.update(more_skipped)
    for reason, names in sorted(skipped.items()):
        print(f"skipped, {reason}: {', '.join(names)}")
    n_skipped = sum(map(len, skipped.values()))
    print(f"{passed} passed, {failed} failed, {n_skipped} skipped")
    sys.exit(1 if failed or not passed else 3 if n_skipped else 0)


if __name__ == "__main__":
    main()
