"""The live page as its reader uses it: every selector that the tests need is here."""
import json
import pathlib
import re
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "page"))
from reader import browser, resize  # noqa: E402,F401
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException  # noqa: E402,F401
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

TIME, YAML, WHY, JUDGEMENT, SOLUTION = "#time", "#yaml", "#why", "#judgement", "#solution"
PREDICT, COMMIT, SKIP, AGAIN = "#predict", "#commit", "#skip", "#again"
KNOB, PLAYER, PREDICTIONS = "#knobs .knob", "#player", "#predictions"
PLAY, CLOCK, CHOICES = "#player button.play", "#player .clock", "#player .player-choices button"
ANSWER_S = 20
# A run that a newer one replaces, and a setting that does not fit, are answered with these; Chromium logs them.
USUAL = ("409", "422")


class Page:
    def __init__(self, driver, server):
        self.driver, self.server = driver, server

    def open(self, path="", fragment=""):
        """Opens an address with the token, in a tab that has nothing stored."""
        base, _, token = self.server.url.partition("#")
        self.driver.switch_to.new_window("tab")
        self.driver.get(f"{base.rstrip('/') + path if path else base}#{token}{'&' + fragment if fragment else ''}")
        self.settle()

    def close(self):
        self.driver.close()
        self.driver.switch_to.window(self.driver.window_handles[0])

    def reload(self):
        self.driver.refresh()
        self.settle()

    def state(self):
        return self.driver.execute_script("return document.body?.dataset.state ?? ''")

    def settle(self, *states):
        """Waits until the page waits for the reader, in one of `states` if some are given."""
        wanted = states or ("predict", "ready", "problem")
        end = time.monotonic() + ANSWER_S
        while (state := self.state()) not in wanted:
            assert time.monotonic() < end, f"the page is '{state}', not one of {wanted}: {self.text()[:300]}"
            time.sleep(0.01)
        return state

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        try:
            return self.driver.find_element(By.CSS_SELECTOR, selector)
        except NoSuchElementException:
            raise AssertionError(f"the page has no '{selector}'") from None

    def text(self):
        return self.driver.execute_script("return document.body?.innerText ?? ''")

    def html(self):
        return self.driver.execute_script("return document.documentElement.outerHTML")

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def guess(self, texts):
        for row, text in texts.items():
            field = self.one(f'{PREDICT} input[data-row="{row}"]')
            field.clear()
            field.send_keys(text)
        self.one(COMMIT).send_keys(Keys.ENTER)
        self.settle("ready", "problem")

    def skip(self):
        self.one(SKIP).send_keys(Keys.ENTER)
        self.settle("ready", "problem")

    def seconds(self):
        """Returns the time that is shown: unrounded, and as text."""
        shown = self.one(TIME)
        return float(shown.get_attribute("data-seconds")), shown.text

    def yaml(self):
        return self.driver.execute_script("const one = document.querySelector(arguments[0]); return one.value ?? one.textContent",
                                          YAML)

    def knobs(self):
        """Returns the value of each knob by its key."""
        return dict(self.driver.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map((one) => [one.dataset.key, one.dataset.value])", KNOB))

    def turn(self, key):
        """Turns a knob by a step with the keyboard: down, or up from the first. Returns whether its value is another one."""
        before = self.knobs()[key]
        shown = self.driver.execute_script("return performance.getEntriesByName('answer').length")
        knob = f'{KNOB}[data-key="{key}"]'
        sliders, lists = self.all(f"{knob} input[type=range]"), self.all(f"{knob} select")
        if sliders:
            at, least, most = (float(sliders[0].get_attribute(name)) for name in ("value", "min", "max"))
            sliders[0].send_keys(Keys.ARROW_LEFT if at > least else Keys.ARROW_RIGHT)
            assert least < most, f"{key}: a slider with one step"
        elif lists:
            lists[0].send_keys(Keys.ARROW_UP if lists[0].get_property("selectedIndex") > 0 else Keys.ARROW_DOWN)
        else:
            buttons = self.all(f"{knob} button")
            assert len(buttons) > 1, f"{key}: no slider, list or buttons"
            off = [one for one in buttons if one.get_attribute("aria-pressed") == "false"]
            assert len(off) == len(buttons) - 1, f"{key}: {len(buttons) - len(off)} buttons are pressed"
            off[0].send_keys(Keys.SPACE)
        end = time.monotonic() + ANSWER_S
        while self.driver.execute_script("return performance.getEntriesByName('answer').length") == shown:
            if self.state() == "problem":
                break
            assert time.monotonic() < end, f"{key}: turned, and no other answer is shown"
            time.sleep(0.01)
        self.settle("ready", "problem")
        return self.knobs().get(key) != before

    def emulate(self, scheme="light", media="", motion="no-preference"):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion}]})

    def check_logs(self, what):
        """Checks that the console is silent, and that only this server is asked."""
        for entry in self.driver.get_log("browser"):
            status = re.search(r"status of (\d{3})", entry["message"])
            usual = status and status.group(1) in USUAL and "/api/v1/" in entry["message"] or "getImageData" in entry["message"]
            assert entry["level"] not in ("SEVERE", "WARNING") or usual, f"{what}: the console says {entry}"
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                mine = url.startswith((f"http://127.0.0.1:{self.server.port}/", "data:", "blob:", "about:"))
                assert mine, f"{what}: asks for {url}"
                assert self.server.token not in url.partition("#")[0], f"{what}: the token is in the address {url}"


def until(driver, condition, what, seconds=10):
    try:
        return WebDriverWait(driver, seconds, ignored_exceptions=[StaleElementReferenceException]).until(condition)
    except Exception as error:
        raise AssertionError(f"{what}: {error}") from None
