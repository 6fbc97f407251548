#!/usr/bin/python3
"""A researcher compares four exchanges on an own cluster: 64 nodes with 8 devices each, on a fat tree with 4:1, and with 1:1."""
import pathlib

from role import role

TREE = """
topology: fat-tree      # four leaves of 16 nodes each, with 4 cables upwards
down: [16, 4]
up: [1, 4]
cables: [1, 1]
bandwidth: 100 Gbps
latency: 1 us
"""
CLUSTER = """
name: own-64x8
nodes: 64
device: a100-sxm4-80gb
per_node:
  devices: 8
  links: {pattern: switch, bandwidth: 300 GBps, latency: none}
fabric: tree.yaml
"""
STUDY = """
name: exchanges
base:
  platform: cluster.yaml
  workload: resnet-50
  # One bucket after the backward pass, and short computation, so that times follow from the bytes.
  training: {ranks: 512, batch_per_rank: 32, iterations: 1, compute: roofline, overlap: none, fusion: {threshold: 1 GiB}}
  variants:
    ring: {training: {exchange: allreduce, algorithm: ring}}
    hierarchical:
      training:
        exchange: allreduce
        algorithm: hierarchical
        overlay: {topology: hierarchical, levels: [{pattern: ring, size: 8}, {pattern: ring}]}
    parameter-server:
      training: {exchange: parameter-server, servers: {count: 16, placement: sliced, location: colocated}}
    gossip:
      training: {exchange: gossip, overlay: {topology: exponential, directed: true}, peers: one}
axes:
  platform.fabric.up: [[1, 4], [1, 16]]
"""
CABLE = 12.5e9                   # bytes per second in each direction
TRANSFER = 25557032 * 4 / CABLE  # seconds that the gradients of ResNet-50 (torchvision's count, fp32) take over a cable


def least(exchange, up):
    """The least time of an iteration's exchange, in seconds, from the bytes that must pass the busiest cables.

    A node has one port; a leaf has `up` cables for 128 ranks. Ranks fill one node after the other.
    """
    if exchange == "ring":  # one flow enters each node: 2(N-1)/N of the buffer
        return 2 * 511 / 512 * TRANSFER
    if exchange == "hierarchical":  # a ring of the 64 nodes' representatives
        return 2 * 63 / 64 * TRANSFER
    if exchange == "gossip":  # round k: over 2^k ranks; of a node min(2^k, 8) ranks send to others, of a leaf min(2^k, 128)
        return sum(max(min(2**k, 8), min(2**k, 128) / up) for k in range(9)) / 9 * TRANSFER
    # A server on every fourth node has a 16th of the buffer, and 504 ranks push to it from other nodes. The fat tree routes by
    # destination: all messages to node j go through spine j mod `up`. With 4 spines the four servers of a leaf are behind one of
    # its cables, over which 384 ranks push; with 16 each has its own. Pulls go to all nodes, evenly over the cables.
    pushes = max(504 / 16, 384 * (4 if up == 4 else 1) / 16)
    pulls = 504 / 16
    return (pushes + pulls) * TRANSFER


with role() as researcher:
    for name, text in (("tree.yaml", TREE), ("cluster.yaml", CLUSTER), ("study.yaml", STUDY)):
        pathlib.Path(name).write_text(text)
    researcher.syncline("check", "tree.yaml", "cluster.yaml", "study.yaml")
    tree = researcher.json("topology", "tree.yaml")
    researcher.check((tree["hosts"], tree["switches"], tree["cables"]) == (64, 8, 80), "64 hosts, 4 leaves and 4 spines, 64 + 16 cables")
    researcher.near(tree["levels"][0]["oversubscription"], 4, 1e-9, "oversubscription")
    researcher.near(tree["bisection_bandwidth_Bps"], 2 * 4 * CABLE, 1e-9, "two of four leaves have 8 cables upwards")
    researcher.syncline("topology", "tree.yaml", "--format", "svg", "--out", "tree.svg")
    researcher.picture("tree.svg")

    researcher.syncline("batch", "study.yaml", "--out", "stored")
    points = researcher.json("results", "stored")["points"]
    researcher.check(len(points) == 8 and all(point["status"] == "done" for point in points), "4 exchanges on 2 trees")
    times = {}
    for point in points:
        exchange, up = point["variant"], {"[1, 4]": 4, "[1, 16]": 16}[point["up"]]
        times[exchange, up] = point["iteration_time_s"] - point["compute_time_s"]
        # Exchanges of several ranks of a node overlap a little with other ranks' computation. The rings add exchanges within
        # nodes, and the latency of each step: 4 us, 1022 times.
        researcher.between(0.98 * least(exchange, up), times[exchange, up], 1.02 * least(exchange, up) + 5e-3,
                           f"{exchange}, {up} cables up: bound of the busiest cable")
    slowest = max(times, key=times.get)
    researcher.check(slowest == ("parameter-server", 4), "the parameter servers on the 4:1 tree are slowest")
    for exchange in ("ring", "hierarchical", "parameter-server", "gossip"):
        researcher.between(0.999, times[exchange, 4] / times[exchange, 16], 4, f"{exchange}: a quarter of the cables costs at most 4 times")
    researcher.near(times["ring", 4], times["ring", 16], 1e-3, "a ring has one flow between leaves, which needs one cable")

    researcher.syncline("plot", "stored", "--x", "variant", "--y", "communication_time_s", "--series", "up", "--out", "plot.svg")
    researcher.picture("plot.svg")
    best = researcher.json("explore", "study.yaml", "--out", "stored", "--objective", "iteration_time_s")["ranked"]
    researcher.check(len(best) == 8 and best[0]["variant"] == "ring", "explore finds the ring")
