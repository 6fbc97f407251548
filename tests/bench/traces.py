"""Execution traces of a million nodes, as GOAL and as Chakra: read, and simulated message by message.

Ranks compute, send to the next one, and receive from the one before, again and again: a third of the nodes each.
"""
from report import Goal, row
from runs import OUT, SYNCLINE, measure, output, result, run, scenario

RANKS, ROUNDS = 16, 20_833
MOST_S, MOST_MB = 10, 1000
PLATFORM = {"nodes": RANKS, "device": "h100-sxm",
            "fabric": {"topology": "star", "bandwidth": "10 GBps", "latency": "1 us"}}


def goal():
    """Writes the trace as GOAL and returns its path."""
    path = OUT / "million.goal"
    with path.open("w") as out:
        out.write(f"num_ranks {RANKS}\n")
        for rank in range(RANKS):
            out.write(f"rank {rank} {{\n")
            for i in range(ROUNDS):
                out.write(f"c{i}: calc {1000 + i % 7}\n")
                if i > 0:
                    out.write(f"c{i} requires r{i - 1}\n")
                out.write(f"s{i}: send 4096b to {(rank + 1) % RANKS} tag 0\ns{i} requires c{i}\n"
                          f"r{i}: recv 4096b from {(rank - 1) % RANKS} tag 0\nr{i} requires c{i}\n")
            out.write("}\n")
    return path


def traces(report, options):
    print(f"Traces of {3 * RANKS * ROUNDS} nodes, from the command to its result\n"
          "format   messages   wall s  CPU s      MB")
    rows = report.figures["traces"] = []
    text = scenario("million-goal", {"platform": PLATFORM, "trace": {"files": str(goal())}})
    output([SYNCLINE, "export", text, "--as", "chakra", "--out", OUT / "million"])
    files = scenario("million-chakra", {"platform": PLATFORM, "trace": {
        "files": str(OUT / "million.{rank}.et"), "ranks": RANKS, "eager": "65535 B"}})
    for name, path in (("goal", text), ("chakra", files)):
        [cost] = measure(min(3, options.rounds), run(f"million-{name}", path))
        messages = result(f"million-{name}")["messages"]
        goals = [Goal("s", cost.cpu_s, most=MOST_S), Goal("MB", cost.peak_memory_MB, most=MOST_MB)]
        row((name, "<7"), (messages, "9"), (cost.wall_s, "8.2f"), (cost.cpu_s, "6.2f"), (cost.peak_memory_MB, "7.0f"),
            "", report.verdict(f"trace {name}", *goals))
        rows.append({"format": name, **cost.figures(messages)})
