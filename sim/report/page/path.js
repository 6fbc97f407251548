// The critical path as a strip over time, with the same layers as one part.

/// The part of time that a phase of the program belongs to.
const part_of_phase = {
    forward: "forward pass",
    recompute: "forward pass",
    backward: "backward pass",
    optimizer: "update",
    update: "update",
    exchange: "gradients",
    push: "gradients",
    pull: "gradients",
    activations: "activations",
    halo: "activations",
    transfer: "stage transfer",
    weights: "weights",
    context: "tokens and contexts",
    dispatch: "tokens and contexts",
    combine: "tokens and contexts",
    aggregate: "reduction",
    encode: "reduction",
    factor: "reduction",
    decode: "reduction",
    "input copy": "copies",
    "to host": "copies",
    "to device": "copies",
    computation: "computation",
    communication: "communication",
};
const part_named = (phase) => part_of_phase[phase.replaceAll(/[-_]/g, " ")] ?? "waiting";

/// Returns the parts of the path with one entry for tasks whose names differ only in numbers, the largest first.
function merged_tasks(shares) {
    const groups = new Map();
    for (const share of shares) {
        const key = `${share.kind} ${pattern_of(share.what)}`;
        const group = groups.get(key) ?? {...share, seconds: 0, share: 0, pieces: 0, tasks: 0};
        groups.set(key, {
            ...group,
            seconds: group.seconds + share.seconds,
            share: group.share + share.share,
            pieces: group.pieces + share.pieces,
            tasks: group.tasks + 1
        });
    }
    return [...groups.values()].sort((a, b) => b.seconds - a.seconds).map((group) => ({
        ...group,
        what: group.tasks > 1 ? `${group.what.replaceAll(/\d+/g, "…")} (${group.tasks})` : group.what
    }));
}

function path_figure(parent, {explanation, path: strip}) {
    const {critical_path: path, critical_path_shares: shares, critical_path_phases: phases, path_note, window_s} =
        explanation;
    const over = ({link, links}) => (links > 1 ? `${link} and ${links - 1} more` : link);
    const sums = new Map();
    for (const {phase, share} of phases) {
        const part = part_named(phase);
        sums.set(part, (sums.get(part) ?? 0) + share);
    }
    const parts = [...sums].sort((a, b) => b[1] - a[1]);
    const places = strip.places, most = places[0];
    const placed = strip.where.length > 0, first = placed ? 28 : 2;
    const place_fill = (name) => (name === most.name ? "var(--quantity)" : "var(--idle)");
    const draw = (width) => {
        const left = width < 560 ? 50 : 58, right = width - 4;
        const x = (time) => left + (right - left) * time / window_s;
        const row = (y, height, list, fill, show) => list.filter(({name}) => name !== "").flatMap((part) => {
            const start = x(part.start_s), length = x(part.end_s) - start;
            const text = show ? part.name : "";
            return [
                titled(
                    shape("rect", {x: short(start), y, width: short(Math.max(0.6, length - (show ? 0.8 : 0))), height, fill: fill(part.name)}),
                    `${part.name}: ${units.s(part.start_s)} to ${units.s(part.end_s)}`),
                text && length > text_width(text) + 8 ?
                    label_at(short(start + length / 2), y + height / 2 + 4, text, {
                        "text-anchor": "middle",
                        "font-weight": 600,
                        fill: "var(--card)",
                        "pointer-events": "none"
                    }) :
                    null
            ];
        }).filter(Boolean);
        // Draws shares of equal parts of the window.
        const order = parts.map(([part]) => part);
        const stacked = (y, height) => strip.shares.flatMap((names, i) => {
            let above = 0;
            const sums = new Map();
            for (const [name, share] of Object.entries(names))
                sums.set(part_named(name), (sums.get(part_named(name)) ?? 0) + share);
            const step = (right - left) / strip.shares.length;
            return [...sums].sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0])).map(([part, share]) => {
                const bar = shape("rect", {
                    x: short(left + i * step),
                    y: short(y + height * above),
                    width: short(step + 0.1),
                    height: short(height * share),
                    fill: paint_of(part)
                });
                above += share;
                return titled(bar, `${part}: ${part_of(share)} from ${units.s(i * window_s / strip.shares.length)} to ${
                                       units.s((i + 1) * window_s / strip.shares.length)}`);
            });
        });
        const busy = strip.what.length === 0, high = busy ? 80 : 32, bottom = first + high + 4;
        const legend = legend_of(
            parts.map(([part, share]) => ({fill: paint_of(part), text: `${part} ${part_of(share)}`})), width, bottom + 26);
        return {
            height: bottom + 28 + legend.height,
            shapes: [
                ...time_axis({from: 0, to: window_s, left, right, top: 0, bottom}),
                ...(placed ?
                        [
                            label_at(left - 8, 17, "where", {"text-anchor": "end", fill: "var(--faint)"}),
                            ...row(2, 22, strip.where, place_fill, true)
                        ] :
                        []),
                label_at(left - 8, first + 19, "what", {"text-anchor": "end", fill: "var(--faint)"}),
                ...(busy ? stacked(first, high) :
                           row(first, high, strip.what, (name) => paint_of(part_named(name)), false)),
                ...legend.shapes
            ]
        };
    };
    const merged = merged_tasks(shares);
    const made = svg_figure(parent, {
        title: "Critical path",
        text: "The chain of tasks and messages in which each begins when the previous one ends: the iteration gets " +
            `shorter only if one of these gets shorter. It consists of ${kinds_of(shares)}. ` +
            (placed ? `${part_of(most.share)} of it is on ${most.name}.` : "") + core_phases(phases),
        draw,
        columns: [
            ["kind", "text"], ["tasks", "text"], ["link", "text"], ["segments", "number"], ["time", "s"],
            ["share", "share"]
        ],
        rows: merged.map(
            (share) => [path_kinds[share.kind], share.what, over(share), share.pieces, share.seconds, share.share]),
    });
    if (merged.length < shares.length)
        made.element.append(folded(
            "every task of the critical path",
            [
                ["kind", "text"], ["task", "text"], ["link", "text"], ["segments", "number"], ["time", "s"],
                ["share", "share"]
            ],
            shares.map(
                (share) =>
                    [path_kinds[share.kind], share.what, over(share), share.pieces, share.seconds, share.share])));
    if (path.length === 0) return;
    if (path_note !== "") made.element.append(note(path_note));
    made.element.append(folded(
        "critical path in order of time",
        [["kind", "text"], ["task", "text"], ["place", "text"], ["link", "text"], ["start", "s"], ["end", "s"]],
        path.map(
            (piece) => [path_kinds[piece.kind], piece.what, piece.where, piece.link, piece.start_s, piece.end_s])));
}
