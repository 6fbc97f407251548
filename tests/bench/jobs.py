"""Jobs that share a cluster: an hour of 64 trainings, each in a rack of its own, whose iterations are folded; and a queue
of short jobs."""
import json

from report import Goal
from runs import OUT, measure, run, scenario, Failure

HOUR_S = 300  # CPU seconds of the hour
QUEUE_S = 30  # of the queue
DEVICE = {"name": "tiny", "flops": "1 Tflops", "memory_bandwidth": "100 TBps", "reduction_rate": "unlimited"}


def racks(hosts, switches, device):
    return {"name": "racks", "device": device, "fabric": {
        "topology": "fat-tree", "down": [hosts, switches], "up": [1, max(1, hosts // 4)], "bandwidth": "100 Gbps",
        "latency": "1 us"}}


def results(name):
    return json.loads((OUT / name / "results.json").read_text())["results"][0]


def jobs(report, options):
    hour = scenario("jobs-hour", {"platform": racks(16, 64, "p100-sxm2"), "jobs": {"job": {
        "count": 64, "placement": "rack", "duration": "1 h", "workload": "resnet-50",
        "training": {"ranks": 16, "batch_per_rank": 32, "fidelity": "folded"}}}})
    queue = scenario("jobs-queue", {"platform": racks(4, 16, DEVICE), "queue": "skip", "jobs": {"job": {
        "count": 400 if options.quick else 800, "interval": "1 ms", "placement": "rack",
        "workload": {"name": "one-layer", "input": [1, 1, 1], "layers": [
            {"name": "only", "kind": "custom", "parameters": 250000, "macs": 500000000}]},
        "training": {"ranks": 4, "batch_per_rank": 1, "optimizer": "none", "compute": "roofline", "iterations": 20}}}})
    for name, what, path, most_s in (("jobs-hour", "An hour of 64 jobs of 16 ranks, each in its rack", hour, HOUR_S),
                                     ("jobs-queue", "A queue of jobs of 4 ranks for 16 racks", queue, QUEUE_S)):
        cost, = measure(1, run(name, path))
        found = results(name)
        if any(job["slowdown"] != 1 for job in found["jobs"]):
            raise Failure(f"{name}: jobs in racks of their own slow each other")
        print(f"{what}: {len(found['jobs'])} jobs, {found['makespan_s']:.4g} s of cluster time in {cost.cpu_s:.1f} s of CPU, "
              f"{cost.peak_memory_MB:.0f} MB ", report.verdict(name, Goal("s", cost.cpu_s, most=most_s)))
        report.figures[name] = {"jobs": len(found["jobs"]), "makespan_s": found["makespan_s"], **cost.figures()}
