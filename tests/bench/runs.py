"""How the bench runs programs, and what they cost.

Whole processes are measured, start-up included, by tests/bench/measure.cpp: commands that are compared run in turn, so
that whatever else slows the machine for a while hits all of them alike. The medians count.
"""
import json
import pathlib
import subprocess
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "release"
OUT = ROOT / "build" / "bench"  # of the bench's own files
SYNCLINE = BUILD / "syncline"
PLATFORM = ROOT / "platforms" / "p100-25g.yaml"
BYTES = 100_000_000  # of every exchange, if nothing else is said


class Failure(Exception):
    """Something could not be measured at all."""


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
    """What each of `commands` costs: a list of Cost."""
    arguments = [BUILD / "measure", rounds]
    for command in commands:
        arguments += [*command, "--"]
    lines = output(arguments[:-1]).splitlines()
    return [Cost(*map(float, line.split())) for line in lines]


def output(command, stderr=None):
    """What a command prints, with `stderr=subprocess.STDOUT` its messages, too; a Failure if it fails."""
    run = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=stderr, text=True)
    if run.returncode != 0:
        raise Failure(f"exit code {run.returncode}: {' '.join(map(str, command))}")
    return run.stdout


def bare(ranks, allocator=""):
    """The yardstick: a ring all-reduce written directly against SimGrid. `allocator`: syncline's, or "_glibc"."""
    return [BUILD / f"bare_ring{allocator}", ranks, BYTES]


def collective(name, ranks, *arguments, size=f"{BYTES}B"):
    """An exchange, whose result is then in result(name)."""
    return [SYNCLINE, "collective", "--platform", PLATFORM, "--ranks", ranks, "--bytes", size, *arguments,
            "--out", OUT / name]


def run(name, scenario, *arguments):
    """A scenario of one variant, whose result is then in result(name)."""
    return [SYNCLINE, "run", scenario, *arguments, "--out", OUT / name]


def result(name):
    """What the last collective(name, …) or run(name, …) found, all of its fields in one dictionary."""
    alone = OUT / name / "collective.json"
    if alone.exists():
        return flat(json.loads(alone.read_text()))
    return flat(json.loads((OUT / name / "results.json").read_text())["results"][0])


def flat(fields):
    """`fields`, and those of the objects among them."""
    deeper = [flat(value) for value in fields.values() if isinstance(value, dict)]
    return {key: value for part in [*deeper, fields] for key, value in part.items()}


def scenario(name, content):
    """Writes a scenario, or a workload: YAML takes JSON. Its path."""
    path = OUT / f"{name}.yaml"
    path.write_text(json.dumps(content) + "\n")
    return path
