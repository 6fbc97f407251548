// Charts: colours and patterns that colour-blind readers can tell apart, light and dark themes, print.

/// The parts of time, each with its colour in page.css and its hatch. A part's name is also its label, so that one
/// colour has one name.
const hatches = {
    "computation": 0,
    "forward pass": 0,
    "backward pass": 2,
    "update": 3,
    "exposed communication": 1,
    "overlapped communication": 6,
    "gradients": 1,
    "activations": 4,
    "stage transfer": 5,
    "weights": 7,
    "tokens and contexts": 3,
    "communication": 4,
    "transfer": 3,
    "latency": 4,
    "message overhead": 6,
    "reduction": 2,
    "copies": 3,
    "timer": 8,
    "waiting": 4,
    "idle": 5,
};
const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4]];
const marks = ["circle", "rect", "triangle", "rectRot", "crossRot", "star"];
const series_colours = 6;

const dark_screen = window.matchMedia("(prefers-color-scheme: dark)");
const prints = window.matchMedia("print");
let printing = false;  // paper is light and narrow

/// Returns the current value of a colour of page.css, for instance of "forward pass" or "ink".
const colour_of = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue("--" + name.replaceAll(" ", "-")).trim();
const series_colour = (index) => colour_of(`series-${index % series_colours}`);
const link_colour = (index) => colour_of(`link-${index}`);

/// Returns a colour with a hatch, so that it differs in greyscale, too.
function pattern(name) {
    const colour = colour_of(name);
    const strokes = [
        [], [[0, 8, 8, 0]], [[0, 4, 8, 4]], [[0, 0, 8, 8]], [[4, 0, 4, 8]], [[0, 8, 8, 0], [0, 0, 8, 8]],
        [[2, 2, 3, 3]], [[0, 4, 8, 4], [4, 0, 4, 8]], [[1, 1, 2, 2], [5, 5, 6, 6]]
    ][hatches[name] ?? 0];
    if (strokes.length === 0) return colour;
    const tile = make("canvas", {width: 8, height: 8});
    const pen = tile.getContext("2d");
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 8, 8);
    pen.strokeStyle = colour_of("card");
    pen.globalAlpha = 0.75;
    pen.lineWidth = 1.2;
    for (const [x, y, to_x, to_y] of strokes) {
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(to_x, to_y);
        pen.stroke();
    }
    const made = pen.createPattern(tile, "repeat");
    recorded_patterns.set(made, {colour, strokes, ink: pen.strokeStyle});
    return made;
}

/// Returns bars in the colour of the part of time that `label` names, or of a quantity.
function bars(label, values, more = {}) {
    const colour = label in hatches ? label : "quantity";
    return {
        label,
        data: values,
        colour: colour_of(colour),
        backgroundColor: pattern(colour),
        borderColor: colour_of("card"),
        borderWidth: 1,
        ...more
    };
}

function line(label, values, index, more = {}, colour = series_colour(index)) {
    return {
        label,
        data: values,
        colour,
        borderColor: colour,
        backgroundColor: colour,
        borderDash: dashes[Math.floor(index / series_colours) % dashes.length],
        pointStyle: marks[index % series_colours],
        pointRadius: 4,
        borderWidth: 2,
        tension: 0,
        clip: 8,  // axes end at the data: marks at their ends are whole
        ...more
    };
}

function theme() {
    Chart.defaults.color = colour_of("ink");
    Chart.defaults.borderColor = colour_of("line");
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
}

/// Draws from `low` to `high` of each point of the data sets, {x, y, low, high}, whose `y` is a mean. The bars of
/// several data sets are side by side.
const spread = {
    id: "spread",
    afterDatasetsDraw: (chart) => {
        const {ctx, scales: {y}} = chart;
        const stroke = (from_x, from_y, to_x, to_y) => {
            ctx.moveTo(from_x, from_y);
            ctx.lineTo(to_x, to_y);
        };
        const sets = chart.data.datasets, beside = Math.min(8, 60 / sets.length);
        sets.forEach((set, i) => {
            const meta = chart.getDatasetMeta(i);
            if (meta.hidden) return;
            ctx.save();
            ctx.strokeStyle = set.colour;
            ctx.lineWidth = 2;
            meta.data.forEach((mark, at) => {
                const {low, high} = set.data[at];
                if (!(high > low)) return;
                const top = y.getPixelForValue(high), bottom = y.getPixelForValue(low);
                ctx.beginPath();
                const x = mark.x + beside * (i - (sets.length - 1) / 2);
                stroke(x, top, x, bottom);
                for (const end of [top, bottom]) stroke(x - 3, end, x + 3, end);
                ctx.stroke();
            });
            ctx.restore();
        });
    }
};

const drawn = [];  // {canvas, config}: all charts of the page, redrawn when colours change

function draw(entry) {
    Chart.getChart(entry.canvas)?.destroy();
    new Chart(entry.canvas, entry.config());
}

/// Adds a chart with a heading, a description and a table of its numbers. `config` builds the chart's configuration,
/// again whenever colours change; `unit` is the unit of its values. A function for `height` is called again by
/// redraw().
function figure(parent, {title, text, config, height, columns, rows, unit = "number", before = null}) {
    const canvas = make("canvas", {role: "img", "aria-label": `${title}. ${text} The table below lists the numbers.`});
    const box = make("div", {class: "canvas"}, canvas), coincide = make("p", {class: "note coincide"});
    const resize = () => {
        box.style.height = `${typeof height === "function" ? height() : height}px`;
    };
    const element = make(
        "div", {class: "figure"}, heading(title, () => svg_of_chart(Chart.getChart(canvas))), make("p", {}, text), before,
        box, coincide,
        folded(title, columns, rows));
    parent.append(element);
    resize();
    canvas.addEventListener("mousemove", (event) => {
        canvas.title = name_at(Chart.getChart(canvas), event);
    });
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
                const {low, high} = item.raw ?? {};
                const range = high > low ? ` (${units[unit](low)} to ${units[unit](high)})` : "";
                return `${item.dataset.label}: ${units[unit](value)}${range}`;
            };
            made.options = {
                ...made.options,
                plugins: {
                    ...made.options?.plugins,
                    legend,
                    tooltip: {
                        ...made.options?.plugins?.tooltip,
                        callbacks: {label, ...made.options?.plugins?.tooltip?.callbacks}
                    }
                }
            };
            return made;
        }
    };
    drawn.push(entry);
    const redraw = () => {
        resize();
        draw(entry);
    };
    redraw();
    coincide.textContent = coinciding(Chart.getChart(canvas));
    coincide.hidden = coincide.textContent === "";
    return {element, canvas, box, redraw, chart: () => Chart.getChart(canvas)};
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
    document.documentElement.classList.toggle("light", on);
    document.documentElement.classList.toggle("printed", on);
    draw_again();
}

/// Returns what `read()` returns while all charts have the colours of paper.
function in_light_colours(read) {
    if (printing || !dark_screen.matches) return read();
    const change = (on) => {
        document.documentElement.classList.toggle("light", on);
        draw_again();
    };
    change(true);
    try {
        return read();
    } finally {
        change(false);
    }
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
            scales: {x: axis(quantity, unit, {stacked, beginAtZero: true}), y: {stacked, ...names(named, labels)}},
            plugins: {legend: {display: datasets.length > 1 || datasets[0]?.label in hatches}},
        }
    };
}

const across_height = (count, groups = 1) => 90 + count * Math.max(22, 14 * groups);
