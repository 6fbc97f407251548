"""A batch of 1000 exchanges among 16 ranks, each of another size, with one job and with two."""
import statistics
import subprocess
import shutil
import time

from report import Goal
from runs import BUILD, OUT, PLATFORM, SYNCLINE, Failure, bare, output, scenario

POINTS = 1000
TURNS = 5  # of one job and two in turn: single runs differ by a sixth
LEAST_SPEED_UP = 1.8  # with two jobs, against one
MOST_OVERHEAD_MS = 15  # per point, beyond its simulation


def seconds(*commands):
    """Returns the wall-clock seconds of `commands` that run concurrently."""
    start = time.perf_counter()
    with open(OUT / "batch.log", "a") as log:
        processes = [subprocess.Popen(list(map(str, command)), stdout=log, stderr=log) for command in commands]
        if any([process.wait() for process in processes]):
            raise Failure(f"one of them failed: {OUT / 'batch.log'}")
    return time.perf_counter() - start


def speed_up_of_two():
    """Returns the speed-up of two concurrent processes on this machine: 2 on two free cores."""
    alone = seconds(bare(256))
    return 2 * alone / seconds(bare(256), bare(256))


def batch(report, options):
    if options.quick:
        print("A batch of 1000 exchanges: not run, --quick")
        return
    study = scenario("batch", {
        "base": {"platform": str(PLATFORM),
                 "collective": {"operation": "allreduce", "algorithm": "ring", "ranks": 16, "bytes": "1 MB"}},
        "axes": {"collective.bytes": [f"{size} kB" for size in range(1, POINTS + 1)]}})
    (OUT / "batch.log").write_text("")
    possible = speed_up_of_two()
    took = {1: [], 2: []}
    for _ in range(TURNS):
        for jobs, times in took.items():
            store = OUT / f"batch-{jobs}"
            shutil.rmtree(store, ignore_errors=True)
            times.append(seconds([SYNCLINE, "batch", study, "--jobs", jobs, "--out", store]))
    one, two = (statistics.median(times) for times in took.values())
    # The time of simulate_collective() alone, called for each point without a batch.
    simulation_s = float(output([BUILD / "simulations", study]))
    speed_up, overhead_ms = one / two, 1e3 * (one / POINTS - simulation_s)
    print(f"A batch of {POINTS} exchanges among 16 ranks: {one:.1f} s with one job, {overhead_ms:.1f} ms per point "
          f"beyond its simulation of {1e3 * simulation_s:.1f} ms ",
          report.verdict("batch", Goal("ms per point", overhead_ms, most=MOST_OVERHEAD_MS)))
    free = possible >= LEAST_SPEED_UP
    if free:
        report.ratio("batch_two_jobs_of_one", speed_up)
        verdict = report.verdict("batch", Goal("speed-up", speed_up, least=LEAST_SPEED_UP))
    else:
        verdict = f"not counted: two processes gain {possible:.2f} here, there are no two free cores"
    print(f"With two jobs {two:.1f} s, {POINTS / two:.0f} points/s, {speed_up:.2f} times as fast  {verdict}")
    report.figures["batch"] = {
        "points": POINTS, "one_job_s": one, "two_jobs_s": two, "speed_up": speed_up, "points_per_s": POINTS / two,
        "simulation_s": simulation_s, "overhead_ms": overhead_ms, "speed_up_of_two_processes": possible,
        "two_free_cores": free}
