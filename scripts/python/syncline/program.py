"""Finds the program, calls it, and turns its errors into exceptions."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

_chosen = None  # the program that use() was given
_joined = ("columns", "group", "ranks", "series", "sort")  # options that take several values at once, with commas between them


class Error(Exception):
    """The program ended with an error. `str()` of it is the program's message, with file, line and hint.

    code: exit code: 1 a simulation or a check failed, 2 wrong usage, 3 invalid configuration, 4 input/output error,
        70 a bug in Syncline, 130 interrupted; 128 + N if signal N ended the program.
    command: the command, as a list of words.
    """

    def __init__(self, message, code, command):
        super().__init__(message or f"exit code {code}")
        self.code, self.command = code, command


def use(program):
    """Sets the program that is called from now on: a path; None: search again, as find() does."""
    global _chosen
    _chosen = None if program is None else os.fspath(program)


def find():
    """Returns the path of the program. The first of these that exists:

    the one given to use(), `$SYNCLINE`, the one that was installed together with this module, `syncline` on `PATH`,
    the release build of the clone that this module is in.
    """
    for source, path in (("use()", _chosen), ("$SYNCLINE", os.environ.get("SYNCLINE"))):
        if path:
            if not os.access(path, os.X_OK) or os.path.isdir(path):
                raise FileNotFoundError(f"{source}: {path!r} is not a program")
            return os.path.abspath(path)
    # PREFIX/share/syncline/python, PREFIX/lib/python3/dist-packages, or CLONE/scripts/python
    above = list(pathlib.Path(__file__).resolve().parents)[2:6]
    installed = [str(directory / "bin" / "syncline") for directory in above]
    built = [str(directory / "build" / "release" / "syncline") for directory in above]
    for path in [*installed, shutil.which("syncline"), *built]:
        if path and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("there is no program 'syncline': install it, set $SYNCLINE to its path, or call syncline.use(path)")


def _value(value):
    """Returns the text of a value: numbers, lists and mappings as YAML reads them, None as the YAML that removes a key."""
    if value is None:
        return "~"
    return os.fspath(value) if isinstance(value, (str, os.PathLike)) else json.dumps(value, ensure_ascii=False)


def words(options):
    """Returns the words of a command line for keyword arguments: see call()."""
    found = []
    for name, value in options.items():
        if "__" in name.strip("_"):
            name, value = "set", {name.replace("__", "."): value}
        option = "--" + name.rstrip("_").replace("_", "-")
        if name in _joined and isinstance(value, (list, tuple)):
            value = ",".join(map(str, value))
        if value is True:
            found.append(option)
        elif isinstance(value, dict):
            found += [f"{option}={key}={_value(entry)}" for key, entry in value.items()]
        elif value is not None and value is not False:
            found += [f"{option}={_value(entry)}" for entry in (value if isinstance(value, (list, tuple)) else [value])]
    return found


def call(verb, *arguments, **options):
    """Runs `syncline VERB OPTIONS -- ARGUMENTS` and returns (standard output, standard error), two texts.

    Arguments are names, of files for instance, and never options, whatever they begin with. A verb of a verb is one text:
    `call("results merge", "one", "other", output="merged")`.

    A keyword is an option: `what_if="latency x0.5"` is `--what-if='latency x0.5'`. True gives an option without a
    value, False and None leave it out, a list repeats it (columns, group, ranks, series and sort join it with commas), and
    a dictionary gives KEY=VALUE for each of its items: `set={"training.ranks": 8}`. A keyword with two underscores for each
    dot is a key, too: `training__ranks=8`. Quantities are texts with a unit, as in scenarios: `"25 Gbps"`.

    Raises Error if the exit code is not 0. Ctrl-C is passed on to the program, which ends cleanly, and
    KeyboardInterrupt is raised.
    """
    named = ["--", *map(os.fspath, arguments)] if arguments else []
    command = [find(), *verb.split(), *words(options), *named]
    # In a session of its own the program receives Ctrl-C once, from here, on a terminal as in a notebook.
    given = [word.encode("utf-8", "surrogateescape") for word in command]  # in any locale
    with subprocess.Popen(given, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          encoding="utf-8", errors="replace", start_new_session=True) as process:
        try:
            out, err = process.communicate()
        except BaseException:
            process.send_signal(signal.SIGINT)
            process.communicate()
            raise
    if process.returncode == 0:
        return out, err
    code = process.returncode if process.returncode > 0 else 128 - process.returncode
    raise Error(err.strip(), code, command)
