"""The pages of a training and of a collective operation."""
import json

import looks
from looks import same
from reader import (CHARTS, CLONE, LONG_NAME, UNFOLD, chart_of, check_logs, check_page, check_paper, resize, run,
                    small_scenario)
from timeline import check_timeline


def training(driver, folder, syncline, _):
    page = folder / "report.html"
    out = run(syncline, "run", small_scenario(folder), "--report", page, "--scaling", "--format", "json")
    results = json.loads(out)["results"]
    charts = check_page(driver, page)
    names = [result["variant"] for result in results]
    time = chart_of(charts, "Iteration time")
    assert time["labels"] == names
    same(time["sets"][0]["data"], [result["compute_time_s"] for result in results], "computation")
    same(time["sets"][1]["data"], [result["exposed_communication_time_s"] for result in results], "exposed")
    same(time["sets"][2]["data"], [result["waiting_time_s"] for result in results], "waiting")
    same(time["sets"][3]["data"], [result["idle_time_s"] for result in results], "idle")
    throughput = [result["throughput_samples_per_s"] for result in results]
    same(chart_of(charts, "Throughput")["sets"][0]["data"], throughput, "throughput")
    efficiency = chart_of(charts, "Scaling efficiency")["sets"]
    assert [point["x"] for point in efficiency[0]["data"]] == [1, 2, 4, 8]
    same([curve["data"][-1]["y"] for curve in efficiency], [one["scaling_efficiency"] for one in results], "efficiency")

    # Every measured number of ranks has a label; axes end at the data; no table of the summary is wider than the page.
    for width in (400, 1200):
        resize(driver, width)
        for title in ("Samples per second", "Scaling efficiency"):
            assert looks.ticks_of(driver, title) == ([1, 2, 4, 8], ["1", "2", "4", "8"]), (width, title)
        looks.check_axes(driver, f"{width} px")
        boxes = driver.execute_script("return [...document.querySelectorAll('#summary .scroll')].map((box) => "
                                      "[box.scrollWidth - box.clientWidth, box.scrollHeight - box.clientHeight])")
        assert boxes == [[0, 0], [0, 0]], f"{width} px: the summary scrolls: {boxes}"
    summary = driver.execute_script("return document.querySelector('#summary').textContent")
    assert "The same in all rows: " in summary and "ranks = 8" in summary and LONG_NAME in summary

    check_paper(driver)

    # A name that is cut is whole under the mouse, and in the table.
    cut = driver.execute_script("return Chart.getChart(document.querySelector('canvas')).scales.y.ticks[2].label")
    assert cut.endswith("…") and LONG_NAME.startswith(cut[:-1]), cut
    looks.mouse(driver, "move", "Iteration time", 0.1, 2)
    assert looks.title_under_mouse(driver, "Iteration time") == LONG_NAME
    looks.mouse(driver, "move", "Iteration time", 0.9, 2)
    assert looks.title_under_mouse(driver, "Iteration time") == "", "over the bar"

    # Each variant has its own links and theory.
    for index, result in enumerate(results):
        driver.execute_script("const select = document.getElementById('variant'); select.value = arguments[0];"
                              "select.dispatchEvent(new Event('change'));" + UNFOLD, index)
        charts = driver.execute_script(CHARTS)
        links = chart_of(charts, "Busiest links")
        assert links["labels"] == [link["link"] for link in result["links"]]
        same(links["sets"][0]["data"], [link["utilisation"] for link in result["links"]], "links")
        theory = [result["iteration_time_s"], result["closed_form"]["iteration_time_s"]]
        shown = chart_of(charts, "Theory and simulation")["sets"][0]["data"]
        same(shown[:len([value for value in theory if value])], [value for value in theory if value], "theory")
        if any(chart["title"] == "Timeline" for chart in charts):
            check_timeline(driver)
    assert "ranks: 8" in driver.execute_script("return document.querySelector('pre').textContent")
    check_logs(driver, "variants")


def exchange(driver, folder, syncline, _):
    (folder / "exchange.yaml").write_text(f"""
platform: {CLONE}/platforms/p100-25g.yaml
collective: {{operation: allreduce, ranks: 8, algorithm: ring, sweep: {{bytes: 1 kB..16 MB}}}}
variants: {{ring: {{}}, tree: {{collective.algorithm: binomial-tree}}}}
""")
    page = folder / "report.html"
    out = run(syncline, "run", folder / "exchange.yaml", "--report", page, "--format", "json")
    results = json.loads(out)["results"]
    charts = check_page(driver, page)
    sets = {one["label"]: one["data"] for one in chart_of(charts, "Time by size")["sets"]}
    for result in results:
        points = result["points"]
        shown = sets[result["variant"]]
        same([point["y"] for point in shown], [point["completion_time_s"] for point in points], "times")
        same([point["x"] for point in shown], [point["bytes"] for point in points], "sizes")
        # Ticks are all measured sizes, in both charts.
        values, labels = looks.ticks_of(driver, "Time by size")
        assert values == [point["bytes"] for point in points] and len(labels) > 1
        closed = [point["closed_form_s"] for point in points if point["closed_form_s"] is not None]
        same([point["y"] for point in sets.get(result["variant"] + ", closed form", [])], closed, "closed form")
