"""The pages of a training and of a collective operation."""
import json
import re
import xml.etree.ElementTree

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
        check_first(driver, width, results)
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
        driver.execute_script("document.querySelectorAll('.variants button')[arguments[0]].click();" + UNFOLD, index)
        charts = driver.execute_script(CHARTS)
        # Equal links are one bar.
        links = chart_of(charts, "Busiest links")
        uses = [link["utilisation"] for link in result["links"]]
        same(links["sets"][0]["data"][:1], uses[:1], "links")
        assert any("*" in label and label.endswith(")") for label in links["labels"]), links["labels"]
        theory = [result["iteration_time_s"], result["closed_form"]["iteration_time_s"]]
        shown = chart_of(charts, "Theory and simulation")["sets"][0]["data"]
        same(shown[:len([value for value in theory if value])], [value for value in theory if value], "theory")
        if any(chart["title"] == "Timeline" for chart in charts):
            check_timeline(driver)
    assert "ranks: 8" in driver.execute_script("return document.querySelector('pre').textContent")
    check_logs(driver, "variants")
    check_address(driver, page, results)
    check_limit(driver, page)
    check_saved(driver, page)
    check_grouped(driver)


ANSWER = """
const main = document.querySelector("#answer .main b"), box = main.getBoundingClientRect();
return {variant: document.querySelector("#answer h2")?.textContent, number: main.textContent, bottom: box.bottom,
    size: parseFloat(getComputedStyle(main).fontSize)};
"""


def check_first(driver, width, results):
    """Checks that the iteration time of the fastest variant is the largest text, and seen without scrolling."""
    driver.execute_script("scrollTo(0, 0)")
    answer = driver.execute_script(ANSWER)
    best = max(results, key=lambda result: result["throughput_samples_per_s"])
    assert answer["variant"] == best["variant"], answer
    assert answer["number"] == driver.execute_script("return units.s(arguments[0])", best["iteration_time_s"]), answer
    assert answer["bottom"] < 900 and answer["size"] > 35, f"{width} px: {answer}"


def check_address(driver, page, results):
    """Checks that the address shows the chosen variant again."""
    name = results[1]["variant"]
    driver.execute_script("document.querySelectorAll('.variants button')[1].click()")
    address = driver.execute_script("return location.href")
    driver.get("about:blank")
    driver.get(address)
    assert driver.execute_script(ANSWER)["variant"] == name
    driver.get("about:blank")
    driver.get(page.as_uri())


def check_grouped(driver):
    """Checks that rows are added up if their names differ in numbers only and their times by a percent at most."""
    rows = [["layer1.attention", 1.0], ["layer2.attention", 1.005], ["layer3.attention", 2.0], ["head", 5.0]]
    groups = driver.execute_script(
        "const rows = arguments[0].map(([name, time]) => ({name, time}));"
        "return grouped(rows, 'name', ['time'], (a, b) => same_time(a.time, b.time)).map(({name, time}) => [name, time])",
        rows)
    assert groups == [["head", 5], ["layer1.attention (×2)", 2.005], ["layer3.attention", 2]], groups


def check_limit(driver, page):
    """Checks that the page says what limits the iteration, if the result and its explanation do."""
    shown = "return [...document.querySelectorAll('#answer .limit')].map((one) => one.textContent)"
    said = driver.execute_script(shown)
    assert len(said) == 1 and said[0].startswith("Limited by "), said
    before, data, after = re.fullmatch('(.*id="data">)(.*?)(</script>.*)', page.read_text(), re.DOTALL).groups()
    data = json.loads(data)
    limited = page.with_name("limited.html")
    for by, diagnosis, wanted in (
            ("port of server 0", None, ["Limited by port of server 0."]),
            ("port", "It takes 97 ms. Slicing would give 350 ms.", ["Limited by port. It takes 97 ms. Slicing would give 350 ms."]),
            ("port", "Limited by the port of server 0. Half of it.", ["Limited by the port of server 0. Half of it."])):
        for result, variant in zip(data["report"]["results"], data["variants"]):
            result["limited_by"] = by
            variant["explanation"]["diagnosis"] = diagnosis
        limited.write_text(before + json.dumps(data).replace("<", "\\u003c") + after)
        driver.get("about:blank")
        driver.get(limited.as_uri())
        assert driver.execute_script(shown) == wanted, driver.execute_script(shown)
    check_logs(driver, "limited by")


def check_saved(driver, page):
    """Checks the files of all charts: an SVG is XML with the chart's texts on white, a PNG has its pixels twice."""
    driver.get(page.as_uri())
    saved = driver.execute_async_script("""
const done = arguments[arguments.length - 1], files = [];
const svg_file = async (blob) => files.push({kind: "SVG", text: await blob.text()});
const waits = [], made = URL.createObjectURL;
URL.createObjectURL = (blob) => { waits.push(svg_file(blob)); return made(blob); };
HTMLAnchorElement.prototype.click = function () {
    if (this.href.startsWith("data:image/png")) files.push({kind: "PNG", text: this.href, name: this.download});
};
const buttons = [...document.querySelectorAll(".save button")];
for (const button of buttons) button.click();
setTimeout(() => Promise.all(waits).then(() => done({files, buttons: buttons.length})), 3000);
""")
    assert len(saved["files"]) == saved["buttons"] > 8, saved["buttons"]
    assert all(file["name"].endswith(".png") and len(file["text"]) > 2000 for file in saved["files"] if file["kind"] == "PNG")
    texts = [file["text"] for file in saved["files"] if file["kind"] == "SVG"]
    for text in texts:
        root = xml.etree.ElementTree.fromstring(text)
        words = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
        assert len(words) > 3 and "var(" not in text and 'fill="#ffffff"' in text, words
    assert any("alexnet" in text or "iteration time" in text for text in texts)
    check_logs(driver, "saved")


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
