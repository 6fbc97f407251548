"""The cost of recording messages, and of being able to record them.

The latter is measured in instructions, because the difference in time is less than that between two runs of a program.
"""
import re
import shutil
import subprocess

from report import Goal
from runs import BUILD, Failure, output

RANKS, RANKS_OFF = 512, 64
MOST_RECORDING = 2  # times the duration of a replay that records nothing
MOST_OFF = 1.01  # times the instructions of a program that cannot record


def instructions(program):
    """Returns the number of instructions that the program executes."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", BUILD / program,
                          str(RANKS_OFF)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not found:
        raise Failure(f"valgrind {program}:\n{run.stderr}")
    return int(found.group(1))


def recording(report, options):
    off_s, on_s = map(float, output([BUILD / "recording", RANKS, options.rounds]).split())
    report.ratio("recording_nothing_of_recording", off_s / on_s)
    print(f"Recording every message of a ring among {RANKS} ranks: {on_s:.2f} s in place of {off_s:.2f} s ",
          report.verdict("recording", Goal("times as long", on_s / off_s, most=MOST_RECORDING)))
    report.figures["recording"] = {"ranks": RANKS, "without_s": off_s, "with_s": on_s, "ratio": on_s / off_s}

    absent = "for want of valgrind" if not shutil.which("valgrind") else "--quick" if options.quick else ""
    if absent:
        print(f"Recording nothing: not measured, {absent}")
        return
    without, able = instructions("replaying_unrecorded"), instructions("replaying")
    print(f"Recording nothing among {RANKS_OFF} ranks: {able} instructions, {without} where nothing could be recorded ",
          report.verdict("recording nothing", Goal("times as many", able / without, most=MOST_OFF)))
    report.figures["recording_off"] = {"ranks": RANKS_OFF, "instructions": able,
                                       "without_recorder_instructions": without, "ratio": able / without}
