"""The results of a run of the bench: figures, ratios, goals met and missed."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """A figure, and its minimum or maximum."""
    name: str
    value: float
    least: float = None
    most: float = None

    def met(self):
        return (self.least is None or self.value >= self.least) and (self.most is None or self.value <= self.most)

    def __str__(self):
        bound = f"at least {self.least:g}" if self.least is not None else f"at most {self.most:g}"
        return f"{self.name} {self.value:.4g}, {bound}"


class Report:
    def __init__(self):
        self.figures = {}  # by section: numbers with their unit in the key
        self.ratios = {}  # by name, higher is better; --check compares them
        self.goals = {}  # by the name of the measurement, such as "ring 1024"

    def verdict(self, what, *goals):
        """Records goals; returns the text that ends a line of figures."""
        self.goals.setdefault(what, []).extend(goals)
        missed = [str(goal) for goal in goals if not goal.met()]
        return "MISSED: " + "; ".join(missed) if missed else "ok" if goals else ""

    def missed(self):
        return [f"{what}: {goal}" for what, goals in self.goals.items() for goal in goals if not goal.met()]

    def ratio(self, name, value):
        self.ratios[name] = round(value, 4)

    def as_json(self):
        goals = [{"of": what, "name": goal.name, "value": goal.value, "least": goal.least, "most": goal.most,
                  "met": goal.met()} for what, goals in self.goals.items() for goal in goals]
        return {**self.figures, "goals": goals, "ratios": self.ratios}


def row(*cells):
    """Prints a line of a table: each cell is (value, format), or a text for its end; None prints as `-`."""
    texts = []
    for cell in cells:
        if isinstance(cell, str):
            texts.append(cell)
            continue
        value, layout = cell
        width = layout.partition(".")[0].strip("<>")
        texts.append(f"{'-':>{width}}" if value is None else f"{value:{layout}}")
    print(" ".join(texts).rstrip(), flush=True)
