// A pipeline: a box for each stage, microbatches as numbered discs, hops between boxes, and activations that are kept.

const most_boxes = 16;
const pass_words = ["forward", "backward", "input gradients", "weight gradients"];

function stage_pipeline(run, width) {
    const stages = run.variant?.stages;
    if (!stages || stages.stages.length < 2) return null;
    return {fits: 100, make: () => new PipelineStage(run, width, stages)};
}

class PipelineStage {
    constructor(run, width, timeline) {
        Object.assign(this, {run, width, timeline, motion: motion_of(run)});
        this.window_s = timeline.window_s;
        this.rows = timeline.stages.slice(0, most_boxes).map((stage) => ({...stage, list: passes_of(timeline, stage)}));
        const count = this.rows.length;
        // On a phone many stages stand in two lines or more, in reading order.
        this.in_line = Math.max(2, Math.min(count, Math.floor((width + 8) / 62)));
        this.gap = width < 560 ? 8 : count > 8 ? 10 : 26;
        this.box_width = Math.min(150, (width - this.gap * (this.in_line - 1)) / this.in_line);
        this.left = (width - this.in_line * this.box_width - this.gap * (this.in_line - 1)) / 2;
        this.box_height = 96;
        for (const row of this.rows) row.keeps = this.keeps(row);
        this.most = Math.max(1, ...this.rows.map((row) => this.most_kept(row)));
        // Squares with numbers, unless a stage keeps so many that they would be far higher than its box.
        const highest = 110;
        this.per_line = Math.max(
            1, Math.floor(this.box_width / 19), Math.ceil(Math.sqrt(this.most * this.box_width / highest)));
        this.square = Math.min(19, this.box_width / this.per_line);
        this.line_height = 18 + this.box_height + 36 + Math.ceil(this.most / this.per_line) * this.square + 10;
        this.lines = Math.ceil(count / this.in_line);
        this.height = this.lines * this.line_height;
        const lengths =
            this.rows.flatMap(({list}) => list.map(({start_s, end_s}) => end_s - start_s)).sort((a, b) => a - b);
        this.hop_s = 0.3 * (lengths[Math.floor(lengths.length / 4)] ?? this.window_s / 100);
        this.find_hops();
        const hatch = hatch_of();
        this.moving = shape("g");
        this.svg = stage_svg(
            width, this.height,
            `${counted(timeline.count, "stage")} of a pipeline, and the microbatch that each computes`,
            hatch.definitions, this.ground(hatch.paint), this.moving);
    }

    place(i) {
        return {
            x: this.left + (i % this.in_line) * (this.box_width + this.gap),
            y: 18 + Math.floor(i / this.in_line) * this.line_height
        };
    }

    ground(hatch) {
        const parts = this.rows.flatMap((row, i) => {
            const {x, y} = this.place(i);
            return [
                middle_text(
                    x + this.box_width / 2, y - 7, 12.5, this.box_width > 60 ? `stage ${row.stage}` : String(row.stage),
                    {"font-weight": 600}),
                titled(
                    shape("rect", {
                        x,
                        y,
                        width: this.box_width,
                        height: this.box_height,
                        rx: 11,
                        fill: hatch,
                        stroke: "var(--line)",
                        "stroke-width": 1.5
                    }),
                    `stage ${row.stage}: ${row.layers}`)
            ];
        });
        for (let line = 0; line < this.lines; ++line)
            parts.push(label_at(
                this.left, 18 + line * this.line_height + this.box_height + 22,
                "activations kept for the backward pass", {fill: "var(--faint)"}));
        return shape("g", {}, ...parts);
    }

    /// Returns when a stage keeps which microbatch's activations, [{pass, from_s, to_s}]: from the end of the forward
    /// pass to that of the backward pass.
    keeps(row) {
        const list = [], open_at = new Map();
        for (const pass of [...row.list].sort((a, b) => a.end_s - b.end_s)) {
            const key = `${pass.number} ${pass.chunk}`;
            if (pass.kind === 0) {
                open_at.set(key, {pass, from_s: pass.end_s, to_s: Infinity});
                list.push(open_at.get(key));
            } else if (pass.kind !== 3 && open_at.has(key)) {
                open_at.get(key).to_s = pass.end_s;
                open_at.delete(key);
            }
        }
        return list;
    }
    kept(row, time) {
        const at = time + 1e-9 * this.window_s;
        return row.keeps.filter(({from_s, to_s}) => from_s <= at && at < to_s).map(({pass}) => pass);
    }
    most_kept({keeps}) {
        const at_once = ({from_s: at}) => keeps.filter(({from_s, to_s}) => from_s <= at && at < to_s).length;
        return Math.max(0, ...keeps.map(at_once));
    }

    /// A result leaves when its pass ends. It is drawn for a while even if sending takes no time.
    find_hops() {
        this.hops = [];
        const {motion, timeline} = this, process_of = new Map(motion.processes.map((name, i) => [name, i]));
        const near = 2 * timeline.tick_s, last_chunk = timeline.virtual_stages - 1, count = this.rows.length;
        const sent = new Map();
        motion.from.forEach((from, i) => {
            const key = `${from} ${motion.to[i]}`;
            if (!sent.has(key)) sent.set(key, []);
            sent.get(key).push(i);
        });
        this.rows.forEach((row, i) => {
            for (const pass of row.list) {
                if (pass.kind === 3) continue;
                const forward = pass.kind === 0;
                let to = i + (forward ? 1 : -1);
                if (to === timeline.count && pass.chunk < last_chunk) to = 0;
                if (to === -1 && pass.chunk > 0) to = timeline.count - 1;
                if (to < 0 || to >= count) continue;
                const key = `${process_of.get(`rank ${row.rank}`)} ${process_of.get(`rank ${this.rows[to].rank}`)}`;
                const message = (sent.get(key) ?? [])
                                    .find(
                                        (k) => motion.start_s[k] >= pass.end_s - near &&
                                            motion.start_s[k] <= pass.end_s + this.hop_s);
                const until = message === undefined ? 0 : motion.end_s[message];
                this.hops.push(
                    {pass, from: i, to, start_s: pass.end_s, end_s: Math.max(pass.end_s + this.hop_s, until)});
            }
        });
        this.hops.sort((a, b) => a.start_s - b.start_s);
    }

    paint({kind}) { return paint_of(kind === 0 ? "forward pass" : "backward pass"); }
    shade({kind, chunk}) { return (kind === 3 ? 0.7 : 1) * (1 - 0.4 * chunk / this.timeline.virtual_stages); }

    draw(time) {
        const at = time + 1e-9 * this.window_s, {box_width, box_height} = this;
        let text = "";
        const now = this.rows.map(({list}) => list.find(({start_s, end_s}) => start_s <= at && at < end_s));
        this.rows.forEach((row, i) => {
            const {x, y} = this.place(i), pass = now[i], middle = x + box_width / 2;
            if (pass) {
                const paint = this.paint(pass), radius = Math.min(27, 0.34 * box_width);
                text += mark_of("rect", {
                    x,
                    y,
                    width: box_width,
                    height: box_height,
                    rx: 11,
                    fill: "var(--card)",
                    stroke: paint,
                    "stroke-width": 2
                });
                text += mark_of("circle", {cx: middle, cy: y + 43, r: radius, fill: "var(--card)"});
                text += mark_of(
                    "circle", {cx: middle, cy: y + 43, r: radius, fill: paint, "fill-opacity": this.shade(pass)});
                text += mark_of(
                    "text", {
                        x: middle,
                        y: y + 43 + (radius > 18 ? 7 : 5),
                        "font-size": radius > 18 ? 20 : 14,
                        "font-weight": 700,
                        "text-anchor": "middle",
                        class: "on-pass"
                    },
                    pass.number);
                if (box_width > 74)
                    text += mark_of(
                        "text", {
                            x: middle,
                            y: y + box_height - 10,
                            "font-size": box_width > 110 ? 12 : 10.5,
                            "text-anchor": "middle"
                        },
                        pass_words[pass.kind] + (this.timeline.virtual_stages > 1 ? ` · ${pass.chunk + 1}` : ""));
                const part = (time - pass.start_s) / (pass.end_s - pass.start_s);
                text += mark_of("rect", {
                    x: x + 8,
                    y: y + box_height - 5,
                    width: (box_width - 16) * Math.max(0, part),
                    height: 3.5,
                    rx: 1.5,
                    fill: paint
                });
            } else {
                const over = !row.list.some(({start_s}) => start_s >= time);
                text += mark_of(
                    "text",
                    {x: middle, y: y + box_height / 2 + 4, "font-size": 13, "text-anchor": "middle", class: "haloed"},
                    over               ? "done" :
                        box_width > 50 ? "waits" :
                                         "–");
            }
            text += this.squares(this.kept(row, time), x, y + box_height + 30);
        });
        text += this.flying(time);
        this.moving.innerHTML = text;
        return this.say(time, now);
    }

    /// Draws kept activations, those of one shade as one path.
    squares(list, x, y) {
        const {square, per_line} = this, numbered = square > 13, side = short(square - (square > 10 ? 2 : 1));
        const paths = new Map();
        let numbers = "";
        list.forEach((pass, k) => {
            const left = x + (k % per_line) * square, top = y + Math.floor(k / per_line) * square;
            const shade = this.shade(pass);
            paths.set(
                shade, `${paths.get(shade) ?? ""}M${short(left + 1)} ${short(top)}h${side}v${side}h-${side}Z`);
            if (numbered)
                numbers += mark_of(
                    "text", {
                        x: left + square / 2,
                        y: top + square / 2 + 3,
                        "font-size": 10,
                        "text-anchor": "middle",
                        class: "on-pass"
                    },
                    pass.number);
        });
        let text = "";
        for (const [shade, d] of paths)
            text += mark_of("path", {d, fill: paint_of("forward pass"), "fill-opacity": shade});
        return text + numbers;
    }

    flying(time) {
        let text = "";
        for (const {pass, from, to, start_s, end_s} of this.hops) {
            if (start_s > time) break;
            if (time >= end_s) continue;
            const part = (time - start_s) / (end_s - start_s), a = this.place(from), b = this.place(to);
            const right = b.x > a.x ? 1 : b.x < a.x ? -1 : 0, edge = right * this.box_width / 2;
            const x = a.x + edge + (b.x - a.x - 2 * edge) * part + this.box_width / 2;
            const y = a.y + (b.y - a.y) * part + 43 - Math.sin(part * Math.PI) * (Math.abs(to - from) > 1 ? 56 : 6);
            text += mark_of(
                        "circle",
                        {cx: x, cy: y, r: 12, fill: this.paint(pass), stroke: "var(--card)", "stroke-width": 2}) +
                mark_of("text",
                        {x, y: y + 4, "font-size": 11, "font-weight": 700, "text-anchor": "middle", class: "on-pass"},
                        pass.number);
        }
        return text;
    }

    say(time, now) {
        const {window_s, timeline} = this, count = this.rows.length, busy = now.filter(Boolean).length;
        const rest = timeline.count > count ? ` The first ${count} of ${timeline.count} stages are shown.` : "";
        if (time >= window_s * (1 - 1e-9)) {
            const shortest = this.rows.reduce((least, row) => (row.busy_s < least.busy_s ? row : least));
            return `Done after ${units.s(window_s)}. Stage ${shortest.stage} computed for ${
                units.s(shortest.busy_s)} and did not for ${units.s(window_s - shortest.busy_s)}.${rest}`;
        }
        if (busy === 0) {
            const over = this.rows.every(({list}) => !list.some(({start_s}) => start_s >= time));
            return over ?
                `All passes are done. Gradients are exchanged and weights updated until ${units.s(window_s)}.${rest}` :
                `No stage computes. All wait for a transfer.${rest}`;
        }
        const chunk = (pass) => (timeline.virtual_stages > 1 ? ` of virtual stage ${pass.chunk + 1}` : "");
        const words = now.slice(0, 8).map(
            (pass, i) => `${this.rows[i].stage}: ${
                pass ? `${pass_words[pass.kind]} ${pass.number}${count <= 4 ? chunk(pass) : ""}` :
                    this.rows[i].list.some(({start_s}) => start_s >= time) ? "waits" :
                                                                             "done"}`);
        return `${busy} of ${count} stages ${busy === 1 ? "computes" : "compute"}. ${words.join(" · ")}${
            now.length > 8 ? " …" : ""}.${rest}`;
    }
}
