// Exchanges around a ring: ranks on a circle, blocks on the links between them, and beside it what each rank has.

const most_on_circle = 32;

/// Returns an exchange that runs in several channels, as rings of their own, reduced to the first of them.
function first_channel(motion, exchange) {
    if (!(exchange.slices > 1) || exchange.blocks % exchange.slices !== 0) return exchange;
    const blocks = exchange.blocks / exchange.slices;
    const list = exchange.list.filter((i) => motion.block[i] >= 0 && motion.block[i] + motion.blocks[i] <= blocks);
    return exchange.channel ??= {...exchange, list, blocks, channels: exchange.slices};
}

/// Returns the members in the order in which messages go around, or null if they do not.
function ring_order(motion, exchange) {
    const next = new Map();
    for (const i of exchange.list) {
        if (next.has(motion.from[i]) && next.get(motion.from[i]) !== motion.to[i]) return null;
        next.set(motion.from[i], motion.to[i]);
    }
    const first = Math.min(...next.keys()), order = [first];
    for (let at = next.get(first); at !== first; at = next.get(at)) {
        if (order.length > next.size) return null;
        if (at === undefined) {
            // The end of the ring is not known if some messages were left out.
            const known = new Set(order);
            return motion.thinned && order.length > 8 ?
                [...order, ...exchange.members.filter((process) => !known.has(process))] :
                null;
        }
        order.push(at);
    }
    return order.length >= 2 && order.length === next.size ? order : null;
}

/// Returns {members: messages' neighbours on a circle} of an exchange in which each rank sends to a few others
/// (gossip).
function circle_order(motion, exchange) {
    const members = [...exchange.members].sort((a, b) => a - b);
    if (members.length < 3 || exchange.list.length > 6 * members.length) return null;
    return members;
}

/// Returns the exchanges in which a rank takes part that has most of them, with their orders.
function rings_of(motion, order_of) {
    const rings = motion.traffic.map((whole) => first_channel(motion, whole))
                      .filter(({list}) => list.length > 0)
                      .map((exchange) => ({exchange, order: order_of(motion, exchange)}))
                      .filter(({order}) => order);
    if (rings.length === 0) return null;
    const counts = new Map();
    for (const {exchange} of rings)
        for (const process of new Set(exchange.list.map((i) => motion.from[i])))
            counts.set(process, (counts.get(process) ?? 0) + exchange.list.length);
    const focus = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0][0];
    const own =
        rings.filter(({order}) => order.includes(focus)).sort((a, b) => a.exchange.first_s - b.exchange.first_s);
    const found = new Set(rings.map(({exchange}) => exchange.index));
    const share = motion.share(motion.traffic.filter(({index}) => found.has(index)));
    return {focus, own, others: rings.length - own.length, share};
}

function stage_ring(run, width) {
    const motion = motion_of(run);
    let rings = rings_of(motion, ring_order), round = true;
    if (!rings) {
        if (!motion.traffic.some(({algorithm, operation}) => /gossip|neighbo/.test(`${algorithm} ${operation}`)))
            return null;
        rings = rings_of(motion, circle_order);
        round = false;
        if (!rings) return null;
    }
    return {
        fits: round ? 20 + 70 * rings.share : 85,
        title: round ? "the ring and its blocks" : "neighbours",
        make: () => new RingStage(motion, width, rings, round)
    };
}

class RingStage {
    constructor(motion, width, rings, round) {
        Object.assign(this, {motion, width, rings, round});
        const narrow = width < 620;
        this.has_blocks = round && rings.own.some(({exchange}) => this.blocks_of(exchange).known);
        const beside = this.has_blocks && !narrow;
        this.side = narrow ? Math.min(width, 420) : Math.min(400, width * (beside ? 0.52 : 1));
        this.left = beside ? 0 : (width - this.side) / 2;
        this.matrix_size = narrow ? Math.min(width - 40, 330) : Math.min(width - this.side - 52, 330);
        this.height = this.has_blocks && narrow ? this.side + this.matrix_size + 50 : this.side;
        this.matrix =
            narrow ? {x: 34, y: this.side + 24} : {x: this.side + 46, y: (this.side - this.matrix_size) / 2 + 6};
        this.ground = shape("g");
        this.moving = shape("g");
        this.over = shape("g");
        this.cells = shape("g");
        this.marks = shape("g");
        this.svg =
            stage_svg(width, this.height, this.name(), this.ground, this.moving, this.over, this.cells, this.marks);
        this.shown = null;
    }

    name() {
        const {exchange, order} = this.rings.own[0];
        return `${counted(order.length, "rank")} on a circle pass ${
            this.round ? "blocks to the next one" :
                         "their values to their neighbours"}: ${exchange.operation}, ${exchange.algorithm}`;
    }

    blocks_of(exchange) { return exchange.kept ??= new Blocks(this.motion, exchange); }

    /// Draws what stays the same during an exchange.
    lay_out(ring) {
        this.shown = ring;
        const {motion} = this, {order, exchange} = ring;
        const list = order.slice(0, most_on_circle), count = list.length, whole = count === order.length;
        this.list = list;
        this.at = new Map(list.map((process, i) => [process, i]));
        this.cut = !whole;
        this.center = {x: this.left + this.side / 2, y: this.side / 2};
        this.radius = this.side / 2 - (this.side < 360 ? 24 : 30);
        this.disc = count > 16 ? 9 : count > 8 ? 14 : 19;
        this.blocks = this.blocks_of(exchange);
        this.columns = Math.min(this.blocks.blocks, most_on_circle);
        const {x, y} = this.center;
        const label = (process, i) => {
            const [a, b] = this.point(i);
            return shape(
                "g", {},
                titled(
                    shape(
                        "circle",
                        {cx: a, cy: b, r: this.disc, fill: "var(--card)", stroke: "var(--ink)", "stroke-width": 1.5}),
                    motion.name(process)),
                middle_text(
                    a, b + (this.disc > 10 ? 4.5 : 3.5),
                    this.disc > 13     ? 13 :
                        this.disc > 10 ? 11 :
                                         9,
                    motion.labels[process], {"font-weight": 600, "pointer-events": "none"}));
        };
        this.big = middle_text(x, y - 4, this.side < 360 ? 16 : 20, "", {"font-weight": 700});
        this.small = middle_text(x, y + 18, 13, "", {fill: "var(--faint)"});
        this.third = middle_text(x, y + 37, 12, "", {fill: "var(--faint)"});
        this.ground.replaceChildren(...(this.round ? [this.track()] : this.chords(exchange)));
        this.over.replaceChildren(...list.map(label), this.big, this.small, this.third);
        this.small_cells = [];
        this.cells.replaceChildren();
        this.marks.replaceChildren();
        this.mark_text = "";
        if (this.has_blocks && this.blocks.known) this.lay_out_matrix();
    }

    track() {
        const {x, y} = this.center, line = {fill: "none", stroke: "var(--line)", "stroke-width": 5};
        if (!this.cut) return shape("circle", {cx: x, cy: y, r: this.radius, ...line});
        return shape("path", {d: this.arc(0, this.list.length - 1), ...line});
    }

    chords(exchange) {
        const {motion} = this, seen = new Set(), lines = [];
        for (const i of exchange.list) {
            const a = this.at.get(motion.from[i]), b = this.at.get(motion.to[i]);
            if (a === undefined || b === undefined || seen.has(`${b} ${a}`) || seen.has(`${a} ${b}`)) continue;
            seen.add(`${a} ${b}`);
            const [x1, y1] = this.point(a), [x2, y2] = this.point(b);
            lines.push(shape("line", {x1, y1, x2, y2, stroke: "var(--line)", "stroke-width": 2}));
        }
        return lines;
    }

    angle(i) {
        const places = this.cut ? this.list.length + 3 : this.list.length;
        return 2 * Math.PI * i / places - Math.PI / 2;
    }
    point(i, radius = this.radius) {
        return [this.center.x + radius * Math.cos(this.angle(i)), this.center.y + radius * Math.sin(this.angle(i))];
    }
    arc(from, to) {
        const [x1, y1] = this.point(from), [x2, y2] = this.point(to);
        const far = this.angle(to) - this.angle(from) > Math.PI ? 1 : 0;
        return `M${short(x1)} ${short(y1)}A${short(this.radius)} ${short(this.radius)} 0 ${far} 1 ${short(x2)} ${
            short(y2)}`;
    }

    lay_out_matrix() {
        const {x, y} = this.matrix, rows = this.list.length, {columns} = this, size = this.matrix_size;
        const wide = size / columns, high = size / rows, edge = Math.min(wide, high) > 12 ? 1.2 : 0.4;
        Object.assign(this, {wide, high, edge});
        const squares = shape("g"), bars = shape("g");
        this.bars = [];
        for (let row = 0; row < rows; ++row)
            for (let b = 0; b < columns; ++b) {
                const box = {x: x + wide * b + edge, width: wide - 2 * edge};
                squares.append(shape(
                    "rect", {...box, y: y + high * row + edge, height: high - 2 * edge, fill: "var(--stage-soft)"}));
                this.bars.push(
                    bars.appendChild(shape("rect", {...box, fill: owner_paint(b, this.blocks.blocks), height: 0})));
            }
        this.bar_values = [];
        const all = columns < this.blocks.blocks ? ` (first ${columns} of ${this.blocks.blocks})` : "";
        const text = (at_x, at_y, words, more) =>
            label_at(at_x, at_y, words, {fill: "var(--faint)", "font-size": 11, ...more});
        this.cells.append(
            text(x, y - 8, `what each rank has${all || ", block by block"}`, {"font-size": 12.5}), squares, bars);
        if (high >= 13)
            this.list.forEach(
                (process, row) => this.cells.append(
                    text(x - 7, y + high * (row + 0.5) + 4, this.motion.labels[process], {"text-anchor": "end"})));
        if (wide >= 15)
            for (let b = 0; b < columns; ++b)
                this.cells.append(text(x + wide * (b + 0.5), y + size + 14, String(b), {"text-anchor": "middle"}));
    }

    fill_matrix(time, active) {
        const {x, y} = this.matrix, {wide, high, edge, columns, blocks} = this;
        const values = blocks.at(time), whole = blocks.members.length;
        let marks = "";
        this.list.forEach((process, row) => {
            const base = blocks.place.get(process) * blocks.blocks;
            for (let b = 0; b < columns; ++b) {
                const k = row * columns + b, value = values[base + b];
                if (this.bar_values[k] !== value) {
                    this.bar_values[k] = value;
                    const height = (high - 2 * edge) * value / whole, bar = this.bars[k];
                    bar.setAttribute("y", short(y + high * (row + 1) - edge - height));
                    bar.setAttribute("height", short(height));
                    bar.setAttribute("fill-opacity", value >= whole ? 1 : 0.65);
                }
                if (value >= whole && Math.min(wide, high) > 16)
                    marks += mark_of(
                        "text", {
                            x: x + wide * (b + 0.5),
                            y: y + high * (row + 0.5) + 4,
                            "font-size": 11,
                            "font-weight": 700,
                            "text-anchor": "middle",
                            class: "on-owner"
                        },
                        blocks.adds ? "Σ" : "✓");
            }
        });
        const {motion} = this;
        for (const i of active) {
            const row = this.at.get(motion.from[i]);
            if (row === undefined || motion.block[i] < 0) continue;
            for (let k = 0; k < Math.min(motion.blocks[i], columns); ++k) {
                const b = (motion.block[i] + k) % blocks.blocks;
                if (b < columns)
                    marks += mark_of("rect", {
                        x: x + wide * b + 0.8,
                        y: y + high * row + 0.8,
                        width: wide - 1.6,
                        height: high - 1.6,
                        fill: "none",
                        stroke: "var(--ink)",
                        "stroke-width": wide > 14 ? 2 : 1.3
                    });
            }
        }
        if (marks !== this.mark_text) this.marks.innerHTML = this.mark_text = marks;
    }

    move(time, active) {
        const {motion, blocks} = this, size = this.disc > 14 ? 21 : this.disc > 10 ? 15 : 9;
        let tracks = "", squares = "";
        for (const i of active) {
            const a = this.at.get(motion.from[i]), b = this.at.get(motion.to[i]);
            if (a === undefined || b === undefined) continue;
            const part = motion.progress(i, time), block = motion.block[i];
            const paint =
                block >= 0 && blocks.blocks > 1 ? owner_paint(block, blocks.blocks) : owner_paint(a, this.list.length);
            let x, y;
            if (this.round) {
                [x, y] = this.point(a + part);
                tracks += mark_of("path", {d: this.arc(a, a + part), fill: "none", stroke: paint, "stroke-width": 5});
            } else {
                const [x1, y1] = this.point(a), [x2, y2] = this.point(b), length = Math.hypot(x2 - x1, y2 - y1) || 1;
                const aside = [-3 * (y2 - y1) / length, 3 * (x2 - x1) / length];
                [x, y] = [x1 + (x2 - x1) * part + aside[0], y1 + (y2 - y1) * part + aside[1]];
                tracks += mark_of(
                    "line", {x1: x1 + aside[0], y1: y1 + aside[1], x2: x, y2: y, stroke: paint, "stroke-width": 4});
            }
            const full =
                !blocks.adds || motion.contributions[i] < 0 ? 1 : motion.contributions[i] / blocks.members.length;
            squares += mark_of("rect", {
                           x: x - size / 2,
                           y: y - size / 2,
                           width: size,
                           height: size,
                           rx: 2.5,
                           fill: "var(--card)",
                           stroke: paint,
                           "stroke-width": 1.5
                       }) +
                mark_of("rect", {
                           x: x - size / 2,
                           y: y + size / 2 - size * full,
                           width: size,
                           height: size * full,
                           rx: 1.5,
                           fill: paint
                       });
            if (size > 14 && block >= 0 && this.round)
                squares += mark_of(
                    "text",
                    {x, y: y + 4, "font-size": 11, "font-weight": 700, "text-anchor": "middle", class: "haloed"},
                    block);
        }
        this.moving.innerHTML = tracks + squares;
    }

    draw(time) {
        const {motion, rings} = this;
        const running = motion.current(rings.own.map(({exchange}) => exchange), time);
        const ring = rings.own.find(({exchange}) => exchange === running) ?? rings.own[0];
        if (ring !== this.shown) this.lay_out(ring);
        const {exchange} = ring, at = time + motion.slack_s;
        const active = exchange.list.filter((i) => motion.start_s[i] <= at && at < motion.end_s[i]);
        this.move(time, active);
        if (this.has_blocks && this.blocks.known) this.fill_matrix(time, active);
        return this.say(time, ring, active);
    }

    say(time, {exchange, order}, active) {
        const {motion, rings} = this, at = time + motion.slack_s, who = (process) => motion.name(process);
        const texts = (big, small = "", third = "") => {
            this.big.textContent = big;
            this.small.textContent = small;
            this.third.textContent = third;
        };
        const what = rings.own.length > 1 ? exchange.what : "";
        const cut =
            (exchange.channels > 1 ? ` One of ${exchange.channels} channels, each a ring of its own, is shown.` : "") +
            (this.cut ? ` The first ${this.list.length} of ${order.length} ranks are shown.` : "");
        const others = rings.others > 0 && order.length < motion.processes.length ?
            " Other groups do the same with their own rings." :
            "";
        const next = rings.own.find((ring) => ring.exchange.first_s > at)?.exchange;
        if (at < exchange.first_s || (at >= exchange.last_s && next)) {
            const doing = doing_of(motion.run, who(this.rings.focus), time);
            const part = /^activations/.test(exchange.what) ? "part of the activations" : "gradients";
            const alone = motion.run.kind === "exchange";
            texts(alone ? "starting" : "computing", doing ?? "", next ? `next: ${next.what}` : "");
            if (at < exchange.first_s)
                return `${before_sending(motion.run)} ` +
                    (this.round && this.blocks.known && this.blocks.adds ?
                         `Each rank ${alone ? "has its own data" : `makes its own ${part}`}: ${
                             counted(exchange.blocks, "block")}, each with one contribution (a low bar).` :
                         "Nothing is sent yet.") +
                    cut;
            return between_exchanges(exchange, next) + cut;
        }
        if (at >= exchange.last_s) {
            const computing = after_exchanges(motion, rings.focus, time, exchange.last_s);
            if (computing) {
                texts("computing", doing_of(motion.run, who(rings.focus), time), "");
                return computing + cut;
            }
            texts("done", this.blocks.known && this.blocks.adds ? "all sums everywhere" : "", what);
            const sent = exchange.list.filter((i) => motion.from[i] === rings.focus);
            return `Done after ${units.s(exchange.last_s)}. ${capital(who(rings.focus))} sent ${
                counted(sent.length, this.round && this.blocks.known ? "block" : "message")}, ${
                units.B(sent.reduce((sum, i) => sum + motion.bytes[i], 0))}${
                rings.own.length > 1 ? `, for ${exchange.what}` : ""}.${cut}`;
        }
        const mine = active.find((i) => motion.from[i] === rings.focus) ?? active[0];
        if (mine === undefined) {
            const doing = doing_of(motion.run, who(rings.focus), time);
            texts(doing ? "computing" : "waiting", doing ?? "", what);
            return pause_of(motion, rings.focus, time, `no message of ${exchange.what} is under way`) + cut;
        }
        const steps = Math.max(exchange.steps ?? 0, motion.step[mine] + 1);
        const adding = motion.reduces[mine] === 1, known = this.blocks.known && motion.block[mine] >= 0;
        const first = exchange.list.reduce((least, i) => Math.min(least, motion.step[i]), Infinity);
        const number = motion.step[mine] - first + 1, of = Math.max(number, Math.min(steps, exchange.steps || steps));
        texts(`step ${number} of ${of}`, !this.round ? "" : adding ? "adding blocks up" : "handing blocks round", what);
        const carry = active.length === order.length ?
            `${capital(all_of(order.length, "links"))} carry ${units.B(motion.bytes[mine])} at once` :
            `${active.length} of ${order.length} links ${active.length === 1 ? "is" : "are"} in use`;
        const sender = capital(who(motion.from[mine])), receiver = who(motion.to[mine]);
        const step = `Step ${number}${what ? ` of ${what}` : ""}`;
        if (!this.round || !known)
            return `${step}. ${sender} sends ${units.B(motion.bytes[mine])} to ${receiver}; ${
                counted(active.length, "message")} are under way.${others}${cut}`;
        const count = motion.contributions[mine];
        return adding ? `${step}, adding. ${sender} sends block ${motion.block[mine]} with ${
                            counted(count, "contribution")}; ${receiver} adds its own. ${carry}.${others}${cut}` :
                        `${step}, handing round. ${sender} passes on ${
                            this.blocks.adds ? `the finished sum Σ of block ${motion.block[mine]}` :
                                               `block ${motion.block[mine]}`} to ${receiver}. ${carry}.${others}${cut}`;
    }
}
