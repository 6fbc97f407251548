#!/usr/bin/python3
"""Tests scripts/manual: manual_test.py PROGRAM. Without help2man the exit code is 77."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "manual"
PROGRAM = None


def text_of(*command, **environment):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}).stdout


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.directory = pathlib.Path(directory.name)
        (cls.directory / "syncline-gone.1").touch()
        text_of(MANUAL, PROGRAM, cls.directory)
        cls.pages = {path.stem: path.read_text(encoding="utf-8") for path in cls.directory.iterdir()}

    def test_one_for_each_verb(self):
        listed = re.search(r"^Subcommands:\n((?:  .*\n)+)", text_of(PROGRAM, "--help"), re.MULTILINE)[1]
        verbs = set(re.findall(r"^  (\w+) ", listed, re.MULTILINE))
        self.assertLessEqual({"run", "explain", "results"}, verbs)
        self.assertEqual(set(self.pages), {"syncline", "syncline-results-merge"} | {"syncline-" + verb for verb in verbs})

    def test_options_and_sections_are_complete(self):
        for name, page in self.pages.items():
            verbs = [] if name == "syncline" else name.split("-")[1:]
            shown = page.replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
            for option in set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text_of(PROGRAM, *verbs, "--help"), re.MULTILINE)):
                self.assertRegex(shown, rf"(?m)^(-\w, )?{option}\b", name)
            self.assertIn(f".B {' '.join(['syncline', *verbs])}\n", page)
            for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", '"EXIT STATUS"', '"SEE ALSO"'):
                self.assertIn(f"\n.SH {section}\n", page, name)
            for code in (0, 1, 2, 3, 4, 70, 130):
                self.assertIn(f"\n.B {code}\n", page, name)
            self.assertNotRegex(page, "REQUIRED|TEXT:|Excludes|Needs:")

    def test_the_same_bytes_whenever_they_are_made(self):
        again = self.directory / "again"
        text_of(MANUAL, PROGRAM, again, TZ="Pacific/Kiritimati")
        for name, page in self.pages.items():
            self.assertEqual((again / (name + ".1")).read_text(encoding="utf-8"), page)
        text_of(MANUAL, PROGRAM, again, SOURCE_DATE_EPOCH="951782400")  # 29 February 2000
        self.assertIn('"February 2000"', (again / "syncline.1").read_text(encoding="utf-8"))

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_groff_has_no_warnings(self):
        for name in self.pages:
            run = subprocess.run(["groff", "-man", "-ww", "-Kutf8", "-Tutf8", "-z", self.directory / (name + ".1")],
                                 stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.stderr, "", name)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    if not shutil.which("help2man"):
        print("skipped: there is no help2man")
        sys.exit(77)
    unittest.main()
