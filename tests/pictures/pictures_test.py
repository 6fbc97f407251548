#!/usr/bin/env python3
"""Tests scripts/pictures on a small repository, with a program that writes the same picture for every command."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/pictures"
README = """# Example

![A plot](a.svg), but `![text](file.svg)` is none.

```sh
build/release/syncline plot x.results --x ranks --y time --out a.svg
```
"""
PLOT = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><rect fill="#ffffff"/>
<g id="gnuplot_plot_1"><title>ring</title><use xlink:href="#p"/><use xlink:href="#p"/></g><text> 10 </text><text>time (ms)</text></svg>
"""


class Pictures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        (self.root / "scripts").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts/pictures")
        (self.root / "README.md").write_text(README)
        self.program = self.root / "program"
        self.program.write_text("#!/bin/sh\nfor last; do :; done\ncat \"${0%/*}/new.svg\" > \"$last\"\n")
        os.chmod(self.program, 0o755)
        self.draws(PLOT)
        self.run_script()

    def draws(self, picture):
        (self.root / "new.svg").write_text(picture)

    def run_script(self, *arguments):
        return subprocess.run([self.root / "scripts/pictures", *arguments, self.program], capture_output=True, text=True)

    def check(self, *parts):
        """The check fails and says all parts."""
        result = self.run_script("--check")
        self.assertEqual(result.returncode, 1)
        for part in parts:
            self.assertIn(part, result.stdout + result.stderr)

    def test_writes_shown_pictures(self):
        self.assertEqual((self.root / "a.svg").read_text(), PLOT)
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_positions_and_colours_may_differ(self):
        self.draws(PLOT.replace("<text>", "<text x='3'>"))
        self.assertEqual(self.run_script("--check").returncode, 0)

    def test_texts_are_compared(self):
        self.draws(PLOT.replace("time (ms)", "time (s)"))
        self.check("a.svg: text 'time (ms)': 1 in the repository, 0 when made anew", "a.svg: text 'time (s)': 0")

    def test_points_are_compared(self):
        self.draws(PLOT.replace('<use xlink:href="#p"/>', "", 1))
        self.check("a.svg: line 'ring' with 2 marks: 1 in the repository, 0 when made anew", "with 1 marks")

    def test_vertices_and_their_counts_are_compared(self):
        host = '<circle class="host" data-hosts="16"/></svg>'
        (self.root / "a.svg").write_text(PLOT.replace("</svg>", host))
        self.draws(PLOT.replace("</svg>", host.replace("16", "8")))
        self.check("a.svg: host hosts=16: 1 in the repository, 0", "a.svg: host hosts=8: 0 in the repository, 1")

    def test_a_background_is_required(self):
        bare = PLOT.replace('<rect fill="#ffffff"/>', "")
        (self.root / "a.svg").write_text(bare)
        self.draws(bare)
        self.check("a.svg: has no white background")

    def test_a_picture_needs_a_command(self):
        (self.root / "README.md").write_text(README.replace("--out a.svg", "--out b.svg"))
        self.check("README.md:3: no command in a document has --out a.svg")

    def test_a_missing_picture_is_a_difference(self):
        (self.root / "a.svg").unlink()
        self.check("README.md:3: a.svg does not exist; run scripts/pictures")

    def test_commands_that_fail_are_shown(self):
        self.program.write_text("#!/bin/sh\necho 'error: nothing to draw' >&2\nexit 1\n")
        self.check("syncline plot x.results --x ranks", "nothing to draw")


if __name__ == "__main__":
    unittest.main()
