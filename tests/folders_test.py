#!/usr/bin/env python3
"""Includes point one way: between the rooms, and between the folders of app, of kernels and of engine.

usage: folders_test.py [unittest arguments]
"""
import os
import re
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
MAX_SOURCES = 40  # in one folder of app or kernels, without its subfolders

ROOMS = {  # what each may include
    "app": {"engine", "kernels", "models", "ptx"},
    "engine": {"kernels", "models", "ptx"},
    "kernels": {"models", "ptx"},
    "models": set(),
    "ptx": set(),
}
# Each may include those above it; those of one line know nothing of each other. "": app itself.
APP = (("platform",), ("math", "settings"), ("model_choice",), ("formats",), ("tools",), ("mcp",), ("chat",), ("terminal", "gui"),
       ("commands",), ("",))
# The same within a folder; "": the folder itself.
PARTS = {
    "platform": (("text",), ("",)),
    "chat": (("profile",), ("state",), ("",)),
    "terminal": (("editor",), ("",)),
    "gui": (("",), ("text",), ("widgets",), ("desktop",), ("transcript", "profiler", "panels"), ("window",)),
    "commands": (("help",), ("",)),
}
# The same for kernels, where "" is the files of the folder itself.
KERNELS = (("common",), ("matmul",), ("attention", "experts", "delta_net", "sampling"), ("",), ("persistent",))
ENGINE_CIRCLES = ()  # folders that include each other all the same


def includes_of(room):
    """(source, included path) of each include of a file of this repository."""
    for where, _, names in sorted(os.walk(os.path.join(ROOT, room))):
        for name in sorted(names):
            if name.endswith((".cpp", ".h")):
                path = os.path.join(where, name)
                with open(path, encoding="utf-8") as file:
                    for included in INCLUDE.findall(file.read()):
                        if included.split("/")[0] in ROOMS:
                            yield os.path.relpath(path, ROOT), included


def rank_of(name, order):
    return next((rank for rank, names in enumerate(order) if name in names), None)


def is_above(one, other, order):
    """Whether `one` comes after `other`; None: the order lacks one of them."""
    ranks = rank_of(one, order), rank_of(other, order)
    return None if None in ranks else ranks[0] > ranks[1]


def parts_of(source):
    """The folder of app and the folder within it: "app/gui/text/font.h" has "gui", "text"."""
    folders = source.split("/")[1:-1]
    return (folders + ["", ""])[0], "/".join(folders[1:])


def fault_in_app(source, included):
    """The sentence for an include between folders of app that the order does not have; None: it has."""
    (folder, part), (other, other_part) = parts_of(source), parts_of(included)
    if folder != other:
        is_right = is_above(folder, other, APP)
    else:
        is_right = part == other_part or is_above(part, other_part, PARTS.get(folder, ()))
    return None if is_right else f"{source} includes {included}"


def circle_in(graph):
    """Folders of which each includes the next and the last the first; empty: there is no circle."""
    done = set()

    def follow(folder, path):
        if folder in path:
            return path[path.index(folder):]
        if folder in done:
            return []
        for other in sorted(graph.get(folder, ())):
            circle = follow(other, path + [folder])
            if circle:
                return circle
        done.add(folder)
        return []

    return next((circle for circle in (follow(folder, []) for folder in sorted(graph)) if circle), [])


def graph_of(includes):
    graph = {}
    for source, included in includes:
        folder, other = os.path.dirname(source), os.path.dirname(included)
        if folder != other and source.split("/")[0] == included.split("/")[0]:
            graph.setdefault(folder, set()).add(other)
    return graph


class Folders(unittest.TestCase):
    maxDiff = None

    def test_rooms(self):
        found, n = [], 0
        for room, others in ROOMS.items():
            for source, included in includes_of(room):
                n += 1
                if included.split("/")[0] not in others | {room}:
                    found.append(f"{source} includes {included}")
        self.assertGreater(n, 3000)
        self.assertEqual(found, [])

    def test_folders_of_app(self):
        found = [fault_in_app(*include) for include in includes_of("app") if include[1].startswith("app/")]
        self.assertGreater(len(found), 900)
        self.assertEqual([fault for fault in found if fault], [])
        self.assertEqual(circle_in(graph_of(includes_of("app"))), [])

    def test_folders_of_kernels(self):
        found, n = [], 0
        for source, included in includes_of("kernels"):
            folder, other = (os.path.dirname(path)[len("kernels/"):] for path in (source, included))
            if not included.startswith("kernels/") or folder == other:
                continue
            n += 1
            if not is_above(folder, other, KERNELS):
                found.append(f"{source} includes {included}")
        self.assertGreater(n, 50)
        self.assertEqual(found, [])

    def test_sources_of_a_folder(self):
        for room in ("app", "kernels"):
            for where, _, names in os.walk(os.path.join(ROOT, room)):
                n = sum(name.endswith((".cpp", ".h")) for name in names)
                self.assertLessEqual(n, MAX_SOURCES, os.path.relpath(where, ROOT))

    def test_folders_of_engine(self):
        graph = graph_of(includes_of("engine"))
        self.assertGreater(len(graph), 5)
        circle = circle_in(graph)
        self.assertIn(tuple(circle), ((), *ENGINE_CIRCLES))

    def test_faults_are_found(self):
        for source, included in (("app/platform/log.cpp", "app/chat/library.h"), ("app/gui/a.h", "app/terminal/b.h"),
                                 ("app/math/a.h", "app/settings/b.h"), ("app/chat/branch.cpp", "app/program.h"),
                                 ("app/platform/text/a.h", "app/platform/log.h"), ("app/new/a.h", "app/platform/b.h"),
                                 ("app/gui/panels/a.h", "app/gui/window/b.h"), ("app/math/a.h", "app/math/new/b.h")):
            self.assertEqual(fault_in_app(source, included), f"{source} includes {included}")
        for source, included in (("app/chat/library.cpp", "app/platform/log.h"), ("app/main.cpp", "app/program.h"),
                                 ("app/gui/window/a.cpp", "app/gui/theme.h"), ("app/commands/a.cpp", "app/gui/b.h")):
            self.assertIsNone(fault_in_app(source, included))

    def test_a_circle_is_found(self):
        graph = graph_of((("engine/a/x.h", "engine/b/y.h"), ("engine/b/y.cpp", "engine/c/z.h"),
                          ("engine/c/z.h", "engine/b/y.h"), ("engine/b/z.h", "engine/b/y.h"),
                          ("engine/c/z.h", "ptx/p.h")))
        self.assertEqual(circle_in(graph), ["engine/b", "engine/c"])
        graph["engine/c"].remove("engine/b")
        self.assertEqual(circle_in(graph), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
