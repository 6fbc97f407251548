"""The page of `syncline plan`: days against cost, and a click to each plan's scenario."""
import json

import looks
from looks import same
from reader import chart_of, check_logs, check_page, resize, run


def plan(driver, folder, syncline, _):
    out = folder / "plans"
    answer = json.loads(run(syncline, "plan", "gpt-2", "--platform", "dgx-h100", "--ranks", "2,4", "--batch", "16", "--tokens",
                            "1B", "--price", "24", "--estimate", "--out", out, "--format", "json"))["answers"]
    charts = check_page(driver, out / "plan.html")
    resize(driver, 1200)
    sets = chart_of(charts, "Cost by days")["sets"]
    assert [one["label"] for one in sets] == ["2 ranks", "4 ranks"]
    marks = [mark for one in sets for mark in one["data"]]
    same([mark["x"] for mark in marks], [one["run_time_s"] / 86400 for one in answer], "days")
    same([mark["y"] for mark in marks], [one["run_cost"] for one in answer], "cost")
    looks.check_axes(driver, "plan")
    # The fastest plan is shown first; another one is a choice away, and its scenario is beside the page.
    fastest = min(range(len(answer)), key=lambda i: answer[i]["iteration_time_s"])
    chosen = "return document.getElementById('choice').value"
    text = "return document.querySelector('#plan pre').textContent"
    assert driver.execute_script(chosen) == str(fastest)
    driver.execute_script("const box = document.getElementById('choice'); box.value = 1; box.dispatchEvent(new Event('change'))")
    assert answer[1]["parallelism"] in driver.execute_script(text)
    file = driver.execute_script("return document.querySelector('#plan a').getAttribute('href')")
    assert (out / file).read_text() == driver.execute_script(text)
    # A click on a mark does the same.
    driver.execute_script("""
        const chart = Chart.getChart(document.querySelector('#chart canvas'));
        chart.options.onClick(null, [{datasetIndex: 0, index: 0}], chart);""")
    assert driver.execute_script(chosen) == "0"
    check_logs(driver, "plan")
