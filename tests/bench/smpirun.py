"""A ring all-reduce, compared with SimGrid's MPI, which replays a trace with one line per rank and
`--cfg=smpi/allreduce:lr`.

All that SMPI models in addition to the links is turned off, and syncline's reductions take no time, so that both
simulate the same and must find the same times. SMPI's messages have an envelope of 16 bytes. The buffer has whole
floats for every rank, because lr sends remaining floats in another way. tests/smpi compares the times of all algorithms.
"""
import re
import shutil
import subprocess

from report import Goal, row
from runs import BYTES, OUT, Failure, collective, measure, output, result

RANKS = (64, 256)
LEAST_OF_SMPIRUN = 2  # of its messages per CPU second
AGREE = 1e-3  # maximum relative difference of the simulated times
NEUTRAL = (  # as in tests/smpi/smpi.cpp, which gives the reasons
    "network/model:CM02", "network/crosstraffic:0", "network/TCP-gamma:0", "surf/precision:1e-12",
    "network/loopback-bw:1", "smpi/send-is-detached-thresh:0", "smpi/async-small-thresh:0", "smpi/os:0:0:0:0:0",
    "smpi/or:0:0:0:0:0", "smpi/ois:0:0:0:0:0", "smpi/init:0", "smpi/wtime:0", "smpi/test:0", "smpi/iprobe:0",
    "smpi/simulate-computation:no", "smpi/host-speed:1Gf", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1")


def replay(ranks, size):
    """Returns the command that replays an all-reduce of `size` bytes, and writes the files that it needs."""
    files = {name: OUT / f"smpi-{ranks}.{name}" for name in ("xml", "hosts", "trace", "traces")}
    files["xml"].write_text(  # the links of platforms/p100-25g.yaml
        "<?xml version='1.0'?>\n"
        "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\">\n"
        f"  <cluster id=\"star\" prefix=\"host-\" suffix=\"\" radical=\"0-{ranks - 1}\" speed=\"1Gf\" bw=\"25Gbps\" "
        "lat=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>\n"
        "</platform>\n")
    files["hosts"].write_text("".join(f"host-{rank}\n" for rank in range(ranks)))
    files["trace"].write_text("".join(
        f"{rank} init\n{rank} allreduce {size // 4} 0 1\n{rank} finalize\n" for rank in range(ranks)))
    files["traces"].write_text(f"{files['trace']}\n")
    return ["smpirun", "-platform", files["xml"], "-hostfile", files["hosts"], "-np", ranks, "-replay", files["traces"],
            "--log=root.thres:warning", "--cfg=smpi/allreduce:lr", *(f"--cfg={setting}" for setting in NEUTRAL)]


def replayed_s(command):
    """Returns the time that SMPI simulates."""
    told = output([*command, "--log=smpi_utils.thres:info", "--cfg=smpi/display-timing:yes"],
                  stderr=subprocess.STDOUT)
    found = re.search(r"Simulated time: ([0-9.e+-]+) seconds", told)
    if not found:
        raise Failure("smpirun says no simulated time")
    return float(found.group(1))


def smpirun(report, options):
    if not shutil.which("smpirun"):
        print("smpirun: not installed")
        return
    print("Ring all-reduces of 100 MB beside smpirun, which replays a trace\n"
          "              messages/CPU s                seconds           MB\n"
          " ranks    smpirun     syncline   ratio  smpirun syncline  smpirun syncline  times differ by")
    rows = report.figures["smpirun"] = []
    for ranks in RANKS:
        size = BYTES // (4 * ranks) * 4 * ranks
        theirs = replay(ranks, size)
        name = f"smpirun-{ranks}"
        ours = collective(name, ranks, "--operation", "allreduce", "--algorithm", "ring",
                          "--set", "platform.device.reduction_rate=unlimited", size=f"{size}B")
        their_cost, our_cost = measure(options.rounds, theirs, ours)
        their_s, our_s = replayed_s(theirs), result(name)["completion_time_s"]
        if abs(their_s / our_s - 1) > AGREE:
            raise Failure(f"not the same: a ring of {ranks} ranks takes {our_s} s here and {their_s} s with smpirun")
        messages, ratio = result(name)["messages"], their_cost.cpu_s / our_cost.cpu_s
        report.ratio(f"ring_{ranks}_of_smpirun", ratio)
        row((ranks, "6"), (messages / their_cost.cpu_s, "10.0f"), (messages / our_cost.cpu_s, "12.0f"), (ratio, "7.2f"),
            (their_cost.cpu_s, "8.2f"), (our_cost.cpu_s, "8.2f"), (their_cost.peak_memory_MB, "8.0f"),
            (our_cost.peak_memory_MB, "8.0f"), (abs(their_s / our_s - 1), "16.1e"), "",
            report.verdict(f"ring {ranks} beside smpirun", Goal("of smpirun", ratio, least=LEAST_OF_SMPIRUN)))
        rows.append({"ranks": ranks, "ratio": ratio,
                     "smpirun": {**their_cost.figures(messages), "simulated_s": their_s},
                     "syncline": {**our_cost.figures(messages), "simulated_s": our_s}})
