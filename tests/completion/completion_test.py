#!/usr/bin/python3
"""Tests `syncline completion SHELL` in real shells: completion_test.py PROGRAM. A shell that is missing is skipped.

A stub passes on everything but `list`, whose names are then known: among them are some that a shell must not expand.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
TRAP = "$(touch trapped)"


def verbs():
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", printed("--help"), re.MULTILINE)[1]
    return set(re.findall(r"^  (\w+) ", listed, re.MULTILINE))


def printed(*words):
    return subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


class Shell(unittest.TestCase):
    shell = None

    def setUp(self):
        if not self.shell:
            self.skipTest("the shells' tests are below")
        if not shutil.which(self.shell):
            self.skipTest(f"{self.shell} is not installed")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        stub = self.directory / "bin" / "syncline"
        stub.parent.mkdir()
        stub.write_text(f"#!/bin/sh\n[ \"$1\" = list ] || exec '{PROGRAM}' \"$@\"\n"
                        f"[ \"$3\" = --names ] && printf '%s\\n' \"$2-preset\" '{TRAP}'\n")
        stub.chmod(0o755)
        (self.directory / "work").mkdir()
        (self.directory / "work" / "own.yaml").touch()
        (self.directory / "work" / "folder").mkdir()
        self.environment = {"PATH": f"{stub.parent}:{os.environ['PATH']}", "HOME": directory.name, "TERM": "dumb", "LANG": "C.UTF-8"}
        self.script = self.directory / "script"
        self.script.write_text(printed("completion", self.shell))

    def tearDown(self):
        if self.shell and shutil.which(self.shell):
            self.assertFalse((self.directory / "work" / "trapped").exists(), "a name was expanded")

    def run_shell(self, *words):
        run = subprocess.run([self.shell, *words], cwd=self.directory / "work", env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def test_syntax(self):
        self.assertEqual(self.run_shell("-n", str(self.script)), [])


class Complete:
    """Tests for the shells that print what they would complete: complete(words) returns the completions of the last one."""

    def test_verbs(self):
        self.assertEqual(verbs() | {"help"}, set(self.complete("syncline", "")))
        self.assertEqual(self.complete("syncline", "coll"), ["collective"])
        self.assertEqual(self.complete("syncline", "help", "coll"), ["collective"])

    def test_verbs_of_a_verb(self):
        self.assertEqual(self.complete("syncline", "results", "me"), ["merge"])
        self.assertIn("--partial", self.complete("syncline", "results", "merge", "--p"))

    def test_every_option_that_help_lists(self):
        for verb in verbs():
            listed = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", printed(verb, "--help"), re.MULTILINE))
            self.assertIn("--help", listed)
            self.assertLessEqual(listed, set(self.complete("syncline", verb, "--")), verb)

    def test_values(self):
        self.assertEqual(set(self.complete("syncline", "run", "--format", "")), {"table", "json", "csv"})
        self.assertEqual(self.complete("syncline", "run", "--set", "a.b=c", "--format", "j"), ["json"])
        operations = self.complete("syncline", "collective", "--operation", "all")  # words of a key, not in the placeholder
        self.assertEqual(set(operations), {"allreduce", "allgather", "all-to-all"})
        self.assertLessEqual({"scenario", "results"}, set(self.complete("syncline", "schema", "")))
        self.assertEqual(set(self.complete("syncline", "completion", "")), {"bash", "zsh", "fish"})

    def test_names_of_presets_and_files(self):
        for words, kind in ((["run", ""], "scenarios"), (["explain", ""], "scenarios"), (["batch", ""], "studies"),
                            (["explore", "--budget", "3", ""], "studies"), (["lesson", ""], "lessons"),
                            (["workload", ""], "workloads"), (["workload", "--device", ""], "devices"),
                            (["collective", "--platform", ""], "platforms"), (["collective", "--transport", ""], "transports"),
                            (["collective", "--overlay", ""], "topologies"), (["topology", ""], "topologies")):
            self.assertLessEqual({kind + "-preset", TRAP}, set(self.complete("syncline", *words)), words)
        anywhere = set(self.complete("syncline", "where", ""))
        self.assertLessEqual({"scenarios-preset", "devices-preset", "studies-preset"}, anywhere)
        self.assertNotIn("lessons-preset", anywhere)  # they are no files that other files name
        self.assertIn("own.yaml", self.complete("syncline", "run", "o"))
        self.assertEqual([name.rstrip("/") for name in self.complete("syncline", "batch", "--out", "f")], ["folder"])
        self.assertNotIn("own.yaml", self.complete("syncline", "batch", "--out", ""))

    def test_a_program_that_is_gone_completes_nothing(self):
        (self.directory / "bin" / "syncline").write_text("#!/bin/sh\necho no >&2\nexit 2\n")
        self.assertEqual(self.complete("syncline", "lesson", ""), [])


class Bash(Complete, Shell):
    shell = "bash"

    def complete(self, *words):
        script = ('source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); function=$(complete -p syncline); function=${function#*-F }\n'
                  '${function%% *} syncline "${COMP_WORDS[COMP_CWORD]}"; ((${#COMPREPLY[@]})) && printf "%s\\n" "${COMPREPLY[@]}"')
        return self.run_shell("--norc", "-c", script, str(self.script), *words)

    def test_the_program_lists_every_kind_that_is_offered(self):
        kinds = set(" ".join(re.findall(r"_syncline_offer '[^']*' '([^']*)'", self.script.read_text())).split())
        self.assertLessEqual({"scenarios", "studies", "platforms", "devices"}, kinds)
        for kind in kinds:
            self.assertIn("\n", printed("list", kind, "--names"), kind)

    def test_equals_sign(self):
        """bash divides --format=j into three words."""
        self.assertEqual(self.complete("syncline", "run", "--format", "=", "j"), ["json"])
        self.assertEqual(set(self.complete("syncline", "run", "--format", "=")), {"table", "json", "csv"})


class Fish(Complete, Shell):
    shell = "fish"

    def complete(self, *words):
        lines = self.run_shell("--no-config", "-c", "source $argv[1]; complete -C $argv[2]", str(self.script), " ".join(words))
        return [line.split("\t")[0] for line in lines]


class Zsh(Shell):
    shell = "zsh"

    def typed(self, keys, expected):
        """Types into an interactive zsh on a terminal; returns whether `expected` appears."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.directory / "work")
            os.execvpe("zsh", ["zsh", "-f", "-i"], self.environment)
        shown, deadline = "", time.monotonic() + 30
        # The words that mark the ends of steps are not in what is typed.
        os.write(terminal, f"PS1=; autoload -Uz compinit; compinit -u -D; source {self.script}; echo re''ady\n".encode())
        waiting = "ready"
        while time.monotonic() < deadline:
            if select.select([terminal], [], [], 0.1)[0]:
                try:
                    shown += re.sub("[\a\r]", "", os.read(terminal, 65536).decode(errors="replace"))
                except OSError:
                    break
            if waiting == "ready" and re.search(r"^ready", shown, re.MULTILINE):
                shown, waiting = "", expected
                os.write(terminal, keys.encode())
            elif waiting == expected and expected in shown:
                break
        os.close(terminal)
        os.waitpid(child, 0)
        return expected in shown

    def test_words(self):
        for keys, expected in (("syncline coll\t", "collective"), ("syncline run --allow\t", "--allow-oom"),
                               ("syncline run --format=j\t", "--format=json"), ("syncline schema sce\t", "scenario"),
                               ("syncline results merge --par\t", "--partial"), ("syncline explain scen\t", "scenarios-preset"),
                               ("syncline run ow\t", "own.yaml")):
            self.assertTrue(self.typed(keys, expected), keys)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
