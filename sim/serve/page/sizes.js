// An exchange by itself: its time over its size, simulated and by formula.

const series_of = (i) => `series-${i % series_colours}`;

/// Draws the times of an exchange into `svg`, both axes logarithmic; those of the run before are faint, and those of
/// `others`, runs of other variants with the same settings, thin.
function draw_sizes(svg, width, run, before, others) {
    const {points} = run.result, earlier = before?.kind === "exchange" ? before.result.points : [];
    const height = width < 480 ? 220 : 260, left = 58, right = width - 14, top = 12, bottom = height - 30;
    const times = [...points, ...earlier, ...others.flatMap((other) => other.result.points)]
                      .flatMap((point) => [point.completion_time_s, point.closed_form_s])
                      .filter((value) => value > 0);
    const sizes = points.map(({bytes}) => bytes).filter((bytes) => bytes > 0);
    if (sizes.length === 0 || times.length === 0) return;
    const decade = (value, up) => (up ? Math.ceil : Math.floor)(Math.log10(value) + (up ? -1e-9 : 1e-9));
    const from = decade(Math.min(...times), false), to = Math.max(from + 1, decade(Math.max(...times), true));
    const first = Math.log10(Math.min(...sizes)), last = Math.max(first + 0.5, Math.log10(Math.max(...sizes)));
    const x = (bytes) => left + 10 + (right - left - 20) * (Math.log10(bytes) - first) / (last - first);
    const y = (seconds) => bottom - (bottom - top) * (Math.log10(seconds) - from) / (to - from);
    const path = (list, of) => list.filter((point) => of(point) > 0 && point.bytes > 0)
                                   .map((point, i) => `${i ? "L" : "M"}${short(x(point.bytes))} ${short(y(of(point)))}`)
                                   .join("");
    const shapes = [];
    for (let i = from; i <= to; ++i)
        shapes.push(
            shape("path", {d: `M${left} ${y(10 ** i)}H${right}`, stroke: "var(--line)"}),
            label_at(
                left - 6, y(10 ** i) + 4, units.s(10 ** i),
                {"text-anchor": "end", "font-size": 11, fill: "var(--faint)"}));
    const every = Math.ceil(sizes.length * 62 / (right - left));
    points.forEach(({bytes}, i) => {
        if (i % every === 0 && bytes > 0)
            shapes.push(label_at(
                x(bytes), bottom + 18, units.B(bytes),
                {"text-anchor": "middle", "font-size": 11, fill: "var(--faint)"}));
    });
    const simulated = (point) => point.completion_time_s;
    others.forEach((other, i) => {
        shapes.push(shape("path", {
            d: path(other.result.points, simulated),
            fill: "none",
            stroke: paint_of(series_of(i)),
            "stroke-width": 1.6
        }));
        for (const point of other.result.points.filter(({bytes}) => bytes > 0))
            shapes.push(titled(
                shape(
                    "circle", {cx: x(point.bytes), cy: y(point.completion_time_s), r: 3, fill: paint_of(series_of(i))}),
                `${other.variant.name}, ${units.B(point.bytes)}: ${units.s(point.completion_time_s)}`));
    });
    shapes.push(
        shape("path", {
            d: path(earlier, simulated),
            fill: "none",
            stroke: "var(--quantity)",
            "stroke-width": 2,
            "stroke-opacity": 0.35,
            "stroke-dasharray": "5 4"
        }),
        shape("path", {d: path(points, simulated), fill: "none", stroke: "var(--quantity)", "stroke-width": 2.5}));
    for (const point of points.filter(({bytes}) => bytes > 0)) {
        if (point.closed_form_s > 0)
            shapes.push(shape("circle", {
                cx: x(point.bytes),
                cy: y(point.closed_form_s),
                r: 7,
                fill: "none",
                stroke: "var(--exposed-communication)",
                "stroke-width": 1.8
            }));
        shapes.push(titled(
            shape("circle", {cx: x(point.bytes), cy: y(point.completion_time_s), r: 3.5, fill: "var(--quantity)"}),
            `${units.B(point.bytes)}: ${units.s(point.completion_time_s)}`));
    }
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.replaceChildren(...shapes);
}

/// Returns the times of an exchange as a table.
const sizes_table = ({result}) => table(
    `${result.operation}, ${result.algorithm}, ${result.ranks} ranks`,
    [["size", "B"], ["time", "s"], ["formula", "s"], ["bus bandwidth", "Bps"]],
    result.points.map((point) => [point.bytes, point.completion_time_s, point.closed_form_s, point.bus_bandwidth_Bps]));
