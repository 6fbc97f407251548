"""Runs Syncline, a simulator of distributed deep-learning training, and returns what it says.

    import syncline

    result = syncline.run("zhang-2021", ranks=8)    # a terminal and a notebook show its tables
    result["results"][0]["iteration_time_s"]        # dictionaries, as `--format json` prints them
    result.to_pandas()                              # a DataFrame, if pandas is installed

    store = syncline.sweep("zhang-2021", {"variant": ["ring", "parameter-server"], "training.ranks": [1, 2, 4, 8]})
    store.rows(columns="ranks, variant, throughput")
    store.plot("ranks", "throughput", series="variant")      # a notebook shows the picture

Each function calls a verb of the program. Keywords are the verb's options, and with two underscores for a dot keys of
the scenario: `training__parallelism__model=8` (see call()). Quantities that you give are
texts with a unit, `"25 Gbps"`; times that you get are in seconds, sizes in bytes, rates in bytes per second. Fields are
explained in scenarios/results.md, and by `syncline schema results`. A scenario, study or topology is a file's name, a
preset's name, or a dictionary with the keys of such a file.

The module needs Python 3.9 and the program, and no other package.
"""
import contextlib
import json
import os
import pathlib
import shutil
import tempfile
import weakref

from .program import Error, call, find, use
from .values import Page, Picture, Result, frame

__all__ = ["Error", "Page", "Picture", "Result", "Store", "batch", "call", "collective", "draw", "explain", "explore", "find",
           "frame", "names", "plan", "report", "results", "run", "sweep", "topology", "use", "workload"]


def _absolute(value):
    """Returns a scenario's value with the names of existing files made absolute: its file will be somewhere else."""
    if isinstance(value, dict):
        return {key: _absolute(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_absolute(entry) for entry in value]
    if isinstance(value, range):
        return list(value)
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return value.tolist()
    if isinstance(value, os.PathLike) or (isinstance(value, str) and pathlib.PurePath(value).suffix):
        return os.path.abspath(value) if os.path.isfile(value) else os.fspath(value)
    return value


def _write(path, description):
    """Writes a dictionary as JSON, which is YAML. Texts stay readable, and halves of characters are left to the program."""
    text = json.dumps(_absolute(description), indent=1, ensure_ascii=False)
    path.write_text(text, encoding="utf-8", errors="surrogatepass")


@contextlib.contextmanager
def _file(description, name):
    """Gives the word for the command line: the name of a file or preset, or of a temporary file with a dictionary."""
    if not isinstance(description, dict):
        yield description
        return
    with tempfile.TemporaryDirectory(prefix="syncline-") as directory:
        path = pathlib.Path(directory, name + ".yaml")
        _write(path, description)
        yield path


_stems = {"run": "results", "explain": "explanation", "explore": "exploration"}  # of the files in --out, else the verb


def _result(verb, *arguments, out=None, **options):
    """Calls a verb once, for JSON as well as for what it prints, which is among the files that it writes."""
    if options.get("dry_run"):
        return _shown(verb, *arguments, **options)
    with tempfile.TemporaryDirectory(prefix="syncline-") as directory:
        # A timeline belongs into `out`, if there is one, and otherwise into the working directory.
        directory = out if out is not None or options.get("trace") else directory
        printed, messages = call(verb, *arguments, format="json", out=directory, **options)
        text = pathlib.Path(directory or "", _stems.get(verb, verb) + ".txt")
        return Result(json.loads(printed), messages, text.read_text(encoding="utf-8") if directory and text.exists() else "")


def _shown(verb, *arguments, **options):
    """Calls a verb twice, for JSON and for what it prints: one that takes no time and writes no files."""
    printed, messages = call(verb, *arguments, format="json", **options)
    return Result(json.loads(printed), messages, call(verb, *arguments, **options)[0])


def _training(ranks, batch):
    """Returns the keys of these arguments, as keywords."""
    return {key: value for key, value in (("training__ranks", ranks), ("training__batch", batch)) if value is not None}


def run(scenario, ranks=None, batch=None, **options):
    """Simulates an iteration, or an exchange, of each variant of a scenario: `run("zhang-2021", ranks=8, seed=2)`.

    ranks, batch: keys training.ranks and training.batch. Others are keywords as well: `training__parallelism__model=8`.
    """
    with _file(scenario, "scenario") as file:
        return _result("run", file, **_training(ranks, batch), **options)


def explain(scenario, ranks=None, batch=None, **options):
    """Explains the iteration time of each variant: `explain("zhang-2021", variant="ring", what_if="latency x0.5")`."""
    with _file(scenario, "scenario") as file:
        return _result("explain", file, **_training(ranks, batch), **options)


def plan(model, platform, ranks, **options):
    """Finds the fastest plans: `plan("llama-3-70b", platform="dgx-h100", ranks="256..1024", tokens="2T", price=24)`.

    platform: one, or a list to compare. ranks: 512, [256, 384] or "256..1024", which doubles.
    Options: batch, tokens, price, headroom="10 %", best=3, estimate, out, which gets a page and a scenario for each plan.
    """
    with _file(model, "workload") as file:
        return _result("plan", file, platform=platform, ranks=ranks, **options)


def collective(**options):
    """Simulates one exchange: `collective(platform="p100-25g", ranks=8, algorithm="ring", bytes="100 MB")`.

    With `sweep="bytes=4B..512MiB"` in place of `bytes` the rows are its points, one for each size.
    """
    return _result("collective", **options)


def workload(model, **options):
    """Lists a model's layers and their times on a device: `workload("resnet-50", device="p100-sxm2", batch=32)`."""
    with _file(model, "workload") as file:
        return _result("workload", file, **options)


def topology(shape, **options):
    """Measures a topology: `topology("dragonfly", set={"hosts": 72})["diameter_hops"]`; `as_="overlay"` is `--as overlay`."""
    with _file(shape, "topology") as file:
        return _shown("topology", file, **options)


def draw(shape, **options):
    """Draws a topology, as a Picture: `draw("dragonfly", set={"hosts": 72})`."""
    with _file(shape, "topology") as file:
        return Picture(call("topology", file, format="svg", **options)[0])


def report(scenario, ranks=None, batch=None, **options):
    """Simulates a scenario and returns the report of `run --report`, a Page: `report("zhang-2021", scaling=True)`."""
    with _file(scenario, "scenario") as file:
        return _page("run", file, **_training(ranks, batch), **options)


def _page(verb, *arguments, **options):
    with tempfile.TemporaryDirectory(prefix="syncline-") as directory:
        path = pathlib.Path(directory, "report.html")
        call(verb, *arguments, report=path, **options)
        return Page(path.read_text(encoding="utf-8"))


def names(kind):
    """Returns the names that can be used for files: `names("platforms")`; kinds are those of `syncline list --help`."""
    return call("list", kind, names=True)[0].splitlines()


def results(directory, **options):
    """Returns the stored points of a batch: `results("zhang.results", where="ranks > 8").to_pandas()`."""
    return _shown("results", directory, **options)


class Store:
    """The results of a batch, in a directory. One that nobody named is deleted when the object is.

    A terminal and a notebook show its points as a table.
    """

    def __init__(self, directory, messages=""):
        self.directory, self.messages = os.path.abspath(directory), messages

    def rows(self, **options):
        """Returns the points as dictionaries. Options: where, columns, sort, group, study, limit.

        `rows(where=["ranks > 8", "bandwidth = '25 Gbps'"], columns="ranks, throughput", sort="throughput desc")`
        """
        return results(self.directory, **options).rows

    def to_pandas(self, **options):
        """Returns the points as a pandas DataFrame. Options as for rows()."""
        return frame(self.rows(**options))

    frame = to_pandas

    def __repr__(self):
        return repr(results(self.directory))

    def _repr_html_(self):
        return results(self.directory)._repr_html_()

    def plot(self, x, y, **options):
        """Draws the points, as a Picture: `plot("ranks", "throughput", series="variant", log="x")`."""
        return Picture(call("plot", self.directory, x=x, y=y, **options)[0])

    def report(self, **options):
        """Returns the report of the points, a Page. Options as for rows()."""
        return _page("results", self.directory, **options)


def batch(study, out=None, **options):
    """Simulates every point of a study in parallel, and returns a Store: `batch("allreduce", jobs=2)`.

    Results are written to the directory `out`, and a study that is a dictionary to `study.yaml` in it. Points that are
    there already are not simulated again, so an interrupted batch continues. Without `out` the directory is temporary.
    """
    with contextlib.ExitStack() as cleanup:
        if out is None:
            temporary = tempfile.mkdtemp(prefix="syncline-")
            cleanup.callback(shutil.rmtree, temporary, ignore_errors=True)
            out = pathlib.Path(temporary, "results")
        if isinstance(study, dict):
            file = pathlib.Path(out, "study.yaml")
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, study)
            study = file
        store = Store(out, call("batch", study, out=out, **options)[1])
        weakref.finalize(store, cleanup.pop_all().close)
        return store


def explore(study, out=None, **options):
    """Finds the best points of a study: `explore("vgg-16-64", budget=50)["ranked"][0]`."""
    with _file(study, "study") as file:
        return _result("explore", file, out=out, **options)


def sweep(base, axes=None, out=None, options=None, **keywords):
    """Simulates every combination of the axes' values, and returns a Store.

    base: a scenario, or the dictionary of a study (it has `base`), to which the axes are added.
    axes: lists of values by key, `{"training.ranks": [1, 2, 4], "variant": ["ring"]}`. The last one varies fastest.
    out: directory for results and study.yaml; by default a temporary one. options: those of `batch`, `{"jobs": 2}`.
    keywords: more axes, with two underscores for a dot: `training__ranks=[1, 2, 4]`.
    """
    study = dict(base) if isinstance(base, dict) and "base" in base else {"base": base}
    added = {key.replace("__", "."): values for key, values in keywords.items()}
    study["axes"] = {**study.get("axes", {}), **(axes or {}), **added}
    return batch(study, out=out, **(options or {}))
