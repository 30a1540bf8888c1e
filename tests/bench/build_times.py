#!/usr/bin/env python3
"""Build and test times.

    build_times.py FOLDER [--build TARGET ...]

Without --build: compile and link seconds of the last complete build in FOLDER by target (sums of what ninja measured,
longer on a busy machine), and the seconds of the last run of each suite.
--build: configures FOLDER as app/quickstart.sh does (with tests, if a target is not chat), compiles the targets from
scratch without a compiler cache, and prints CPU seconds by target: user and system time of each compiler and linker.
"""
import argparse
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def target_of(output):
    """ptx/emulator/CMakeFiles/ptx_emulator.dir/lexer.cpp.o -> ptx_emulator; a linked file -> its name."""
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
    return found[1] if found else os.path.basename(output)


def print_table(title, seconds, files=None):
    print(f"\n{title}: {sum(seconds.values()):,.0f} s")
    for name, spent in sorted(seconds.items(), key=lambda row: -row[1]):
        if spent >= 1:
            print(f"{spent:8,.0f}  {name}" + (f" ({files[name]} files)" if files and files[name] > 1 else ""))


def last_build(folder):
    ended = {}
    with open(os.path.join(folder, ".ninja_log")) as log:
        for line in log:
            if not line.startswith("#"):
                start, end, _, output, _ = line.rstrip("\n").split("\t")
                ended[output] = (int(end) - int(start)) / 1000
    seconds, files = collections.Counter(), collections.Counter()
    for output, spent in ended.items():
        seconds[target_of(output)] += spent
        files[target_of(output)] += 1
    print_table("elapsed by target", seconds, files)


def last_tests(folder):
    path = os.path.join(folder, "Testing", "Temporary", "CTestCostData.txt")
    if not os.path.exists(path):
        return
    with open(path) as costs:
        rows = [line.split() for line in costs.read().split("---")[0].splitlines()]
    print_table("elapsed by suite, on average", {name: float(spent) for name, _, spent in rows})


def launch(log, command):
    """A compiler launcher: runs the command and logs its time."""
    code = subprocess.run(command).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else command[0]
    with open(log, "a") as file:
        file.write(f"{used.ru_utime + used.ru_stime:.2f}\t{output}\n")
    return code


def build(folder, targets):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    log = os.path.join(folder, "cpu_seconds.txt")
    launcher = ";".join([sys.executable, os.path.abspath(__file__), "--launch", log])
    tests = "OFF" if targets == ["chat"] else "ON"
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DCMAKE_UNITY_BUILD=ON", f"-DWARPCHAT_TESTS={tests}", f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}",
                    f"-DCMAKE_CXX_LINKER_LAUNCHER={launcher}"], check=True, stdout=subprocess.DEVNULL)
    start = time.monotonic()
    subprocess.run(["ninja", "-C", folder, "--quiet", *targets], check=True, stdout=subprocess.DEVNULL)
    elapsed = time.monotonic() - start
    seconds, files = collections.Counter(), collections.Counter()
    with open(log) as rows:
        for row in rows:
            spent, output = row.rstrip("\n").split("\t")
            seconds[target_of(output)] += float(spent)
            files[target_of(output)] += 1
    print_table(f"CPU of {' '.join(targets)} in {elapsed:,.0f} s", seconds, files)


def main():
    if sys.argv[1:2] == ["--launch"]:
        sys.exit(launch(sys.argv[2], sys.argv[3:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--build", nargs="+", metavar="TARGET")
    options = parser.parse_args()
    if options.build:
        build(options.folder, options.build)
    else:
        last_build(options.folder)
        last_tests(options.folder)


main()
