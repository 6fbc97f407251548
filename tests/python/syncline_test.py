#!/usr/bin/python3
"""Tests the module scripts/python/syncline: syncline_test.py PROGRAM. pandas is not needed; a stub takes its place."""
import importlib.util
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
import xml.etree.ElementTree

MODULES = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "python"
sys.path.insert(0, str(MODULES))
import syncline  # noqa: E402

PROGRAM = None
RING = {"platform": "p100-25g", "collective": {"operation": "allreduce", "ranks": 8, "algorithm": "ring", "bytes": "100 MB"}}


class Directory(unittest.TestCase):
    """A test in an empty working directory."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name).resolve()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.directory)
        syncline.use(PROGRAM)

    def program(self, path, script="exit 0"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return str(path)


class Finding(Directory):
    def setUp(self):
        super().setUp()
        syncline.use(None)
        self.path = self.program(self.directory / "path" / "syncline")

    def found(self, module=MODULES, **environment):
        """Returns the program that a new Python finds; `module` is the folder that has the module."""
        command = [sys.executable, "-B", "-c", "import syncline; print(syncline.find())"]
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(module), **environment}
        return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def test_order(self):
        for module in ("share/syncline/python", "lib/python3/dist-packages"):
            prefix = self.directory / module.split("/", 1)[0] / "prefix"
            folder = prefix / module
            folder.mkdir(parents=True)
            subprocess.run(["cp", "-r", MODULES / "syncline", folder], check=True)
            on_path = str(self.directory / "path") + ":/usr/bin:/bin"
            self.assertEqual(self.found(folder, PATH=on_path), self.path)
            installed = self.program(prefix / "bin" / "syncline")
            self.assertEqual(self.found(folder, PATH=on_path), installed)
            self.assertEqual(self.found(folder, PATH=on_path, SYNCLINE=self.path), self.path)

    def test_clone_is_last(self):
        clone = self.directory / "clone"
        (clone / "scripts").mkdir(parents=True)
        subprocess.run(["cp", "-r", MODULES, clone / "scripts"], check=True)
        built = self.program(clone / "build" / "release" / "syncline")
        self.assertEqual(self.found(clone / "scripts" / "python"), built)
        self.assertEqual(self.found(clone / "scripts" / "python", PATH=str(self.directory / "path") + ":/usr/bin"), self.path)

    def test_a_program_that_is_not_there_is_named(self):
        syncline.use("nowhere/syncline")
        with self.assertRaisesRegex(FileNotFoundError, r"use\(\): 'nowhere/syncline'"):
            syncline.find()
        syncline.use(None)
        with unittest.mock.patch.dict(os.environ, SYNCLINE=str(self.directory)):
            with self.assertRaisesRegex(FileNotFoundError, r"\$SYNCLINE"):
                syncline.find()


class Calls(Directory):
    def test_words(self):
        syncline.use(self.program(self.directory / "echo", "printf '<%s>' \"$@\""))
        out, _ = syncline.call("run", "a scenario.yaml", set={"training.ranks": 8, "axes.x": [1, 2], "y": None}, dry_run=True,
                               force=False, seed=None, what_if=["latency x0.5", "device x2"], columns=["a", "b"], as_="overlay")
        self.assertEqual(out, "<run><--set=training.ranks=8><--set=axes.x=[1, 2]><--set=y=~><--dry-run>"
                              "<--what-if=latency x0.5><--what-if=device x2><--columns=a,b><--as=overlay><--><a scenario.yaml>")

    def test_two_underscores_are_a_dot_of_a_key(self):
        syncline.use(self.program(self.directory / "echo", "printf '<%s>' \"$@\""))
        out, _ = syncline.call("run", training__parallelism__model=8, a__b=False, c__d=None, ranks=[2, 4], no_what_if=True)
        self.assertEqual(out, "<run><--set=training.parallelism.model=8><--set=a.b=false><--set=c.d=~><--ranks=2,4><--no-what-if>")

    def test_arguments_are_never_options(self):
        syncline.use(self.program(self.directory / "echo", "printf '<%s>' \"$@\""))
        for name in ("--help", "-x.yaml", "--", "-"):
            self.assertEqual(syncline.call("run", name, seed=2)[0], f"<run><--seed=2><--><{name}>")
        self.assertEqual(syncline.call("results merge", "-a", "b", output="c")[0], "<results><merge><--output=c><--><-a><b>")
        self.assertEqual(syncline.call("list")[0], "<list>")

    def test_standard_input_is_empty_and_both_outputs_are_returned(self):
        syncline.use(self.program(self.directory / "both", "cat; echo out; echo note >&2"))
        self.assertEqual(syncline.call("run"), ("out\n", "note\n"))

    def test_a_signal_is_an_exit_code(self):
        syncline.use(self.program(self.directory / "killed", "kill -9 $$"))
        with self.assertRaises(syncline.Error) as raised:
            syncline.call("run")
        self.assertEqual(raised.exception.code, 128 + 9)

    def test_ctrl_c_ends_the_program(self):
        # The stub says when it is ready, and leaves a file when it is interrupted.
        stub = self.program(self.directory / "waits", "trap 'touch interrupted; exit 130' INT\ntouch ready\n"
                                                      "while :; do sleep 0.05; done")
        script = f"import syncline; syncline.use({stub!r})\ntry: syncline.call('run')\nexcept KeyboardInterrupt: print('raised')"
        with subprocess.Popen([sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(MODULES)},
                              stdout=subprocess.PIPE, text=True) as caller:
            for _ in range(600):
                if (self.directory / "ready").exists():
                    break
                time.sleep(0.05)
            caller.send_signal(signal.SIGINT)
            self.assertEqual(caller.communicate(timeout=30)[0], "raised\n")
        self.assertTrue((self.directory / "interrupted").exists())


class Texts(Directory):
    """Characters of any plane, in and out, in a locale that has none of them."""
    NAME = "a \U0001f600 \u00e9 \u4e2d \U0001d11e"

    def test_names_come_back(self):
        scenario = {**RING, "variants": {self.NAME: {}}}
        result = syncline.run(scenario, variant=self.NAME)
        self.assertEqual(result["results"][0]["variant"], self.NAME)
        changed = syncline.run(RING, set={"variants": {self.NAME: {}}})
        self.assertEqual(changed["results"][0]["variant"], self.NAME)
        store = syncline.batch({"name": self.NAME, "base": RING, "axes": {"collective.ranks": [2]}}, out="out")
        self.assertEqual(store.rows(columns="study")[0]["study"], self.NAME)
        self.assertIn(self.NAME, pathlib.Path("out", "study.yaml").read_text(encoding="utf-8"))
        self.assertIn(self.NAME, store.plot("ranks", "completion_time_s").svg)

    def test_json_with_escapes_is_read(self):
        text = json.dumps({**RING, "variants": {self.NAME: {}}})  # pairs of escapes
        self.assertIn("\\ud83d\\ude00", text)
        pathlib.Path("scenario.json").write_text(text, encoding="ascii")
        self.assertEqual(syncline.run("scenario.json")["results"][0]["variant"], self.NAME)

    def test_half_a_character_is_an_error_of_the_program(self):
        for bad in ({**RING, "name": "\ud83d"}, {**RING, "name": "\udc80"}):
            with self.assertRaisesRegex(syncline.Error, r"scenario\.yaml:\d+:\d+: error: this byte is not UTF-8"):
                syncline.run(bad)

    def test_another_locale(self):
        script = f"import syncline; syncline.use({str(PROGRAM)!r}); print(ascii(syncline.run({RING!r}, set={{'variants': " \
                 f"{{{self.NAME!a}: {{}}}}}})['results'][0]['variant']))"
        environment = {**os.environ, "PYTHONPATH": str(MODULES), "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run([sys.executable, "-c", script], env=environment, check=True, stdout=subprocess.PIPE, text=True)
        self.assertEqual(done.stdout.strip(), ascii(self.NAME))


class Verbs(Directory):
    def test_a_ring_takes_the_time_of_its_closed_form(self):
        """2(N-1) steps, each of a latency of 2 us and an N-th of the buffer, and N-1 reductions of it."""
        part = 100e6 / 8
        least = 14 * (2e-6 + part / 3.125e9)
        for result in (syncline.run(RING), syncline.collective(**RING["collective"], platform="p100-25g")):
            time_s = result.rows[0]["completion_time_s"]
            self.assertGreater(time_s, least)
            self.assertLess(time_s, least * 1.02)
            self.assertEqual(result.rows[0]["messages_simulated"], 14 * 8)

    def test_units_and_set_reach_the_program(self):
        slow = syncline.run(RING, set={"platform.fabric.bandwidth": "2.5 Gbps"}).rows[0]["completion_time_s"]
        fast = syncline.run(RING).rows[0]["completion_time_s"]
        self.assertAlmostEqual(slow / fast, 10, delta=0.2)

    def test_explain_names_the_ranks(self):
        rows = syncline.explain("zhang-2021", set={"training.ranks": 2}, variant="ring", no_what_if=True).rows
        self.assertEqual([row["variant"] for row in rows], ["ring"])
        self.assertEqual(len(rows[0]["ranks"]), 2)

    def test_topologies_are_measured_and_drawn(self):
        tree = {"topology": "tree", "arity": 4, "depth": 2}
        self.assertEqual(syncline.topology(tree)["hosts"], 16)
        self.assertEqual(syncline.topology("exponential", set={"hosts": 8, "directed": True}, as_="overlay")["hosts"], 8)
        picture = syncline.draw(tree)
        self.assertTrue(xml.etree.ElementTree.fromstring(picture._repr_svg_()).tag.endswith("svg"))
        picture.save("tree.svg")
        self.assertEqual(pathlib.Path("tree.svg").read_text(encoding="utf-8"), picture.svg)

    def test_workload_lists_layers(self):
        layers = syncline.workload("resnet-50", device="p100-sxm2", batch=32).rows
        self.assertEqual(sum(layer["parameters"] for layer in layers), 25557032)  # torchvision's ResNet-50

    def test_files_may_be_called_like_options(self):
        training = {"platform": "p100-25g", "workload": "resnet-50", "training": {"ranks": 1, "batch_per_rank": 32}}
        tree = {"topology": "tree", "arity": 4, "depth": 2}
        model = {"name": "m", "input": [1, 1, 1], "layers": [{"name": "only", "kind": "custom", "parameters": 10, "macs": 1000}]}
        study = {"base": RING, "axes": {"collective.ranks": [2, 4]}}
        calls = ((RING, lambda name: syncline.run(name).rows, 1),
                 (RING, lambda name: re.findall("<html", syncline.report(name).html), 1),
                 (training, lambda name: syncline.explain(name, no_what_if=True).rows, 1),
                 (tree, lambda name: range(syncline.topology(name)["hosts"]), 16),
                 (tree, lambda name: re.findall("<svg", syncline.draw(name).svg), 1),
                 (model, lambda name: syncline.workload(name, device="p100-sxm2", batch=1).rows, 1),
                 (study, lambda name: syncline.batch(name).rows(), 2),
                 (study, lambda name: syncline.explore(name, objective="completion_time_s")["ranked"], 2))
        for name in ("-x.yaml", "--help", "--version", "--set=a.b=c"):
            for description, found, count in calls:
                pathlib.Path(name).write_text(json.dumps(description), encoding="utf-8")
                self.assertEqual(len(found(name)), count, name)
            os.remove(name)
            self.assertEqual(len(syncline.sweep(RING, {"collective.ranks": [2]}, out=name).rows()), 1)
            self.assertEqual(len(syncline.results(name).rows), 1)
            self.assertIn("<svg", syncline.Store(name).plot("ranks", "completion_time_s").svg)
            shutil.rmtree(name)

    def test_keys_are_named_arguments(self):
        result = syncline.run("zhang-2021", ranks=2, batch=64, variant="ring", training__batch_per_rank=None)
        self.assertEqual([(row["ranks"], row["samples"]) for row in result.rows], [(2, 64)])
        self.assertEqual(len(syncline.explain("zhang-2021", ranks=2, variant="ring", no_what_if=True).rows[0]["ranks"]), 2)
        self.assertTrue('"ranks":8,' in syncline.report("zhang-2021", ranks=8, variant="ring").html)

    def test_plans_have_days_and_cost(self):
        plans = syncline.plan("gpt-2-xl", platform="dgx-h100", ranks=[2, 4], batch=64, tokens="10B", price=24, best=1, estimate=True,
                              headroom=0.1, out="plans")
        self.assertEqual([(row["ranks"], row["place"]) for row in plans.rows], [(2, 1), (4, 1)])
        for row in plans.rows:  # 10e9 tokens, 64 samples of 1024 each time; one node of 24 an hour
            self.assertAlmostEqual(row["run_time_s"], row["iteration_time_s"] * math.ceil(10e9 / 65536))
            self.assertAlmostEqual(row["run_cost"], row["run_time_s"] / 3600 * 24)
            self.assertLessEqual(row["memory_total_bytes"], 0.9 * row["memory_device_bytes"])
        again = syncline.run("plans/gpt-2-xl-dgx-h100-4.yaml", dry_run=True)
        self.assertEqual(again["dry_run"][0]["ranks"], 4)
        self.assertIn("4 ranks", again.text)

    def test_a_result_shows_what_the_verb_prints(self):
        result = syncline.run("zhang-2021", ranks=2)
        self.assertEqual(str(result) + "\n", syncline.call("run", "zhang-2021", training__ranks=2)[0])
        self.assertEqual(repr(result), str(result))
        rows = xml.etree.ElementTree.fromstring(f"<div>{result._repr_html_()}</div>").findall("table")[0].findall("tr")
        cells = ["".join(cell.itertext()) for cell in rows[0]]
        self.assertEqual(cells[:3], ["variant", "model", "iteration"])
        self.assertEqual([row[0].text for row in rows[1:]], [row["variant"] for row in result.rows])
        self.assertEqual([float(row[2].text.split()[0]) for row in rows[1:]],
                         [float(f"{row['iteration_time_s'] * 1e3:.4g}") for row in result.rows])
        tree = {"topology": "tree", "arity": 4, "depth": 2}
        for shown in (syncline.topology(tree), syncline.sweep(RING, {"collective.ranks": [2, 4]}),
                      syncline.workload("resnet-50", device="p100-sxm2", batch=32), syncline.explain("zhang-2021", ranks=2, variant="ring")):
            self.assertNotIn("{", repr(shown))
            self.assertIn("<table>", shown._repr_html_())

    def test_a_timeline_is_written_where_the_program_writes_it(self):
        result = syncline.run("zhang-2021", ranks=2, variant="ring", trace="chrome")
        self.assertTrue(pathlib.Path("zhang-2021.trace.json").is_file())
        self.assertEqual(dict(result), eval(repr(result)))

    def test_names_can_be_used(self):
        self.assertIn("p100-25g", syncline.names("platforms"))
        for name in syncline.names("devices"):
            self.assertTrue(syncline.workload("resnet-50", device=name, batch=1).rows)

    def test_report_is_shown_in_a_frame(self):
        page = syncline.report(RING)
        frame = page._repr_html_()
        self.assertTrue(frame.startswith("<iframe srcdoc="))
        self.assertNotIn("<html", frame)
        self.assertIn("<html", page.html)

    def test_files_in_a_dictionary_are_relative_to_the_working_directory(self):
        pathlib.Path("own.yaml").write_text("{topology: star, hosts: 8, bandwidth: 25 Gbps, latency: 1 us}\n")
        own = {"platform": {"device": "p100-sxm2", "fabric": "own.yaml"}, "collective": RING["collective"]}
        self.assertEqual(syncline.run(own).rows[0]["fabric"], "star")

    def test_errors_have_the_message_and_the_code(self):
        with self.assertRaises(syncline.Error) as raised:
            syncline.run("zhang-2021", set={"training.rank": 8})
        self.assertEqual(raised.exception.code, 3)
        self.assertIn("did you mean 'ranks'?", str(raised.exception))
        with self.assertRaises(syncline.Error) as raised:
            syncline.run("zhang-2021", bogus=1)
        self.assertEqual(raised.exception.code, 2)


class Sweeps(Directory):
    def test_points_are_the_product_of_the_axes(self):
        store = syncline.sweep(RING, {"collective.algorithm": ["ring", "direct"]}, collective__ranks=[2, 4, 8])
        rows = store.rows(columns=["algorithm", "ranks", "messages"])
        self.assertEqual([(row["algorithm"], row["ranks"]) for row in rows],
                         [(algorithm, ranks) for algorithm in ("ring", "direct") for ranks in (2, 4, 8)])
        self.assertEqual([row["messages"] for row in rows if row["algorithm"] == "ring"], [2 * n * (n - 1) for n in (2, 4, 8)])
        self.assertEqual(len(store.rows(where=["ranks > 2", "algorithm = 'ring'"])), 2)
        self.assertEqual([row["ranks"] for row in store.rows(group="ranks", columns="messages")], [2, 4, 8])
        picture = xml.etree.ElementTree.fromstring(store.plot("ranks", "completion_time_s", series="algorithm").svg)
        self.assertTrue(picture.tag.endswith("svg"))
        self.assertIn("<html", store.report(where="ranks > 2").html)

    def test_ranges_and_numbers_with_tolist_are_values(self):
        class Number:
            def tolist(self):
                return 4

        rows = syncline.sweep("zhang-2021", {"variant": ["ring"], "training.ranks": range(1, 3), "training.iterations": [Number()]}).rows()
        self.assertEqual([row["ranks"] for row in rows], [1, 2])

    def test_a_temporary_directory_is_removed_with_the_store(self):
        store = syncline.sweep(RING, {"collective.ranks": [2]})
        directory = store.directory
        self.assertTrue(os.path.exists(directory))
        del store
        self.assertFalse(os.path.exists(directory))

    def test_a_directory_of_ones_own_stays_and_continues(self):
        study = {"base": RING, "axes": {"collective.ranks": [2, 4]}, "name": "mine"}
        syncline.sweep(study, out="results", options={"jobs": 1})
        self.assertTrue(pathlib.Path("results/study.yaml").is_file())
        more = syncline.sweep(study, out="results", collective__ranks=[2, 4, 8])
        self.assertIn("(2 before)", more.messages)
        self.assertEqual([row["study"] for row in syncline.results("results").rows], ["mine"] * 3)

    def test_failed_points_raise_and_the_others_are_stored(self):
        with self.assertRaises(syncline.Error) as raised:
            syncline.sweep({"base": {**RING, "platform": {"device": "p100-sxm2", "fabric": {
                "topology": "hypercube", "bandwidth": "25 Gbps", "latency": "1 us"}}}},
                {"platform.fabric.hosts": [8, 12]}, out="results", options={"keep_going": True})
        self.assertEqual(raised.exception.code, 1)
        self.assertEqual(sorted(row["status"] for row in syncline.results("results").rows), ["done", "failed"])

    def test_explore_ranks_points(self):
        found = syncline.explore({"base": RING, "axes": {"collective.ranks": [8, 4, 2]}}, objective="completion_time_s")
        self.assertEqual(len(found["ranked"]), 3)
        self.assertEqual(found.rows[0]["point"], 3)


class Frames(Directory):
    def test_with_pandas_nested_fields_have_the_names_of_csv(self):
        result = syncline.run("zhang-2021", set={"training.ranks": 2})
        stub = types.SimpleNamespace(DataFrame=lambda rows: ("frame", rows))
        with unittest.mock.patch.dict(sys.modules, pandas=stub):
            kind, rows = result.to_pandas()
            self.assertEqual(result.frame(), (kind, rows))
        self.assertEqual(kind, "frame")
        csv = syncline.call("run", "zhang-2021", set={"training.ranks": 2}, format="csv")[0].splitlines()[0].split(",")
        only_csv = {name for name in csv if name.startswith("most_used_link")}
        self.assertLessEqual(set(csv) - only_csv, set(rows[0]))
        self.assertEqual(rows[0]["memory_device_bytes"], 16e9)

    def test_without_pandas_the_error_says_what_to_use(self):
        with unittest.mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(ImportError, "needs pandas"):
                syncline.frame([{"a": 1}])

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas(self):
        self.assertEqual(list(syncline.frame([{"a": 1, "b": {"c": 2}}]).columns), ["a", "b_c"])


class Tables(unittest.TestCase):
    def test_columns_have_two_blanks_between_them(self):
        text = ("title, with  two blanks\n\n"
                "          time per\nvariant     sample  plan\na & b        1.5 s  TP8 SP\n                    ZeRO-1\nc           10.5 s  -\n\n"
                "note: one\n  two\n")
        title, table, note = xml.etree.ElementTree.fromstring(f"<div>{syncline.tables.to_html(text)}</div>")
        self.assertEqual(["".join(title.itertext()), "".join(note.itertext())], ["title, with  two blanks", "note: one\n  two"])
        self.assertEqual([[(cell.tag, cell.text) for cell in row] for row in table],
                         [[("th", "variant"), ("th", "time per sample"), ("th", "plan")],
                          [("td", "a & b"), ("td", "1.5 s"), ("td", "TP8 SP ZeRO-1")],
                          [("td", "c"), ("td", "10.5 s"), ("td", "-")]])
        self.assertEqual([cell.get("style") for cell in table[2]], [f"text-align: {side}" for side in ("left", "right", "left")])


class Example(Directory):
    def test_output(self):
        run = subprocess.run([sys.executable, MODULES / "example.py"], stdout=subprocess.PIPE, check=True, text=True,
                             env={**os.environ, "PYTHONPATH": str(MODULES), "SYNCLINE": PROGRAM})
        lines = run.stdout.splitlines()
        ring = re.fullmatch(r"ring, 8 ranks, 100 MB: ([\d.]+) ms in 112 messages", lines[0])
        self.assertAlmostEqual(float(ring[1]), 56, delta=1)  # 2·7/8 of 100 MB at 3.125 GB/s
        shares = dict(re.findall(r"^([\w-]+): [\d.]+ ms, ([\d.]+)% of it exposed communication$", run.stdout, re.MULTILINE))
        self.assertEqual(len(shares), 4)
        self.assertLess(float(shares["ring"]), float(shares["parameter-server"]))
        rates = re.findall(r"^([\w-]+), ranks: (\d), throughput: (\d+) images/s$", run.stdout, re.MULTILINE)
        self.assertEqual(len(rates), 8)
        self.assertIn(("ring", "1", "219"), rates)  # tf_cnn_benchmarks on one P100: platforms/devices/p100-sxm2.yaml
        plans = re.findall(r"^(\d) ranks: .*ZeRO-\d, ([\d.]+) days, \d+$", run.stdout, re.MULTILINE)
        self.assertEqual([ranks for ranks, _ in plans], ["2", "4"])
        self.assertLess(float(plans[1][1]), float(plans[0][1]))
        self.assertRegex(run.stdout, r"(?m)^device x2: 1\.\d\d times the throughput")
        self.assertIn("did you mean 'ranks'?", lines[-1])
        self.assertIn("exit code 3: ", run.stdout)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
