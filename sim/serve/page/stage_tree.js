// Exchanges along one or two trees: ranks by level, the root on top; messages rise and are added, then the sum falls.

/// Returns the trees of an exchange as maps from child to parent, and the tree of each message; null if there are none.
function trees_of(motion, exchange) {
    if (exchange.members.length < 3) return null;
    const adds = exchange.list.some((i) => motion.reduces[i]), parents = new Map();  // block → child → parent
    for (const i of exchange.list) {
        if (adds && !motion.reduces[i]) continue;
        const [child, parent] = adds ? [motion.from[i], motion.to[i]] : [motion.to[i], motion.from[i]];
        for (let block = motion.block[i]; block < motion.block[i] + Math.max(1, motion.blocks[i]); ++block) {
            if (!parents.has(block)) parents.set(block, new Map());
            const tree = parents.get(block);
            if ((tree.get(child) ?? parent) !== parent) return null;
            tree.set(child, parent);
        }
    }
    const trees = [], of_block = new Map(), numbers = new Map();
    for (const [block, tree] of parents) {
        const text = exchange.members.map((process) => tree.get(process) ?? "").join();
        if (!numbers.has(text)) numbers.set(text, trees.push(tree) - 1);
        if (trees.length > 2) return null;
        of_block.set(block, numbers.get(text));
    }
    if (trees.length === 0 || !trees.every((tree) => is_tree(tree, exchange.members.length))) return null;
    if (trees.every((tree) => new Set(tree.values()).size === 1)) return null;  // a server
    const of_message = new Map();
    for (const i of exchange.list) {
        const along = (tree) => tree.get(motion.from[i]) === motion.to[i] || tree.get(motion.to[i]) === motion.from[i];
        const number = of_block.get(motion.block[i]) ?? trees.findIndex(along);
        if (number < 0 || !along(trees[number])) return null;
        of_message.set(i, number);
    }
    return {trees, of_message, adds};
}

/// Returns whether a map from child to parent has one root that is above all.
function is_tree(parent_of, members) {
    if (parent_of.size !== members - 1) return false;
    for (const start of parent_of.keys()) {
        let steps = 0;
        for (let at = start; parent_of.has(at); at = parent_of.get(at))
            if (++steps > members) return false;
    }
    return true;
}

function stage_tree(run, width) {
    const motion = motion_of(run);
    const found =
        motion.traffic.map((exchange) => ({exchange, forest: trees_of(motion, exchange)})).filter(({forest}) => forest);
    if (found.length === 0) return null;
    const focus = Math.min(...found[0].exchange.members);
    const own = found.filter(({exchange}) => exchange.members.includes(focus))
                    .sort((a, b) => a.exchange.first_s - b.exchange.first_s);
    return {
        fits: 18 + 70 * motion.share(found.map(({exchange}) => exchange)),
        make: () => new TreeStage(motion, width, own)
    };
}

class TreeStage {
    constructor(motion, width, own) {
        Object.assign(this, {motion, width, own});
        for (const one of own) {
            one.blocks = new Blocks(motion, one.exchange);
            one.places = one.forest.trees.map((tree) => this.levels(tree));
        }
        this.stacked = width < 620 && own.some(({places}) => places.length > 1);
        const levels = Math.max(...own.flatMap(({places}) => places.map(({depth}) => depth)));
        this.level_height = Math.max(46, Math.min(84, 330 / (levels + 1)));
        this.tree_height = 40 + levels * this.level_height + 30;
        const panels = Math.max(...own.map(({places}) => places.length));
        this.height = this.tree_height * (this.stacked ? panels : 1);
        this.ground = shape("g");
        this.moving = shape("g");
        this.over = shape("g");
        this.svg = stage_svg(
            width, this.height,
            `A tree of ${own[0].exchange.members.length} ranks: sums rise to the root and come back`, this.ground,
            this.moving, this.over);
    }

    /// Returns the level of each rank and its place from left to right, 0 to 1.
    levels(tree) {
        const children = new Map();
        for (const [child, parent] of tree) children.set(parent, [...(children.get(parent) ?? []), child]);
        const root = [...children.keys()].find((process) => !tree.has(process));
        const level = new Map(), across = new Map();
        let leaves = 0, depth = 0;
        const place = (process, at) => {
            level.set(process, at);
            depth = Math.max(depth, at);
            const below = (children.get(process) ?? []).sort((a, b) => a - b);
            below.forEach((child) => place(child, at + 1));
            across.set(
                process,
                below.length === 0 ? leaves++ :
                                     below.reduce((sum, child) => sum + across.get(child), 0) / below.length);
        };
        place(root, 0);
        return {root, level, across, leaves, depth};
    }

    lay_out(shown) {
        this.shown = shown;
        const {motion} = this, panels = shown.places.length;
        const panel_width = this.stacked || panels === 1 ? this.width : this.width / panels;
        this.at = shown.places.map(({level, across, leaves}, panel) => new Map([...level].map(([process, at]) => {
                                       const x = (panel_width - 24) * (across.get(process) + 0.5) / leaves + 12;
                                       return [
                                           process, {
                                               x: x + (this.stacked ? 0 : panel * panel_width),
                                               y: (panels > 1 ? 52 : 34) + at * this.level_height +
                                                   (this.stacked ? panel * this.tree_height : 0)
                                           }
                                       ];
                                   })));
        const most = Math.max(...shown.places.map(({leaves}) => leaves));
        this.disc = Math.max(4, Math.min(18, 0.42 * panel_width / most));
        const lines = [], discs = [];
        shown.forest.trees.forEach((tree, panel) => {
            const at = this.at[panel];
            for (const [child, parent] of tree) {
                const a = at.get(child), b = at.get(parent);
                lines.push(shape("line", {
                    x1: a.x,
                    y1: a.y,
                    x2: b.x,
                    y2: b.y,
                    stroke: "var(--line)",
                    "stroke-width": 4,
                    "stroke-dasharray": panel > 0 ? "6 4" : null
                }));
            }
            for (const [process, {x, y}] of at)
                discs.push(titled(
                    shape(
                        "circle",
                        {cx: x, cy: y, r: this.disc, fill: "var(--card)", stroke: "var(--ink)", "stroke-width": 1.5}),
                    motion.name(process)));
            if (panels > 1)
                lines.push(label_at(
                    (this.stacked ? 0 : panel * panel_width) + 12, 14 + (this.stacked ? panel * this.tree_height : 0),
                    `tree ${panel + 1}, for ${panel === 0 ? "one half" : "the other half"} of the data`,
                    {fill: "var(--faint)"}));
        });
        this.ground.replaceChildren(...lines);
        this.pies = shape("g");
        this.over.replaceChildren(...discs, this.pies);
        if (this.disc >= 7)
            this.at.forEach((at) => {
                for (const [process, {x, y}] of at)
                    this.over.append(middle_text(
                        x, y + (this.disc > 12 ? 4.5 : 3),
                        this.disc > 12    ? 12 :
                            this.disc > 9 ? 10 :
                                            8,
                        motion.labels[process], {class: "haloed", "font-weight": 600, "pointer-events": "none"}));
            });
    }

    /// Returns the mean part of all contributions that a rank has, over the blocks of a tree.
    parts(time) {
        const {blocks, forest} = this.shown, values = blocks.at(time), whole = blocks.members.length, {motion} = this;
        if (!blocks.known) return null;
        if (!this.shown.block_trees) {
            this.shown.block_trees = new Map();
            for (const i of blocks.list)
                for (let k = 0; k < motion.blocks[i]; ++k)
                    this.shown.block_trees.set(motion.block[i] + k, forest.of_message.get(i));
        }
        return forest.trees.map((_, tree) => {
            const list = [...this.shown.block_trees].filter(([, of]) => of === tree).map(([block]) => block);
            return new Map(blocks.members.map(
                (process, row) =>
                    [process,
                     list.reduce((sum, block) => sum + values[row * blocks.blocks + block], 0) /
                         Math.max(1, list.length * whole)]));
        });
    }

    draw(time) {
        const {motion} = this, at = time + motion.slack_s;
        const running = motion.current(this.own.map(({exchange}) => exchange), time);
        const shown = this.own.find(({exchange}) => exchange === running) ?? this.own[0];
        if (shown !== this.shown) this.lay_out(shown);
        const active = shown.exchange.list.filter((i) => motion.start_s[i] <= at && at < motion.end_s[i]);
        let lines = "", pies = "";
        this.parts(time)?.forEach((parts, tree) => {
            for (const [process, part] of parts) {
                const {x, y} = this.at[tree].get(process), d = pie_path(x, y, this.disc - 1.5, part);
                if (d)
                    pies += mark_of("path", {
                        d,
                        fill: part > 0.9999 ? "var(--reduction)" : hue_paint(motion.hues[process]),
                        "fill-opacity": 0.6
                    });
            }
        });
        const radius = Math.max(5, Math.min(11, this.disc * 0.8));
        for (const i of active) {
            const places = this.at[shown.forest.of_message.get(i)], a = places.get(motion.from[i]),
                  b = places.get(motion.to[i]);
            const part = motion.progress(i, time), x = a.x + (b.x - a.x) * part, y = a.y + (b.y - a.y) * part;
            const paint = motion.reduces[i] ? hue_paint(motion.hues[motion.from[i]]) : "var(--reduction)";
            lines += mark_of("line", {x1: a.x, y1: a.y, x2: x, y2: y, stroke: paint, "stroke-width": 5}) +
                mark_of("circle", {cx: x, cy: y, r: radius, fill: paint, stroke: "var(--card)", "stroke-width": 1.5});
            if (radius > 8 && motion.contributions[i] > 0)
                lines += mark_of(
                    "text", {
                        x,
                        y: y + 4,
                        "font-size": 11,
                        "font-weight": 700,
                        "text-anchor": "middle",
                        class: motion.reduces[i] ? "on-owner" : "on-pass"
                    },
                    motion.reduces[i] ? motion.contributions[i] : "Σ");
        }
        this.moving.innerHTML = lines;
        this.pies.innerHTML = pies;
        return this.say(time, shown, active);
    }

    say(time, {exchange, places}, active) {
        const {motion} = this, at = time + motion.slack_s;
        const next = this.own.find((one) => one.exchange.first_s > at)?.exchange;
        if (at < exchange.first_s)
            return `${before_sending(motion.run)} Each rank has its own contribution alone.`;
        if (at >= exchange.last_s)
            return next ? between_exchanges(exchange, next) :
                          after_exchanges(motion, places[0].root, time, exchange.last_s) ??
                    `Done after ${units.s(exchange.last_s)}. Every rank has what came down the tree.`;
        if (active.length === 0) return pause_of(motion, places[0].root, time, "no message is under way");
        const up = active.filter((i) => motion.reduces[i]), down = active.filter((i) => !motion.reduces[i]);
        const busy = new Set(active.flatMap((i) => [motion.from[i], motion.to[i]])).size;
        const idle = exchange.members.length - busy;
        const example = (i) => `${motion.name(motion.from[i])} sends ${units.B(motion.bytes[i])}${
            motion.reduces[i] && motion.contributions[i] > 0 ?
                ` with ${counted(motion.contributions[i], "contribution")}` :
                ""} to ${motion.name(motion.to[i])}`;
        const words = [];
        if (up.length > 0)
            words.push(`Rising. ${capital(counted(up.length, "message"))} on the way up: ${
                example(up[0])}, which adds its own.`);
        if (down.length > 0)
            words.push(`${up.length > 0 ? "Meanwhile" : "Falling."} ${
                up.length > 0 ?
                    counted(down.length, "message") :
                    capital(counted(
                        down.length, "message"))} on the way down from the root (${motion.name(places[0].root)}${
                places.length > 1 ? `, ${motion.name(places[1].root)}` : ""}): ${example(down[0])}.`);
        return `${words.join(" ")} ${
            idle === 0 ? "Nobody waits." : `${counted(idle, "rank")} wait${idle === 1 ? "s" : ""}.`}`;
    }
}
