"""Folded ring all-reduces (`fidelity: folded`): repeated steps are simulated once and extrapolated.

The bare loop of 256 ranks runs in turn with each. The ratio is that of messages, folded ones included, per CPU second:
it says how much faster than that loop results are available, on any machine.
"""
import math
import subprocess

from report import Goal, row
from runs import Failure, bare, collective, measure, result

RANKS = (256, 1024, 4096, 16384)
MOST = {4096: (1, 500), 16384: (5, 2000)}  # seconds, MB
CLOCK = 256  # ranks of the bare loop that ratios refer to


def ring(ranks):
    return collective(f"folded-{ranks}", ranks, "--operation", "allreduce", "--algorithm", "ring",
                      "--set", "fidelity=folded")


def why_not():
    """Returns the reason why this program does not fold, or nothing."""
    run = subprocess.run(list(map(str, ring(64))), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode == 3 and "unknown key 'fidelity'" in run.stderr:
        return "no folding: syncline has no key `fidelity`"
    if run.returncode != 0:
        raise Failure(f"a folded ring of 64 ranks: {run.stderr}")
    if not result("folded-64")["messages_folded"]:
        return "no folding: of a ring of 64 ranks all messages are simulated"
    return ""


def folded(report, options):
    absent = why_not()
    if absent:
        print(absent)
        return
    print("Folded ring all-reduces of 100 MB\n"
          " ranks   messages  simulated  wall s      MB  CPU us per rank  of bare loop of 256")
    rows = report.figures["folded"] = []
    for ranks in RANKS:
        clock, cost = measure(options.rounds, bare(CLOCK), ring(ranks))
        found = result(f"folded-{ranks}")
        ratio = found["messages"] / cost.cpu_s / (2 * CLOCK * (CLOCK - 1) / clock.cpu_s)
        report.ratio(f"folded_ring_{ranks}_of_bare_{CLOCK}", ratio)
        goals = []
        if ranks in MOST:
            most_s, most_MB = MOST[ranks]
            goals = [Goal("wall s", cost.wall_s, most=most_s), Goal("MB", cost.peak_memory_MB, most=most_MB)]
        row((ranks, "6"), (found["messages"], "10"), (found["messages_simulated"], "10"), (cost.wall_s, "7.2f"),
            (cost.peak_memory_MB, "7.0f"), (1e6 * cost.cpu_s / ranks, "16.1f"), (ratio, "20.1f"), "",
            report.verdict(f"folded ring {ranks}", *goals))
        rows.append({"ranks": ranks, "messages_simulated": found["messages_simulated"],
                     "messages_folded": found["messages_folded"], "cpu_per_rank_s": cost.cpu_s / ranks,
                     **cost.figures()})
    growth = rows[-1]["cpu_per_rank_s"] / rows[0]["cpu_per_rank_s"]
    most = math.log(RANKS[-1]) / math.log(RANKS[0])
    print(f"CPU time per rank grows by {growth:.2f} from {RANKS[0]} to {RANKS[-1]} ranks, log N by {most:.2f} ",
          report.verdict("folded rings", Goal("growth of CPU time per rank", growth, most=round(most, 4))))
