"""The page of jobs that share a platform: when each waits and runs, and where."""
import json

from looks import same
from reader import CLONE, chart_of, check_logs, check_page, resize, run

# The boxes of the first picture, by their titles' first part: "ring-1: racks 0–3".
BOXES = """
const figure = [...document.querySelectorAll(".figure")].find((one) => one.querySelector("h3")?.textContent === arguments[0]);
return [...figure.querySelectorAll("svg.drawing rect")].filter((one) => one.querySelector("title")).map((one) => ({
    title: one.querySelector("title").textContent, fill: one.getAttribute("fill"),
    x: Number(one.getAttribute("x")), width: Number(one.getAttribute("width"))}));
"""


def jobs(driver, folder, syncline, _):
    (folder / "jobs.yaml").write_text(f"""
name: jobs <to check>
platform: {{name: racks, device: p100-sxm2, fabric: {{topology: tree, arity: 4, depth: 2, bandwidth: 3 GBps, latency: 1 us}}}}
jobs:
  ring: {{count: 5, placement: spread, workload: {CLONE}/workloads/vgg-16.yaml, training: {{ranks: 4, batch_per_rank: 16, iterations: 3}}}}
  alone: {{arrival: 1 s, placement: rack, workload: {CLONE}/workloads/vgg-16.yaml, training: {{ranks: 2, batch_per_rank: 16, iterations: 3}}}}
variants: {{slow: {{}}, fast: {{platform.fabric.bandwidth: 100 GBps}}}}
""")
    page = folder / "jobs.html"
    results = json.loads(run(syncline, "run", folder / "jobs.yaml", "--report", page, "--format", "json"))["results"]
    charts = check_page(driver, page)
    resize(driver, 1200)
    slow = sorted(results[0]["jobs"], key=lambda job: -job["slowdown"])
    drawn = chart_of(charts, "Slowdown of each job")["sets"][0]["data"]
    same(drawn, [job["slowdown"] for job in slow], "slowdowns")

    boxes = driver.execute_script(BOXES, "Jobs over time")
    assert len({box["title"] for box in boxes}) == len(slow), boxes
    by_fill = {fill: [box for box in boxes if f"--{fill}" in box["fill"]] for fill in ("computation", "exposed", "waiting")}
    # Each job runs; the fifth ring, and the job after it in the queue, wait for devices; those beside others lose time.
    assert len(by_fill["computation"]) == len(slow)
    assert len(by_fill["waiting"]) == sum(job["wait_s"] > 0 for job in slow) > 0
    assert len(by_fill["exposed"]) == sum(job["slowdown"] > 1.0005 for job in slow) > 0
    # A job's box and what it loses are as long as its run, on the scale of the first job.
    whole = {box["title"]: 0 for box in boxes}
    for box in by_fill["computation"] + by_fill["exposed"]:
        whole[box["title"]] += box["width"]
    runs = {job["name"]: job["end_s"] - job["start_s"] for job in slow}
    scale = [length / runs[title.split(":")[0]] for title, length in whole.items()]
    assert max(scale) < 1.01 * min(scale), scale
    # The sentence names the job that loses most, and who takes the link from it.
    limit = driver.execute_script("return document.querySelector('#answer .limit').textContent")
    worst = slow[0]
    assert worst["name"] in limit and worst["neighbours"][0]["link"] in limit, limit
    check_logs(driver, "jobs")
