"""The values that calls return: results, pictures and pages."""
import html

from .tables import to_html


def _flat(row):
    """Returns a row without nested dictionaries, with the names of CSV: `memory.fraction` becomes `memory_fraction`."""
    flat = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update({f"{key}_{inner}": entry for inner, entry in _flat(value).items()})
        else:
            flat[key] = value
    return flat


def _by_size(entry):
    """Returns the rows of a variant: one for each size of an exchange, otherwise the variant itself."""
    if not isinstance(entry.get("points"), list):
        return [entry]
    common = {key: value for key, value in entry.items() if key != "points"}
    return [{**common, **point} for point in entry["points"]]


def frame(rows):
    """Returns a pandas DataFrame of rows (dictionaries). Nested fields have the names of CSV: `memory_fraction`."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas; rows are dictionaries and need nothing") from error
    return pandas.DataFrame([_flat(row) for row in rows])


class Result(dict):
    """The JSON that a verb prints, as a dictionary. Times are in seconds, sizes in bytes, rates in bytes per second.

    A terminal and a notebook show it as the verb's tables.

    rows: the rows of CSV: the entries of its main list (variants, plans, points, layers), or the result itself if it has
        none.
    text: what the verb prints: its tables and notes.
    messages: what the program said on standard error: notes and warnings.
    """

    _lists = ("results", "explanations", "answers", "points", "layers", "ranked")

    def __init__(self, fields, messages="", text=""):
        super().__init__(fields)
        self.messages, self.text = messages, text
        entries = next((self[name] for name in self._lists if name in self), [self])
        self.rows = [row for entry in entries for row in _by_size(entry)]

    def to_pandas(self):
        """Returns the rows as a pandas DataFrame."""
        return frame(self.rows)

    frame = to_pandas

    def __repr__(self):
        return self.text.rstrip("\n") or super().__repr__()

    def _repr_html_(self):
        return to_html(self.text or super().__repr__())


class Picture:
    """A drawing, which a notebook shows. `svg` is its text."""

    def __init__(self, svg):
        self.svg = svg

    def save(self, path):
        """Writes the picture to a file, as SVG."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)

    def _repr_svg_(self):
        return self.svg


class Page:
    """A report: a page with charts, which a notebook shows in a frame. `html` is its text."""

    def __init__(self, text):
        self.html = text

    def save(self, path):
        """Writes the page to a file, which needs no other file and no network."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.html)}" style="width: 100%; height: 720px; border: 0"></iframe>'
