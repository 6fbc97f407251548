// Charts: colours and patterns that colour-blind readers can tell apart, light and dark themes, print.

/// Okabe and Ito, "Color universal design", 2008.
const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999", "#332288"];
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4]];
const marks = ["circle", "rect", "triangle", "rectRot", "crossRot", "star"];

const dark_screen = window.matchMedia("(prefers-color-scheme: dark)");
const prints = window.matchMedia("print");
let printing = false;  // paper is light and narrow
const is_dark = () => dark_screen.matches && !printing;

/// Returns a colour with a hatch, so that it differs in greyscale, too. The first is plain.
function pattern(index) {
    const colour = colours[index % colours.length];
    const strokes = [
        [], [[0, 8, 8, 0]], [[0, 4, 8, 4]], [[0, 0, 8, 8]], [[4, 0, 4, 8]], [[0, 8, 8, 0], [0, 0, 8, 8]],
        [[2, 2, 3, 3]], [[0, 4, 8, 4], [4, 0, 4, 8]], [[1, 1, 2, 2], [5, 5, 6, 6]]
    ][index % 9];
    if (strokes.length === 0) return colour;
    const tile = make("canvas", {width: 8, height: 8});
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = "rgba(255, 255, 255, 0.75)";
    pen.lineWidth = 1.2;
    for (const [x, y, to_x, to_y] of strokes) {
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(to_x, to_y);
        pen.stroke();
    }
    return pen.createPattern(tile, "repeat");
}

function bars(label, values, index, more = {}) {
    return {
        label,
        data: values,
        backgroundColor: pattern(index),
        borderColor: is_dark() ? "#14181c" : "#ffffff",
        borderWidth: 1,
        ...more
    };
}

function line(label, values, index, more = {}) {
    const colour = colours[index % 6];
    return {
        label,
        data: values,
        borderColor: colour,
        backgroundColor: colour,
        borderDash: dashes[Math.floor(index / 6) % 5],
        pointStyle: marks[index % 6],
        pointRadius: 4,
        borderWidth: 2,
        tension: 0,
        ...more
    };
}

/// Returns an axis whose values have a unit.
function axis(title, unit, more = {}) {
    // On a logarithmic axis only the labels of 1, 2 and 5 have room.
    const crowded = (value) =>
        more.type === "logarithmic" && !/^[125]$/.test(String(Number(value.toPrecision(3))).replace(/e.*|[0.]/g, ""));
    const ticks = unit ? {callback: (value) => (crowded(value) ? "" : units[unit](value)), maxRotation: 40} : {};
    return {title: {display: true, text: title}, ticks, ...more};
}
/// Returns an axis with names, shortened if they are long; the table has them in full.
function names(title, labels, more = {}) {
    const most = window.innerWidth < 700 ? 20 : 40;
    const cut = (text) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
    return {title: {display: true, text: title}, ticks: {callback: (value) => cut(String(labels[value] ?? "")), autoSkip: labels.length > 70, ...more}};
}

function theme() {
    Chart.defaults.color = is_dark() ? "#e6e9ec" : "#1b2530";
    Chart.defaults.borderColor = is_dark() ? "#3a444d" : "#d4dae0";
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
}

const drawn = [];  // {canvas, config}: all charts of the page, redrawn when colours change

function draw(entry) {
    Chart.getChart(entry.canvas)?.destroy();
    new Chart(entry.canvas, entry.config());
}

/// Adds a chart with a heading, a description and a table of its numbers. `config` builds the chart's configuration,
/// again whenever colours change; `unit` is the unit of its values.
function figure(parent, {title, text, config, height, columns, rows, unit = "number", before = null}) {
    const canvas = make("canvas", {role: "img", "aria-label": `${title}. ${text} The table below lists the numbers.`});
    const box = make("div", {class: "canvas", style: `height: ${height}px`}, canvas);
    const element = make(
        "div", {class: "figure"}, make("h3", {}, title), make("p", {}, text), before, box,
        folded(title, columns, rows));
    parent.append(element);
    const entry = {
        canvas,
        config: () => {
            const made = config();
            const across = made.options?.indexAxis === "y";
            const legend = {
                labels: {
                    usePointStyle: made.type === "line",
                    boxWidth: made.type === "line" ? 14 : 22,
                    boxHeight: made.type === "line" ? 6 : 10
                },
                ...made.options?.plugins?.legend
            };
            const label = (item) => {
                const value = across ? item.parsed.x : item.parsed.y;
                return `${item.dataset.label}: ${units[unit](value)}`;
            };
            made.options = {
                ...made.options,
                plugins:
                    {...made.options?.plugins, legend, tooltip: {callbacks: {label}, ...made.options?.plugins?.tooltip}}
            };
            return made;
        }
    };
    drawn.push(entry);
    draw(entry);
    return {element, canvas, box, chart: () => Chart.getChart(canvas)};
}

/// Removes the contents of `parent`, including charts.
function clear(parent) {
    for (const canvas of parent.querySelectorAll("canvas")) {
        Chart.getChart(canvas)?.destroy();
        const at = drawn.findIndex((entry) => entry.canvas === canvas);
        if (at >= 0) drawn.splice(at, 1);
    }
    parent.replaceChildren();
}

function draw_again() {
    theme();
    drawn.forEach(draw);
}
dark_screen.addEventListener("change", draw_again);
function print_mode(on) {
    if (printing === on) return;
    printing = on;
    document.body.classList.toggle("printed", on);
    draw_again();
}
window.addEventListener("beforeprint", () => print_mode(true));
window.addEventListener("afterprint", () => print_mode(false));
prints.addEventListener("change", (event) => print_mode(event.matches));
if (prints.matches) print_mode(true);

/// Returns the configuration of a horizontal bar chart, one name per line. `quantity` and `named` are the axes' titles.
function across_config(quantity, unit, named, labels, datasets, stacked = false) {
    return {
        type: "bar",
        data: {labels, datasets},
        options: {
            indexAxis: "y",
            scales: {
                x: axis(quantity, unit, {stacked, beginAtZero: true}),
                y: {stacked, ...names(named, labels)}
            },
            plugins: {legend: {display: datasets.length > 1}},
        }
    };
}

const across_height = (count, groups = 1) => 90 + count * Math.max(22, 14 * groups);
