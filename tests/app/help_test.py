#!/usr/bin/env python3
"""chat help: the help, the man page, and the completion scripts in the shells that are installed.

usage: help_test.py CHAT CLI_MODELS [unittest arguments]
"""
import os
import re
import shutil
import subprocess
import sys
import unittest

from program import CHAT, TINY, Run, environment, path

FORMATS = ("man", "bash", "zsh", "fish")
SHORT_FLAG = r"(?<![\w-])-[a-z]+(?=[ ,])"
LONG_FLAG = r"(?<![\w-])--[a-z][a-z0-9-]*"

# A program with the package's name, first in the search path.
PROGRAMS = path("programs")
os.makedirs(PROGRAMS, exist_ok=True)
WARPCHAT = os.path.join(PROGRAMS, "warpchat")
os.symlink(CHAT, WARPCHAT)

# A model folder with names to complete.
HOME = path("completion_home")
MODELS = os.path.join(HOME, ".cache/warpchat/models")
os.makedirs(MODELS, exist_ok=True)
for model in ("tiny-one", "tiny-two", "other"):
    shutil.copy(TINY, os.path.join(MODELS, model + ".gguf"))
FILES = path("completion_files")
os.makedirs(os.path.join(FILES, "folder"), exist_ok=True)
for name in ("notes.txt", "my notes.txt", "here.gguf"):
    with open(os.path.join(FILES, name), "w", encoding="utf-8") as file:
        file.write("x")


def output(*arguments):
    run = Run(*arguments, program=WARPCHAT)
    assert run.code == 0, run
    return run.out.decode()


def entries():
    """{command: [(labels, first word of the help)]} from --help, split at two spaces; "" is a conversation."""
    names = re.findall(r"^  ([a-z][a-z-]+) ", re.search(r"^Commands:\n(.*?)^\S", output("--help"), re.M | re.S)[1], re.M)
    return {name: rows(output(*([name] if name else []), "--help")) for name in ["", *names]}


def rows(text):
    """The flags of each row of --help: [["-m", "--model"], ...]."""
    found = re.findall(r"^  (-\S.*?)(?:  +\S.*)?$", text, re.M)
    return [re.findall(r"(?:^|, )(-[\w-]+)", row) for row in found]


def run_shell(shell, script, *arguments):
    """Standard output of a script that a shell runs with the program in its search path."""
    env = environment(home=HOME, PATH=PROGRAMS + ":" + os.environ["PATH"])
    run = subprocess.run([*shell, script, *arguments], capture_output=True, text=True, env=env, cwd=FILES, timeout=60)
    assert run.returncode == 0 and run.stderr == "", (run, script)
    return run.stdout


def needs(program):
    return unittest.skipUnless(shutil.which(program), f"{program} is not installed")


class Help(unittest.TestCase):
    def test_help_of_a_command_is_what_its_flag_shows(self):
        self.assertEqual(output("help"), output("--help"))
        self.assertEqual(output("help", "bench"), output("bench", "--help"))

    def test_what_is_not_there_is_refused(self):
        for arguments, words in ((("help", "me"), "unknown command me; warpchat --help lists all"),
                                 (("help", "--format", "html"), "takes man, bash, zsh or fish"),
                                 (("help", "bench", "--format", "man"), "leave out bench")):
            run = Run(*arguments, program=WARPCHAT)
            self.assertEqual((run.code, run.out), (2, b""), run)
            self.assertIn(words, run.err.decode())

    def test_every_format_has_all_commands_and_flags(self):
        tables = entries()
        self.assertGreater(len(tables), 10)
        for format in FORMATS:
            text = re.sub(r"\\f[BIR]", "", output("help", "--format", format)).replace("\\-", "-")
            for command, flags in tables.items():
                self.assertGreater(len(flags), 3)
                self.assertIn(command, text)
                for names in flags:
                    for name in names:
                        typed = name
                        if format == "fish":
                            typed = ("-l " + name[2:] if name.startswith("--") else
                                     ("-s " if len(name) == 2 else "-o ") + name[1:])
                        with self.subTest(format=format, command=command, flag=name):
                            self.assertTrue(re.search(r"(?<![\w-])" + re.escape(typed) + r"(?![\w-])", text))

    def test_every_format_has_descriptions_and_the_name(self):
        for format in FORMATS:
            text = output("help", "--format", format)
            self.assertNotIn("{chat}", text)
            self.assertNotIn("{name}", text)
            self.assertIn("warpchat", text)
            if format != "bash":
                self.assertIn("measure how well a model predicts a text", text.lower())
                self.assertIn("after each answer show timings", text)


class ManPage(unittest.TestCase):
    @needs("groff")
    def test_groff_finds_no_fault(self):
        page = path("warpchat.1", output("help", "--format", "man").encode())
        run = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    @needs("groff")
    def test_it_reads_as_the_help_does(self):
        page = path("warpchat.1", output("help", "--format", "man").encode())
        text = subprocess.run(["groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", page], capture_output=True, text=True,
                              timeout=60).stdout
        self.assertIn("warpchat - chat with a language model in a GGUF file", text)
        self.assertIn("read \\n, \\t, \\\\ and the like in -p", " ".join(text.split()))
        self.assertRegex(text, r"-m, --model MODEL")
        self.assertIn("a name from 'warpchat endpoint add'", " ".join(text.split()))


class Bash(unittest.TestCase):
    COMPLETE = """
source "$1"
complete -p warpchat >/dev/null
shift
COMP_LINE=$1 COMP_POINT=${#1}
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
word=${COMP_WORDS[COMP_CWORD]}
[ "$word" != "=" ] || word=''
_warpchat warpchat "$word" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def setUp(self):
        self.script = path("warpchat.bash", output("help", "--format", "bash").encode())

    def completed(self, line):
        # As readline parts words: at blanks, and each = and : is a word of its own.
        words = [word for part in line.split(" ") for word in (re.findall(r"[=:]|[^=:]+", part) or [""])]
        return set(run_shell(["bash", "-c"], self.COMPLETE, "bash", self.script, line, *words).splitlines()) - {""}

    def test_syntax(self):
        subprocess.run(["bash", "-n", self.script], check=True, timeout=60)

    def test_commands_and_flags(self):
        self.assertEqual(self.completed("warpchat be"), {"bench"})
        self.assertEqual(self.completed("warpchat -m x.gguf pe"), {"perplexity"})
        self.assertEqual(self.completed("warpchat --no-t"), {"--no-think", "--no-titles", "--no-tool-grammar"})
        self.assertEqual(self.completed("warpchat bench --rep"), {"--repetitions"})
        self.assertEqual(self.completed("warpchat -m x.gguf bench --rep"), {"--repetitions"})
        self.assertEqual(self.completed("warpchat help ben"), {"bench"})
        self.assertEqual(self.completed("warpchat --verbose be"), set())

    def test_values(self):
        self.assertEqual(self.completed("warpchat --device c"), {"cpu", "cuda"})
        self.assertEqual(self.completed("warpchat -dev=c"), {"cpu", "cuda"})
        self.assertEqual(self.completed("warpchat --launch="), {"auto", "stream", "graph", "persistent"})
        self.assertEqual(self.completed("warpchat compare --launch "), {"stream", "graph", "persistent"})
        self.assertEqual(self.completed("warpchat bench -o j"), {"json", "jsonl"})
        self.assertEqual(self.completed("warpchat endpoint a"), {"add"})
        self.assertEqual(self.completed("warpchat --temp "), set())

    def test_files_and_models(self):
        self.assertEqual(self.completed("warpchat -f no"), {"notes.txt"})
        self.assertEqual(self.completed("warpchat -f my"), {"my notes.txt"})
        self.assertEqual(self.completed("warpchat kernels --ptx "), {"folder"})
        self.assertEqual(self.completed("warpchat -m tiny"), {"tiny-one.gguf", "tiny-two.gguf"})
        self.assertEqual(self.completed("warpchat inspect he"), {"here.gguf"})


class Zsh(unittest.TestCase):
    @needs("zsh")
    def test_syntax(self):
        script = path("_warpchat", output("help", "--format", "zsh").encode())
        subprocess.run(["zsh", "-n", script], check=True, timeout=60)

    @needs("zsh")
    def test_specifications_are_understood(self):
        """_arguments is replaced by one that prints what it is given, and compadd's like."""
        script = path("_warpchat", output("help", "--format", "zsh").encode())
        probe = """
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- ${(P)2} }
compdef() { [[ "$*" == "_warpchat warpchat" ]] || exit 1 }
words=(${(z)2}) CURRENT=$3
source $1
_warpchat
"""
        flags = run_shell(["zsh", "-f", "-c"], probe, "zsh", script, "warpchat -m x bench --rep", "5")
        self.assertIn("(-r --repetitions)--repetitions=[runs of each test after a warm-up; default 5]:N: ", flags)
        self.assertNotIn("--raw", flags)
        commands = run_shell(["zsh", "-f", "-c"], probe, "zsh", script, "warpchat be", "2")
        self.assertIn("bench:measure tokens per second, as llama-bench does", commands)


class Fish(unittest.TestCase):
    def completed(self, line):
        script = path("warpchat.fish", output("help", "--format", "fish").encode())
        return {row.split("\t")[0] for row in
                run_shell(["fish", "--no-config", "-c"], "source $argv[1]; complete -C $argv[2]", script, line).splitlines()}

    @needs("fish")
    def test_syntax(self):
        script = path("warpchat.fish", output("help", "--format", "fish").encode())
        subprocess.run(["fish", "--no-execute", script], check=True, timeout=60)

    @needs("fish")
    def test_completion(self):
        self.assertEqual(self.completed("warpchat be"), {"bench"})
        self.assertEqual(self.completed("warpchat -m x.gguf pe"), {"perplexity"})
        self.assertEqual(self.completed("warpchat --no-t"), {"--no-think", "--no-titles"})
        self.assertEqual(self.completed("warpchat bench --rep"), {"--repetitions"})
        self.assertEqual(self.completed("warpchat --device c"), {"cpu", "cuda"})
        self.assertEqual(self.completed("warpchat endpoint a"), {"add"})
        self.assertEqual(self.completed("warpchat -f no"), {"notes.txt"})
        self.assertTrue(self.completed("warpchat -m tiny-") >= {"tiny-one.gguf", "tiny-two.gguf"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
