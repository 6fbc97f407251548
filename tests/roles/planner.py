#!/usr/bin/python3
"""A planner asks how to train a model of 70 billion parameters on 512 A100: memory, time, its explanation, and a report."""
import pathlib

from role import role

WIDTH, HIDDEN, LAYERS, VOCABULARY, SEQUENCE = 8192, 36864, 80, 32000, 4096
# A layer has 4h² + 4h (attention), 2·h·hidden + h + hidden (feed-forward) and 2·2h (normalisation).
LAYER = 4 * WIDTH**2 + 4 * WIDTH + 2 * WIDTH * HIDDEN + WIDTH + HIDDEN + 4 * WIDTH
PARAMETERS = LAYERS * LAYER + 2 * VOCABULARY * WIDTH + 2 * WIDTH
MODEL = f"""
name: own-70b
sequence: {SEQUENCE}
element_size: 2 B
layers:
  - {{name: embedding, kind: embedding, vocabulary: {VOCABULARY}, width: {WIDTH}, learned_positions: false}}
  - {{name: layer, kind: transformer, repeat: {LAYERS}, width: {WIDTH}, heads: 64, hidden: {HIDDEN}}}
  - {{name: head, kind: dense, inputs: {WIDTH}, outputs: {VOCABULARY}, norm: layer, gathered: false}}
"""
PLAN = """
name: plan
platform: selene
workload: own-70b.yaml
training:
  ranks: 512
  batch: 128
  iterations: 1
  optimizer: adam
  parallelism: {model: 8, pipeline: {stages: 8, micro_batches: 16, schedule: 1f1b}, sequence: true, sharding: optimizer}
variants:
  eight-stages: {}
  four-stages: {training.parallelism.pipeline: {stages: 4, micro_batches: 8, schedule: 1f1b}}
"""
PEAK = 312e12  # NVIDIA's A100 datasheet: FLOP/s of bf16 on tensor cores

with role() as planner:
    pathlib.Path("own-70b.yaml").write_text(MODEL)
    pathlib.Path("plan.yaml").write_text(PLAN)
    planner.syncline("check", "own-70b.yaml", "plan.yaml")
    layers = planner.json("workload", "own-70b.yaml", "--device", "a100-sxm4-80gb", "--batch", "1")["layers"]
    planner.check(sum(layer["parameters"] for layer in layers) == PARAMETERS, f"{PARAMETERS:,} parameters")
    planner.near(PARAMETERS, 70e9, 0.01, "a 70 B model")

    told = planner.syncline("run", "plan.yaml", "--set", "training.parallelism=data", "--set", "training.batch=512", code=3)
    planner.check("84.56 GB" in told and "memory" in told, "data parallelism alone is refused, because a replica does not fit")

    results = planner.json("run", "plan.yaml", "--report", "report.html")["results"]
    macs = sum(layer["macs"] for layer in layers)
    for result, stages, micro_batches in zip(results, (8, 4), (16, 8)):
        name, replicas, memory = result["variant"], 512 // 8 // stages, result["memory"]
        planner.check(result["parallelism"]["stages"] == stages and result["parallelism"]["columns"] == replicas,
                      f"{name}: pipeline {stages}, tensor 8, data {replicas}")
        # The fullest stage has a tenth of the layers or more, and may have the embedding or the head beside them.
        held = LAYERS / stages * LAYER / 8
        most = held + VOCABULARY * WIDTH / 8
        planner.between(0.999 * 2 * held, memory["weights_bytes"], 1.001 * 2 * most, f"{name}: weights of 2 B on a device")
        planner.near(memory["gradients_bytes"], memory["weights_bytes"], 1e-9, f"{name}: gradients as weights")
        # Adam with mixed precision: an fp32 copy and two moments, divided among the replicas (ZeRO-1).
        planner.near(memory["optimizer_bytes"], memory["weights_bytes"] / 2 * 12 / replicas, 1e-3, f"{name}: optimizer state")
        # Of the 80 GiB, CUDA reports 79.25, of which its context takes 0.5 (the device's file).
        planner.check(memory["total_bytes"] <= memory["device_bytes"] == 78.75 * 2**30, f"{name}: it fits into 80 GiB")
        # 2 FLOP per MAC, and the backward pass has twice those of the forward pass.
        computed = 6 * macs * 128 / (512 * PEAK)
        # Large products reach 256.5 of the device's 312 TFLOP/s (its file), and nothing else takes more than a third of their time.
        products = computed * PEAK / 256.5e12
        planner.between(products, result["compute_time_s"], 1.3 * products, f"{name}: computation at the measured rate of products, or below")
        planner.near(result["model_flops_utilisation"], computed / result["iteration_time_s"], 0.01, f"{name}: utilisation")
        planner.near(result["tokens_per_s"], 128 * SEQUENCE / result["iteration_time_s"], 1e-6, f"{name}: tokens per second")
        # A device waits for p-1 of m microbatches: (p-1)/(m+p-1) of the time of the pipeline, which exchanges of the gradients follow.
        least = (stages - 1) / micro_batches * result["compute_time_s"] / result["iteration_time_s"]
        planner.between(0.99 * least, result["pipeline_bubble"], 1.1 * (stages - 1) / (micro_batches + stages - 1), f"{name}: bubble")
    planner.page("report.html", "eight-stages", "four-stages")

    told = planner.json("explain", "plan.yaml", "--variant", "eight-stages", "--what-if", "link:node x2", "--what-if", "device x2")
    explained = told["explanations"][0]
    planner.near(explained["iteration_time_s"], results[0]["iteration_time_s"], 1e-9, "explain and run agree")
    for rank in explained["ranks"]:
        parts = ("compute_s", "exposed_communication_s", "reduction_s", "copies_s", "waiting_s", "idle_s")
        if abs(sum(rank[part] for part in parts) / explained["window_s"] - 1) > 1e-6:
            planner.check(False, f"the parts of rank {rank['rank']} are the whole time")
    gains = {change["change"]: change["speed_up"] for change in explained["what_if"]}
    planner.between(1.001, gains["link:node x2"], 1.5, "twice the NVLink helps a little")
    planner.between(gains["link:node x2"], gains["device x2"], 2, "twice the computing rate helps more, at most twice")
