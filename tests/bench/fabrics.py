"""Large fabrics: the time to build them, and to route a round of empty gossip messages in a ring."""
from report import Goal, row
from runs import collective, measure

FABRICS = (("exponential", 1024), ("dragonfly", 1024), ("torus", 1024), ("hypercube", 1024),
           ("star", 4096), ("torus", 4096), ("fat-tree", 4096))
MOST_S = 2
MOST_MB = 300  # with 1024 hosts; four times as much with 4096


def fabrics(report, options):
    print("Fabrics, from the command to the end of 2N messages without bytes: CPU seconds, peak memory in MB\n"
          "topology      hosts  seconds      MB")
    rows = report.figures["fabrics"] = []
    for topology, hosts in FABRICS:
        [cost] = measure(min(3, options.rounds), collective(
            "fabric", hosts, "--set", f"platform.fabric.topology={topology}", "--operation", "neighbour-exchange",
            "--overlay", "ring", size="0B"))
        goals = [Goal("s", cost.cpu_s, most=MOST_S), Goal("MB", cost.peak_memory_MB, most=MOST_MB * hosts // 1024)]
        row((topology, "<12"), (hosts, "6"), (cost.cpu_s, "8.2f"), (cost.peak_memory_MB, "7.0f"), "",
            report.verdict(f"{topology} {hosts}", *goals))
        rows.append({"topology": topology, "hosts": hosts, **cost.figures()})
