// When does what happen: timelines of runs, one above the other, on the same scale.

const most_rows = 16, row_iterations = 4;  // the moving pictures show as many iterations

/// Returns the timeline of the first iterations of a window with many, in which the bars of exchanges are too coarse:
/// the messages of each process replace them.
function first_iterations(timeline, messages, share) {
    const {tick_s} = timeline, end = timeline.window_s * share / tick_s;
    const lanes = timeline.lanes.filter(({stream}) => /compute/.test(stream)).map((lane) => {
        const bars_kept = [];
        for (let i = 0; i < lane.bars.length && lane.bars[i + 1] < end; i += 5) {
            const [kind, from, to, ...rest] = lane.bars.slice(i, i + 5);
            bars_kept.push(kind, from, Math.min(to, end), ...rest);
        }
        return {...lane, bars: bars_kept};
    });
    const {processes = [], start_s = [], end_s = [], from = [], to = []} = messages ?? {};
    const sent = processes.map(() => []);  // [start, end] of each process, those that touch as one
    for (let i = 0; i < start_s.length; ++i) {
        const begin = Math.max(0, start_s[i] / tick_s), stop = Math.min(end, end_s[i] / tick_s);
        for (const process of begin < stop ? [from[i], to[i]] : []) {
            const last = sent[process][sent[process].length - 1];
            if (last && begin <= last[1] + 1)
                last[1] = Math.max(last[1], stop);
            else
                sent[process].push([begin, stop]);
        }
    }
    sent.forEach((list, i) => {
        const bars_sent = list.flatMap(([begin, stop]) => [gradients_kind, begin, stop, timeline.names.length, 1]);
        if (list.length > 0) lanes.push({process: processes[i], stream: "exchange", bars: bars_sent});
    });
    return {...timeline, lanes, names: [...timeline.names, "messages"], window_s: end * tick_s};
}
const gradients_kind = bar_kinds.indexOf("gradients");

/// Returns the rows of a run: the stages of its pipeline with their microbatches, or else the computation and the
/// network of its processes, those in which the same happens as one. `more` says how many are left out.
function rows_of_run({variant: {stages, timeline: whole, explanation}, messages, result}) {
    const count = explanation?.iterations ?? 1, few = Math.min(count, row_iterations);
    if (stages && count === 1)
        return {
            window_s: stages.window_s,
            more: Math.max(0, stages.count - most_rows),
            rows: stages.stages.slice(0, most_rows)
                      .map((stage) => ({
                               name: `stage ${stage.stage}`,
                               bars: passes_of(stages, stage)
                                         .map((pass) => ({
                                                  ...pass,
                                                  part: pass.kind === 0 ? "forward pass" : "backward pass",
                                                  opacity: (pass.kind === 3 ? 0.6 : 1) *
                                                      (1 - 0.5 * pass.chunk / stages.virtual_stages),
                                                  number: pass.number,
                                                  title: `${pass_names[pass.kind]} of microbatch ${pass.number}`
                                              }))
                           }))
        };
    if (!whole) return null;
    const timeline = few < count ? first_iterations(whole, messages, few / count) : whole;
    const bands = equal_processes(timeline), rows = [];
    for (const band of bands) {
        const {lanes} = band.members[0];
        const name = band.members.length > 1 ? band.name.split(":")[0] : lanes[0].process;
        const part_of_bar = (bar) => ({...bar, part: bar_kinds[bar.kind], opacity: 1, title: bar.name});
        const computing =
            lanes.filter(({stream}) => /compute/.test(stream)).flatMap(({bars: list}) => list.map(part_of_bar));
        const others =
            lanes.filter(({stream}) => !/compute/.test(stream)).flatMap(({bars: list}) => list.map(part_of_bar));
        if (computing.length > 0) rows.push({name, bars: computing});
        if (others.length > 0)
            rows.push({name: computing.length > 0 ? "network" : name, bars: others, network: computing.length > 0});
    }
    // The timeline has some processes of many.
    const ranks = new Set(timeline.lanes.map(({process}) => process).filter((name) => name.startsWith("rank ")));
    const part = ranks.size < (result?.ranks ?? 0) && !rows.some(({name}) => name.includes(" of ranks ")) ?
        `, ${ranks.size} of ${result.ranks} ranks` :
        "";
    return {
        window_s: timeline.window_s,
        rows: rows.slice(0, most_rows),
        part,
        more: Math.max(0, rows.length - most_rows),
        iterations: few < count ? `, the first ${few} of ${count} iterations` :
            count > 1 ? `, ${count} iterations` :
                        ""
    };
}

const short_row = (name, room) => {
    const most = Math.floor((room - 8) / text_width("n", 11.5));
    return name.length > most ? `${name.slice(0, most - 1)}…` : name;
};

/// Draws runs, [{title, run}], into `svg`; returns the parts of time that appear.
function draw_rows(svg, width, list) {
    const groups = list.map(({title, run}) => ({title, ...rows_of_run(run)})).filter(({rows}) => rows);
    const names = groups.flatMap(({rows}) => rows.map(({name}) => text_width(name, 12.5)));
    const left = Math.min(0.25 * width, Math.max(width < 480 ? 74 : 112, ...names.map((wide) => wide + 16)));
    const longest = Math.max(...groups.map(({window_s}) => window_s)), right = width - 6;
    const x = (time) => left + (right - left) * time / longest;
    const parts = new Set(), shapes = [], tile = `hatch-${Math.round(width)}`;
    shapes.push(shape(
        "defs", {},
        shape(
            "pattern", {id: tile, width: 7, height: 7, patternUnits: "userSpaceOnUse"},
            shape("path", {d: "M0 7L7 0", stroke: "var(--idle)", "stroke-width": 1, "stroke-opacity": 0.55}))));
    let y = 0;
    for (const {title: name_of_run, rows, window_s, more, iterations = "", part = ""} of groups) {
        const title = name_of_run + iterations + part;
        // The time stands over the end of the bars, or after the title if there is no room.
        const end = units.s(window_s), bold = {"font-weight": 650, "font-size": 12.5};
        const most = Math.floor((width - text_width(end, 15)) / text_width("n", 13.6)),
              said = title.length > most ? `${title.slice(0, most - 1)}…` : title;
        const apart = x(window_s) - text_width(end, 14) > text_width(said, 13.5);
        shapes.push(
            label_at(0, y + 13, apart ? said : `${said}: ${end}`, bold),
            ...(apart ? [label_at(x(window_s), y + 13, end, {"text-anchor": "end", ...bold})] : []));
        y += 19;
        for (const {name, bars: list_of_bars, network} of rows) {
            const height = network ? 13 : 19;
            shapes.push(label_at(
                left - 8, y + height / 2 + 4, short_row(name, left),
                {"text-anchor": "end", "font-size": 11.5, fill: network ? "var(--faint)" : "var(--ink)"}));
            shapes.push(shape("rect", {
                x: left,
                y,
                width: Math.max(1, x(window_s) - left),
                height,
                fill: `url(#${tile})`,
                stroke: "var(--line)"
            }));
            // Narrower bars than half a pixel are drawn once a pixel.
            let last = -1;
            for (const {start_s, end_s, part, opacity, number, title: said} of list_of_bars) {
                parts.add(part);
                const from = x(start_s), wide = x(end_s) - from;
                if (wide < 0.5 && from - last < 0.5) continue;
                last = from;
                const bar = shape("rect", {
                    x: short(from),
                    y,
                    width: short(Math.max(0.5, wide - (wide > 3 ? 0.8 : 0))),
                    height,
                    rx: wide > 8 ? 2 : null,
                    fill: paint_of(part),
                    "fill-opacity": opacity < 1 ? opacity : null
                });
                shapes.push(wide > 4 ? titled(bar, `${said}: ${units.s(start_s)} to ${units.s(end_s)}`) : bar);
                if (number !== undefined && wide > text_width(String(number), 11) + 3)
                    shapes.push(label_at(short(from + wide / 2), y + height / 2 + 4, number, {
                        "text-anchor": "middle",
                        "font-size": 11,
                        "font-weight": 600,
                        fill: "var(--card)",
                        "pointer-events": "none"
                    }));
            }
            y += height + (network ? 6 : 3);
        }
        if (more > 0) {
            shapes.push(label_at(
                left, y + 12, `and ${more} more rows: see all details`, {fill: "var(--faint)", "font-size": 11.5}));
            y += 16;
        }
        y += 10;
    }
    const bottom = y - 4;
    svg.setAttribute("viewBox", `0 0 ${width} ${bottom + 20}`);
    svg.replaceChildren(
        ...time_axis({from: 0, to: longest, left, right, top: 0, bottom}), ...shapes,
        shape(
            "path",
            {class: "head", d: `M0 16V${bottom}`, stroke: "var(--slower)", "stroke-width": 2, visibility: "hidden"}));
    return {parts: [...parts], x};
}
