#!/usr/bin/python3
"""A lecturer shows why one parameter server does not scale and a ring does, from 1 to 64 ranks, with a plot."""
import pathlib

from role import role

# VGG-16 (K. Simonyan, A. Zisserman, ICLR 2015) has 138,357,544 parameters of 4 B. A port of the platform has 25 Gb/s.
TRANSFER = 138357544 * 4 / 3.125e9  # seconds that one set of gradients takes over a port
STUDY = """
name: one-server-or-a-ring
base:
  platform: p100-25g
  workload: vgg-16
  training: {ranks: 1, batch_per_rank: 32}
  variants:
    ring: {training: {exchange: allreduce, algorithm: ring}}
    parameter-server: {training: {exchange: parameter-server, servers: {count: 1}}}
axes:
  training.ranks: 2^0..2^6
"""

with role() as lecturer:
    pathlib.Path("lecture.yaml").write_text(STUDY)
    lecturer.syncline("check", "lecture.yaml")
    lecturer.syncline("batch", "lecture.yaml", "--out", "stored")
    points = lecturer.json("results", "stored", "--sort", "ranks")["points"]
    ring, server = ([point for point in points if point["variant"] == name] for name in ("ring", "parameter-server"))
    ranks = [2**k for k in range(7)]
    lecturer.check([point["ranks"] for point in ring] == ranks == [point["ranks"] for point in server], "both have 1 to 64 ranks")
    lecturer.near(ring[0]["iteration_time_s"], server[0]["iteration_time_s"], 1e-9, "one rank exchanges nothing")

    for point in ring[1:]:
        n, exposed = point["ranks"], point["iteration_time_s"] - ring[0]["iteration_time_s"]
        busy = 2 * (n - 1) / n * TRANSFER
        lecturer.between(busy, point["communication_time_s"], 1.3 * busy, f"ring of {n}: 2(N-1)/N transfers")
        lecturer.between(0, exposed, 1.3 * 2 * TRANSFER, f"ring of {n}: at most two transfers are added")
    for point in server[1:]:
        n = point["ranks"]
        lecturer.between(n * TRANSFER, point["iteration_time_s"], ring[0]["iteration_time_s"] + 2.1 * n * TRANSFER,
                         f"server of {n}: N sets go in, and N out")
    for small, large in zip(server[2:], server[3:]):
        lecturer.near(large["iteration_time_s"], 2 * small["iteration_time_s"], 0.05, f"{large['ranks']} ranks take twice as long")
    lecturer.between(1, ring[-1]["iteration_time_s"] / ring[3]["iteration_time_s"], 1.25, "the ring is flat from 8 to 64")
    lecturer.between(0.95, server[-1]["throughput_samples_per_s"] / server[3]["throughput_samples_per_s"], 1.05,
                     "the server's throughput is saturated from 8 to 64")
    lecturer.between(6, ring[-1]["throughput_samples_per_s"] / ring[3]["throughput_samples_per_s"], 8, "the ring's grows nearly as 8")

    lecturer.syncline("plot", "stored", "--x", "ranks", "--y", "throughput", "--series", "variant", "--log", "x", "--out", "plot.svg")
    texts = lecturer.picture("plot.svg")
    lecturer.check({"ring", "parameter-server"} <= set(texts), "the legend names both curves")
    lecturer.check({"1", "64"} <= set(texts), "the axis goes from 1 to 64")
    lecturer.syncline("results", "stored", "--report", "report.html")
    lecturer.page("report.html", "ring", "parameter-server")
