"""What a reader sees of a page: contrast, colours by meaning, ticks, axes, bands, names under the mouse."""
import math
import re

# Returns [kind, colour, background, example] of all visible text, of the borders of controls, and of every colour of charts:
# cables are on a white picture, everything else is on the page or on a card.
COLOURS = """
const style = (element) => getComputedStyle(element);
const opaque = (colour) => !/, 0\\)$|transparent/.test(colour);
const behind = (element) => {
    for (let one = element; one; one = one.parentElement)
        if (opaque(style(one).backgroundColor)) return style(one).backgroundColor;
    return "rgb(255, 255, 255)";
};
const found = new Map();
const add = (kind, colour, background, text) => found.set([kind, colour, background].join(), [kind, colour, background, text]);
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest("svg, script, noscript, option") || !element.getClientRects().length) continue;
    add("text", style(element).color, behind(element), node.textContent.trim().slice(0, 40));
}
for (const control of document.querySelectorAll("select, .tools button"))
    if (control.getClientRects().length) add("graphic", style(control).borderColor, behind(control.parentElement), "border");
const root = style(document.documentElement), value = (name) => root.getPropertyValue(name).trim();
const names = new Set([...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .flatMap((rule) => [...(rule.cssRules ?? []), rule]).filter((rule) => rule.selectorText?.startsWith(":root"))
    .flatMap((rule) => [...rule.style]));
for (const name of names) {
    if (["--ink", "--faint", "--paper", "--card", "--line", "--tolerance"].includes(name)) continue;
    // Fills of moving pictures are told apart by numbers and shapes.
    if (/^--(on|stage|load|owner)-/.test(name) || !CSS.supports("color", value(name))) continue;
    for (const background of name.startsWith("--use-") ? ["#ffffff"] : [value("--paper"), value("--card")])
        add("graphic", value(name), background, name);
}
const charts = [...document.querySelectorAll("canvas")].map((canvas) => Chart.getChart(canvas));
for (const chart of charts) {
    const card = behind(chart.canvas);
    add("text", chart.options.color, card, "a chart's labels");
    for (const set of chart.data.datasets)
        add("graphic", set.colour, card, set.label);
}
for (const path of document.querySelectorAll("path.cable"))
    if (path.hasAttribute("stroke")) add("graphic", path.getAttribute("stroke"), "#ffffff", "cable");
return [...found.values()];
"""


def channels(colour):
    if colour.startswith("#"):
        assert re.fullmatch("#[0-9a-f]{6}", colour), colour
        return [int(colour[at:at + 2], 16) for at in (1, 3, 5)]
    return [int(part) for part in re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour).groups()]


def contrast(one, other):
    """Returns the contrast ratio of WCAG 2.1."""
    def luminance(colour):
        linear = [part / 255 for part in channels(colour)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in linear]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def check_contrast(driver, what):
    # The greys that just fail and just pass for text on white are well known.
    assert contrast("#777777", "#ffffff") < 4.5 < contrast("#767676", "#ffffff")
    found = driver.execute_script(COLOURS)
    assert {kind for kind, *_ in found} == {"text", "graphic"} and len(found) > 10, found
    for kind, colour, background, example in found:
        ratio, least = contrast(colour, background), {"text": 4.5, "graphic": 3}[kind]
        assert ratio >= least, f"{what}: '{example}' is {colour} on {background}, a contrast of {ratio:.2f}, not {least}"


# Returns for each data set its chart's title and type, label and colour, and the most frequent colour of its widest bar.
FILLS = """
const hex = (pixel) => "#" + [0, 8, 16].map((shift) => ((pixel >> shift) & 255).toString(16).padStart(2, "0")).join("");
return [...document.querySelectorAll("canvas")].flatMap((canvas) => {
    const chart = Chart.getChart(canvas), title = canvas.closest(".figure").querySelector("h3").textContent;
    return chart.data.datasets.map((set, i) => {
        let widest = {width: 0};
        if (chart.config.type === "bar")
            for (const bar of chart.getDatasetMeta(i).data) {
                const {x, base, y, height} = bar;
                const width = Math.abs(x - base);
                if (width > widest.width) widest = {x: Math.min(x, base) + 2, y: y - height / 2 + 2, width: width - 4, height: height - 4};
            }
        let painted = null;
        if (widest.width > 12 && widest.height > 4) {
            const pixels = new Uint32Array(canvas.getContext("2d").getImageData(
                Math.ceil(widest.x), Math.ceil(widest.y), Math.floor(widest.width), Math.floor(widest.height)).data.buffer);
            const counts = new Map();
            for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
            painted = hex([...counts].sort((a, b) => b[1] - a[1])[0][0]);
        }
        return {title, type: chart.config.type, label: set.label, colour: set.colour, painted};
    });
});
"""


def check_meanings(driver, what):
    """Checks that on the whole page a colour has one meaning, a part of time one colour, and that bars are painted in it."""
    quantity = driver.execute_script("return colour_of('quantity')")
    parts, series, painted = {}, {}, 0
    for one in driver.execute_script(FILLS):
        place = f"{what}: '{one['label']}' in '{one['title']}'"
        if one["painted"]:
            assert one["painted"] == one["colour"], f"{place} is painted {one['painted']}, not {one['colour']}"
            painted += 1
        if one["type"] == "line":
            # A closed form has the colour of its simulation.
            series.setdefault(one["colour"], set()).add(one["label"].removesuffix(", closed form"))
        elif one["colour"] != quantity:
            parts.setdefault(one["label"], set()).add(one["colour"])
    for label, colours in parts.items():
        assert len(colours) == 1, f"{what}: '{label}' has the colours {colours}"
    for colour, labels in series.items():
        assert len(labels) == 1 or not {"hollow: calibration row, not counted", "unreliable"}.isdisjoint(labels), (
            f"{what}: {colour} is {labels}")
    used = [colour for colours in parts.values() for colour in colours] + [quantity, *series]
    assert len(set(used)) == len(used), f"{what}: a colour has two meanings: {parts}, {series}"
    return parts, painted


# Returns for each chart which part of its width is empty at the right of the data, and of its height above lines.
EMPTY = """
return [...document.querySelectorAll("canvas")].map((canvas) => {
    const chart = Chart.getChart(canvas), {left, right, top, bottom} = chart.chartArea;
    const marks = chart.data.datasets.flatMap((_, i) => chart.getDatasetMeta(i).data).filter((mark) => !mark.skip);
    const farthest = Math.max(...marks.flatMap((mark) => [mark.x, mark.base ?? mark.x]));
    const highest = Math.min(...marks.map((mark) => mark.y));
    const spread = chart.data.datasets.some((set) => set.data.some((point) => point?.high > point?.y));
    return {title: canvas.closest(".figure").querySelector("h3").textContent,
        across: (right - farthest) / (right - left),
        above: chart.config.type === "line" && !spread ? (highest - top) / (bottom - top) : 0};
});
"""


def check_axes(driver, what):
    """Checks that axes end where the data end."""
    for one in driver.execute_script(EMPTY):
        if one["title"] == "Timeline":  # it ends with the window
            continue
        for side in ("across", "above"):
            assert abs(one[side]) < 0.03, f"{what}: {100 * one[side]:.0f} % of '{one['title']}' is empty ({side})"


TICKS = """
const canvas = [...document.querySelectorAll("canvas")].find(
    (one) => one.closest(".figure").querySelector("h3").textContent === arguments[0]);
const {x} = Chart.getChart(canvas).scales, pen = canvas.getContext("2d");
pen.font = `12px ${Chart.defaults.font.family}`;
// Labels that are turned need only the height of a line.
const width = (label) => (x.labelRotation > 30 ? 14 / Math.sin(x.labelRotation * Math.PI / 180) : pen.measureText(label).width);
return x.ticks.map(({value, label}) => ({value, label, at: x.getPixelForValue(value), width: width(label)}));
"""


def ticks_of(driver, title):
    """Returns the values and the labels of a horizontal axis after checking that labels do not collide."""
    ticks = driver.execute_script(TICKS, title)
    shown = [tick for tick in ticks if tick["label"]]
    for one, other in zip(shown, shown[1:]):
        assert one["at"] + one["width"] / 2 < other["at"] - other["width"] / 2, f"'{title}': {one} collides with {other}"
    return [tick["value"] for tick in ticks], [tick["label"] for tick in shown]


def mouse(driver, kind, title, share, row):
    """Moves or clicks (`kind`) in a chart: `share` of the way from its left edge, at its vertical axis' value `row`."""
    at = driver.execute_script("""
const canvas = [...document.querySelectorAll("canvas")].find(
    (one) => one.closest(".figure").querySelector("h3").textContent === arguments[0]);
canvas.scrollIntoView({block: "center"});
const box = canvas.getBoundingClientRect();
return [box.left + arguments[1] * box.width, box.top + Chart.getChart(canvas).scales.y.getPixelForValue(arguments[2])];
""", title, share, row)
    place = {"x": at[0], "y": at[1], "button": "left", "clickCount": 1}
    for event in {"move": ["mouseMoved"], "click": ["mouseMoved", "mousePressed", "mouseReleased"]}[kind]:
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": event, **place})


def press(driver, key, code):
    for event in ("keyDown", "keyUp"):
        driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
            "type": event, "key": key, "code": key, "windowsVirtualKeyCode": code,
            **({"text": "\r"} if key == "Enter" and event == "keyDown" else {})})


def title_under_mouse(driver, title):
    return driver.execute_script("""
return [...document.querySelectorAll("canvas")].find(
    (one) => one.closest(".figure").querySelector("h3").textContent === arguments[0]).title;
""", title)


def note_of(driver, title):
    """Returns what a figure says about lines that coincide."""
    return driver.execute_script("""
return [...document.querySelectorAll(".figure")].find((one) => one.querySelector("h3")?.textContent === arguments[0])
    .querySelector(".coincide").textContent;
""", title)


def same(found, expected, what):
    assert len(found) == len(expected), f"{what}: {found} is not {expected}"
    for one, other in zip(found, expected):
        assert one == other or math.isclose(one, other, rel_tol=1e-12), f"{what}: {found} is not {expected}"
