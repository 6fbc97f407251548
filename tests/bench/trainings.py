"""Iterations of training: the time until one begins, GPT-3, ResNet-50, many workers of a few parameter servers, and the
search of a plan."""
import json
import os
import re
import signal
import statistics
import subprocess
import threading

import folded
from report import Goal, row
from runs import OUT, PLATFORM, ROOT, SYNCLINE, Failure, bare, measure, output, result, run, scenario

MOST_START_S = 1  # until 1024 ranks of ResNet-50 begin to replay
START_LIMIT_S = 10
MOST_GPT_S, MOST_GPT_MB = 60, 4000  # of an iteration on 1024 devices, whole, start-up included
MOST_RESNET_FOLDED_S = 5  # among 1024 ranks
MOST_SERVERS_S = 30
MOST_FOLDED_S = 10  # CPU seconds of a folded iteration of Llama-3-405B
MOST_PLAN_S = 300  # the best plan of Llama-3-70B on 512 devices, found and run, with two cores


def first_message_s():
    """Measures the start of a scenario with 1024 ranks; the rest takes minutes and is stopped."""
    command = [SYNCLINE, "run", ROOT / "scenarios/zhang-2021.yaml", "--set", "training.ranks=1024", "--timing"]
    # A session of its own, because the program simulates in a separate process, which must end, too.
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    limit = threading.Timer(START_LIMIT_S, os.killpg, (process.pid, signal.SIGINT))
    limit.start()
    told, found = "", None
    try:
        while not found and (line := process.stderr.readline()):
            told += line
            found = re.match(r"timing: ring: first message ([0-9.]+) s after", line)
    finally:
        limit.cancel()
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGINT)
        process.communicate()
    if not found:
        raise Failure(f"no first message within {START_LIMIT_S} s:\n{told}")
    return float(found.group(1))


def start(report, options):
    wall_s = statistics.median(first_message_s() for _ in range(options.rounds))
    print(f"ResNet-50 on 1024 ranks begins to replay after {wall_s:.2f} s ",
          report.verdict("start-up", Goal("s", wall_s, most=MOST_START_S)))
    report.figures["start_up"] = {"ranks": 1024, "wall_s": wall_s}


def gpt_3(report, options):
    """Measures an iteration of tensor 8 × pipeline 16 × data 8 with 16 microbatches, message by message."""
    if options.quick:
        print("GPT-3 175B on 1024 devices: not run, --quick")
        return
    clock, cost = measure(1, bare(1024), run(
        "gpt-3", ROOT / "scenarios/gpt-3-175b.yaml", "--set", "training.fidelity=message", "--set",
        "training.batch_per_rank=16", "--set", "training.parallelism.pipeline.micro_batches=16"))
    messages = result("gpt-3")["messages"]
    report.ratio("gpt-3_of_bare_1024", messages / cost.cpu_s / (2 * 1024 * 1023 / clock.cpu_s))
    goals = [Goal("s", cost.wall_s, most=MOST_GPT_S), Goal("MB", cost.peak_memory_MB, most=MOST_GPT_MB)]
    print(f"GPT-3 175B on 1024 devices: an iteration of {messages} messages in {cost.wall_s:.1f} s, "
          f"{cost.peak_memory_MB:.0f} MB ", report.verdict("GPT-3", *goals))
    report.figures["gpt_3_175b"] = cost.figures(messages)


def llama_3_405b(ranks, platform, batch, **split):
    """Returns a scenario of Llama-3-405B on 16 stages of four virtual ones each."""
    return {"platform": platform, "workload": "llama-3-405b", "training": {
        "ranks": ranks, "batch": batch, "framework": "megatron-core", "fidelity": "folded", "iterations": 1,
        "parallelism": {"sequence": True, "sharding": "optimizer", **split, "pipeline": {
            "stages": 16, "schedule": "interleaved", "virtual_stages": 4, "micro_batch_size": 1,
            "layers": [3] + [4] * 62 + [3]}}}}


def large_folded(report, options):
    """Measures folded iterations of Llama-3-405B: with context parallelism, on racks that a stage fills, and on racks
    that stages fill only in part. The ratio is that of messages, folded ones included, per CPU second."""
    if options.quick:
        print("Llama-3-405B on 8192 and 1024 devices, folded: not run, --quick")
        return
    racks = llama_3_405b(1024, "gb200-nvl72", 1536, model=4)
    runs = {"8192-h100": llama_3_405b(8192, "dgx-h100", 64, model=8, context=16),
            "1024-gb200-of-64": {**racks, "variants": {"base": {"platform.per_node": {"devices": 64, "nics": 64}}}},
            "1024-gb200": racks}
    for where, content in runs.items():
        name = f"llama-3-405b-{where}"
        path = scenario(name, content)
        clock, cost = measure(1, bare(1024), run(name, path, "--allow-oom"))
        expected_s = json.loads(output([SYNCLINE, "run", path, "--dry-run", "--format", "json"]))["dry_run"][0][
            "simulation"]["wall_time_s"]
        messages = result(name)["messages"]
        report.ratio(f"{name}_of_bare_1024", messages / cost.cpu_s / (2 * 1024 * 1023 / clock.cpu_s))
        of_expected = cost.cpu_s / expected_s
        goals = [Goal("CPU s", cost.cpu_s, most=MOST_FOLDED_S), Goal("of the estimate", of_expected, least=1 / 2),
                 Goal("of the estimate", of_expected, most=2)]
        print(f"Llama-3-405B on {where}, folded: {messages} messages in {cost.cpu_s:.1f} CPU s, "
              f"{cost.peak_memory_MB:.0f} MB ", report.verdict(name, *goals))
        report.figures[name.replace("-", "_")] = {**cost.figures(messages), "estimated_s": expected_s}


def plan(report, options):
    """Measures `parallelism: auto` for Llama-3-70B on 512 H100."""
    if options.quick:
        print("plan of Llama-3-70B on 512 devices: not run, --quick")
        return
    path = scenario("llama-3-70b-auto", {
        "platform": "dgx-h100", "workload": "llama-3-70b",
        "training": {"ranks": 512, "batch": 512, "optimizer": "adam", "precision": "mixed", "parallelism": "auto"}})
    cost, = measure(1, run("llama-3-70b-auto", path))
    best = result("llama-3-70b-auto")
    goal = Goal("s", cost.wall_s, most=MOST_PLAN_S)
    print(f"plan of Llama-3-70B on 512 devices: found and run in {cost.wall_s:.0f} s, {cost.peak_memory_MB:.0f} MB; an "
          f"iteration takes {best['iteration_time_s']:.3f} s ", report.verdict("plan", goal))
    report.figures["llama_3_70b_auto"] = {**cost.figures(), "iteration_time_s": best["iteration_time_s"]}


def resnet_left_out(ranks, fidelity, options):
    """Returns the reason why it does not run, or nothing."""
    if fidelity == "folded":
        return folded.why_not()
    if ranks == 1024 and not options.large:
        return "not run, --large"
    if ranks >= 256 and options.quick:
        return "not run, --quick"
    return ""


def resnet_50(report, options):
    """Measures an iteration without fusion, and the bare loop: on as many ranks if its start is then negligible, on
    256 ranks if messages are folded."""
    path = scenario("resnet-50", {
        "name": "resnet-50", "platform": str(PLATFORM), "workload": str(ROOT / "workloads/resnet-50.yaml"),
        "training": {"ranks": 64, "batch_per_rank": 64, "exchange": "allreduce", "algorithm": "ring",
                     "overlap": "wait-free", "iterations": 1}})
    plan = json.loads(output([SYNCLINE, "run", path, "--dry-run", "--format", "json"]))
    buckets = len(plan["dry_run"][0]["exchanges"])
    print(f"An iteration of ResNet-50, {buckets} ring all-reduces beside the backward pass\n"
          " ranks fidelity   messages  simulated  messages/s  wall s      MB  of bare")
    rows = report.figures["resnet_50"] = []
    for ranks, fidelity in [(n, f) for f in ("message", "folded") for n in (64, 256, 1024)]:
        absent = resnet_left_out(ranks, fidelity, options)
        if absent:
            row((ranks, "6"), (fidelity, "<8"), absent)
            continue
        name, changes = f"resnet-50-{ranks}-{fidelity}", ["--set", f"training.ranks={ranks}"]
        if fidelity == "folded":
            changes += ["--set", "training.fidelity=folded"]
        yardstick = max(ranks, folded.CLOCK) if fidelity == "message" else folded.CLOCK
        rounds = options.rounds if fidelity == "folded" or ranks == 64 else 1
        clock, cost = measure(rounds, bare(yardstick), run(name, path, *changes))
        found = result(name)
        messages, simulated = found["messages"], found.get("messages_simulated")
        ratio = messages / cost.cpu_s / (2 * yardstick * (yardstick - 1) / clock.cpu_s)
        report.ratio(f"resnet-50_{ranks}_{fidelity}_of_bare_{yardstick}", ratio)
        goals = []
        if (ranks, fidelity) == (1024, "folded"):
            goals = [Goal("wall s", cost.wall_s, most=MOST_RESNET_FOLDED_S)]
        row((ranks, "6"), (fidelity, "<8"), (messages, "10"), (simulated, "10"), (messages / cost.cpu_s, "11.0f"),
            (cost.wall_s, "7.2f"), (cost.peak_memory_MB, "7.0f"), (ratio, "8.2f"), "",
            report.verdict(f"ResNet-50 {ranks} {fidelity}", *goals))
        rows.append({"ranks": ranks, "fidelity": fidelity, "buckets": buckets, "messages_simulated": simulated,
                     **cost.figures(messages)})


def servers(report, options):
    """Measures workers that are not in step: no two messages start at the same instant."""
    scenario("block", {"name": "block", "input": [1, 1, 1], "layers": [
        {"name": "a", "kind": "custom", "parameters": 25_000_000, "macs": 1_000_000_000, "activations": 1000}]})
    path = scenario("servers", {
        "name": "servers", "platform": str(PLATFORM), "workload": str(OUT / "block.yaml"),
        "training": {"ranks": 512, "batch_per_rank": 32, "exchange": "parameter-server",
                     "servers": {"count": 8, "placement": "sliced"}, "compute": "roofline", "jitter": 0.1}})
    print("512 workers that push 100 MB each to 8 servers and pull it, with jitter\n"
          "iterations  messages of one  wall s      MB  of bare loop of 256")
    rows = report.figures["parameter_servers_with_jitter"] = []
    for iterations in (1, 4):
        clock, cost = measure(options.rounds, bare(256),
                              run("servers", path, "--set", f"training.iterations={iterations}"))
        messages = result("servers")["messages"]
        ratio = iterations * messages / cost.cpu_s / (2 * 256 * 255 / clock.cpu_s)
        report.ratio(f"servers_{iterations}_of_bare_256", ratio)
        row((iterations, "10"), (messages, "16"), (cost.wall_s, "7.2f"), (cost.peak_memory_MB, "7.0f"),
            (ratio, "20.3f"), "",
            report.verdict(f"servers, {iterations} iterations", Goal("wall s", cost.wall_s, most=MOST_SERVERS_S)))
        rows.append({"iterations": iterations, "messages": messages, **cost.figures()})
