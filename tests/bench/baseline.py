"""Compares a run of the bench with an earlier one.

Only ratios are compared, because seconds depend on the machine and on its other work.
"""
import json
import pathlib

from runs import Failure

TOLERATED = 0.15  # a ratio may be this much below the baseline's; single runs differ by less


def load(path):
    """Returns the results in a file."""
    try:
        results = json.loads(pathlib.Path(path).read_text())
    except (OSError, ValueError) as error:
        raise Failure(f"{path}: {error}") from error
    ratios = results.get("ratios") if isinstance(results, dict) else None
    if not isinstance(ratios, dict) or not all(
            isinstance(value, (int, float)) and value > 0 for value in ratios.values()):
        raise Failure(f"{path}: no results of scripts/bench: `ratios` must be an object of positive numbers")
    return results


def compare(baseline, now):
    """Prints the differences; returns whether no ratio is more than TOLERATED below the baseline's."""
    before, after = baseline["ratios"], now["ratios"]
    both = [name for name in before if name in after]
    if not both:
        raise Failure("nothing to compare: the two have no ratio in common")
    for absent, where in ((before.keys() - after.keys(), "now"), (after.keys() - before.keys(), "in the baseline")):
        if absent:
            print(f"not measured {where}: {', '.join(sorted(absent))}")
    if baseline.get("machine") != now.get("machine"):
        print("the baseline is of another machine, or of other versions")
    fallen = [name for name in both if after[name] / before[name] < 1 - TOLERATED]
    for name in fallen:
        print(f"REGRESSION: {name} {after[name]:.3f}, {1 - after[name] / before[name]:.1%} below the baseline's "
              f"{before[name]:.3f}")
    if not fallen:
        print(f"{len(both)} ratios, none more than {TOLERATED:.0%} below the baseline's")
    return not fallen
