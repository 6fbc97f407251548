"""The page of `syncline serve`: a knob of 32 ranks, and ten students who turn one at once."""
import pathlib
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from report import Goal
from runs import ROOT, SYNCLINE

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "serve"))

KNOB_S = 0.3  # median of a run of 32 ranks, from the request to the last byte of its answer
CROWD_S = 1  # the longest of ten at once
STUDENTS = 10
LESSONS = ((1, "workers-16"), (2, "ring-16"))


def live(report, options):
    from lessons import Desk
    from server import Server
    turns = 5 if options.quick else 20
    with Server(SYNCLINE) as server:
        desks = {}
        for student in range(STUDENTS):
            for lesson, _ in LESSONS:
                desks[student, lesson] = Desk(server, lesson)
                desks[student, lesson].predict()

        def ask(student, turn):
            """Returns the seconds of a run that nobody has asked for before."""
            lesson, variant = LESSONS[turn % len(LESSONS)]
            speed = f"{1000 + STUDENTS * turn + student} MBps"
            begin = time.monotonic()
            answer = desks[student, lesson].run(variant, {"training.ranks": "32", "platform.fabric.bandwidth": speed})
            if answer.status != 200:
                raise RuntimeError(answer)
            return time.monotonic() - begin
        alone = statistics.median(ask(0, turn) for turn in range(turns))
        with ThreadPoolExecutor(STUDENTS) as pool:
            crowd = [seconds for turn in range(turns, turns + 4)
                     for seconds in pool.map(lambda student, turn=turn: ask(student, turn), range(STUDENTS))]
    command = [SYNCLINE, "run", ROOT / "scenarios/lessons/02-ring-allreduce.yaml", "--variant", "ring-16", "--set",
               "training.ranks=32", "--report", "/dev/null"]
    times = []
    for _ in range(turns):
        begin = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    lone = statistics.median(times)
    print(f"A knob of 32 ranks, with messages: {1e3 * alone:.0f} ms; `run --report` of the same {1e3 * lone:.0f} ms  ",
          report.verdict("live knob", Goal("s", alone, most=KNOB_S)))
    print(f"{STUDENTS} students at once: median {1e3 * statistics.median(crowd):.0f} ms, longest {1e3 * max(crowd):.0f} ms  ",
          report.verdict("live crowd", Goal("s", max(crowd), most=CROWD_S)))
    report.figures["live"] = {"knob_s": alone, "crowd_median_s": statistics.median(crowd), "crowd_longest_s": max(crowd),
                              "run_s": lone}
    report.ratio("live knob beside run --report", lone / alone)
