"""Simulations of every message: what users wait for, with rings, parameter servers, all-to-alls and trees.

Seconds depend on the machine, so goals are for one on which the bare loop (tests/bench/bare_ring.cpp) takes 4.2 s of
CPU time for a ring among 1024 ranks; it runs in turn with each simulation, and figures are scaled by it.
"""
from report import Goal, row
from runs import OUT, PLATFORM, ROOT, bare, collective, measure, result, run, scenario

BARE_RANKS, BARE_S = 1024, 4.2


def training(name, ranks, **keys):
    """Returns the path of a scenario with one layer of 100 MB."""
    scenario("block", {"name": "block", "input": [1, 1, 1], "layers": [
        {"name": "a", "kind": "custom", "parameters": 25_000_000, "macs": 1_000_000_000, "activations": 1000}]})
    return scenario(name, {
        "name": name, "platform": str(PLATFORM), "workload": str(OUT / "block.yaml"),
        "training": {"ranks": ranks, "batch_per_rank": 32, "compute": "roofline", "jitter": 0.05, "iterations": 1, **keys}})


def torus(*dimensions):
    return ("--set", "platform.fabric.topology=torus", "--set", f"platform.fabric.dimensions={list(dimensions)}")


def pairwise(ranks, *changes):
    return lambda name: collective(name, ranks, "--operation", "all-to-all", "--algorithm", "pairwise", *changes)


def random_ring(ranks, *changes):
    return ring(ranks, "--placement", "random", *changes)


def uneven_experts(name):
    """An iteration of DeepSeek-V3 whose experts get different numbers of tokens, which nothing folds."""
    return run(name, scenario(name, {
        "name": name, "platform": "dgx-h100", "workload": "deepseek-v3", "training": {
            "ranks": 512, "batch": 512, "framework": "megatron-core", "fidelity": "message", "iterations": 1,
            "parallelism": {"experts": {"ranks": 64, "imbalance": "20 %"}, "sharding": "optimizer",
                            "pipeline": {"stages": 8, "schedule": "1f1b", "micro_batch_size": 1}}}}), "--allow-oom")


def ring(ranks, *changes):
    return lambda name: collective(name, ranks, *changes)


def servers(ranks):
    return lambda name: collective(name, ranks, "--algorithm", "parameter-server", "--servers", 8)


def jittered_servers(ranks):
    keys = {"exchange": "parameter-server", "servers": {"count": 8, "placement": "sliced"}}
    return lambda name: run(name, training(name, ranks, **keys))


def tensors_on_servers(name):
    """Each tensor of ResNet-50 is on one of 116 servers."""
    keys = {"exchange": "parameter-server", "servers": {"count": 116, "placement": "round-robin"}}
    return run(name, scenario(name, {
        "name": name, "platform": str(PLATFORM), "workload": str(ROOT / "workloads/resnet-50.yaml"),
        "training": {"ranks": 128, "batch_per_rank": 32, "iterations": 1, **keys}}))


def direct(*changes):
    return lambda name: collective(name, 256, "--operation", "all-to-all", "--algorithm", "direct", *changes)


def resnet(name):
    return run(name, scenario(name, {
        "name": name, "platform": str(PLATFORM), "workload": str(ROOT / "workloads/resnet-50.yaml"),
        "training": {"ranks": 256, "batch_per_rank": 64, "algorithm": "ring", "iterations": 1}}))


# 16 hosts share a leaf's cable, which is four times as fast as theirs.
TREE = "platform.fabric={topology: tree, arity: 16, depth: 2, bandwidth: [25 Gbps, 100 Gbps], latency: 1 us}"
HIERARCHY = ("--algorithm", "hierarchical", "--overlay",
             "{topology: hierarchical, levels: [{pattern: ring, size: 8}, {pattern: ring}]}")

# name, command of its name, seconds and MB at most, whether it runs with --quick
WORKS = [
    ("ring 64", ring(64), 0.01, 12, True),
    ("ring 256", ring(256), 0.07, None, True),
    ("ring 1024", ring(1024), 0.35, 60, True),
    ("ring 4096", ring(4096), 8, 300, False),
    ("ring 256, jitter", lambda name: run(name, training(name, 256, exchange="allreduce")), 0.1, None, True),
    ("servers 128 x 8", servers(128), 0.05, None, True),
    ("servers 1024 x 8", servers(1024), 0.25, 100, True),
    ("servers 128 x 8, jitter", jittered_servers(128), 0.05, None, True),
    ("servers 512 x 8, jitter", jittered_servers(512), 0.1, None, True),
    ("servers 1024 x 8, jitter", jittered_servers(1024), 0.25, 100, True),
    ("servers 2048 x 8, jitter", jittered_servers(2048), 0.2, None, True),
    ("servers 4096 x 8, jitter", jittered_servers(4096), 0.3, None, True),
    ("servers 128 x 116, tensors", tensors_on_servers, 10, None, False),
    ("direct 256, star", direct(), 0.1, None, True),
    ("direct 256, tree 4:1", direct("--set", TREE), 0.2, None, True),
    ("direct 256, torus", direct("--set", "platform.fabric.topology=torus"), 3, None, False),
    ("pairwise 64, torus", pairwise(64, *torus(4, 4, 4)), 0.1, None, True),
    ("pairwise 256, torus", pairwise(256, *torus(8, 8, 4)), 1, None, True),
    ("pairwise 512, torus", pairwise(512, *torus(8, 8, 8)), 6, None, True),
    ("random ring 256, tree 4:1", random_ring(256, "--set", TREE), 0.3, None, True),
    ("random ring 256, torus", random_ring(256, *torus(8, 8, 4)), 0.3, None, True),
    ("random ring 512, torus", random_ring(512, *torus(8, 8, 8)), 1.5, None, True),
    ("random ring 1024, torus", random_ring(1024, *torus(16, 8, 8)), 3, None, True),
    ("ResNet-50, 54 buckets, 256", resnet, 2.5, None, False),
    ("DeepSeek-V3, uneven, 512", uneven_experts, 5, None, False),
    ("double binary tree 1024", ring(1024, "--algorithm", "double-binary-tree"), 0.3, None, True),
    ("hierarchical 128 x 8", ring(1024, *HIERARCHY), 0.2, None, True),
]


def messages(report, options):
    print(f"Simulations of every message: CPU seconds, the same where the bare loop of {BARE_RANKS} takes {BARE_S} s\n"
          "work                          messages  seconds   scaled      MB")
    rows = report.figures["messages"] = []
    for work, command, most_s, most_MB, quick in WORKS:
        if options.quick and not quick:
            row((work, "<27"), "not run, --quick")
            continue
        name = work.replace(" ", "-").replace(",", "").replace(":", "")
        clock, cost = measure(options.rounds if quick else 1, bare(BARE_RANKS), command(name))
        count, scaled_s = result(name)["messages"], cost.cpu_s * BARE_S / clock.cpu_s
        report.ratio(f"{name}_of_bare_{BARE_RANKS}", clock.cpu_s / cost.cpu_s)
        goals = [Goal("s", scaled_s, most=most_s)]
        goals += [Goal("MB", cost.peak_memory_MB, most=most_MB)] if most_MB else []
        row((work, "<27"), (count, "10"), (cost.cpu_s, "8.3f"), (scaled_s, "8.3f"), (cost.peak_memory_MB, "7.0f"), "",
            report.verdict(work, *goals))
        rows.append({"work": work, "scaled_s": scaled_s, **cost.figures(count)})
