// The messages of a run as a function of time, and what all moving pictures share: colours, numbers, small shapes.

const motions = new WeakMap();  // by run

function motion_of(run) {
    if (!motions.has(run)) motions.set(run, new Motion(run));
    return motions.get(run);
}

const most_iterations = 4;

/// Returns how many iterations are shown, and of how many.
function iterations_of(run) {
    const all = run.variant?.explanation?.iterations ?? 1;
    return {all, shown: Math.min(all, most_iterations)};
}

/// Returns the length of what is shown, in simulated seconds: the first iterations of many.
function film_window_of(run) {
    const known = run.variant?.timeline?.window_s ?? run.variant?.stages?.window_s;
    const {all, shown} = iterations_of(run);
    if (known > 0) return known * shown / all;
    return (run.messages?.end_s ?? []).reduce((last, end) => Math.max(last, end), 0) || run.result?.iteration_time_s ||
        1;
}

class Motion {
    constructor(run) {
        const none = {processes: [], nodes: [], links: [], routes: [], exchanges: [], left_out: 0, note: ""};
        const columns = [
            "from", "to", "bytes", "start_s", "end_s", "through_s", "exchange", "step", "block", "blocks",
            "contributions", "route", "reduces"
        ];
        Object.assign(this, none, Object.fromEntries(columns.map((name) => [name, []])), run.messages ?? {});
        this.run = run;
        // Later iterations are not shown at all; of those that are, messages of high ranks may be missing.
        this.thinned = this.left_out > 0 && /processes|first ones/.test(this.note);
        this.window_s = film_window_of(run);
        const shown = [...this.from.keys()].filter((i) => this.start_s[i] < this.window_s);
        this.number = shown;  // in the columns of the run
        if (shown.length < this.from.length)
            for (const name of columns) this[name] = shown.map((i) => this[name][i]);
        this.count = this.from.length;
        this.slack_s = 1e-9 * this.window_s;
        this.labels = this.processes.map((name) => {
            const number = /(\d+)$/.exec(name)?.[1] ?? "";
            return this.is_server(name) ? `S${number}` : number || name;
        });
        this.hues = owner_hues(this.processes.map((name) => !this.is_server(name)));
        this.traffic = this.divided();
    }

    /// Returns the exchanges with their messages in the order of their ends, each iteration's as an exchange of its
    /// own.
    divided() {
        const repetition = this.repetitions(), found = new Map();
        const by_end =
            [...this.from.keys()].sort((a, b) => this.end_s[a] - this.end_s[b] || this.step[a] - this.step[b]);
        for (const i of by_end) {
            const number = this.exchange[i], of = this.exchanges[number];
            if (!of) continue;
            const key = `${number} ${repetition[i]}`;
            if (!found.has(key)) {
                const what = repetition[i] > 0 ? `${of.what}, iteration ${repetition[i] + 1}` : of.what;
                found.set(key, {...of, what, index: found.size, first_s: Infinity, last_s: 0, list: []});
            }
            const exchange = found.get(key);
            exchange.list.push(i);
            exchange.first_s = Math.min(exchange.first_s, this.start_s[i]);
            exchange.last_s = Math.max(exchange.last_s, this.end_s[i]);
        }
        return [...found.values()];
    }

    /// Returns for each message how often its sender had done the same exchange before: 0 if there is one iteration.
    repetitions() {
        const result = new Uint16Array(this.count);
        if (iterations_of(this.run).all < 2) return result;
        const order = [...this.from.keys()].sort((a, b) => this.start_s[a] - this.start_s[b]);
        const rounds = new Map();  // sender and exchange → {number, ends: of the messages of this round}
        for (const i of order) {
            const key = `${this.from[i]} ${this.exchange[i]}`,
                  message = `${this.to[i]} ${this.step[i]} ${this.block[i]}`;
            if (!rounds.has(key)) rounds.set(key, {number: 0, ends: new Map()});
            const round = rounds.get(key);
            // Parts of a message on several ports are under way together.
            if (round.ends.has(message) && this.start_s[i] >= round.ends.get(message) - this.slack_s) {
                ++round.number;
                round.ends.clear();
            }
            round.ends.set(message, this.end_s[i]);
            result[i] = round.number;
        }
        return result;
    }

    is_server(name) { return /^server\b/.test(name); }

    /// Returns the messages that are under way, in the order of the columns.
    active(time) {
        const at = time + this.slack_s, list = [];
        for (let i = 0; i < this.count; ++i)
            if (this.start_s[i] <= at && at < this.end_s[i]) list.push(i);
        return list;
    }

    /// Returns the part of a message's bytes that has arrived. The rate is taken as constant.
    progress(i, time) {
        const length = this.through_s[i] - this.start_s[i];
        return time >= this.through_s[i] || length <= 0 ? Number(time >= this.start_s[i]) :
                                                          Math.max(0, (time - this.start_s[i]) / length);
    }

    /// Returns the part of all bytes that some exchanges carry.
    share(exchanges) {
        const sum = (list) => list.reduce((bytes, i) => bytes + this.bytes[i], 0);
        return exchanges.reduce((bytes, {list}) => bytes + sum(list), 0) / Math.max(1, sum([...this.from.keys()]));
    }

    landed(i, time) { return this.end_s[i] <= time + this.slack_s; }

    /// Bytes per second of a message at this time: none when it only waits for its latency.
    rate(i, time) {
        const length = this.through_s[i] - this.start_s[i];
        return length > 0 && time < this.through_s[i] ? this.bytes[i] / length : 0;
    }

    /// Returns the exchange of `list` (in the order of their starts) that sends, else that has begun and not ended,
    /// else the last that ended, else nothing.
    current(list, time) {
        const at = time + this.slack_s;
        let found = null, begun = null;
        for (const exchange of list) {
            if (exchange.first_s > at) continue;
            if (at < exchange.last_s) {
                if (this.sending(exchange, at)) return exchange;
                begun ??= exchange;
            } else if (!found || exchange.last_s >= found.last_s) {
                found = exchange;
            }
        }
        return begun ?? found;
    }

    /// Whether a message of an exchange is under way: weights, for instance, are gathered in both passes.
    sending(exchange, at) {
        exchange.sends ??= this.joined(exchange.list, 0);
        return exchange.sends.some(([start, end]) => start <= at && at < end);
    }

    /// Returns the intervals, [[start, end]], in which some messages are under way; shorter gaps than `gap_s` do not
    /// count.
    joined(messages, gap_s) {
        const list = [];
        for (const i of [...messages].sort((a, b) => this.start_s[a] - this.start_s[b])) {
            const last = list[list.length - 1];
            if (last && this.start_s[i] <= last[1] + gap_s)
                last[1] = Math.max(last[1], this.end_s[i]);
            else
                list.push([this.start_s[i], this.end_s[i]]);
        }
        return list;
    }

    /// Returns the intervals, [[start, end]], in which messages are under way.
    busy() { return this.busy_list ??= this.joined(this.from.keys(), 0.5 * this.usual_s()); }

    /// The median duration of a message.
    usual_s() {
        this.median_s ??= middle_of([...this.from.keys()].map((i) => this.end_s[i] - this.start_s[i]));
        return this.median_s;
    }

    /// Returns the times at which something begins or ends; times that are close count as one.
    events() {
        if (this.event_list) return this.event_list;
        const times = [...this.start_s, ...this.end_s];
        for (const {passes} of this.run.variant?.stages?.stages ?? [])
            for (let i = 0; i < passes.length; i += 5)
                times.push(
                    passes[i + 3] * this.run.variant.stages.tick_s, passes[i + 4] * this.run.variant.stages.tick_s);
        if (this.count === 0 || this.run.variant?.stages)
            for (const lane of this.run.variant?.timeline?.lanes ?? [])
                for (let i = 0; i < lane.bars.length; i += 5)
                    times.push(
                        lane.bars[i + 1] * this.run.variant.timeline.tick_s,
                        lane.bars[i + 2] * this.run.variant.timeline.tick_s);
        times.sort((a, b) => a - b);
        const apart = this.run.variant?.stages || this.count === 0 ? 1e-4 * this.window_s :
                                                                     Math.max(0.05 * this.usual_s(), this.slack_s);
        this.event_list = this.clustered(times, apart);
        // More than that nobody steps through.
        if (this.event_list.length > 400) this.event_list = this.clustered(times, Math.max(apart, this.window_s / 400));
        return this.event_list;
    }

    /// Returns those times from 0 to the end of the window that are further apart than `apart`.
    clustered(times, apart) {
        const list = [0];
        for (const time of times)
            if (time > list[list.length - 1] + apart && time < this.window_s - this.slack_s) list.push(time);
        if (this.window_s > list[list.length - 1] + apart)
            list.push(this.window_s);
        else
            list[list.length - 1] = this.window_s;
        return list;
    }

    name(process) { return this.processes[process] ?? `process ${process}`; }
}

/// Returns the middle value, 0 for an empty list.
function middle_of(values) { return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0; }

/// What each member of an exchange has of each block: from how many members its data comes.
class Blocks {
    constructor(motion, exchange) {
        this.motion = motion;
        this.members = exchange.members;
        this.blocks = exchange.blocks;
        this.place = new Map(this.members.map((process, i) => [process, i]));
        this.list = exchange.list.filter(
            (i) => motion.block[i] >= 0 && motion.blocks[i] > 0 && this.place.has(motion.from[i]) &&
                this.place.has(motion.to[i]));
        // A message that is divided among ports counts once, when its last part has arrived.
        const last = new Map(this.list.map((i) => [this.key(i), i]));
        this.list = this.list.filter((i) => last.get(this.key(i)) === i);
        this.adds = this.list.some((i) => motion.reduces[i]);
        this.known = this.list.length > 0 && this.blocks > 0;
        this.first = new Uint16Array(this.members.length * Math.max(this.blocks, 1));
        if (!this.known) return;
        if (this.adds)
            this.first.fill(1);
        else
            this.own_blocks();
        this.rewind();
    }

    key(i) {
        const {from, to, step, block} = this.motion;
        return `${from[i]} ${to[i]} ${step[i]} ${block[i]}`;
    }

    /// Whoever sends a block before it receives it has had it from the start.
    own_blocks() {
        const {motion} = this, got = new Set();
        const order = [...this.list].sort((a, b) => motion.start_s[a] - motion.start_s[b]);
        const arrivals = this.list;
        let next = 0;
        for (const i of order) {
            for (; next < arrivals.length && motion.landed(arrivals[next], motion.start_s[i]); ++next)
                this.each(arrivals[next], motion.to[arrivals[next]], (at) => got.add(at));
            this.each(i, motion.from[i], (at) => {
                if (!got.has(at)) this.first[at] = this.members.length;
            });
        }
    }

    each(i, process, visit) {
        const row = this.place.get(process) * this.blocks;
        const {motion} = this;
        for (let b = 0; b < motion.blocks[i]; ++b) visit(row + (motion.block[i] + b) % this.blocks);
        const more = motion.more?.[motion.number[i]] ?? [];  // further runs of blocks: first, count, first, ...
        for (let k = 0; k + 1 < more.length; k += 2)
            for (let b = 0; b < more[k + 1]; ++b) visit(row + (more[k] + b) % this.blocks);
    }

    rewind() {
        this.now = this.first.slice();
        this.applied = 0;
    }

    /// Returns the contributions, by member and block.
    at(time) {
        const {motion, list, members} = this;
        if (!this.known) return this.first;
        if (this.applied > 0 && !motion.landed(list[this.applied - 1], time)) this.rewind();
        for (; this.applied < list.length && motion.landed(list[this.applied], time); ++this.applied) {
            const i = list[this.applied];
            const brought = this.adds ? Math.max(1, motion.contributions[i]) : members.length;
            this.each(i, motion.to[i], (at) => {
                this.now[at] = motion.reduces[i] ? Math.min(members.length, this.now[at] + brought) :
                                                   Math.max(this.now[at], brought);
            });
        }
        return this.now;
    }
}

/// Hues of owners: 330 degrees of OKLCH, so that the first and the last differ.
function owner_hues(owns) {
    const count = owns.filter(Boolean).length;
    let next = 0;
    return owns.map((own) => (own ? Math.round(25 + 330 * next++ / Math.max(count, 1)) : null));
}

const owner_paint = (i, count) => hue_paint(Math.round(25 + 330 * i / Math.max(count, 1)));
const hue_paint = (hue) =>
    (hue === null || hue === undefined ? "var(--ink)" : `oklch(var(--owner-l) var(--owner-c) ${hue})`);

/// Returns the text of an SVG element. For numbers and fixed words only: nothing is escaped.
function mark_of(tag, attributes, text = "") {
    let result = "<" + tag;
    for (const name in attributes) {
        const value = attributes[name];
        if (value === null || value === undefined) continue;
        result += ` ${name}="${typeof value === "number" ? Math.round(100 * value) / 100 : value}"`;
    }
    return text === "" ? result + "/>" : `${result}>${text}</${tag}>`;
}

/// Returns the path of a part of a disc, clockwise from the top.
function pie_path(x, y, radius, part) {
    if (part <= 0) return "";
    if (part > 0.9999)
        return `M${short(x - radius)} ${short(y)}a${short(radius)} ${short(radius)} 0 1 0 ${short(2 * radius)} 0a${
            short(radius)} ${short(radius)} 0 1 0 ${short(-2 * radius)} 0`;
    const angle = 2 * Math.PI * part - Math.PI / 2;
    return `M${short(x)} ${short(y)}V${short(y - radius)}A${short(radius)} ${short(radius)} 0 ${part > 0.5 ? 1 : 0} 1 ${
        short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}Z`;
}

let stage_hatches = 0;

/// Returns definitions with a hatch pattern, and its paint. A page may have several pictures, so each has its own.
function hatch_of() {
    const id = `waits-${stage_hatches++}`;
    return {
        paint: `url(#${id})`,
        definitions: shape(
            "defs", {},
            shape(
                "pattern", {id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
                shape("rect", {width: 7, height: 7, fill: "var(--stage-soft)"}),
                shape("rect", {width: 2.2, height: 7, fill: "var(--stage-hatch)"})))
    };
}

function stage_svg(width, height, name, ...children) {
    return shape(
        "svg", {class: "stage", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": name},
        ...children);
}

const middle_text = (x, y, size, text, more = {}) =>
    shape("text", {x, y, "font-size": size, "text-anchor": "middle", ...more}, text);

const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/// Returns "both ranks" or "all 8 ranks".
const all_of = (count, nouns) => (count === 2 ? `both ${nouns}` : `all ${count} ${nouns}`);

/// Says what the ranks do before the first message. An exchange by itself has no computation: its start takes time.
const before_sending = ({kind}) => (kind === "exchange" ? "Starting." : "Computing.");
const between_exchanges = (last, next) => `Computing. The exchange of ${last.what} is over; ${next.what} is next.`;

const busy_part = (part) => `${Math.round(100 * part)}\u00a0%`;

/// Says why nothing of an exchange that has begun is under way: a process computes, or it waits for others.
function pause_of(motion, process, time, what) {
    const doing = doing_of(motion.run, motion.name(process), time);
    return doing ? `Computing. ${capital(motion.name(process))} runs the ${doing}; ${what}.` :
                   `Waiting. ${capital(what)}: a rank has not come so far.`;
}

/// Says what a process computes after the last exchange; null if nothing.
function after_exchanges(motion, process, time, last_s) {
    const doing = doing_of(motion.run, motion.name(process), time);
    return doing ? `Computing. ${capital(motion.name(process))} runs the ${doing}; the last exchange ended after ${
                       units.s(last_s)}.` :
                   null;
}

/// Returns what the ranks do at a time before, between or after exchanges, from the timeline: "the backward pass".
function doing_of(run, process, time) {
    const timeline = run.variant?.timeline;
    if (!timeline) return null;
    for (const lane of timeline.lanes) {
        if (lane.process !== process || lane.stream !== "compute") continue;
        for (let i = 0; i < lane.bars.length; i += 5)
            if (lane.bars[i + 1] * timeline.tick_s <= time && time < lane.bars[i + 2] * timeline.tick_s)
                return bar_kinds[lane.bars[i]];
    }
    return null;
}
