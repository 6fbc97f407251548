"""The page of an invented explanation: bands of equal ranks, timeline, colours of all parts."""
from selenium.webdriver.support.ui import WebDriverWait

import looks
from looks import same
from reader import CHARTS, chart_of, check_logs, check_page, resize, run
from timeline import TIMELINE, check_timeline


# Returns the texts and the titles of a drawing.
DRAWING = """
const figure = [...document.querySelectorAll(".figure")].find((one) => one.querySelector("h3")?.textContent === arguments[0]);
const list = (what) => [...figure.querySelectorAll("svg.drawing " + what)].map((one) => one.textContent);
return {texts: list("text"), titles: list("title")};
"""


def check_band(driver):
    """Opens and closes the band of equal ranks with the mouse and with the keyboard; leaves it open."""
    title = "Time breakdown by rank"
    find = ("const figure = [...document.querySelectorAll('.figure')].find((one) => "
            "one.querySelector('h3')?.textContent === 'Time breakdown by rank');")
    lines = find + "return Chart.getChart(figure.querySelector('canvas')).data.labels.length"
    expanded = find + "return figure.querySelector('.opens').getAttribute('aria-expanded')"
    for how, wanted in (("click", 32), ("click", 1), ("Enter", 32), ("Space", 1), ("click", 32)):
        if how == "click":
            looks.mouse(driver, "click", title, 0.6, 0)
        else:
            driver.execute_script(find + "figure.querySelector('.opens').focus()")
            looks.press(driver, " " if how == "Space" else how, 32 if how == "Space" else 13)
        WebDriverWait(driver, 5).until(lambda d, wanted=wanted: d.execute_script(lines) == wanted)
        assert driver.execute_script(expanded) == ("true" if wanted > 1 else "false")


def sample(driver, folder, _, page_sample, ranks=64):
    page = folder / "sample.html"
    run(page_sample, page, ranks)
    charts = check_page(driver, page)
    values = driver.execute_script("return JSON.parse(document.getElementById('data').textContent)")
    explanation = values["variants"][0]["explanation"]
    parts = chart_of(charts, "Time breakdown by rank")
    assert parts["labels"] == [f"ranks 0–{ranks - 1}: the same"], parts["labels"]
    same(parts["sets"][0]["data"], [explanation["ranks"][0]["compute_s"]], "computation")
    looks.check_axes(driver, "sample")
    check_band(driver)
    parts = chart_of(driver.execute_script(CHARTS), "Time breakdown by rank")
    shown = [int(label.removeprefix("rank ")) for label in parts["labels"]]
    assert len(shown) == 32
    assert explanation["last_rank"] in shown
    same(parts["sets"][0]["data"], [explanation["ranks"][rank]["compute_s"] for rank in shown], "computation")
    assert parts["rows"] == min(ranks, 500)
    # The critical path is one strip over time: two passes and a bucket, with their shares.
    strip = driver.execute_script(DRAWING, "Critical path")
    assert [text.split(":")[0] for text in strip["titles"]] == ["rank 3", "rank 4", "forward", "backward", "exchange"], strip
    assert any(text.startswith("backward pass 6") for text in strip["texts"]), strip["texts"]
    tornado = driver.execute_script(DRAWING, "What would change the time?")
    assert "−3.8 %" in tornado["texts"] and "nic x2" in tornado["texts"], "1 / 1.04 is 0.9615"
    # The last interval of the profile ends with the window.
    profile = explanation["links"][0]["profile"]
    steps = chart_of(charts, "Link utilisation over time")["sets"][0]["data"]
    same([point["y"] for point in steps], [*profile, profile[-1]], "profile")
    same([steps[0]["x"], steps[-1]["x"]], [0, explanation["window_s"]], "profile's ends")
    profiles = chart_of(charts, "Link utilisation over time")["sets"]
    assert [one["label"] for one in profiles] == [f"{explanation['links'][0]['link']} and 9 more"], "all are equal"
    assert looks.note_of(driver, "Scaling efficiency") == ""
    parts, painted = looks.check_meanings(driver, "sample")
    assert {"computation", "exposed communication", "overlapped communication", "waiting", "idle", "forward pass",
            "backward pass", "gradients"} <= parts.keys() and painted > 6, parts
    timeline = values["variants"][0]["timeline"]
    bars = sum(len(lane["bars"]) for lane in timeline["lanes"]) // 5
    drawn = sum(len(one["data"]) for one in chart_of(charts, "Timeline")["sets"])
    assert drawn < bars / 2, "equal processes share their lines"
    check_timeline(driver)
    driver.execute_script(TIMELINE + "for (let at = 0; timeline.querySelectorAll('.opens')[at]; ++at)"
                                     " timeline.querySelectorAll('.opens')[at].click();")
    charts = driver.execute_script(CHARTS)
    assert sum(len(one["data"]) for one in chart_of(charts, "Timeline")["sets"]) == bars
    check_timeline(driver)

    # Each cable is coloured by its utilisation: the busiest is red.
    cables = values["variants"][0]["links"]["cables"]
    strokes = driver.execute_script(
        "return [...document.querySelectorAll('path.cable')].map((path) => path.getAttribute('stroke'))")
    if cables is not None:
        assert len(strokes) == len(cables) == ranks
        red, violet = driver.execute_script("return [colour_of('use-5'), colour_of('use-1')]")
        assert strokes[cables.index(max(cables))] == red and violet in strokes
    check_logs(driver, "sample")


def many_ranks(driver, folder, _, page_sample):
    sample(driver, folder, _, page_sample, ranks=1024)
    for width in (400, 1200):
        resize(driver, width)
        wanted = [2**power for power in range(11)]
        assert looks.ticks_of(driver, "Scaling efficiency") == (wanted, [str(ranks) for ranks in wanted]), width
    assert "16 of 1024 processes" in driver.execute_script("return document.body.textContent")
