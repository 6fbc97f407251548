// The curve over a knob: throughput and efficiency over ranks, or the time over any other; the previous one is faint.

const curve_quantities = [
    {
        field: "throughput_samples_per_s",
        title: "samples per second, all together",
        text: (value) => digits(value, 4),
        part: "quantity"
    },
    {field: "scaling_efficiency", title: "scaling efficiency", text: units.share, part: "computation", least: 1},
    {field: "iteration_time_s", title: "time of one iteration", text: units.s, part: "exposed communication"},
];

/// Returns the beginning of a message, without its details.
const short_reason = (text) => text.split(/: |; /)[0].replace(/^this is /, "").replace(/\.$/, "");

/// Draws the curve into `parent`; `pick(key)` is called if the reader chooses another knob, `go(value)` if a point is
/// clicked. Returns {show(points, previous, knob, axes, sizes)}; `sizes`: how many an exchange by itself has, else 0.
function curve(parent, {pick, go}) {
    const select = make("select", {"aria-label": "Knob of the curve", onchange: () => pick(select.value)});
    const svg = shape("svg", {class: "drawing", role: "img", id: "curve"});
    const said = make("p", {class: "note"}), box = make("div", {class: "canvas"}, svg);
    const numbers = make("div"), named = make("span", {class: "on-paper"});
    parent.append(make("label", {class: "axis"}, make("h3", {}, "Curve over", named), select), box, said, numbers);
    let shown = null;

    function offer({key, label}, axes) {
        select.replaceChildren(...axes.map((axis) => make("option", {value: axis.key}, axis.label)));
        select.value = key;
        named.textContent = ` ${label}`;
    }

    function panel(quantity, points, previous, knob, {top, height, start, right, last}) {
        const known = ({[quantity.field]: value}) => (value ?? null) !== null;
        const all = [...points, ...previous].filter(known).map((point) => point[quantity.field]);
        const high = Math.max(quantity.least ?? 0, ...all) * 1.12, bottom = top + height;
        const ticks = round_numbers(0, high, 3),
              left = start + Math.max(46, ...ticks.map((tick) => text_width(quantity.text(tick), 12) + 8));
        const y = (value) => bottom - (height - 16) * value / high;
        const at = (value) => knob.values.indexOf(value),
              x = (value) => left + 14 + (right - left - 28) * at(value) / Math.max(1, knob.values.length - 1);
        const drawn = (list) => list.filter((point) => known(point) && at(point.value) >= 0);
        const path = (list) =>
            drawn(list)
                .map((point, i) => `${i ? "L" : "M"}${short(x(point.value))} ${short(y(point[quantity.field]))}`)
                .join("");
        const shapes = [label_at(start, top - 4, quantity.title, {"font-weight": 650, "font-size": 12.5})];
        for (const tick of ticks)
            shapes.push(
                shape("path", {d: `M${left} ${y(tick)}H${right}`, stroke: "var(--line)"}),
                label_at(
                    left - 5, y(tick) + 4, quantity.text(tick),
                    {"text-anchor": "end", "font-size": 10.5, fill: "var(--faint)"}));
        shapes.push(
            shape("path", {
                class: "previous",
                d: path(previous),
                fill: "none",
                stroke: paint_of(quantity.part),
                "stroke-width": 2,
                "stroke-opacity": 0.35,
                "stroke-dasharray": "5 4"
            }),
            shape("path", {d: path(points), fill: "none", stroke: paint_of(quantity.part), "stroke-width": 2.5}));
        for (const point of drawn(points)) {
            const here = at(point.value) === knob.at, value = point[quantity.field];
            const dot = titled(
                shape("circle", {
                    class: "point",
                    cx: x(point.value),
                    cy: y(value),
                    r: here ? 6.5 : 4,
                    fill: here ? paint_of(quantity.part) : "var(--card)",
                    stroke: paint_of(quantity.part),
                    "stroke-width": 2
                }),
                `${knob.label} ${shown_value(point.value)}: ${quantity.text(value)}`);
            dot.addEventListener("click", () => go(point.value));
            shapes.push(dot);
            if (here) {
                const next = drawn(points).find((other) => at(other.value) > at(point.value));
                const rises = next && next[quantity.field] > value * 1.02,
                      end = x(point.value) > right - 70 || (rises && x(point.value) > left + 60);
                shapes.push(label_at(
                    x(point.value) + (end ? -10 : 10), Math.max(top + 12, y(value) - 9), quantity.text(value), {
                        "text-anchor": end ? "end" : "start",
                        "font-weight": 700,
                        "font-size": 12.5,
                        stroke: "var(--card)",
                        "stroke-width": 4,
                        "paint-order": "stroke"
                    }));
            }
        }
        if (last) {
            const wide = Math.max(...knob.values.map((value) => text_width(shown_value(value), 11))) + 8;
            const every = Math.ceil(knob.values.length * wide / (right - left));
            knob.values.forEach((value, i) => {
                if (i % every === 0)
                    shapes.push(label_at(x(value), bottom + 15, shown_value(value), {
                        "text-anchor": i === knob.values.length - 1 && x(value) + wide / 2 > right + 4 ? "end" :
                                                                                                         "middle",
                        "font-size": 11,
                        fill: "var(--faint)"
                    }));
            });
        }
        return shapes;
    }

    function draw() {
        if (!shown) return;
        const {points, previous, knob, sizes} = shown, width = Math.max(240, Math.round(box.clientWidth));
        const has = ({field}) => points.some((point) => (point[field] ?? null) !== null);
        const title = `time of the ${sizes > 1 ? "smallest " : ""}exchange`;
        const wanted = sizes > 0          ? [{...curve_quantities[2], title}] :
            knob.key === "training.ranks" ? curve_quantities.slice(0, 2) :
                                            [curve_quantities[2], curve_quantities[0]];
        const list = wanted.filter(has).length > 0 ? wanted.filter(has) : [curve_quantities[2]];
        // Two panels stand beside each other if there is room.
        const beside = list.length > 1 && width >= 560, height = beside || list.length === 1 ? 150 : 104;
        const wide = beside ? (width - 28) / list.length : width, down = beside ? 0 : height + 26;
        const shapes = list.flatMap((quantity, i) => panel(quantity, points, previous, knob, {
                                        top: 18 + i * down,
                                        height,
                                        start: beside ? i * (wide + 28) : 0,
                                        right: (beside ? i * (wide + 28) : 0) + wide - 2,
                                        last: beside || i === list.length - 1
                                    }));
        svg.setAttribute("viewBox", `0 0 ${width} ${18 + (list.length - 1) * down + height + 22}`);
        svg.setAttribute(
            "aria-label",
            `${list.map(({title}) => title).join(" and ")} over ${knob.label}; the table below has the numbers.`);
        svg.replaceChildren(...shapes);
    }
    new ResizeObserver(draw).observe(box);

    return {
        draw,
        show(points, previous, knob, axes, sizes) {
            shown = {points, previous, knob, sizes};
            offer(knob, axes);
            draw();
            const wrong = points.filter(({problem}) => problem);
            said.textContent = [
                previous.length > 0 ? "Dashed: before the last change." : "",
                wrong.length > 0 ? `Not drawn: ${wrong.map(({value}) => shown_value(value)).join(", ")}, ${
                                       short_reason(wrong[0].problem)}.` :
                                   ""
            ].filter(Boolean).join(" ");
            numbers.replaceChildren(folded(
                `the curve over ${knob.label}`,
                [[knob.label, "text"], ["time", "s"], ["samples per second", "number"], ["efficiency", "share"]],
                points.filter(({problem}) => !problem)
                    .map(
                        (point) =>
                            [shown_value(point.value), point.iteration_time_s, point.throughput_samples_per_s ?? null,
                             point.scaling_efficiency ?? null])));
        },
        /// Says what is on its way; the curve that is there stays.
        announce(knob, axes) {
            offer(knob, axes);
            if (!shown) said.textContent = "The points of the curve are being simulated …";
        },
        clear(text) {
            shown = null;
            svg.replaceChildren();
            said.textContent = text;
        }
    };
}
