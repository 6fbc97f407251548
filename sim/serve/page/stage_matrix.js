// All-to-all: a square of senders by receivers, in which every field fills as its bytes arrive.

const most_in_matrix = 32;

function stage_matrix(run, width) {
    const motion = motion_of(run);
    const list = motion.traffic.filter(
        ({operation, algorithm}) => /all-?to-?all|dispatch|combine|experts/.test(`${operation} ${algorithm}`));
    if (list.length === 0) return null;
    return {fits: 21 + 70 * motion.share(list), make: () => new MatrixStage(motion, width, list)};
}

class MatrixStage {
    constructor(motion, width, exchanges) {
        Object.assign(this, {motion, width, exchanges});
        const members = [...new Set(exchanges.flatMap((exchange) => exchange.members))].sort((a, b) => a - b);
        this.first =
            exchanges[0].members.length < members.length ? [...exchanges[0].members].sort((a, b) => a - b) : members;
        this.list = this.first.slice(0, most_in_matrix);
        this.own = exchanges.filter(({members: others}) => others.includes(this.list[0]));
        const count = this.list.length, side = Math.min(width - 60, 400);
        this.cell = side / count;
        this.left = (width - side) / 2 + 12;
        this.top = 34;
        this.height = this.top + side + 8;
        this.at = new Map(this.list.map((process, i) => [process, i]));
        this.svg = stage_svg(width, this.height, `What each of ${this.first.length} ranks has sent to each other one`);
        this.lay_out(side);
    }

    lay_out(side) {
        const {cell, left, top, motion} = this, edge = cell > 12 ? 1 : 0.4, faint = {fill: "var(--faint)"};
        const ground = shape("g"), bars = shape("g");
        this.list.forEach((from, row) => this.list.forEach((to, column) => {
            const box = {x: left + cell * column + edge, y: top + cell * row + edge, height: cell - 2 * edge};
            const square =
                shape("rect", {...box, width: cell - 2 * edge, fill: from === to ? "none" : "var(--stage-soft)"});
            ground.append(square);
        }));
        // A path for each row: a thousand rectangles would take too long.
        this.bars = this.list.map((from) => bars.appendChild(shape("path", {fill: hue_paint(motion.hues[from])})));
        this.svg.append(ground, bars, label_at(left, 10, "row: from this rank; column: to this rank", faint));
        const each = Math.max(1, Math.ceil(13 / cell));
        this.list.forEach((process, i) => {
            if (i % each !== 0) return;
            const middle = (i + 0.5) * cell;
            this.svg.append(
                middle_text(left + middle, top - 7, 10.5, motion.labels[process], faint),
                label_at(
                    left - 6, top + middle + 4, motion.labels[process],
                    {...faint, "font-size": 10.5, "text-anchor": "end"}));
        });
        this.edge = edge;
    }

    draw(time) {
        const {motion, cell, edge} = this, count = this.list.length;
        const exchange = motion.current(this.own, time) ?? this.own[0];
        const got = new Float64Array(count * count), whole = new Float64Array(count * count);
        let flying = 0, arrived = 0;
        for (const i of exchange.list) {
            const row = this.at.get(motion.from[i]), column = this.at.get(motion.to[i]);
            const part = motion.landed(i, time) ? 1 : motion.progress(i, time);
            if (motion.landed(i, time))
                ++arrived;
            else if (motion.start_s[i] <= time + motion.slack_s)
                ++flying;
            if (row === undefined || column === undefined) continue;
            got[row * count + column] += part * motion.bytes[i];
            whole[row * count + column] += motion.bytes[i];
        }
        const high = short(cell - 2 * edge);
        this.bars.forEach((bar, row) => {
            const top = short(this.top + cell * row + edge);
            let d = "";
            for (let k = row * count, column = 0; column < count; ++k, ++column) {
                if (got[k] === 0) continue;
                const wide = short((cell - 2 * edge) * got[k] / whole[k]);
                d += `M${short(this.left + cell * column + edge)} ${top}h${wide}v${high}h-${wide}Z`;
            }
            bar.setAttribute("d", d);
        });
        const rest = this.first.length > count ? ` The first ${count} of ${this.first.length} ranks are shown.` : "";
        const others = this.own.length < this.exchanges.length && this.first.length < motion.processes.length ?
            " Other groups do the same." :
            "";
        if (time + motion.slack_s < exchange.first_s)
            return `${before_sending(motion.run)} Nothing is sent yet.${rest}`;
        const next = this.own.find(({first_s}) => first_s > time + motion.slack_s);
        if (time + motion.slack_s >= exchange.last_s)
            return next ? between_exchanges(exchange, next) + rest :
                          after_exchanges(motion, this.list[0], time, exchange.last_s) ??
                    `Done after ${units.s(exchange.last_s)}. Each of ${
                              exchange.members.length} ranks has sent its part to every other one.${rest}`;
        const each = middle_of(exchange.list.map((i) => motion.bytes[i]));
        return `${counted(flying, "message")} under way. ${arrived} of ${exchange.list.length} have arrived, each of ${
            units.B(each)}; a row fills as its rank sends, a column as its rank receives.${others}${rest}`;
    }
}
