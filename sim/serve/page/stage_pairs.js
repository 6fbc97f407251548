// Exchanges in pairs, at distances 1, 2, 4, ...: arcs over a row of ranks, and under each rank what it has.

/// Returns whether a rank sends one message in each step, and almost all have an answer in the same step.
function is_paired(motion, exchange) {
    if (/all-?to-?all/.test(`${exchange.operation} ${exchange.algorithm}`) || exchange.members.length < 4) return false;
    const keys = new Set(exchange.list.map((i) => `${motion.step[i]} ${motion.from[i]} ${motion.to[i]}`));
    const senders = new Set(exchange.list.map((i) => `${motion.step[i]} ${motion.from[i]}`));
    if (senders.size < exchange.list.length) return false;  // a rank sends to several at once
    const answered =
        exchange.list.filter((i) => keys.has(`${motion.step[i]} ${motion.to[i]} ${motion.from[i]}`)).length;
    const distances = new Set(exchange.list.map((i) => Math.abs(motion.from[i] - motion.to[i])));
    return answered > 0.85 * exchange.list.length && distances.size > 1;
}

function stage_pairs(run, width) {
    const motion = motion_of(run);
    const paired = motion.traffic.filter((exchange) => is_paired(motion, exchange));
    if (paired.length === 0) return null;
    const focus = Math.min(...paired[0].members);
    const own = paired.filter(({members}) => members.includes(focus)).sort((a, b) => a.first_s - b.first_s);
    return {fits: 19 + 70 * motion.share(paired), make: () => new PairsStage(motion, width, own)};
}

class PairsStage {
    constructor(motion, width, own) {
        Object.assign(this, {motion, width, own});
        this.arcs = Math.min(130, width * 0.24);
        this.middle = this.arcs + 34;
        this.table_top = this.middle + this.arcs + 50;
        this.table_height = 150;
        for (const exchange of own) exchange.kept ??= new Blocks(motion, exchange);
        const known = own.some(({kept}) => kept.known);
        this.height = known ? this.table_top + this.table_height + 8 : this.middle + this.arcs + 24;
        this.ground = shape("g");
        this.moving = shape("g");
        this.over = shape("g");
        this.table = shape("g");
        this.svg = stage_svg(
            width, this.height, `${own[0].members.length} ranks in a row exchange with partners at growing distances`,
            this.ground, this.moving, this.over, this.table);
    }

    lay_out(exchange) {
        this.shown = exchange;
        const {motion, width} = this, list = [...exchange.members].sort((a, b) => a - b).slice(0, most_on_circle);
        this.list = list;
        this.spacing = (width - 48) / list.length;
        this.at = new Map(list.map((process, i) => [process, 40 + (i + 0.5) * this.spacing]));
        this.disc = Math.max(5, Math.min(17, 0.42 * this.spacing));
        this.ground.replaceChildren(shape("line", {
            x1: this.at.get(list[0]),
            x2: this.at.get(list[list.length - 1]),
            y1: this.middle,
            y2: this.middle,
            stroke: "var(--line)",
            "stroke-width": 2
        }));
        this.over.replaceChildren(...list.flatMap(
            (process) =>
                [titled(
                     shape("circle", {
                         cx: this.at.get(process),
                         cy: this.middle,
                         r: this.disc,
                         fill: "var(--card)",
                         stroke: hue_paint(motion.hues[process]),
                         "stroke-width": this.disc > 9 ? 3 : 2
                     }),
                     motion.name(process)),
                 ...(this.disc >= 7 ?
                         [middle_text(
                             this.at.get(process), this.middle + (this.disc > 11 ? 4.5 : 3), this.disc > 11 ? 12 : 9,
                             motion.labels[process], {"font-weight": 600, "pointer-events": "none"})] :
                         [])]));
        this.table.replaceChildren();
        if (exchange.kept.known) this.lay_out_table(exchange.kept);
    }

    lay_out_table(blocks) {
        const rows = this.rows = Math.min(blocks.blocks, most_on_circle), high = this.table_height / rows;
        const wide = Math.min(this.spacing, 60), edge = Math.min(high, wide) > 8 ? 1 : 0.4;
        Object.assign(this, {high, wide, edge, values: [], bars: [], texts: []});
        this.table.append(label_at(
            8, this.table_top - 9,
            blocks.blocks > 1 ? `what each rank has: ${blocks.blocks} blocks, filled by their contributions` :
                                "what each rank has: contributions to the sum",
            {fill: "var(--faint)"}));
        const ground = shape("g"), bars = shape("g"), texts = shape("g");
        for (let row = 0; row < rows; ++row)
            for (const process of this.list) {
                const box = {x: this.at.get(process) - wide / 2 + edge, width: wide - 2 * edge};
                ground.append(shape("rect", {
                    ...box,
                    y: this.table_top + high * row + edge,
                    height: high - 2 * edge,
                    fill: "var(--stage-soft)"
                }));
                this.bars.push(bars.appendChild(shape("rect", {
                    ...box,
                    height: 0,
                    fill: blocks.blocks > 1 ? owner_paint(row, blocks.blocks) : "var(--computation)"
                })));
                this.texts.push(texts.appendChild(middle_text(
                    this.at.get(process), this.table_top + high * (row + 0.5) + 4, 11, "",
                    {class: "haloed", "font-weight": 700})));
            }
        if (high >= 9 && blocks.blocks > 1)
            for (let row = 0; row < rows; ++row)
                this.table.append(label_at(
                    this.at.get(this.list[0]) - wide / 2 - 5, this.table_top + high * (row + 0.5) + 3.5, String(row),
                    {"font-size": Math.min(11, high), "text-anchor": "end", fill: "var(--faint)"}));
        this.table.append(ground, bars, texts);
    }

    fill_table(time, blocks) {
        const values = blocks.at(time), whole = blocks.members.length, {high, edge} = this;
        let k = 0;
        for (let row = 0; row < this.rows; ++row)
            for (const process of this.list) {
                const value = values[blocks.place.get(process) * blocks.blocks + row];
                if (this.values[k] !== value) {
                    this.values[k] = value;
                    const height = (high - 2 * edge) * value / whole;
                    this.bars[k].setAttribute("y", short(this.table_top + high * (row + 1) - edge - height));
                    this.bars[k].setAttribute("height", short(height));
                    this.bars[k].setAttribute("fill-opacity", value >= whole ? 1 : 0.65);
                    if (high > 13 && this.wide > 17)
                        this.texts[k].textContent = value === 0 ? "" :
                            value >= whole                      ? (blocks.adds ? "Σ" : "✓") :
                                                                  String(value);
                }
                ++k;
            }
    }

    /// Returns the point of an arc, from rank to rank, after a part of it; to the right above, to the left below.
    point(from, to, part) {
        const a = this.at.get(from), b = this.at.get(to), span = Math.abs(b - a) / 2;
        const high = Math.min(span, this.arcs) * Math.sin(Math.PI * part);
        return [(a + b) / 2 - (b - a) / 2 * Math.cos(Math.PI * part), this.middle + (b > a ? -high : high)];
    }

    draw(time) {
        const {motion} = this, at = time + motion.slack_s;
        const shown = motion.current(this.own, time) ?? this.own[0];
        if (shown !== this.shown) this.lay_out(shown);
        const active = shown.list.filter((i) => motion.start_s[i] <= at && at < motion.end_s[i]);
        const largest = shown.list.reduce((most, i) => Math.max(most, motion.bytes[i]), 1);
        let lines = "", dots = "";
        for (const i of active) {
            const from = motion.from[i], to = motion.to[i];
            if (!this.at.has(from) || !this.at.has(to)) continue;
            const part = motion.progress(i, time), paint = hue_paint(motion.hues[from]);
            const wide = 1.5 + 5 * motion.bytes[i] / largest;
            const path = (until) => {
                const steps = 16;
                let d = "";
                for (let k = 0; k <= steps; ++k) {
                    const [x, y] = this.point(from, to, until * k / steps);
                    d += `${k ? "L" : "M"}${short(x)} ${short(y)}`;
                }
                return d;
            };
            lines += mark_of("path", {d: path(1), fill: "none", stroke: "var(--line)", "stroke-width": wide});
            dots += mark_of("path", {d: path(part), fill: "none", stroke: paint, "stroke-width": wide});
            const [x, y] = this.point(from, to, part);
            dots += mark_of(
                "circle",
                {cx: x, cy: y, r: Math.max(4, wide * 0.8), fill: paint, stroke: "var(--card)", "stroke-width": 1.5});
        }
        this.moving.innerHTML = lines + dots;
        if (shown.kept.known) this.fill_table(time, shown.kept);
        return this.say(time, shown, active);
    }

    say(time, exchange, active) {
        const {motion} = this, at = time + motion.slack_s, whole = exchange.members.length;
        const rest = this.list.length < whole ? ` The first ${this.list.length} of ${whole} ranks are shown.` : "";
        const next = this.own.find(({first_s}) => first_s > at);
        if (at < exchange.first_s)
            return `${before_sending(motion.run)} Each rank has its own contribution alone.${rest}`;
        if (at >= exchange.last_s)
            return next ? between_exchanges(exchange, next) + rest :
                          after_exchanges(motion, this.list[0], time, exchange.last_s) ??
                    `Done after ${units.s(exchange.last_s)}. Every rank has all sums.${rest}`;
        const mine = active.find((i) => motion.from[i] === this.list[0]) ?? active[0];
        if (mine === undefined) return pause_of(motion, this.list[0], time, "no message is under way") + rest;
        const first = exchange.list.reduce((least, i) => Math.min(least, motion.step[i]), Infinity);
        const distance =
            Math.abs(exchange.members.indexOf(motion.to[mine]) - exchange.members.indexOf(motion.from[mine]));
        const count = motion.contributions[mine], many = motion.blocks[mine], known = exchange.kept.known;
        const what = many > 1 || (known && exchange.blocks > 1) ?
            `${counted(many, "block")}, ${units.B(motion.bytes[mine])},` :
            units.B(motion.bytes[mine]);
        const then = !known || count < 0 ? "" :
            motion.reduces[mine] ? ` What they keep then has ${counted(Math.min(whole, 2 * count), "contribution")}.` :
                                   " They hand finished sums to each other.";
        const latency = time > motion.through_s[mine] ? " The bytes are sent; the message waits for its latency." : "";
        return `Step ${motion.step[mine] - first + 1}, distance ${distance}. ${
            capital(
                motion.name(motion.from[mine]))} and ${motion.name(motion.to[mine])} send ${what} to each other, as ${
            active.length === whole ? "all pairs do" :
                                      `${active.length} of ${whole} ranks do`}.${then}${latency}${rest}`;
    }
}
