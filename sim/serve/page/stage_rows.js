// Rows of processes over time: what each computes, and under it what it exchanges. What is past is drawn fully.

const most_process_rows = 32;

/// Says what one process, or several, does in a bar of a kind.
function kind_verb(kind, one) {
    const s = one ? "s" : "";
    if (/ pass$|^update$/.test(kind)) return `run${s} the ${kind}`;
    const verb = {copies: "copie", reduction: "add", computation: "compute", waiting: "wait"}[kind];
    if (kind === "copies") return one ? "copies" : "copy";
    return verb ? verb + s : `exchange${s} ${kind === "communication" ? "data" : kind}`;
}

function stage_rows(run, width) {
    const whole = run.variant?.timeline, {all, shown} = iterations_of(run);
    if (!whole || whole.lanes.length === 0) return null;
    const timeline = shown < all ? first_iterations(whole, run.messages, shown / all) : whole;
    const motion = motion_of(run), stage = new RowsStage(run, width, timeline, shown < all);
    const fits = run.kind === "exchange" ? 10 :
        motion.count === 0               ? 60 :
        stage.uneven()                   ? 96 :
        stage.overlaps(motion)           ? 92 :
                                           30;
    return {fits, make: () => stage.painted()};
}

class RowsStage {
    /// `cut`: whether more iterations follow.
    constructor(run, width, timeline, cut) {
        Object.assign(this, {run, width, timeline, cut});
        this.window_s = film_window_of(run);
        const rows = new Map();
        for (const lane of timeline.lanes) {
            if (!rows.has(lane.process)) rows.set(lane.process, []);
            rows.get(lane.process).push({
                stream: lane.stream,
                bars: bars_of(timeline, lane).filter(({start_s}) => start_s < this.window_s)
            });
        }
        const number = (name) => Number(/(\d+)$/.exec(name)?.[1] ?? 0), noun = (name) => name.split(" ")[0];
        const all = [...rows].map(([process, lanes]) => ({process, lanes}));
        all.sort((a, b) => noun(a.process).localeCompare(noun(b.process)) || number(a.process) - number(b.process));
        this.all = all;
        this.ranks = all.filter(({process}) => process.startsWith("rank ")).length;
        this.rows = all.slice(0, most_process_rows);
        const count = this.rows.length;
        this.row_height = count > 20 ? 13 : count > 10 ? 18 : count > 4 ? 26 : 40;
        this.left = width < 560 ? 52 : 70;
        this.right = width - 4;
        this.top = 4;
        this.bottom = this.top + count * this.row_height;
        this.height = this.bottom + 48;
        this.x = (time) => this.left + (this.right - this.left) * Math.min(time, this.window_s) / this.window_s;
    }

    /// Whether the ranks compute for different times.
    uneven() {
        const ends = this.all.filter(({process}) => process.startsWith("rank"))
                         .map(({lanes}) => lanes.find(({stream}) => stream === "compute"))
                         .map(
                             (lane) => (lane?.bars ?? [])
                                           .filter(({kind}) => kind <= 1)
                                           .reduce((sum, {start_s, end_s}) => sum + end_s - start_s, 0));
        return ends.length > 1 && Math.max(...ends) > 1.03 * Math.min(...ends);
    }
    /// Whether the first rank computes for a good part of the time in which messages are under way.
    overlaps(motion) {
        const bars = this.all[0].lanes.find(({stream}) => stream === "compute")?.bars ?? [];
        let both = 0, whole = 0;
        for (const [start, end] of motion.busy()) {
            whole += end - start;
            for (const bar of bars) both += Math.max(0, Math.min(end, bar.end_s) - Math.max(start, bar.start_s));
        }
        return both > 0.1 * whole;
    }

    /// Draws the bars. What is still to come lies under a veil, so that no bar is drawn twice.
    painted() {
        const {rows, row_height, left, right, window_s} = this;
        // Bars narrower than half a pixel are drawn once a pixel.
        const wide_enough = (all) => {
            let last = -1;
            return all.filter(({start_s, end_s}) => {
                const from = this.x(start_s);
                if (this.x(end_s) - from < 0.5 && from - last < 0.5) return false;
                last = from;
                return true;
            });
        };
        const bars = rows.flatMap(({process, lanes}, i) => {
            const upper = lanes.filter(({stream}) => stream === "compute"),
                  lower = lanes.filter(({stream}) => stream !== "compute");
            const high = row_height - 3, share = lower.length === 0 ? 1 : upper.length === 0 ? 0 : 0.55;
            return [
                [upper, 0, share], [lower, share, 1]
            ].flatMap(([list, from, to]) => list.flatMap(({stream, bars: all}, k) => wide_enough(all).map((bar) => {
                const y = this.top + i * row_height + high * (from + (to - from) * k / list.length);
                return titled(
                    shape("rect", {
                        x: short(this.x(bar.start_s)),
                        y: short(y),
                        width: short(Math.max(0.6, this.x(bar.end_s) - this.x(bar.start_s) - (high > 20 ? 0.6 : 0))),
                        height: short(Math.max(1.5, high * (to - from) / list.length - 0.6)),
                        fill: paint_of(bar_kinds[bar.kind])
                    }),
                    `${process} ${stream}: ${bar.name}, ${units.s(bar.start_s)} to ${units.s(bar.end_s)}`);
            })));
        });
        this.veil = shape("path", {class: "future", fill: "var(--stage-soft)", "fill-opacity": 0.78, "pointer-events": "none"});
        this.head = shape("line", {y1: 0, y2: this.bottom + 2, stroke: "var(--slower)", "stroke-width": 2});
        const kinds =
            [...new Set(rows.flatMap(({lanes}) => lanes.flatMap(({bars: list}) => list.map(({kind}) => kind))))].sort(
                (a, b) => a - b);
        const legend = legend_of(
            kinds.map((kind) => ({fill: paint_of(bar_kinds[kind]), text: bar_kinds[kind]})), this.width,
            this.bottom + 24);
        this.height = this.bottom + 26 + legend.height;
        this.svg = stage_svg(
            this.width, this.height, `What ${rows.length} ranks and servers do over time`,
            ...time_axis({from: 0, to: window_s, left, right, top: this.top, bottom: this.bottom}),
            ...rows.map((_, i) => shape("rect", {
                            x: left,
                            y: this.top + i * row_height,
                            width: right - left,
                            height: row_height - 3,
                            fill: "var(--stage-soft)"
                        })),
            shape("g", {}, ...bars), this.veil,
            ...rows.map(
                ({process}, i) => label_at(
                    left - 6, this.top + (i + 0.5) * row_height + 2.5, process,
                    {"text-anchor": "end", "font-size": row_height < 16 || this.width < 560 ? 10 : 12})),
            ...legend.shapes, this.head);
        return this;
    }

    /// Returns what a row does: the bar of its computation, else of another stream, else nothing.
    doing(row, time) {
        const at = time + 1e-9 * this.window_s;
        let found = null;
        row.computing = false;
        for (const {stream, bars} of row.lanes)
            for (const bar of bars)
                if (bar.start_s <= at && at < bar.end_s && (stream === "compute" || !found)) {
                    found = bar;
                    row.computing ||= stream === "compute";
                }
        return found;
    }

    /// Says what is under way.
    network(time) {
        const motion = motion_of(this.run), active = motion.active(time);
        if (motion.count === 0) return "Nothing is sent.";
        if (active.length === 0) return "The network is idle.";
        const names = [...new Set(active.map((i) => motion.exchanges[motion.exchange[i]]?.what).filter(Boolean))];
        return `The network carries ${counted(active.length, "message")}${
            names.length > 0 ? ` of ${listed(names.slice(0, 3))}${names.length > 3 ? " and others" : ""}` : ""}.`;
    }

    draw(time) {
        const {window_s} = this, x = this.x(time);
        const from = short(Math.max(this.left, x)), high = this.row_height - 3;
        this.veil.setAttribute(
            "d", x >= this.right ?
                "" :
                this.rows.map((_, i) => `M${from} ${this.top + i * this.row_height}H${this.right}v${high}H${from}Z`)
                    .join(""));
        this.head.setAttribute("x1", short(x));
        this.head.setAttribute("x2", short(x));
        const of = this.run.result?.ranks ?? this.ranks, some = this.ranks < of;
        const rest = this.all.length > this.rows.length ?
            ` The first ${this.rows.length} of ${this.all.length} processes are shown.` :
            some ? ` ${this.ranks} of ${of} ranks are shown.` :
                   "";
        if (time >= window_s * (1 - 1e-9))
            return `${this.cut ? "The picture ends" : "Done"} after ${units.s(window_s)}.${rest}`;
        // A rank is in an exchange from when it enters it; without a message it waits for others.
        const motion = motion_of(this.run), certain = motion.count > 0 && !motion.thinned;
        const talks =
            new Set(motion.active(time).flatMap((i) => [motion.name(motion.from[i]), motion.name(motion.to[i])]));
        const groups = new Map();
        for (const row of this.rows) {
            const bar = this.doing(row, time), computes = bar && row.computing;
            const what = bar && (computes || !certain || talks.has(row.process)) ? bar_kinds[bar.kind] : "waiting";
            const noun = row.process.split(" ")[0], key = `${noun} ${what}`;
            if (!groups.has(key)) groups.set(key, {what, noun, list: []});
            groups.get(key).list.push({row, bar});
        }
        const words = [...groups.values()].map(({what, noun, list}) => {
            const one = list.length === 1, all = this.rows.filter(({process}) => process.startsWith(`${noun} `)).length;
            const who = one       ? list[0].row.process :
                list.length < all ? `${list.length} ${noun}s` :
                some && noun === "rank" ? `the shown ${list.length} ranks` :
                                             all_of(list.length, `${noun}s`);
            const name = list[0].bar?.name ?? "", layer = /^(?:forward|backward) of (.*)$/.exec(name)?.[1];
            const article = /^(push|pull) /.test(name) ? "the " : "";
            const where = layer ? ` of ${layer}` : name && name !== "messages" && ` in ${article}${name}`;
            const same = what !== "waiting" && list.every(({bar}) => bar.name === list[0].bar.name);
            return `${who} ${kind_verb(what, one)}${(same && where) || ""}`;
        });
        return `${capital(words.join("; "))}. ${this.network(time)}${rest}`;
    }
}
