#!/usr/bin/env python3
"""tests/discover.py PROGRAM SUITE each|together OUT: writes the tests of a program of Catch2 as tests of ctest.

With `each`, every test case runs in a process of its own, because SimGrid allows one simulation per process; with `together`
all of one set of tags run in one. A test's labels are its suite, and those of its tags that are named below.
"""
import pathlib
import subprocess
import sys

TAGS = {  # and the seconds that such a test may take
    "memory": 600,     # also run under the sanitizers
    "sweep": 1800,     # many sizes, fabrics or random worlds
    "slow": 1800,      # takes minutes
    "published": 1800  # comparisons with published measurements
}


def names(program, *spec):
    """The names of the test cases that a specification selects."""
    listed = subprocess.run([program, "--list-test-names-only", *spec], stdout=subprocess.PIPE, text=True)
    return listed.stdout.splitlines()


def quoted(text):
    """A word of CMake's language that stands for this text, whatever is in it."""
    fence = "="
    while f"]{fence}]" in text:
        fence += "="
    return f"[{fence}[{text}]{fence}]"


def escaped(name):
    """A specification of Catch2 that selects the test case of this name."""
    return "".join("\\" + c if c in ",[]\\\"" else c for c in name)


def main():
    program, suite, mode, out = sys.argv[1:]
    tags = {name: [] for name in names(program)}
    for tag in TAGS:
        for name in names(program, f"[{tag}]"):
            tags.setdefault(name, []).append(tag)
    if not tags:
        sys.exit(f"tests/discover.py: {program} has no tests")
    tests = {}
    for name, found in tags.items():
        tests.setdefault(name if mode == "each" else " ".join([suite, *(f"[{tag}]" for tag in found)]), (found, []))[1].append(name)
    text = ""
    for title, (found, selected) in tests.items():
        title = f"{suite}: {title}" if mode == "each" else title.replace("_", ": ", 1)
        spec = ",".join(map(escaped, selected))
        if mode == "together":
            spec = "".join(f"[{tag}]" if tag in found else f"~[{tag}]" for tag in TAGS)
        labels = ";".join([suite.split("_")[0], *found])
        text += f"add_test({quoted(title)} {quoted(program)} {quoted(spec)})\n"
        text += (f"set_tests_properties({quoted(title)} PROPERTIES LABELS {quoted(labels)} "
                 f"TIMEOUT {max([TAGS[tag] for tag in found], default=600)} FAIL_REGULAR_EXPRESSION {quoted('No test cases matched')})\n")
    pathlib.Path(out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
