#!/usr/bin/env python3
"""Cost of streaming another machine's tokens: four conversations in one window at a hundred tokens a second each,
and one answer of 10,000 tokens at once without a window.

usage: remote_streams.py CHAT CLI_MODELS [TOKENS]     (2,000 for each conversation)
"""
import os
import resource
import subprocess
import sys
import time

TOKENS = int(sys.argv.pop(3)) if len(sys.argv) > 3 else 2000
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "remote"), os.path.join(here, "..", "gui")]
from desktop import Display, Window  # noqa: E402
from fake_endpoint import FakeEndpoint  # noqa: E402
from program import CHAT, environment  # noqa: E402

CONVERSATIONS, AT_ONCE, SECONDS = 4, 10000, 6


def one_answer(server):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([CHAT, "--endpoint", server.origin + "/many/v1", "-p", str(AT_ONCE)], check=True,
                   stdout=subprocess.DEVNULL, env=environment(no_proxy="*", DBUS_SESSION_BUS_ADDRESS=""))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{AT_ONCE} tokens at once, chat -p: {1e3 * cpu / AT_ONCE:.3f} ms of processor time a token")


def own_cpu_seconds(pid):
    """CPU time without Mesa's threads, which draw in software where there is no GPU."""
    sum_of = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat") as file:
            name, fields = file.read().rsplit(") ", 1)
        if "llvmpipe" not in name:
            sum_of += sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return sum_of


def streams(server, profiler):
    display = Display()
    window = Window(display, "--endpoint", server.origin + "/paced/v1", DBUS_SESSION_BUS_ADDRESS="", no_proxy="*")
    try:
        window.wait_for(lambda s: s["model"] is not None and s["phase"] == "idle", "the endpoint")
        if profiler:
            window.key("F12")
        for i in range(CONVERSATIONS):
            window.key("ctrl+n", "ctrl+l")
            window.type(str(TOKENS))
            window.key("Return")
            window.wait_for(lambda s: s["phase"] == "answer", "an answer")
        pid = window.process.pid
        before, cpu, start = window.state(), own_cpu_seconds(pid), time.monotonic()
        time.sleep(SECONDS)  # while all four stream
        after, cpu, seconds = window.state(), own_cpu_seconds(pid) - cpu, time.monotonic() - start
        assert after["phase"] == "answer" and len(after["conversations"]) == CONVERSATIONS, "an answer has ended too early"
        frames = after["frames"] - before["frames"]
        print(f"{CONVERSATIONS} conversations{', profiler open' if profiler else ''}: {frames / seconds:.1f} frames/s, "
              f"{after['late_frames'] - before['late_frames']} of {frames} late; longest frame "
              f"{1e3 * after['longest_frame_seconds']:.1f} ms, {1e3 * after['longest_frame_cpu_seconds']:.1f} ms of "
              f"processor time; {1e3 * cpu / (CONVERSATIONS * 100 * seconds):.3f} ms of processor time a token")
    finally:
        window.kill()
        display.close()


with FakeEndpoint() as fake:
    one_answer(fake)
    for with_profiler in (False, True):
        streams(fake, with_profiler)
