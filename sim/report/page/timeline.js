// The timeline: the tasks of each process as bars, with zoom.

/// In the order of the program's kinds of bars (timeline_bars.cpp).
const bar_kinds = [
    "forward pass", "backward pass", "update", "copies", "gradients", "activations", "stage transfer", "weights",
    "waiting", "reduction", "tokens and contexts", "computation", "communication"
];

/// Unpacks the bars of a lane into objects.
function bars_of(timeline, lane) {
    const result = [];
    for (let i = 0; i < lane.bars.length; i += 5) {
        const [kind, start, end, name, tasks] = lane.bars.slice(i, i + 5);
        result.push(
            {kind, start_s: start * timeline.tick_s, end_s: end * timeline.tick_s, name: timeline.names[name], tasks});
    }
    return result;
}

/// Groups processes in which the same happens: whose bars begin and end within a thousandth of the window.
function equal_processes(timeline) {
    const processes = new Map();
    for (const lane of timeline.lanes)
        processes.set(lane.process, [...(processes.get(lane.process) ?? []), {...lane, bars: bars_of(timeline, lane)}]);
    const near = (one, other) => Math.abs(one - other) <= 1e-3 * timeline.window_s;
    const equal_bars = (one, other) => one.length === other.length &&
        one.every(
            (bar, i) =>
                bar.kind === other[i].kind && near(bar.start_s, other[i].start_s) && near(bar.end_s, other[i].end_s));
    const noun = (process) => process.split(" ")[0], number = (process) => Number(process.split(" ")[1]);
    const list = [...processes].map(([process, lanes]) => ({process, lanes}));
    const equal = (one, other) => noun(one.process) === noun(other.process) &&
        one.lanes.length === other.lanes.length &&
        one.lanes.every(
            (lane, i) => lane.stream === other.lanes[i].stream && equal_bars(lane.bars, other.lanes[i].bars));
    return groups_of(list, equal).map((group) => {
        const members = group.map((i) => list[i]);
        return band_of(noun(members[0].process), members.map(({process}) => number(process)), members);
    });
}

function timeline_figure(parent, timeline) {
    const bands = equal_processes(timeline), grouped = bands.filter((band) => band.members.length > 1);
    const lane_name = (lane) => `${lane.process} ${lane.stream}`;
    const all =
        timeline.lanes.flatMap((lane) => bars_of(timeline, lane).map((bar) => ({...bar, lane: lane_name(lane)})));
    const kinds = [...new Set(all.map((bar) => bar.kind))].sort((a, b) => a - b);
    const window_s = timeline.window_s, least_s = window_s / 2000;
    const view = {from: 0, to: window_s};
    let lines = [], labels = [];  // the lanes that are drawn
    const arrange = () => {
        lines = bands.flatMap(
            (band) => (band.open ? band.members : band.members.slice(0, 1))
                          .flatMap(({lanes}) => lanes.map((lane) => ({
                                                              name: band.open || band.members.length === 1 ?
                                                                  lane_name(lane) :
                                                                  `${lane.stream}, ${band.name}`,
                                                              bars: lane.bars,
                                                              band
                                                          }))));
        labels = lines.map(({name}) => name);
    };
    arrange();

    // Edges separate wide bars; they would cover narrow ones completely.
    const edge = ({raw}) => (raw && raw.bar.end_s - raw.bar.start_s > 0.006 * (view.to - view.from) ? 0.7 : 0);
    const config = () => ({
        type: "bar",
        data: {
            labels,
            datasets: kinds.map(
                (kind) => bars(
                    bar_kinds[kind],
                    lines.flatMap(
                        (lane) => lane.bars.filter((bar) => bar.kind === kind)
                                      .map((bar) => ({x: [bar.start_s, bar.end_s], y: lane.name, bar}))),
                    {
                        grouped: false,
                        barPercentage: 1,
                        categoryPercentage: 0.86,
                        borderWidth: edge,
                        inflateAmount: 0.5,
                        borderSkipped: false
                    }))
        },
        options: {
            indexAxis: "y",
            scales: {
                x: axis("time from the start of the window", "s", {min: view.from, max: view.to}),
                y: names("process and stream", labels, {autoSkip: false, font: {size: 11}})
            },
            plugins: {
                tooltip: {
                    callbacks: {
                        label: ({raw: {bar}}) =>
                            [`${bar.name}${bar.tasks > 1 ? ` (${bar.tasks} tasks)` : ""}`,
                             `${bar_kinds[bar.kind]}: ${units.s(bar.start_s)} to ${units.s(bar.end_s)}, ${
                                 units.s(bar.end_s - bar.start_s)}`]
                    }
                }
            },
        },
    });

    const slider = (label, value) =>
        make("input", {type: "range", min: 0, max: 1000, step: 1, value, "aria-label": label});
    const from = slider("Start of the visible range", 0), to = slider("End of the visible range", 1000);
    const said = make("output", {class: "note", "aria-live": "polite"});
    const tools = make("div", {class: "tools"}), openers = make("div", {class: "tools"});
    const made = figure(parent, {
        title: "Timeline",
        text: `The chart shows the tasks of each process in a window of ${
                  units.s(window_s)}. An exchange starts when the rank ` +
            "enters it, so it includes waiting for the other ranks. " +
            (grouped.length > 0 ? "Processes in which the same happens share their lines, which a button opens. " :
                                  "") +
            "Drag across the chart, or use the sliders or the keys + − ← → 0, to zoom and move. " +
            timeline.notes.join(" "),
        config,
        height: () => 110 + 17 * labels.length,
        before: make("div", {}, openers, tools),
        unit: "s",
        columns: [
            ["process and stream", "text"], ["task", "text"], ["kind", "text"], ["tasks", "number"], ["start", "s"],
            ["end", "s"], ["duration", "s"]
        ],
        rows: all.map(
            (bar) =>
                [bar.lane, bar.name, bar_kinds[bar.kind], bar.tasks, bar.start_s, bar.end_s, bar.end_s - bar.start_s]),
    });

    function show(start, end) {
        const length = Math.min(Math.max(end - start, least_s), window_s);
        view.from = Math.min(Math.max(start, 0), window_s - length);
        view.to = view.from + length;
        from.value = Math.round(1000 * view.from / window_s);
        to.value = Math.round(1000 * view.to / window_s);
        from.setAttribute("aria-valuetext", units.s(view.from));
        to.setAttribute("aria-valuetext", units.s(view.to));
        said.textContent = `${units.s(view.from)} to ${units.s(view.to)}`;
        const chart = made.chart();
        chart.options.scales.x.min = view.from;
        chart.options.scales.x.max = view.to;
        chart.update("none");
    }
    from.addEventListener("input", () => show(Math.min(from.value * window_s / 1000, view.to - least_s), view.to));
    to.addEventListener("input", () => show(view.from, Math.max(to.value * window_s / 1000, view.from + least_s)));
    tools.append(make("label", {}, "from ", from), make("label", {}, "to ", to));
    zoom_tools(tools, made.box, view, window_s, show);
    tools.append(said);
    drag(made, show, () => view);
    const band_at = (index) => (lines[index]?.band.members.length > 1 ? lines[index].band : undefined);
    const changed = () => {
        arrange();
        made.redraw();
    };
    openable(made, openers, grouped, {band_at, changed, whole: false});
    show(0, window_s);
}

/// Zooms into the range that is dragged across the chart.
function drag(made, show, view) {
    const band = made.box.appendChild(make("div", {class: "band"}));
    made.canvas.style.touchAction = "pan-y";
    let start = null;
    const at = (event) => {
        const {left, right} = made.chart().chartArea;
        return Math.min(Math.max(event.offsetX, left), right);
    };
    made.canvas.addEventListener("pointerdown", (event) => {
        start = at(event);
    });
    made.canvas.addEventListener("pointermove", (event) => {
        if (start === null) return;
        band.style.display = "block";
        band.style.left = Math.min(start, at(event)) + "px";
        band.style.width = Math.abs(at(event) - start) + "px";
    });
    window.addEventListener("pointerup", (event) => {
        if (start === null) return;
        const {left, right} = made.chart().chartArea;
        const end = event.target === made.canvas ?
            at(event) :
            Number.parseFloat(band.style.left) + Number.parseFloat(band.style.width);
        const time = (x) => view().from + (x - left) / (right - left) * (view().to - view().from);
        if (Math.abs(end - start) > 5) show(time(Math.min(start, end)), time(Math.max(start, end)));
        start = null;
        band.style.display = "none";
    });
}
