#!/usr/bin/env python3
"""Tests what scripts/build shows, with a stub in place of CMake."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/build"
# The first step takes long, as those of Syncline do: nothing is printed meanwhile.
STUB = """#!/bin/sh
echo '-- Configuring'
[ "$1" = --build ] || exit 0
echo '[2/69] Building CXX object unity_0.o'
sleep 3.5
printf '[3/69] Building'
sleep 1.2
echo ' CXX object unity_1.o'
[ ! -e "$PWD/wrong" ] || { echo 'error: wrong'; exit 1; }
"""


class Build(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        (self.root / "scripts").mkdir()
        (self.root / "bin").mkdir()
        shutil.copy(SCRIPT, self.root / "scripts/build")
        for path, text in (("scripts/install-dependencies", "#!/bin/sh\n"), ("bin/cmake", STUB), ("CMakePresets.json", "")):
            (self.root / path).write_text(text)
            (self.root / path).chmod(0o755)
        self.build = {"args": [self.root / "scripts/build"], "env": {**os.environ, "PATH": f"{self.root}/bin:{os.environ['PATH']}"}}

    def log(self):
        return (self.root / "build/release/build.log").read_text()

    def test_a_clock_moves_while_a_step_takes_long(self):
        terminal, end = pty.openpty()
        run = subprocess.run(**self.build, stdout=subprocess.PIPE, stderr=end)
        os.close(end)
        shown = ""
        try:
            while some := os.read(terminal, 65536):
                shown += some.decode()
        except OSError:  # all is read
            os.close(terminal)
        self.assertEqual((run.returncode, run.stdout), (0, b""))
        seconds = {int(number) for number in re.findall(r"building: 2 of 69 steps, (\d+) s", shown)}
        self.assertGreaterEqual(len(seconds), 2, shown)
        self.assertIn("building: 3 of 69 steps, ", shown)
        self.assertTrue(shown.endswith("\r\033[K"), shown)  # and is cleared
        self.assertIn("[3/69] Building CXX object unity_1.o\n", self.log())

    def test_errors_are_shown_and_a_short_build_elsewhere_shows_nothing(self):
        run = subprocess.run(**self.build, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        (self.root / "wrong").touch()
        run = subprocess.run(**self.build, capture_output=True, text=True)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("error: wrong", run.stderr)


if __name__ == "__main__":
    unittest.main()
