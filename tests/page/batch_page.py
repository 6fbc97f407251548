"""The page of a batch: filters, means and their spread, sorting."""
import json
import math
import re

import looks
from looks import same
from reader import CLONE, LONG_NAME, check_logs, check_page, resize, run, small_scenario

LINES = """
const chart = Chart.getChart(document.querySelector("#chart canvas"));
return Object.fromEntries(chart.data.datasets.map((set) => [set.label, set.data]));
"""
FILTERS = """
return Object.fromEntries([...document.querySelectorAll("#chart .filters select")].map((one) => [
    one.dataset.setting, {value: one.value, texts: [...one.options].map((option) => option.textContent)}]));
"""
CHOOSE = """
const select = [...document.querySelectorAll("#chart select")].find(
    (one) => (one.dataset.setting ?? one.getAttribute("aria-label")) === arguments[0]);
select.value = [...select.options].find((option) => option.textContent === arguments[1]).value;
select.dispatchEvent(new Event("change"));
"""


def check_lines(driver, points, setting, what):
    """Checks that each line has exactly the means and the range of `points` by ranks; returns the lines."""
    lines = driver.execute_script(LINES)
    values = {}
    for point in points:
        values.setdefault((point[setting] if setting == "variant" else f"{setting.replace('_', ' ')} {point[setting]}", point["ranks"]),
                          []).append(point["throughput_samples_per_s"])
    found = {(label, mark["x"]): mark for label, marks in lines.items() for mark in marks}
    assert found.keys() == values.keys(), f"{what}: {found.keys()} is not {values.keys()}"
    for key, some in values.items():
        mark = found[key]
        same([mark["y"], mark["low"], mark["high"]], [math.fsum(some) / len(some), min(some), max(some)], f"{what}, {key}")
    return lines


def batch(driver, folder, syncline, _):
    (folder / "noise.yaml").write_text(f"""
base: {small_scenario(folder)}
axes:
  training.batch_per_rank: [32, 64]
  variant: [ring, {LONG_NAME}]
  training.ranks: 1..4
repeat: 5
""")
    run(syncline, "batch", folder / "noise.yaml", "--set", "training.jitter=5 %", "--out", folder / "noise")
    page = folder / "noise.html"
    points = json.loads(run(syncline, "results", folder / "noise", "--report", page, "--format", "json"))["points"]
    check_page(driver, page)
    resize(driver, 1200)

    # The page opens on the setting with most numbers; the variants are lines, the batch is fixed, repetitions are averaged.
    filters = driver.execute_script(FILTERS)
    assert filters == {"batch_per_rank": {"value": "32", "texts": ["32", "64", "all (mean)"]},
                       "repeat": {"value": "all", "texts": ["1", "2", "3", "4", "5", "all (mean)"]}}, filters
    small = [point for point in points if point["batch_per_rank"] == 32]
    lines = check_lines(driver, small, "variant", "at first")
    assert all(mark["high"] > mark["low"] for marks in lines.values() for mark in marks), "jitter"
    assert looks.ticks_of(driver, "Samples per second by ranks") == ([1, 2, 3, 4], ["1", "2", "3", "4"])
    text = driver.execute_script("return document.querySelector('#chart .figure').textContent")
    assert "the mean over all values of repeat" in text and "from the minimum to the maximum" in text
    assert "Only points with batch per rank = 32 are drawn" in text
    check_spread(driver)

    # A filter shows other points; "all" averages them, with their spread; a single repetition has none.
    driver.execute_script(CHOOSE, "batch_per_rank", "64")
    check_lines(driver, [point for point in points if point["batch_per_rank"] == 64], "variant", "64")
    driver.execute_script(CHOOSE, "batch_per_rank", "all (mean)")
    check_lines(driver, points, "variant", "all")
    assert "over all values of batch per rank and repeat" in driver.execute_script(
        "return document.querySelector('#chart .figure').textContent")
    driver.execute_script(CHOOSE, "repeat", "2")
    check_lines(driver, [point for point in points if point["repeat"] == 2], "variant", "repeat 2")
    driver.execute_script(CHOOSE, "Lines", "batch per rank")
    assert driver.execute_script(FILTERS).keys() == {"variant", "repeat"}
    check_lines(driver, [point for point in points if point["repeat"] == 2 and point["variant"] == "ring"], "batch_per_rank",
                "lines by batch")
    check_logs(driver, "filters")
    check_address(driver, points)
    check_limits(driver, page)
    sorted_points(driver, folder, syncline)


def check_address(driver, points):
    """Checks that the address of the last choices shows the same lines again."""
    objective = ("const one = document.querySelector('#best select'); %s return [one.selectedIndex, one.options.length];")
    chosen = driver.execute_script(objective % "one.selectedIndex = one.options.length - 1; "
                                   "one.dispatchEvent(new Event('change'));")
    driver.execute_script("document.querySelector('#points th button').click()")
    address = driver.execute_script("return location.href")
    driver.get("about:blank")
    driver.get(address)
    check_lines(driver, [point for point in points if point["repeat"] == 2 and point["variant"] == "ring"], "batch_per_rank",
                "from the address")
    assert driver.execute_script(objective % "") == chosen and chosen[0] > 0, chosen
    assert driver.execute_script("return document.querySelector('#points th').getAttribute('aria-sort')") == "ascending"


def check_limits(driver, page):
    """Checks that a mark says what limits its points, if results do: here, rows in turn are limited by one of two links."""
    before, data, after = re.fullmatch('(.*id="data">)(.*?)(</script>.*)', page.read_text(), re.DOTALL).groups()
    data = json.loads(data)
    column = [column["name"] for column in data["columns"]].index("limited_by")
    for i, row in enumerate(data["rows"]):
        row[column] = ("port", "spine")[i % 2]
    limited = page.with_name("limited.html")
    limited.write_text(before + json.dumps(data).replace("<", "\\u003c") + after)
    driver.get(limited.as_uri())
    said = driver.execute_script("""
const chart = Chart.getChart(document.querySelector("#chart canvas"));
chart.tooltip.setActiveElements([{datasetIndex: 0, index: 0}], {x: 0, y: 0});
chart.update();
return chart.tooltip.body.flatMap((one) => [...one.lines, ...one.after]);
""")
    assert said[-1] in ("limited by port", "limited by port and spine", "limited by spine and port", "limited by spine"), said
    check_logs(driver, "limited by")


def check_spread(driver):
    """Checks that the ends of the widest spread are painted in the colour of a line."""
    painted = driver.execute_script("""
const canvas = document.querySelector("#chart canvas"), chart = Chart.getChart(canvas), {y} = chart.scales;
const marks = chart.data.datasets.flatMap((set, i) => set.data.map((point, at) => ({
    ...point, x: chart.getDatasetMeta(i).data[at].x})));
const widest = marks.sort((a, b) => (b.high - b.low) - (a.high - a.low))[0];
const part_of_colour = (colour, part) => parseInt(colour.slice(1 + 2 * part, 3 + 2 * part), 16);
// Lines may have the same values at this place: either may be on top.
const near = (pixel) => chart.data.datasets.some(
    ({colour}) => [0, 1, 2].every((part) => Math.abs(pixel[part] - part_of_colour(colour, part)) < 60));
return [widest.low, widest.high].map((value) => {
    const pixels = canvas.getContext("2d").getImageData(Math.round(widest.x) - 8, Math.round(y.getPixelForValue(value)) - 1, 6, 3).data;
    return [...Array(18).keys()].some((i) => near(pixels.slice(4 * i, 4 * i + 4)));
});
""")
    assert painted == [True, True], painted


def sorted_points(driver, folder, syncline):
    (folder / "study.yaml").write_text(f"""
base:
  platform: {CLONE}/platforms/p100-25g.yaml
  collective: {{operation: allreduce, ranks: 2, algorithm: ring, bytes: 1 MB}}
axes:
  collective.ranks: [2, 4, 8]
  collective.bytes: [1 kB, 1 MB]
""")
    run(syncline, "batch", folder / "study.yaml", "--out", folder / "out")
    page = folder / "report.html"
    points = json.loads(run(syncline, "results", folder / "out", "--report", page, "--format", "json"))["points"]
    charts = check_page(driver, page)
    assert len(charts) == 1, [chart["title"] for chart in charts]
    drawn = sorted(point["y"] for one in charts[0]["sets"] for point in one["data"])
    same(drawn, sorted(point["completion_time_s"] for point in points), "times")
    looks.check_axes(driver, "batch")

    # A heading sorts by numbers, not by texts.
    column = ("return [...document.querySelectorAll('#points tbody tr')]"
              ".map((row) => row.children[arguments[0]].textContent)")
    heads = driver.execute_script("return [...document.querySelectorAll('#points th')].map((head) => head.textContent)")
    at = heads.index("bytes")
    for order in ("ascending", "descending"):
        driver.execute_script("document.querySelectorAll('#points th button')[arguments[0]].click()", at)
        head = "return document.querySelectorAll('#points th')[arguments[0]].getAttribute('aria-sort')"
        assert driver.execute_script(head, at) == order
        wanted = ["1 kB"] * 3 + ["1 MB"] * 3
        assert driver.execute_script(column, at) == (wanted if order == "ascending" else wanted[::-1])
    best = driver.execute_script("return document.querySelector('#best tbody tr').children[0].textContent")
    assert best == "2", best
    check_logs(driver, "sorting")
