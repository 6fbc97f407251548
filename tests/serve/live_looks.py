"""How the page of `syncline serve` looks: phone and desk, light, dark and print; pictures at several times."""
import tempfile
import time

from live_page import check_number, turned
from page_parts import CHOICES, PLAYER, Keys, WebDriverException, resize

import looks  # of tests/page, by page_parts

WIDTHS = (400, 1280)


def looks_of(page, what, width):
    """Checks the width, the contrast and the size of controls, in light and dark."""
    resize(page.driver, width)
    for scheme in ("light", "dark"):
        page.emulate(scheme, motion="reduce")
        where = f"{what}, {scheme}, {width} px"
        wide = page.driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= width, f"{where}: the page is {wide} px wide"
        assert page.driver.execute_script("return document.documentElement.lang") == "en", where
        looks.check_contrast(page.driver, where)
    small = page.driver.execute_script("""
        return [...document.querySelectorAll("button, select, input[type=text]")].filter((one) =>
            one.getClientRects().length && one.getBoundingClientRect().height < 24).map((one) => one.outerHTML.slice(0, 100));""")
    assert not small, f"{what}: too small to touch: {small}"
    page.emulate()


def looks_right(page, _):
    """No sideways scrolling on a phone; contrast in light, dark and print; a print that is not empty."""
    for lesson, ready in ((2, False), (1, True), (2, True), (9, True)):
        page.open(f"/lesson/{lesson}")
        if ready:
            page.skip()
        for width in WIDTHS:
            looks_of(page, f"lesson {lesson}{'' if ready else ', before a guess'}", width)
        page.emulate("dark", "print")
        looks.check_contrast(page.driver, f"lesson {lesson}, printed")
        page.emulate()
        pdf = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
        assert len(pdf["data"]) > 10_000, f"lesson {lesson}: the print is empty"
        pictures = page.driver.execute_script("""
            return [...document.querySelectorAll("svg[role=img], canvas")].filter((one) => !one.getAttribute("aria-label")
                && !one.getAttribute("aria-labelledby") && !one.querySelector("title")).map((one) => one.outerHTML.slice(0, 100));""")
        assert not pictures, f"lesson {lesson}: pictures without a name: {pictures}"
        page.check_logs(f"lesson {lesson}, looks")
        page.close()
    resize(page.driver, 1280)


FRAMES = """
const parts = document.querySelector(arguments[0]), slider = parts.querySelector("input[type=range]"), told = [];
for (const share of [0, 0.3, 0.7, 1]) {
    slider.value = Number(slider.min) + share * (slider.max - slider.min);
    slider.dispatchEvent(new Event("input", {bubbles: true}));
    const numbers = [...parts.querySelectorAll("svg *")].flatMap((one) => [...one.attributes]).filter(({value}) => /NaN|undefined|Infinity/.test(value));
    told.push([parts.textContent, numbers.length]);
}
return told;
"""


def every_lesson(page, program):
    """Each lesson: its number, its knobs, its pictures at several times, its looks; what is drawn has no NaN."""
    pictures, knobs, faults = 0, 0, []
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as folder:
        for number in range(1, 21):
            page.open(f"/lesson/{number}")
            for width in WIDTHS:
                resize(page.driver, width)
                try:
                    if page.state() == "predict":
                        looks_of(page, f"lesson {number}, before a guess", width)
                        page.skip()
                        check_number(page, program, folder, f"lesson {number}")
                    time.sleep(0.5)
                    looks_of(page, f"lesson {number}", width)
                    for choice in range(max(1, len([one for one in page.all(CHOICES) if one.is_displayed()]))):
                        if page.all(CHOICES)[choice].is_displayed():
                            page.all(CHOICES)[choice].send_keys(Keys.SPACE)
                        pictures += 1
                        for text, wrong in page.driver.execute_script(FRAMES, PLAYER):
                            bad = [word for word in ("NaN", "undefined", "Infinity", "null") if word in text]
                            assert not wrong and not bad, f"lesson {number}, picture {choice}: {wrong} attributes, {bad} in {text[:300]}"
                    page.check_logs(f"lesson {number}, {width} px")
                    if width == WIDTHS[0]:
                        knobs += turned(page, program, folder, f"lesson {number}")
                except (AssertionError, WebDriverException) as fault:
                    faults.append(str(fault)[:400])
            page.close()
    print(f"    20 lessons, {pictures} pictures, {knobs} knobs turned")
    assert not faults, "\n    ".join(["", *faults])


ALL = [looks_right]
