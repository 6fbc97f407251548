"""The page of `syncline serve` for who has no mouse, no eyes for it, or no wish for motion."""
import math
import time

from page_parts import CLOCK, PLAY, WHY, Keys, until

FOCUSABLE = """
return [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((one) =>
    one.tabIndex >= 0 && !one.disabled && one.getClientRects().length && getComputedStyle(one).visibility === "visible"
    && !one.closest("details:not([open]) > :not(summary)"));
"""
OUTLINE = """
const one = document.activeElement, style = getComputedStyle(one);
return [one.outerHTML.slice(0, 120), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0
    || style.boxShadow !== "none"];
"""


def by_keyboard(page, _):
    """Tab reaches all controls, each with a visible focus and a name; space plays; arrows step."""
    page.open("/lesson/2")
    page.skip()
    page.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0); window.reached = new Set(); "
                               "document.addEventListener('focusin', ({target}) => reached.add(target));")
    wanted = len(page.driver.execute_script(FOCUSABLE))
    unseen = set()
    for _ in range(wanted + 10):
        page.press(Keys.TAB)
        html, seen = page.driver.execute_script(OUTLINE)
        if not seen and not html.startswith(("<body", "<html", "<main")):
            unseen.add(html)
    missed = page.driver.execute_script(f"const all = (() => {{ {FOCUSABLE} }})();" """
        return all.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 120));""")
    assert not missed, f"Tab does not reach {missed}"
    assert not unseen, f"no focus is seen on {unseen}"
    nameless = page.driver.execute_script(f"const all = (() => {{ {FOCUSABLE} }})();" """
        return all.filter((one) => !one.textContent.trim() && !one.getAttribute("aria-label") && !one.labels?.length
            && !one.title && !one.getAttribute("aria-labelledby")).map((one) => one.outerHTML.slice(0, 120));""")
    assert not nameless, f"controls without a name: {nameless}"
    assert len(page.all("h1")) == 1 and len(page.all("main")) == 1
    spoken = page.one(WHY).get_attribute("aria-live") or page.one(WHY).get_attribute("role")
    assert spoken in ("polite", "status"), "a screen reader does not say what changed"
    check_player(page)
    print(f"    {wanted} controls reached by Tab")
    page.check_logs("keyboard")


def clock(page):
    return float(page.one(CLOCK).get_attribute("data-seconds"))


def check_player(page):
    driver = page.driver
    driver.execute_script("document.activeElement.blur()")
    if page.one(PLAY).get_attribute("aria-pressed") == "true":
        page.one("body").send_keys(Keys.SPACE)
        until(driver, lambda _: page.one(PLAY).get_attribute("aria-pressed") == "false", "space pauses")
    page.one("body").send_keys(Keys.HOME)
    before = clock(page)
    page.one("body").send_keys(Keys.ARROW_RIGHT)
    until(driver, lambda _: clock(page) > before, "the right arrow steps on", 3)
    first = clock(page)
    page.one("body").send_keys(Keys.ARROW_RIGHT)
    until(driver, lambda _: clock(page) > first, "the right arrow steps on again", 3)
    page.one("body").send_keys(Keys.ARROW_LEFT)
    until(driver, lambda _: math.isclose(clock(page), first), "the left arrow steps back", 3)
    page.one("body").send_keys(Keys.SPACE)
    until(driver, lambda _: clock(page) > first, "space plays", 3)
    page.one("body").send_keys(Keys.SPACE)
    until(driver, lambda _: page.one(PLAY).get_attribute("aria-pressed") == "false", "space pauses", 3)
    still = clock(page)
    time.sleep(0.3)
    assert clock(page) == still, "the clock goes on in a pause"


def reduced_motion(page, _):
    """With reduced motion nothing moves by itself; else the picture plays once after a guess."""
    for motion in ("reduce", "no-preference"):
        page.open("/lesson/2")
        page.emulate(motion=motion)
        page.skip()
        page.one(CLOCK)
        time.sleep(0.4)
        before, playing = clock(page), page.one(PLAY).get_attribute("aria-pressed")
        time.sleep(0.6)
        moves = clock(page) != before or playing == "true"
        assert moves == (motion != "reduce"), f"{motion}: the picture {'plays' if moves else 'stands still'}"
        running = page.driver.execute_script("return document.getAnimations().filter((one) => one.playState === 'running').length")
        assert motion != "reduce" or not running, f"{running} animations run"
        page.close()


ALL = [by_keyboard, reduced_motion]
