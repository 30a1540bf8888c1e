#!/usr/bin/env python3
"""Runs the chat program on malformed model files and checks how it ends.

usage: malformed_run.py CHAT MALFORMED_FILES [--every N] [--sanitized]

Opens every Nth file that the program MALFORMED_FILES writes with "chat --model FILE -p hi -n 1 --temp 0" under 4 GiB
of address space. Each run must end within 1 s of processor time and 256 MiB of resident memory. A faulty file must
give exit code 1, nothing on stdout and one line on stderr that names the file and the fault. A harmless one must give
exit code 0. Prints one line for each wrong run, and a summary; exit code 1 if any is wrong. N is 10 by default, and 1
if WARPCHAT_FULL_TESTS is set. --sanitized is for programs with sanitizers: they need more time and memory, so only
their messages are checked.
"""
import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile

ADDRESS_SPACE = 4 << 30  # bytes
MAX_RESIDENT = 256 << 20
MAX_SECONDS = 1.0
KILL_AFTER_SECONDS = 5  # of processor time: a busy machine is not the program's fault
MAX_WAITED_SECONDS = 120  # only to end a run that hangs


def prepare_child(out, err, sanitized):
    if not sanitized:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CPU, (KILL_AFTER_SECONDS, KILL_AFTER_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out.fileno(), 1), (err.fileno(), 2)):
        os.dup2(source, target)
    signal.alarm(MAX_WAITED_SECONDS)  # survives exec


def run(chat, model, environment, sanitized):
    """(wait status, seconds of processor time, resident bytes, stdout, stderr) of one start."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            try:
                prepare_child(out, err, sanitized)
                os.execve(chat, [chat, "--model", model, "-p", "hi", "-n", "1", "--temp", "0"], environment)
            finally:
                os._exit(127)
        _, status, usage = os.wait4(child, 0)
        out.seek(0), err.seek(0)
        return status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.read(), err.read()


def faults(model, expectation, fault, result, sanitized):
    """Faults of one run, as a list of phrases."""
    status, seconds, resident, out, err = result
    found = []
    if os.WIFSIGNALED(status):
        found.append("killed by " + signal.Signals(os.WTERMSIG(status)).name)
    elif os.WEXITSTATUS(status) != (0 if expectation == "loads" else 1):
        found.append(f"exit code {os.WEXITSTATUS(status)}")
    if seconds > MAX_SECONDS and not sanitized:
        found.append(f"{seconds:.2f} s")
    if resident > MAX_RESIDENT and not sanitized:
        found.append(f"{resident >> 20} MiB")
    if expectation == "refused":
        lines = err.decode("utf-8", "backslashreplace").splitlines()
        if out:
            found.append("something on stdout")
        if len(lines) != 1:
            found.append(f"{len(lines)} lines on stderr")
        elif model not in lines[0]:
            found.append("the file is not named")
        elif fault not in lines[0]:
            found.append(f"\"{fault}\" is not named")
    return found


def check_all(chat, folder, sanitized):
    """Prints the faults of each run; returns the number of files and of wrong ones."""
    with open(os.path.join(folder, "expectations.tsv"), encoding="utf-8", newline="\n") as table:
        rows = [line.rstrip("\n").split("\t") for line in table]
    n_bad, slowest, largest = 0, 0.0, 0
    environment = {"HOME": folder, "PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"}
    for name, expectation, fault in rows:
        model = os.path.join(folder, name)
        result = run(chat, model, environment, sanitized)
        slowest, largest = max(slowest, result[1]), max(largest, result[2])
        found = faults(model, expectation, fault, result, sanitized)
        if found:
            n_bad += 1
            print(f"{name}: expected to be {expectation}: {', '.join(found)}: {result[4][:300]!r}")
    print(f"{len(rows)} files, {n_bad} wrong; slowest {slowest:.2f} s, largest {largest >> 20} MiB")
    return len(rows), n_bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chat")
    parser.add_argument("malformed_files")
    parser.add_argument("--every", type=int, default=1 if os.environ.get("WARPCHAT_FULL_TESTS") else 10)
    parser.add_argument("--sanitized", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="warpchat-malformed-") as folder:
        subprocess.run([options.malformed_files, folder, "--every", str(options.every)], check=True)
        n_files, n_bad = check_all(os.path.abspath(options.chat), folder, options.sanitized)
    return 1 if n_bad or not n_files else 0


if __name__ == "__main__":
    sys.exit(main())
