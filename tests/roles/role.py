"""What the roles' scripts share: an empty directory outside the clone, the program, and checks.

A script is called with the program's path, or finds it in $SYNCLINE or on PATH, and uses only names of presets and files
that it writes. The exit code is 1 if a check fails.
"""
import contextlib
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


class Role:
    def __init__(self):
        program = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("SYNCLINE") or shutil.which("syncline")
        if not program:
            sys.exit(f"usage: {sys.argv[0]} PROGRAM (or set SYNCLINE)")
        self.program = os.path.abspath(program)
        self.failed = 0

    def syncline(self, *words, code=0):
        """Runs the program; returns standard output, or standard error if another exit code than 0 is expected."""
        print("$ syncline", *words, flush=True)
        run = subprocess.run([self.program, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if run.returncode != code:
            sys.exit(f"exit code {run.returncode}, expected {code}\n{run.stdout}{run.stderr}")
        return run.stderr if code else run.stdout

    def json(self, *words):
        return json.loads(self.syncline(*words, "--format", "json"))

    def check(self, holds, text):
        print("ok:  " if holds else "FAIL:", text, flush=True)
        self.failed += not holds

    def near(self, value, expected, tolerance, text):
        """Checks a value; the tolerance is relative."""
        self.check(math.isclose(value, expected, rel_tol=tolerance), f"{text}: {value:.6g}, expected {expected:.6g} ± {tolerance:g}")

    def between(self, least, value, most, text):
        self.check(least <= value <= most, f"{text}: {value:.6g}, expected {least:.6g} to {most:.6g}")

    def picture(self, file):
        """Checks that a file is an SVG picture; returns the texts in it."""
        root = xml.etree.ElementTree.parse(file).getroot()
        self.check(root.tag.endswith("}svg"), f"{file} is an SVG picture")
        return ["".join(text.itertext()).strip() for text in root.iter("{http://www.w3.org/2000/svg}text")]

    def page(self, file, *names):
        """Checks that a report is a page that needs no other file and names all of `names`."""
        text = pathlib.Path(file).read_text(encoding="utf-8")
        self.check("<html" in text and not any(f'{link}="http' in text for link in ("src", "href")), f"{file} is a page of its own")
        for name in names:
            self.check(name in text, f"{file} names {name}")


@contextlib.contextmanager
def role():
    """Gives a Role whose working directory is new and empty; ends the script with 1 if a check failed."""
    here, found = os.getcwd(), Role()
    with tempfile.TemporaryDirectory(prefix="syncline-role-") as directory:
        os.chdir(directory)
        try:
            yield found
        finally:
            os.chdir(here)
    sys.exit(1 if found.failed else 0)
