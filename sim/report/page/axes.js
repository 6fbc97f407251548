// Axes that end where the data end, tell every measured value apart, and keep long names readable.

/// Returns the next smaller, or larger, number of 1, 2, 5, 10 ….
function round_out(value, up) {
    const decade = 10 ** Math.floor(Math.log10(value));
    const steps = [0.5, 1, 2, 5, 10, 20].map((step) => step * decade);
    return up ? steps.find((step) => step > value) : steps.findLast((step) => step < value);
}

/// Returns an axis whose values have a unit. It ends at the data, and labels their end where there is room.
function axis(title, unit, more = {}) {
    const logarithmic = more.type === "logarithmic";
    // On a logarithmic axis only the labels of 1, 2 and 5 have room.
    const round = (value) => /^[125]$/.test(String(Number(value.toPrecision(3))).replace(/e.*|[0.]/g, ""));
    const afterBuildTicks = (made) => {
        const {min, max} = made;
        if (logarithmic) {
            const labelled = made.ticks.filter(({value}) => value >= min && value <= max && round(value));
            made.ticks = labelled.length > 1 ? labelled : [{value: min}, {value: max}];
            return;
        }
        const room = Math.max(made.isHorizontal() ? made.width / 80 : made.height / 45, 2);
        const step = round_out((max - min) / room, true);
        made.ticks = [];
        for (let i = Math.ceil(min / step - 1e-9); i * step <= max + 1e-9 * step; ++i)
            made.ticks.push({value: i * step});
        // The last tick is the end of the data, if its label has room.
        const last = made.ticks[made.ticks.length - 1]?.value ?? min;
        if ((max - last) / (max - min) * room > 0.85) made.ticks.push({value: max});
    };
    return {
        title: {display: true, text: title},
        ticks: unit ? {callback: (value) => (unit === "number" ? digits(value) : units[unit](value)), maxRotation: 40} :
                      {},
        ...(unit ? {bounds: "data", afterBuildTicks} : {}),
        ...more
    };
}

/// Returns those values whose labels do not collide on `room` pixels, always with the first and the last.
function fitting(values, place, label, room) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `12px ${Chart.defaults.font.family}`;
    const half = (value) => pen.measureText(label(value)).width / 2 + 4;
    const last = values[values.length - 1];
    const shown = [];
    for (const value of values) {
        const start = place(value) * room - half(value), end = place(value) * room + half(value);
        const collides = () =>
            shown.length > 0 && start < place(shown[shown.length - 1]) * room + half(shown[shown.length - 1]);
        while (value === last && shown.length > 1 && collides()) shown.pop();
        const free = !collides();
        if (value === last || (free && end <= place(last) * room - half(last))) shown.push(value);
    }
    return shown;
}

/// Returns a horizontal axis of measured numbers, for instance of ranks: it has a tick for each of them, and labels as
/// many as fit. It is logarithmic if the numbers span a factor of eight.
function measured_axis(title, measured, label) {
    const values = [...new Set(measured)].sort((a, b) => a - b);
    const min = values[0], max = values[values.length - 1];
    const logarithmic = min > 0 && max >= 8 * min;
    const place = (value) =>
        (max === min     ? 0.5 :
             logarithmic ? Math.log(value / min) / Math.log(max / min) :
                           (value - min) / (max - min));
    return {
        type: logarithmic ? "logarithmic" : "linear",
        title: {display: true, text: title},
        ...(max > min ? {min, max} : {}),
        afterBuildTicks: (made) => {
            const fit = fitting(values, place, label, made.width);
            // A dozen labels have room if they are turned.
            const turned = fit.length < values.length && values.length <= 12;
            const labelled = new Set(turned ? values : fit);
            made.ticks = values.filter((value) => values.length <= 24 || labelled.has(value)).map((value) => ({value}));
            Object.assign(made.options.ticks, {
                callback: (value) => (labelled.has(value) ? label(value) : ""),
                minRotation: turned ? 50 : 0,
                maxRotation: turned ? 50 : 0
            });
        },
        ticks: {autoSkip: false}
    };
}

/// Returns an axis with names, shortened if they are long: name_at() and the table have them in full.
function names(title, labels, more = {}) {
    const most = window.innerWidth < 700 ? 20 : 40;
    const cut = (text) => (text.length > most ? text.slice(0, most - 1) + "…" : text);
    return {
        title: {display: true, text: title},
        ticks: {callback: (value) => cut(String(labels[value] ?? "")), autoSkip: labels.length > 70, ...more},
        names: labels
    };
}

/// Returns the whole name beside which the mouse is, or "".
function name_at(chart, {offsetX, offsetY}) {
    const scale = chart?.scales.y, labels = scale?.options.names;
    if (!labels || offsetX >= chart.chartArea.left || offsetY < scale.top || offsetY > scale.bottom) return "";
    return labels[Math.round(scale.getValueForPixel(offsetY))] ?? "";
}

/// Tells which lines of a chart cannot be seen because others cover them: those that differ by less than 0.5 %, of the
/// value if the axis is logarithmic, of the largest value otherwise. Lines of which more than half does are told, too.
function coinciding(chart) {
    if (chart.config.type !== "line") return "";
    const sets = chart.data.datasets.filter((set) => set.showLine !== false && set.data.length > 0);
    const xy = (set) => set.data.map((point, i) => (typeof point === "object" && point ? point : {x: i, y: point}));
    const points = new Map(sets.map((set) => [set, xy(set)]));
    const largest = sets.flatMap((set) => points.get(set)).reduce((most, {y}) => Math.max(most, Math.abs(y)), 0);
    const relative = chart.options.scales.y.type === "logarithmic";
    const near = (one, other) => one.x === other.x &&
        Math.abs(one.y - other.y) <= 0.005 * (relative ? Math.max(Math.abs(one.y), Math.abs(other.y)) : largest);
    const common = (one, other) =>
        (one.data.length !== other.data.length ?
             0 :
             points.get(one).filter((point, i) => near(point, points.get(other)[i])).length / one.data.length);
    const named = (group) => listed(group.map((index) => sets[index].label));
    const groups = groups_of(sets, (one, other) => common(one, other) === 1);
    const whole = groups.filter((group) => group.length > 1).map(named);
    const partly = groups.flatMap(([one], i) => groups.slice(i + 1).map(([other]) => [one, other]))
                       .filter(([one, other]) => common(sets[one], sets[other]) > 0.5);
    return [
        whole.length > 0 ? `These lines coincide and cover each other: ${whole.join("; ")}.` : "",
        partly.length > 0 ? `These coincide in part: ${partly.map(named).join("; ")}.` : ""
    ].filter(Boolean)
        .join(" ");
}
