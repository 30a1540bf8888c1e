#!/usr/bin/env python3
"""Summary of a ctest run: summary.py BUILD_FOLDER.

Reads GoogleTest's reports in BUILD_FOLDER/reports and ctest's log. Prints every skipped test with its reason, and a
last line of counts. Exit code: 0 if nothing failed and nothing was skipped, 3 if something was skipped, 1 if something
failed or nothing ran.
"""
import collections
import glob
import os
import re
import sys
import xml.etree.ElementTree


def google_tests(folder):
    """(passed, failed, {reason: [names]}) of the reports."""
    passed, failed, skipped = 0, 0, collections.defaultdict(list)
    for path in sorted(glob.glob(os.path.join(folder, "reports", "*.xml"))):
        for test in xml.etree.ElementTree.parse(path).iter("testcase"):
            reason = test.find("skipped")
            if test.find("failure") is not None:
                failed += 1
            elif reason is not None:  # "file:line" and the test's message
                said = reason.get("message", "").strip().splitlines()
                skipped[said[-1] if said else "no reason given"].append(f"{test.get('classname')}.{test.get('name')}")
            elif test.get("status") == "run":
                passed += 1
    return passed, failed, skipped


def skipped_suites(folder):
    """Names of suites that exited with the code for skipping, which ctest's log calls passed."""
    path = os.path.join(folder, "Testing/Temporary/LastTestsDisabled.log")
    if not os.path.exists(path):
        return set()
    with open(path, encoding="utf-8") as file:
        return {line.split(":", 1)[1] for line in file.read().splitlines()}


def other_tests(folder):
    """(passed, failed, {reason: [names]}) of ctest's other programs: Python's tests one by one."""
    passed, failed, skipped = 0, 0, collections.defaultdict(list)
    reported = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(folder, "reports", "*.xml"))}
    with open(os.path.join(folder, "Testing/Temporary/LastTest.log"), encoding="utf-8", errors="replace") as file:
        log = file.read()
    left_out = skipped_suites(folder)
    for part in re.split(r"^\d+/\d+ Testing: ", log, flags=re.M)[1:]:
        name = part.split("\n", 1)[0]
        if name in reported:
            continue
        if name in left_out:
            output = re.search(r"^-{20,}\n(.*)\n<end of output>", part, re.M | re.S)
            skipped[output.group(1).splitlines()[-1] if output else "no reason given"].append(name)
            continue
        has_passed = re.search(r"^Test Passed\.$", part, re.M) is not None
        python = re.search(r"^Ran (\d+) tests? in ", part, re.M)
        n_tests = int(python.group(1)) if python else 1
        n_skipped = sum(map(int, re.findall(r"^(?:OK|FAILED) \(.*?skipped=(\d+)", part, re.M)))
        if n_skipped:
            skipped["said in its own output"] += [name] * n_skipped
        if has_passed:
            passed += n_tests - n_skipped
        else:
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
