#!/usr/bin/python3
"""Tests `syncline completion SHELL` in real shells: completion_test.py PROGRAM. A shell that is missing is skipped.

A stub passes on everything but `list`, whose names are then known: among them are some that a shell must not expand.
Where `$RECORD` is set, it only writes its arguments to that file.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
TRAP = "$(touch trapped)"
STRANGE = ("$(touch trapped).yaml", "`touch trapped`.yaml", "a; touch trapped", "a&touch trapped|b<c>d", "a b.yaml", " leading", "trailing ",
           "it's \"so\".yaml", "(a) [b] {c,d}.yaml", "back\\slash", "new\nline", "-x.yaml", "--help", "~root", "$HOME", "*", "#a", "!!", "a=b:c",
           "\N{GRINNING FACE} \u00e9.yaml")


def verbs():
    listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", printed("--help"), re.MULTILINE)[1]
    return set(re.findall(r"^  (\w+) ", listed, re.MULTILINE))


def printed(*words):
    return subprocess.run([PROGRAM, *words], check=True, stdout=subprocess.PIPE, text=True).stdout


class Terminal:
    """An interactive shell on a terminal, with the script, in which a test types."""

    def __init__(self, words, script, directory, environment):
        self.shown = ""
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(directory)
            os.execvpe(words[0], words, environment)
        ready = directory.parent / "ready"
        self.type(f"{'autoload -Uz compinit; compinit -u -D; ' * (words[0] == 'zsh')}source {script}; touch {ready}\r")
        if not self.wait(ready.exists):
            raise RuntimeError(f"{words[0]} does not start: {self.shown}")
        self.shown = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.terminal)
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def wait(self, condition):
        """Reads what is shown until the condition is true; returns whether it is."""
        deadline = time.monotonic() + 30
        while not condition() and time.monotonic() < deadline:
            if select.select([self.terminal], [], [], 0.05)[0]:
                try:
                    self.shown += re.sub("[\a\r]", "", os.read(self.terminal, 65536).decode(errors="replace"))
                except OSError:
                    break
        return condition()


class Shell(unittest.TestCase):
    shell = None
    interactive = ()  # options of an interactive shell without a user's settings

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
        self.record = self.directory / "record"
        stub.write_text(f"""#!/bin/sh
if [ "$1" != list ]; then
    [ "$RECORD" ] || exec '{PROGRAM}' "$@"
    printf '%s\\0' "$@" >"$RECORD.new"
    exec mv "$RECORD.new" "$RECORD"
fi
[ "$RECORD" ] && [ "$2" != lessons ] || printf '%s\\n' "$2-preset" '{TRAP}'
""")
        stub.chmod(0o755)
        (self.directory / "work").mkdir()
        (self.directory / "work" / "own.yaml").touch()
        (self.directory / "work" / "folder").mkdir()
        self.environment = {"PATH": f"{stub.parent}:{os.environ['PATH']}", "HOME": directory.name, "TERM": "dumb", "LANG": "C.UTF-8"}
        self.script = self.directory / "script"
        self.script.write_text(printed("completion", self.shell))

    def tearDown(self):
        if self.shell and shutil.which(self.shell):
            self.assertEqual(list(self.directory.rglob("trapped")), [], "a name was expanded")

    def run_shell(self, *words):
        run = subprocess.run([self.shell, *words], cwd=self.directory / "work", env=self.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stderr, "")
        return run.stdout.splitlines()

    def terminal(self, **more):
        return Terminal([self.shell, *self.interactive], self.script, self.directory / "work", {**self.environment, **more})

    def test_syntax(self):
        self.assertEqual(self.run_shell("-n", str(self.script)), [])

    def test_what_is_accepted_is_one_argument(self):
        """Accepts a completion and runs the line: the program gets the name, in a form that is no option."""
        with self.terminal(RECORD=str(self.record)) as terminal:
            def run(keys):
                terminal.type(keys + "\r")
                self.assertTrue(terminal.wait(self.record.exists), terminal.shown)
                arguments = self.record.read_text().split("\0")[:-1]
                self.record.unlink()
                return arguments

            for number, name in enumerate(STRANGE):
                folder = self.directory / str(number)
                folder.mkdir()
                (folder / name).touch()
                terminal.type(f"cd ../{number}\r")
                verb, *accepted = run("syncline run \t")
                self.assertEqual([verb, len(accepted)], ["run", 1], (name, accepted))
                self.assertIn(accepted[0], {name, f"./{name}", str(folder / name)})
                self.assertFalse(accepted[0].startswith("-"), name)
            # What the shell has quoted is completed further; then what the user has quoted.
            (folder / f"{TRAP}.1").touch()
            (folder / f"{TRAP}.2").touch()
            for keys in ("\\$\\(\t2\t", "'$(\t2\t"):
                self.assertEqual(run(f"syncline run {keys}"), ["run", f"{TRAP}.2"], keys)
            (folder / "a folder $(touch trapped)").mkdir()
            (folder / "a folder $(touch trapped)" / "inner $").touch()
            *option, accepted = run("syncline batch --out a\t")
            self.assertEqual([*option, accepted.rstrip("/")], ["batch", "--out", "a folder $(touch trapped)"])
            self.assertEqual(run("syncline run a\\ folder\\ \\$\\(touch\\ trapped\\)/\t"), ["run", "a folder $(touch trapped)/inner $"])
            self.assertEqual(run("syncline lesson \\$\t"), ["lesson", TRAP])  # a preset
            self.assertEqual(run(f"syncline run ~/{number}/\\$\t2\t"), ["run", str(folder / f"{TRAP}.2")])


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


    def test_names_in_a_scenario_and_in_results(self):
        self.own_lists()
        self.assertIn("training.ranks=", self.complete("syncline", "run", "--set", "training.ra"))
        self.assertIn("platform.fabric.bandwidth=", self.complete("syncline", "explain", "x.yaml", "--set", "platform.fab"))
        self.assertNotIn("training.ranks=", self.complete("syncline", "topology", "--set", ""))
        self.assertIn("iteration_time_s", self.complete("syncline", "run", "--columns", "iter"))
        self.assertIn("mfu,iteration_time_s", self.complete("syncline", "run", "--columns", "mfu,iter"))
        self.assertIn("mfu", self.complete("syncline", "results", "out", "--sort", "mf"))
        self.assertNotIn("mfu", self.complete("syncline", "workload", "--columns", ""))  # its columns are others
        (self.directory / "work" / "own.yaml").write_text("variants: {slow ring: {}, tree: {}}\n")
        for words in (["run", "own.yaml"], ["run", "--format", "json", "own.yaml"], ["explain", "--set", "a=b", "own.yaml"]):
            self.assertEqual(set(self.complete("syncline", *words, "--variant", "")), {"slow ring", "tree"}, words)
        self.assertEqual(self.complete("syncline", "run", "--variant", ""), [])  # of no scenario
        (self.directory / "work" / "own.yaml").write_text("variants: [\n")
        self.assertEqual(self.complete("syncline", "run", "own.yaml", "--variant", ""), [])

    def test_what_ifs(self):
        self.own_lists()
        self.assertLessEqual({"link:nic x2", "latency x0.5"}, set(self.complete("syncline", "explain", "--what-if", "")))

    def own_lists(self):
        """Lets the program itself list names."""
        (self.directory / "bin" / "syncline").write_text(f"#!/bin/sh\nexec '{PROGRAM}' \"$@\"\n")


class Bash(Complete, Shell):
    shell = "bash"
    interactive = ("--norc", "-i")

    def complete(self, *words):
        # Names of files are quoted by readline; everything else is inserted as it is, and then read by the shell.
        script = ('compopt() { quotes=1; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); function=$(complete -p syncline); '
                  'function=${function#*-F }; ${function%% *} syncline "${COMP_WORDS[COMP_CWORD]}"; ((${#COMPREPLY[@]})) || exit; '
                  '[[ $quotes ]] && printf "%s\\n" "${COMPREPLY[@]}" || eval "printf \'%s\\n\' ${COMPREPLY[*]}"')
        return self.run_shell("--norc", "-c", script, str(self.script), *words)

    def test_the_program_lists_every_kind_that_is_offered(self):
        kinds = set(" ".join(re.findall(r"_syncline_offer '[^']*' '([^']*)'", self.script.read_text())).split())
        self.assertLessEqual({"scenarios", "studies", "platforms", "devices"}, kinds)
        for kind in kinds:
            self.assertIn("\n", printed("list", kind, "--names", *["zhang-2021"] * (kind == "variants")), kind)

    def test_lists_are_quick(self):
        """A shell waits for them: their processor time, the least of three, is below 50 ms."""
        for names in (["keys"], ["columns"], ["what-ifs"], ["workloads"], ["variants", "llama-3-70b"]):
            def seconds():
                before = os.times()
                printed("list", *names, "--names")
                after = os.times()
                return after.children_user + after.children_system - before.children_user - before.children_system
            self.assertLess(min(seconds() for _ in range(3)), 0.05, names)

    def test_equals_sign(self):
        """bash divides --format=j into three words."""
        self.assertEqual(self.complete("syncline", "run", "--format", "=", "j"), ["json"])
        self.assertEqual(set(self.complete("syncline", "run", "--format", "=")), {"table", "json", "csv"})


class Fish(Complete, Shell):
    shell = "fish"
    interactive = ("--no-config", "-i")

    def complete(self, *words):
        lines = self.run_shell("--no-config", "-c", "source $argv[1]; complete -C $argv[2]", str(self.script), " ".join(words))
        return [line.split("\t")[0] for line in lines]


class Zsh(Shell):
    shell = "zsh"
    interactive = ("-f", "-i")

    def typed(self, keys, expected):
        """Types into an interactive shell; returns whether `expected` appears."""
        with self.terminal() as terminal:
            terminal.type(keys)
            return terminal.wait(lambda: expected in terminal.shown)

    def test_words(self):
        for keys, expected in (("syncline coll\t", "collective"), ("syncline run --allow\t", "--allow-oom"),
                               ("syncline run --format=j\t", "--format=json"), ("syncline schema sce\t", "scenario"),
                               ("syncline results merge --par\t", "--partial"), ("syncline explain scen\t", "scenarios-preset"),
                               ("syncline run ow\t", "own.yaml"), ("syncline run --set keys-p\t", "keys-preset="),
                               ("syncline results --columns a,columns-p\t", "a,columns-preset"),
                               ("syncline explain --what-if what-ifs-p\t", "what-ifs-preset"),
                               ("syncline run own.yaml --variant variants-p\t", "variants-preset")):
            self.assertTrue(self.typed(keys, expected), keys)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
