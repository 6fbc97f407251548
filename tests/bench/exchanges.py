"""Exchanges message by message: ring, Rabenseifner's halving and doubling, parameter servers, pairwise all-to-all.

Each runs in turn with the bare loop on as many ranks: tests/bench/bare_ring.cpp, actors and mailboxes that do a ring
all-reduce without Syncline, once with syncline's allocator and once with glibc's. Messages per CPU second are compared,
for other algorithms, too. With few ranks the start of the processes dominates.
"""
from report import Goal, row
from runs import Failure, bare, collective, measure, result

RANKS = (16, 64, 256, 1024, 4096)
BARE, GLIBC = "bare loop", "bare, glibc"
ALGORITHMS = {
    "ring": ("--operation", "allreduce", "--algorithm", "ring"),
    "rabenseifner": ("--operation", "allreduce", "--algorithm", "rabenseifner"),
    "parameter-server": ("--operation", "allreduce", "--algorithm", "parameter-server", "--servers", 8),
    "all-to-all": ("--operation", "all-to-all", "--algorithm", "pairwise"),
}
LEAST_OF_BARE = {64: 1, 256: 4, 1024: 7}  # of its messages per CPU second, by ranks; start-up included
MOST_MB = 1000  # of a ring, at any number of ranks
LEAST_OF_GLIBC, MOST_MB_1024 = 1.5, 300  # of a ring among 1024 ranks


def command(name, ranks):
    if name in (BARE, GLIBC):
        return bare(ranks, "_glibc" if name == GLIBC else "")
    return collective(name, ranks, *ALGORITHMS[name])


def left_out(name, ranks, options):
    """Returns the reason why it does not run, or nothing."""
    if ranks == 4096 and name not in ("rabenseifner", "parameter-server") and not options.large:
        return "not run, --large"
    if ranks == 1024 and name == "all-to-all" and options.quick:
        return "not run, --quick"
    return ""


def costs_at(ranks, options):
    """Returns the cost and the number of messages of each program that runs, by name."""
    chosen = [name for name in (BARE, GLIBC, *ALGORITHMS) if not left_out(name, ranks, options)]
    rounds = {16: 8, 64: 8, 256: 2}.get(ranks, 1) * options.rounds
    if ranks == 4096 and options.large:
        rounds = 1
    costs = measure(rounds, *(command(name, ranks) for name in chosen))
    ring = 2 * ranks * (ranks - 1)
    found = {name: (cost, result(name)["messages"] if name in ALGORITHMS else ring)
             for name, cost in zip(chosen, costs)}
    if found.get("ring", (None, ring))[1] != ring:
        raise Failure(f"syncline sent {found['ring'][1]} messages among {ranks} ranks, the bare loop {ring}")
    return found


def goals(name, ranks, cost, of_bare, of_glibc):
    if name != "ring":
        return
    if of_bare and ranks in LEAST_OF_BARE:
        yield Goal("of bare", of_bare, least=LEAST_OF_BARE[ranks])
    if of_glibc and ranks == 1024:
        yield Goal("of glibc", of_glibc, least=LEAST_OF_GLIBC)
    yield Goal("MB", cost.peak_memory_MB, most=MOST_MB_1024 if ranks == 1024 else MOST_MB)


def exchanges(report, options):
    print("Exchanges of 100 MB, message by message: messages per CPU second, CPU seconds, peak memory in MB; messages\n"
          "per CPU second against the bare loop's, a ring, with the same allocator and with glibc's\n"
          "exchange         ranks  messages   messages/s  seconds      MB  of bare of glibc")
    rows = report.figures["exchanges"] = []
    for ranks in RANKS:
        found = costs_at(ranks, options)
        rate = {name: messages / cost.cpu_s for name, (cost, messages) in found.items()}
        for name in (BARE, GLIBC, *ALGORITHMS):
            if name not in found:
                row((name, "<16"), (ranks, "5"), left_out(name, ranks, options))
                continue
            cost, messages = found[name]
            of_bare = of_glibc = None
            if name in ALGORITHMS and BARE in found:
                of_bare = rate[name] / rate[BARE]
                report.ratio(f"{name}_{ranks}_of_bare", of_bare)
                report.ratio(f"{name}_{ranks}_memory_of_bare", found[BARE][0].peak_memory_MB / cost.peak_memory_MB)
            if name == "ring" and GLIBC in found:
                of_glibc = rate[name] / rate[GLIBC]
                report.ratio(f"ring_{ranks}_of_bare_glibc", of_glibc)
            verdict = report.verdict(f"{name} {ranks}", *goals(name, ranks, cost, of_bare, of_glibc))
            row((name, "<16"), (ranks, "5"), (messages, "9"), (rate[name], "12.0f"), (cost.cpu_s, "8.2f"),
                (cost.peak_memory_MB, "7.0f"), (of_bare, "8.2f"), (of_glibc, "8.2f"), "", verdict)
            rows.append({"exchange": name, "ranks": ranks, **cost.figures(messages)})
