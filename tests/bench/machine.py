"""Describes the machine of the figures."""
import os
import pathlib
import re

from runs import BUILD, SYNCLINE, output


def first(pattern, path):
    return re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE).group(1)


def describe():
    compiler = first(r"^CMAKE_CXX_COMPILER:[A-Z]*=(.*)$", BUILD / "CMakeCache.txt")
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "cpu": cpu.group(1) if cpu else os.uname().machine,
        "cores": len(os.sched_getaffinity(0)),
        "memory_MB": round(int(first(r"^MemTotal: *(\d+)", "/proc/meminfo")) * 1024 / 1e6),
        "kernel": os.uname().release,
        "compiler": output([compiler, "--version"]).splitlines()[0],
        "simgrid": output(["pkg-config", "--modversion", "simgrid"]).strip(),
        "syncline": output([SYNCLINE, "--version"]).strip(),
    }
