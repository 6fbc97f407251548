"""Headless Chromium as a reader of pages, and what applies to every page."""
import json
import pathlib
import shutil
import subprocess
import sys

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    print("skipped: python3-selenium is not installed")
    sys.exit(77)

import looks

CLONE = pathlib.Path(__file__).resolve().parents[2]
LARGEST_PAGE = 3_000_000
WIDTHS = (400, 1600)

# Returns for each chart its title, number of axes without a title, data sets, number of distinct pixel values, and number of
# rows of its opened table.
CHARTS = """
return [...document.querySelectorAll("canvas")].map((canvas) => {
    const figure = canvas.closest(".figure"), details = figure.querySelector("details.numbers");
    const chart = Chart.getChart(canvas);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return {title: figure.querySelector("h3").textContent, label: canvas.getAttribute("aria-label"),
        untitled: Object.values(chart.options.scales).filter((scale) => !scale.title?.text).length,
        labels: chart.data.labels, sets: chart.data.datasets.map((set) => ({label: set.label, data: set.data})),
        colours: new Set(new Uint32Array(pixels.buffer)).size, rows: details.querySelectorAll("tbody tr").length};
});
"""
UNFOLD = "document.querySelectorAll('details').forEach((details) => { details.open = true; });"


def browser():
    """Returns Chromium with logging enabled, or None."""
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        return None
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(driver), options=options)


def resize(driver, width):
    """Sets the width of the page to `width`, excluding the window's frame."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    WebDriverWait(driver, 10).until(lambda d: d.execute_script("return window.innerWidth") == width)
    # Charts are resized in the next frames.
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def check_logs(driver, what):
    # Warnings about getImageData come from CHARTS, not from the page.
    errors = [entry for entry in driver.get_log("browser")
              if entry["level"] in ("SEVERE", "WARNING") and "getImageData" not in entry["message"]]
    assert not errors, f"{what}: the console says {errors}"
    for entry in driver.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = message["params"]["request"]["url"]
            assert url.startswith(("file:", "data:")), f"{what}: asks for {url}"


def check_page(driver, file, most_bytes=LARGEST_PAGE):
    """Checks what applies to every page; returns its charts."""
    size = file.stat().st_size
    assert size < most_bytes, f"{file.name} has {size} bytes"
    charts = []
    for scheme in ("light", "dark"):
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                               {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for width in WIDTHS:
            what = f"{file.name}, {scheme}, {width} px"
            resize(driver, width)
            driver.get(file.as_uri())
            driver.execute_script(UNFOLD)
            WebDriverWait(driver, 20).until(lambda d: d.execute_script(
                "return [...document.querySelectorAll('details.numbers')].every((one) => one.querySelector('table'))"))
            assert driver.execute_script("return document.documentElement.lang") == "en", what
            wide = driver.execute_script("return document.documentElement.scrollWidth")
            assert wide <= width, f"{what}: the page is {wide} px wide"
            charts = driver.execute_script(CHARTS)
            for chart in charts:
                assert chart["colours"] > 3, f"{what}: '{chart['title']}' is empty"
                assert chart["rows"] > 0, f"{what}: '{chart['title']}' has no table"
                assert chart["label"], f"{what}: '{chart['title']}' has no label"
                assert chart["untitled"] == 0, f"{what}: '{chart['title']}' has an axis without a title"
            looks.check_contrast(driver, what)
            looks.check_meanings(driver, what)
            check_logs(driver, what)
    check_print(driver, file)
    return charts


def check_print(driver, file):
    """Checks printing from a dark screen: the print is light, and all charts fit on the paper."""
    assert driver.execute_script("return Chart.defaults.color") == "#e6e9ec", "dark"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    WebDriverWait(driver, 10).until(lambda d: d.execute_script("return Chart.defaults.color") == "#1b2530")
    widths = driver.execute_script("return [...document.querySelectorAll('canvas')].map((one) => one.offsetWidth)")
    assert max(widths) <= 680, widths
    looks.check_contrast(driver, f"{file.name}, printed")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    pdf = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert len(pdf["data"]) > 10_000, f"{file.name}: the print is empty"
    check_logs(driver, f"{file.name}, printed")


def chart_of(charts, title):
    found = [chart for chart in charts if chart["title"] == title]
    assert len(found) == 1, f"charts '{title}': {len(found)} of {[chart['title'] for chart in charts]}"
    return found[0]


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_paper(driver):
    """Checks that no table is cut on paper."""
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    resize(driver, 720)
    cut = driver.execute_script("return [...document.querySelectorAll('table')].filter("
                                "(one) => one.offsetWidth > one.parentElement.clientWidth).map((one) => one.textContent)")
    assert not cut, f"cut on paper: {cut}"
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    resize(driver, 1200)


LONG_NAME = "a binomial tree with a name that is longer than the charts have room for"


def small_scenario(folder):
    (folder / "scenario.yaml").write_text(f"""
name: small <scenario>
platform: {CLONE}/platforms/p100-25g.yaml
workload: {CLONE}/workloads/alexnet-tf.yaml
training: {{ranks: 8, batch_per_rank: 64, servers: {{count: 4}}}}
variants:
  ring: {{}}
  "<b>servers</b>": {{training: {{exchange: parameter-server}}}}
  {LONG_NAME}: {{training: {{algorithm: binomial-tree}}}}
""")
    return folder / "scenario.yaml"
