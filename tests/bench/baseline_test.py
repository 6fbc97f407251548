#!/usr/bin/python3
"""Tests scripts/bench --compare, which --check uses, too. Nothing is timed."""
import json
import pathlib
import subprocess
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"


class Comparison(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def compare(self, before, after):
        """Returns the exit code and the output of a comparison of two sets of ratios; a text is the file itself."""
        files = []
        for name, ratios in (("before.json", before), ("after.json", after)):
            files.append(self.directory / name)
            files[-1].write_text(ratios if isinstance(ratios, str) else json.dumps({"ratios": ratios}))
        run = subprocess.run([BENCH, "--compare", *files], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return run.returncode, run.stdout

    def test_sixteen_percent_less_fails_and_is_named(self):
        code, told = self.compare({"ring": 2.0, "tree": 3.0}, {"ring": 2.0 * 0.84, "tree": 3.0})
        self.assertEqual(code, 1)
        self.assertIn("REGRESSION: ring 1.680, 16.0% below", told)
        self.assertNotIn("REGRESSION: tree", told)

    def test_fourteen_percent_less_passes(self):
        code, told = self.compare({"ring": 2.0, "tree": 3.0}, {"ring": 2.0 * 0.86, "tree": 3.0})
        self.assertEqual(code, 0)
        self.assertNotIn("REGRESSION", told)

    def test_more_passes_and_does_not_make_up_for_less(self):
        self.assertEqual(self.compare({"ring": 2.0}, {"ring": 9.0})[0], 0)
        self.assertEqual(self.compare({"ring": 2.0, "tree": 3.0}, {"ring": 9.0, "tree": 1.0})[0], 1)

    def test_what_one_of_the_two_lacks_is_said_and_passes(self):
        code, told = self.compare({"ring": 2.0, "gone": 1.0}, {"ring": 2.0, "new": 1.0})
        self.assertEqual(code, 0)
        self.assertIn("not measured now: gone", told)
        self.assertIn("not measured in the baseline: new", told)

    def test_nothing_in_common_is_an_error(self):
        self.assertEqual(self.compare({"gone": 1.0}, {"new": 1.0})[0], 2)

    def test_what_is_no_result_is_an_error(self):
        for text in ("", "[]", "{}", '{"ratios": {"ring": "2"}}', '{"ratios": {"ring": 0}}'):
            self.assertEqual(self.compare(text, {"ring": 1.0})[0], 2, text)


if __name__ == "__main__":
    unittest.main()
