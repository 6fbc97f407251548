"""The page of `syncline serve` in Chromium, as a student uses it: predict, see, turn the knobs, share."""
import math
import pathlib
import statistics
import tempfile
import time

from lessons import Desk, check_same, simulated, time_of
from page_parts import AGAIN, COMMIT, JUDGEMENT, PREDICT, PREDICTIONS, SOLUTION, WHY, Keys, Page, until
from server import Server, busy

TURNED = (1, 2, 3, 9)
SCENARIO = "zhang-2021"
MEDIAN_S = 0.3
LIKE_A_SERVER = {"ring-2": "1.2 s", "ring-4": "1600 ms", "ring-8": "2.4s", "ring-16": "4 s"}


def token_leaves(page, _):
    """The token is in no address after the start, and a reload keeps the tab's student."""
    page.open("/lesson/2")
    assert page.state() == "predict", page.state()
    address = page.driver.current_url
    assert page.server.token not in address and "token" not in address, address
    assert page.server.token not in page.html()
    stored = page.driver.execute_script("return [sessionStorage['syncline-token'], sessionStorage['syncline-student'], "
                                        "localStorage.length, document.cookie]")
    assert stored[0] == page.server.token and len(stored[1]) == 16 and stored[2:] == [0, ""], stored
    page.reload()
    assert page.driver.execute_script("return sessionStorage['syncline-student']") == stored[1]
    page.check_logs("start")


def starts(page, program):
    """The printed address opens what was named: nothing, a lesson by name, a scenario."""
    for words in ([], ["ring-allreduce"], [SCENARIO]):
        with Server(program, *words) as server:
            other = Page(page.driver, server)
            other.open()
            assert other.state() in (["predict"] if words == ["ring-allreduce"] else ["ready"] if words else ["ready", "predict"]), (
                f"{words}: {other.state()}: {other.text()}")
            assert len(other.all("#lessons [data-lesson]")) >= 20, words
            other.check_logs(f"serve {words}")
            other.close()


def without_token(page, _):
    """Without a token the page says what to do; it does not show numbers."""
    page.driver.switch_to.new_window("tab")
    page.driver.get(f"http://127.0.0.1:{page.server.port}/lesson/2")
    until(page.driver, lambda _: "syncline serve" in page.text(), "the page says how to get an address with a token")
    page.driver.get_log("browser")  # 401 is in it


def predict_first(page, _):
    """No number of the answer is in the page before a guess, nor after a reload."""
    for number in (1, 2):
        desk = Desk(page.server, number)
        question = desk.read()
        done = desk.predict()
        page.open(f"/lesson/{number}")
        assert page.state() == "predict", page.state()
        texts = page.driver.execute_script("return arguments[0].map((one) => units.s(one))", done["seconds"])
        told = str(question["question"]) + str(question["prediction"]) + str(question["guess"])
        for again in ("", ", after a reload"):
            html = page.html().replace("\u00a0", " ").replace("&nbsp;", " ")
            for text in texts:
                assert text in told.replace("\u00a0", " ") or text not in html, f"lesson {number}{again}: {text} is in the page"
            assert not page.all(SOLUTION) and not page.all(JUDGEMENT), f"lesson {number}{again}"
            sentence = [line for line in done["answer"].splitlines() if len(line) > 40 and "`" not in line and "*" not in line][0]
            assert sentence not in html, f"lesson {number}{again}: {sentence}"
            page.reload()
            assert page.state() == "predict"
        page.check_logs(f"lesson {number}, before a guess")
        page.close()


def judged(page, _):
    """A guess is judged, kept by a reload, and in predictions.csv; *guess again* locks the page again."""
    page.open("/lesson/2")
    page.guess(LIKE_A_SERVER)
    assert "parameter server" in page.one(JUDGEMENT).text, page.one(JUDGEMENT).text
    assert "987.5" in page.text().replace("\u00a0", " "), "the answer is not shown"
    assert page.one(SOLUTION).get_attribute("textContent").strip(), "no answer or exercises"
    page.reload()
    assert page.state() == "ready" and "parameter server" in page.one(JUDGEMENT).text
    student = page.driver.execute_script("return sessionStorage['syncline-student']")
    expected = page.server.get(f"/api/v1/predictions.csv?student={student}").body.decode()
    assert len(expected.splitlines()) == 5, expected
    page.driver.execute_script("""
        window.saved = [];
        const made = URL.createObjectURL;
        URL.createObjectURL = (blob) => { blob.text().then((text) => saved.push(text)); return made(blob); };
        HTMLAnchorElement.prototype.click = function () { window.named = this.download; };""")
    page.one(PREDICTIONS).send_keys(Keys.ENTER)
    until(page.driver, lambda driver: driver.execute_script("return saved.length"), "predictions.csv is saved")
    assert page.driver.execute_script("return [saved[0], named]") == [expected, "predictions.csv"]
    page.one(AGAIN).send_keys(Keys.ENTER)
    page.settle("predict")
    page.check_logs("a guess")


def odd_guesses(page, _):
    """A field that is no time is not sent."""
    page.open("/lesson/2")
    for text in ("fast", "-1 s", "0 s", "1 kg", "1e999 s"):
        field = page.one(f'{PREDICT} input[data-row="ring-2"]')
        field.clear()
        field.send_keys(text, Keys.ENTER)
        if page.one(COMMIT).is_enabled():
            page.one(COMMIT).send_keys(Keys.ENTER)
        time.sleep(0.1)
        assert page.state() == "predict", f"'{text}' is taken as a time"
    page.check_logs("guesses that are none")


def every_knob(page, program):
    """Each knob, turned by the keyboard: the number shown is that of `syncline run` of the YAML shown."""
    count, measured = 0, []
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as folder:
        for number in (*TURNED, 0):
            what = f"lesson {number}" if number else SCENARIO
            if number:
                page.open(f"/lesson/{number}")
                page.skip()
                check_number(page, program, folder, what)
                count += turned(page, program, folder, what)
                measured += page.driver.execute_script("return performance.getEntriesByName('answer').map((one) => one.duration)")
                page.close()
                continue
            with Server(program, SCENARIO) as server:
                other = Page(page.driver, server)
                other.open()
                assert other.state() == "ready", f"{what}: {other.state()}"
                check_number(other, program, folder, what)
                count += turned(other, program, folder, what)
                other.close()
    median = statistics.median(measured)
    print(f"    {count} knobs turned, each number equal to syncline run; from knob to number {median:.0f} ms (median), "
          f"{max(measured):.0f} ms (longest)")
    assert count > 12, count
    assert median < 1e3 * MEDIAN_S or busy(), f"median of {median:.0f} ms"


def check_number(page, program, folder, what):
    seconds, text = page.seconds()
    expected = time_of(simulated(program, page.yaml(), folder))
    assert any(math.isclose(seconds, one, rel_tol=1e-9) for one in expected), f"{what}: {seconds}, syncline run {expected}"
    shown = page.driver.execute_script("return units.s(arguments[0])", seconds)
    assert shown.replace("\u00a0", " ") in text.replace("\u00a0", " "), f"{what}: '{text}' is not {shown}"


def turned(page, program, folder, what):
    """Turns all knobs of the page; returns how many there were."""
    count, keys = 0, list(page.knobs())
    assert keys, f"{what}: no knobs"
    for key in keys:
        if key not in page.knobs():  # another variant may have other knobs
            continue
        assert page.turn(key), f"{what}: '{key}' did not turn"
        if page.state() == "problem":
            assert page.one("#problem").text, f"{what}: '{key}' does not fit, and the page does not say why"
            page.turn(key)
            continue
        check_number(page, program, folder, f"{what}, {key}")
        assert page.one(WHY).text, f"{what}: nothing is said about '{key}'"
        count += 1
    page.check_logs(f"{what}, knobs")
    return count


def address_restores(page, _):
    """The fragment has the setting: a new tab shows it after its own guess."""
    page.open("/lesson/2")
    page.skip()
    for key in list(page.knobs())[:2]:
        page.turn(key)
    seconds, knobs, address = page.seconds()[0], page.knobs(), page.driver.current_url
    path, _, fragment = address.partition("#")
    assert fragment and page.server.token not in address, address
    page.reload()
    assert page.seconds()[0] == seconds and page.knobs() == knobs, "a reload shows another setting"
    page.open(path.removeprefix(f"http://127.0.0.1:{page.server.port}"), fragment)
    assert page.state() == "predict", "a link skips the prediction"
    page.skip()
    check_same([page.seconds()[0]], [seconds], "new tab")
    assert page.knobs() == knobs, "new tab"
    # A setting that does not fit is put right or refused; no number of another setting is shown for it.
    page.open("/lesson/2", "training.ranks=-7&x=<img src=x onerror=alert(1)>&variant=nothing&l=99")
    assert page.state() in ("predict", "ready", "problem") and not page.all("img[src=x]")
    page.check_logs("links")


STRANGE = """
name: "<img src=x onerror=alert(1)>"
platform: {device: p100-sxm2, fabric: {topology: star, bandwidth: 25 Gbps, latency: 5 us}}
workload:
  name: "</script><b id=strange>model</b>"
  input: [1, 1, 1]
  layers: [{name: "<b id=strange>layer</b>", kind: custom, parameters: 25000000, macs: 1000000000}]
training: {ranks: 8, batch_per_rank: 64}
variants: {"<b id=strange>ring</b>": {training.algorithm: ring}, '"&amp;': {training.algorithm: binomial-tree}}
"""


def strange_names(page, program):
    """Names of a scenario are text, never markup; numbers are those of syncline run."""
    with tempfile.TemporaryDirectory(prefix="syncline-serve-") as folder:
        (pathlib.Path(folder) / "strange.yaml").write_text(STRANGE)
        with Server(program, pathlib.Path(folder) / "strange.yaml") as server:
            other = Page(page.driver, server)
            other.open()
            assert other.state() == "ready", other.text()
            assert "<b id=strange>ring</b>" in other.text(), "the variant's name is not shown as it is"
            check_number(other, program, folder, "strange names")
            turned(other, program, folder, "strange names")
            other.driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            time.sleep(1)
            made = other.driver.execute_script("return document.querySelectorAll('#strange, img[src=x], svg #strange').length")
            assert not made, f"{made} elements are made of names"
            other.check_logs("strange names")
            other.close()


ALL = [starts, token_leaves, without_token, predict_first, judged, odd_guesses, every_knob, address_restores, strange_names]
