// One iteration of a pipeline: a row for each stage, with the numbers of its microbatches.

const pass_names = ["forward pass", "backward pass", "gradients of inputs", "gradients of weights"];

function passes_of(timeline, {passes}) {
    const list = [];
    for (let i = 0; i < passes.length; i += 5) {
        const [kind, chunk, micro_batch, start, end] = passes.slice(i, i + 5);
        list.push({
            kind,
            chunk,
            number: micro_batch + 1,
            start_s: start * timeline.tick_s,
            end_s: end * timeline.tick_s
        });
    }
    return list;
}

function stages_figure(parent, timeline) {
    const {window_s, tick_s, virtual_stages} = timeline;
    const rows = timeline.stages.map((stage) => ({...stage, list: passes_of(timeline, stage)}));
    const all = rows.flatMap(({list}) => list);
    const busiest = rows.reduce((most, row) => (row.busy_s > most.busy_s ? row : most));
    const others = rows.filter((row) => row !== busiest).map(({busy_s}) => busy_s);
    const lengths = all.map(({start_s, end_s}) => end_s - start_s).sort((a, b) => a - b);
    const usual_s = lengths[Math.floor(lengths.length / 4)] || window_s;
    const name = ({stage}) => `stage ${stage}`;
    const text_of_pass = ({kind, chunk, number}) => `${pass_names[kind]} of microbatch ${number}` +
        (virtual_stages > 1 ? `, virtual stage ${chunk + 1} of ${virtual_stages}` : "");
    const fill = ({kind}) => paint_of(kind === 0 ? "forward pass" : "backward pass");
    const opacity = ({kind, chunk}) => (kind === 3 ? 0.6 : 1) * (1 - 0.5 * chunk / virtual_stages);
    const seen = new Set(all.map(({kind}) => kind));
    const any_gradients = rows.some(({gradients}) => gradients.length > 0);
    const view = {from: 0, to: window_s};

    const legend = [
        ...[...seen].sort().map((kind) => ({fill: fill({kind}), opacity: opacity({kind, chunk: 0}), text: pass_names[kind]})),
        ...(virtual_stages > 1 ?
                [{fill: paint_of("forward pass"), opacity: 0.6, text: "paler: later virtual stage"}] :
                []),
        ...(any_gradients ? [{fill: paint_of("gradients"), text: "gradients and weights among replicas"}] : []),
        {fill: "var(--line)", text: "no pass runs"}
    ];

    /// Draws the rows from `view.from` to `view.to`, with numbers where they fit.
    function band(left, right, top, row_height, {from, to}, numbered) {
        const x = (time) => left + (right - left) * (Math.min(Math.max(time, from), to) - from) / (to - from);
        const shapes = [];
        rows.forEach((row, i) => {
            const y = top + i * row_height, height = row_height - (numbered ? 3 : 1);
            shapes.push(shape("rect", {x: left, y, width: right - left, height, fill: "var(--line)", "fill-opacity": 0.6}));
            for (const pass of row.list) {
                if (pass.end_s <= from || pass.start_s >= to) continue;
                const start = x(pass.start_s), width = Math.max(0.5, x(pass.end_s) - start - (numbered ? 0.8 : 0));
                const bar = shape("rect", {
                    x: short(start),
                    y,
                    width: short(width),
                    height,
                    rx: width > 8 ? 2 : null,
                    fill: fill(pass),
                    "fill-opacity": opacity(pass)
                });
                shapes.push(numbered ? titled(bar, `${name(row)}: ${text_of_pass(pass)}, ${units.s(pass.start_s)} to ${
                                               units.s(pass.end_s)}`) :
                                       bar);
                if (numbered && width > text_width(String(pass.number), 11) + 3)
                    shapes.push(label_at(short(start + width / 2), y + height / 2 + 4, pass.number, {
                        "font-size": 11,
                        "font-weight": 600,
                        "text-anchor": "middle",
                        fill: "var(--card)",
                        "pointer-events": "none"
                    }));
            }
            for (let at = 0; at < row.gradients.length; at += 2) {
                const start = row.gradients[at] * tick_s, end = row.gradients[at + 1] * tick_s;
                if (end <= from || start >= to) continue;
                shapes.push(shape("rect", {
                    x: short(x(start)),
                    y: y + 0.72 * height,
                    width: short(Math.max(0.5, x(end) - x(start))),
                    height: 0.28 * height,
                    fill: paint_of("gradients")
                }));
            }
        });
        return shapes;
    }

    const places = (width) => ({left: width < 560 ? 60 : 66, right: width - 4});
    const overview_height = () => Math.max(4, Math.min(14, Math.floor(130 / rows.length)));
    let drawn_width = 0;
    function draw(width) {
        drawn_width = width;
        const {left, right} = places(width), shapes = [];
        const whole = view.to - view.from > 0.999 * window_s;
        const named = legend_of(legend, width, 0);
        shapes.push(...named.shapes);
        let top = named.height + 4;
        const small = overview_height(), high = rows.length * small;
        if (!whole) {
            const x = (time) => left + (right - left) * time / window_s;
            shapes.push(
                label_at(0, top + high / 2 + 4, "all", {fill: "var(--faint)"}),
                ...band(left, right, top, small, {from: 0, to: window_s}, false), shape("rect", {
                    class: "frame",
                    x: x(view.from),
                    y: top - 2,
                    width: Math.max(3, x(view.to) - x(view.from)),
                    height: high + 3,
                    rx: 3,
                    fill: "none",
                    stroke: "var(--ink)",
                    "stroke-width": 2
                }));
            top += high + 14;
        }
        const bottom = top + 23 * rows.length;
        shapes.push(
            ...time_axis({...view, left, right, top, bottom}), ...band(left, right, top, 23, view, true),
            ...rows.map((row, i) => label_at(left - 6, top + 23 * i + 14, name(row), {
                            "text-anchor": "end",
                            "font-size": width < 560 ? 11 : 12,
                            "font-weight": row === busiest ? 700 : null
                        })));
        return {height: bottom + 22, shapes};
    }

    const range = others.length === 0 ? "" :
        ` The other stages run theirs for ${units.s(Math.min(...others))} to ${units.s(Math.max(...others))}.`;
    const tools = make("div", {class: "tools"});
    const made = svg_figure(parent, {
        title: "One iteration, stage by stage",
        text: `Each row is the first rank of a stage, each box a pass of one microbatch, with its number. ` +
            `${capital(name(busiest))} is the busiest: of ${units.s(window_s)} it runs passes for ${
                  units.s(busiest.busy_s)}.${range}` +
            (rows.length < timeline.count ? ` ${rows.length} of ${timeline.count} stages are drawn.` : ""),
        before: tools,
        draw,
        columns: [
            ["stage", "number"], ["layers", "text"], ["pass", "text"], ["microbatch", "number"],
            ["virtual stage", "number"], ["start", "s"], ["end", "s"], ["duration", "s"]
        ],
        rows: rows.flatMap((row) => row.list.map((pass) => [
            row.stage, row.layers, pass_names[pass.kind], pass.number, pass.chunk + 1, pass.start_s, pass.end_s,
            pass.end_s - pass.start_s
        ])),
    });

    const said = make("output", {class: "note", "aria-live": "polite"});
    function show(from, to, keep = true) {
        const length = Math.min(Math.max(to - from, window_s / 2000), window_s);
        view.from = Math.min(Math.max(from, 0), window_s - length);
        view.to = view.from + length;
        said.textContent = `${units.s(view.from)} to ${units.s(view.to)}`;
        if (keep) {
            const part = (time) => Math.round(1e4 * time / window_s) / 1e4;
            remember("passes", length < window_s ? `${part(view.from)}-${part(view.to)}` : "0-1");
        }
        made.redraw();
    }
    zoom_tools(tools, made.box, view, window_s, show);
    tools.append(said);
    const chosen = /^([\d.]+)-([\d.]+)$/.exec(address.get("passes") ?? "");
    const room = (places(drawn_width).right - places(drawn_width).left) / 24;  // passes whose numbers are read
    if (chosen)
        show(chosen[1] * window_s, chosen[2] * window_s, false);
    else
        show(0, 2 * room * usual_s > window_s ? window_s : room * usual_s, false);
    drag_frame(made, view, () => {
        const {left, right} = places(drawn_width);
        return (pixel) => (pixel - left) / (right - left) * window_s;
    }, show);
}

/// Moves the frame of the overview to where the reader drags it, and the picture below with it.
function drag_frame(made, view, scale, show) {
    let held = null;
    const at = (event) => scale()((event.clientX - made.svg.getBoundingClientRect().left));
    made.svg.addEventListener("pointerdown", (event) => {
        const frame = made.svg.querySelector(".frame");
        if (!frame || event.clientY > frame.getBoundingClientRect().bottom) return;
        const length = view.to - view.from, time = at(event);
        held = time >= view.from && time <= view.to ? time - view.from : length / 2;
        show(time - held, time - held + length);
        event.preventDefault();
    });
    made.svg.addEventListener("pointermove", (event) => {
        if (held === null) return;
        const length = view.to - view.from;
        show(at(event) - held, at(event) - held + length);
    });
    window.addEventListener("pointerup", () => { held = null; });
}
