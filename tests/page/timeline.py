"""The timeline of a page, moved by keys."""
from looks import same

TIMELINE = """
const figures = [...document.querySelectorAll(".figure")];
const timeline = figures.find((one) => one.querySelector("h3")?.textContent === "Timeline");
"""
SHOWN = TIMELINE + """
const {min, max} = Chart.getChart(timeline.querySelector("canvas")).scales.x;
return [min, max];
"""
PRESS = TIMELINE + """
timeline.querySelector(".canvas").dispatchEvent(new KeyboardEvent("keydown", {key: arguments[0]}));
"""


def check_timeline(driver):
    """Checks the keys: zoom into the middle, move right, and back."""
    start, end = driver.execute_script(SHOWN)
    driver.execute_script(PRESS, "+")
    inner = driver.execute_script(SHOWN)
    same(inner, [start + (end - start) / 4, end - (end - start) / 4], "zoomed in")
    driver.execute_script(PRESS, "ArrowRight")
    assert driver.execute_script(SHOWN)[0] > inner[0]
    driver.execute_script(PRESS, "0")
    same(driver.execute_script(SHOWN), [start, end], "all")
