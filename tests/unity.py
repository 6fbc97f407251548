#!/usr/bin/env python3
"""tests/unity.py OUT FILE...: writes a source that includes test sources, so that they are compiled at once.

What several tests share (Catch2's templates, headers of the library) is then instantiated once: twelve files take a quarter
of the time. Each file is in a namespace of its own, because many have helpers of the same name. Their own includes stand
before these namespaces, and include nothing a second time.
"""
import pathlib
import re
import sys

INCLUDE = re.compile(r"^#include .*$", re.MULTILINE)


def main():
    out, *files = map(pathlib.Path, sys.argv[1:])
    includes = dict.fromkeys(line for file in files for line in INCLUDE.findall(file.read_text(encoding="utf-8")))
    parts = [f'namespace {file.stem} {{\n#include "{file}"\n}}\n' for file in files]
    text = "".join(f"{line}\n" for line in includes) + "".join(parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
