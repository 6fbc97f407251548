"""The page of an invented explanation: bands of equal ranks, timeline, colours of all parts."""
from selenium.webdriver.support.ui import WebDriverWait

import looks
from looks import same
from reader import CHARTS, chart_of, check_logs, check_page, resize, run
from timeline import TIMELINE, check_timeline


def check_band(driver):
    """Opens and closes the band of equal ranks with the mouse and with the keyboard; leaves it open."""
    title = "Time breakdown by rank"
    lines = "return Chart.getChart(document.querySelector('#why canvas')).data.labels.length"
    expanded = "return document.querySelector('#why .opens').getAttribute('aria-expanded')"
    for how, wanted in (("click", 32), ("click", 1), ("Enter", 32), ("Space", 1), ("click", 32)):
        if how == "click":
            looks.mouse(driver, "click", title, 0.6, 0)
        else:
            driver.execute_script("document.querySelector('#why .opens').focus()")
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
    path = chart_of(charts, "Critical path")["sets"]  # one for each kind
    same([next(value for value in values if value is not None) for values in zip(*(one["data"] for one in path))],
         [share["share"] for share in explanation["critical_path_shares"]], "shares")
    # The last interval of the profile ends with the window. All profiles of the sample are equal, and the page says so.
    profile = explanation["links"][0]["profile"]
    steps = chart_of(charts, "Link utilisation over time")["sets"][0]["data"]
    same([point["y"] for point in steps], [*profile, profile[-1]], "profile")
    same([steps[0]["x"], steps[-1]["x"]], [0, explanation["window_s"]], "profile's ends")
    names = [link["link"] for link in explanation["links"][:5]]
    assert looks.note_of(driver, "Link utilisation over time") == (
        f"These lines coincide and cover each other: {', '.join(names[:-1])} and {names[-1]}.")
    assert looks.note_of(driver, "Scaling efficiency") == ""
    parts, painted = looks.check_meanings(driver, "sample")
    assert {"computation", "exposed communication", "overlapped communication", "waiting", "idle", "forward pass",
            "backward pass", "gradients", "transfer"} <= parts.keys() and painted > 8, parts
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
