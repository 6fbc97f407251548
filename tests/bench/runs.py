"""Runs the programs of the bench, and measures them.

tests/bench/measure.cpp measures whole processes, start-up included. Compared commands run in turn, so that temporary
disturbances affect all of them alike, and their medians are compared.
"""
import json
import pathlib
import subprocess
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
OUT = ROOT / "build" / "bench"  # for the bench's own files
SYNCLINE = BUILD / "syncline"
PLATFORM = ROOT / "platforms" / "p100-25g.yaml"
BYTES = 100_000_000  # of every exchange, unless stated otherwise


class Failure(Exception):
    """A measurement was not possible."""


@dataclass(frozen=True)
class Options:
    rounds: int = 5
    quick: bool = False
    large: bool = False


@dataclass(frozen=True)
class Cost:
    cpu_s: float  # user and system
    wall_s: float
    peak_memory_MB: float

    def figures(self, messages=None):
        rate = {} if messages is None else {"messages": messages, "messages_per_cpu_s": round(messages / self.cpu_s)}
        return {**rate, "cpu_s": self.cpu_s, "wall_s": self.wall_s, "peak_memory_MB": self.peak_memory_MB}


def measure(rounds, *commands):
    """Returns the Cost of each of `commands`, in a list."""
    arguments = [BUILD / "measure", rounds]
    for command in commands:
        arguments += [*command, "--"]
    lines = output(arguments[:-1]).splitlines()
    return [Cost(*map(float, line.split())) for line in lines]


def output(command, stderr=None):
    """Returns the output of a command, with `stderr=subprocess.STDOUT` its messages, too. Raises Failure if it fails."""
    run = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=stderr, text=True)
    if run.returncode != 0:
        raise Failure(f"exit code {run.returncode}: {' '.join(map(str, command))}")
    return run.stdout


def bare(ranks, allocator=""):
    """Returns the command of the yardstick: a ring all-reduce written directly against SimGrid, with syncline's allocator
    or "_glibc"."""
    return [BUILD / f"bare_ring{allocator}", ranks, BYTES]


def collective(name, ranks, *arguments, size=f"{BYTES}B"):
    """Returns the command of an exchange; result(name) then returns its result."""
    return [SYNCLINE, "collective", "--platform", PLATFORM, "--ranks", ranks, "--bytes", size, *arguments,
            "--out", OUT / name]


def run(name, scenario, *arguments):
    """Returns the command of a scenario of one variant; result(name) then returns its result."""
    return [SYNCLINE, "run", scenario, *arguments, "--out", OUT / name]


def result(name):
    """Returns the result of the last collective(name, …) or run(name, …), all fields in one dictionary."""
    alone = OUT / name / "collective.json"
    if alone.exists():
        return flat(json.loads(alone.read_text()))
    return flat(json.loads((OUT / name / "results.json").read_text())["results"][0])


def flat(fields):
    """Returns `fields` and those of the objects among them."""
    deeper = [flat(value) for value in fields.values() if isinstance(value, dict)]
    return {key: value for part in [*deeper, fields] for key, value in part.items()}


def scenario(name, content):
    """Writes a scenario, or a workload, and returns its path. YAML includes JSON."""
    path = OUT / f"{name}.yaml"
    path.write_text(json.dumps(content) + "\n")
    return path
