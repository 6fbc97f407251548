// The network: cables coloured by their use at this moment, flows in the colours of their senders, messages on their
// way.

const read_fabrics = new Map();  // the last pictures: most knobs change what moves, not the wires

/// Returns the nodes and cables of a picture that the program drew.
function fabric_of(picture) {
    if (!picture) return null;
    if (!read_fabrics.has(picture)) {
        if (read_fabrics.size >= 4) read_fabrics.delete(read_fabrics.keys().next().value);
        read_fabrics.set(picture, read_fabric(picture));
    }
    return read_fabrics.get(picture);
}

function read_fabric(picture) {
    const page = new DOMParser().parseFromString(picture, "image/svg+xml");
    const title_of = (element) => element.querySelector("title")?.textContent ?? "";
    const number = (element, name) => Number(element.getAttribute(name));
    const nodes = new Map(), cables = [];
    for (const element of page.querySelectorAll(".host, .switch")) {
        const name = title_of(element).split(",")[0];
        if (!name) continue;  // of the legend
        const round = element.tagName === "circle";
        nodes.set(name, {
            name,
            host: element.classList.contains("host"),
            x: round ? number(element, "cx") : number(element, "x") + number(element, "width") / 2,
            y: round ? number(element, "cy") : number(element, "y") + number(element, "height") / 2
        });
    }
    for (const element of page.querySelectorAll(".cable")) {
        const [, a, b, text] = /^(.*?) [\u2013\u2192] ([^,]*)(.*)$/.exec(title_of(element)) ?? [];
        if (!nodes.has(a) || !nodes.has(b)) continue;
        cables.push({a, b, text: text.replace(/^, /, ""), pieces: path_pieces(element.getAttribute("d"))});
    }
    return cables.length > 0 ? {nodes, cables} : null;
}

/// Returns a path as lists of points. The second of two pieces, at the other end of a cable around a torus, is turned.
function path_pieces(path) {
    const pieces = [];
    for (const [, command, values] of path.matchAll(/([MLQ])([^MLQ]*)/g)) {
        const v = values.trim().split(/[\s,]+/).map(Number), last = pieces[pieces.length - 1];
        if (command === "M") {
            pieces.push([[v[0], v[1]]]);
        } else if (command === "L") {
            last.push([v[0], v[1]]);
        } else {
            const [x, y] = last[last.length - 1];
            for (let k = 1; k <= 12; ++k) {
                const t = k / 12, s = 1 - t;
                last.push([s * s * x + 2 * s * t * v[0] + t * t * v[2], s * s * y + 2 * s * t * v[1] + t * t * v[3]]);
            }
        }
    }
    if (pieces.length > 1) pieces[1].reverse();
    return pieces;
}

const ends_of_link = (name) => /^(.*)->([^#]*)/.exec(name)?.slice(1, 3) ?? ["", ""];

function stage_fabric(run, width) {
    const motion = motion_of(run), fabric = motion.count > 0 ? fabric_of(run.picture) : null;
    if (!fabric) return null;
    const known = new Set(fabric.cables.flatMap(({a, b}) => [`${a} ${b}`, `${b} ${a}`]));
    const drawn = motion.links.map(({name}) => known.has(ends_of_link(name).join(" ")));
    const on_it = motion.route.filter((route) => route >= 0 && motion.routes[route].some((link) => drawn[link])).length;
    if (on_it === 0) return null;
    const make = () => new FabricStage(motion, width, fabric).painted();
    if (motion.processes.some((name) => motion.is_server(name))) return {fits: 95, make};
    // Where flows share a cable between switches the network itself is what to look at.
    const between = ({a, b}) => !fabric.nodes.get(a).host && !fabric.nodes.get(b).host;
    if (!fabric.cables.some(between)) return {fits: 40, make};
    const stage = new FabricStage(motion, width, fabric);
    const shared = [...stage.ways.values()].some(({most, cable}) => most > 1 && between(cable));
    return {fits: shared ? 93 : 40, make: () => stage.painted()};
}

class FabricStage {
    constructor(motion, width, fabric) {
        Object.assign(this, {motion, width, fabric});
        this.hosted = new Map();  // node → its processes
        motion.nodes.forEach((node, process) => {
            if (!this.hosted.has(node)) this.hosted.set(node, []);
            this.hosted.get(node).push(process);
        });
        this.servers = motion.processes.map((name) => motion.is_server(name));
        const switches = [...fabric.nodes.values()].filter(({host}) => !host);
        const own_servers = [...this.hosted].filter(([, list]) => list.some((process) => this.servers[process]));
        const apart =
            own_servers.length > 0 && own_servers.every(([, list]) => list.every((process) => this.servers[process]));
        this.incast = apart && switches.length === 1 && fabric.cables.length >= this.hosted.size;
        if (this.incast)
            this.place_incast(switches[0], own_servers.map(([name]) => name));
        else
            this.place_picture();
        this.measure();
        this.lay_cables();
        this.weigh();
    }

    painted() {
        const {width} = this;
        this.ground = shape("g");
        this.moving = shape("g");
        this.over = shape("g");
        this.dotted = shape("g");
        this.inside = shape("g");
        this.svg =
            stage_svg(width, this.height, this.name(), this.ground, this.moving, this.over, this.dotted, this.inside);
        this.paint_ground();
        return this;
    }

    name() {
        const hosts = [...this.fabric.nodes.values()].filter(({host}) => host).length;
        return `The network: ${counted(hosts, "host")}, ${
            counted(this.fabric.cables.length, "cable")}, and the messages on them`;
    }

    /// Workers in an arc, the switch, and the servers to the right of it.
    place_incast(center, server_nodes) {
        const {width} = this, narrow = width < 560;
        this.height = narrow ? 330 : 390;
        const x = width * (narrow ? 0.47 : 0.44), y = this.height / 2;
        const radius = Math.min(x - (narrow ? 26 : 34), narrow ? 132 : 168);
        const workers = [...this.hosted.keys()].filter((name) => !server_nodes.includes(name));
        const order = (name) => Math.min(...this.hosted.get(name));
        workers.sort((a, b) => order(a) - order(b));
        const count = workers.length, spread = Math.min(196, 40 + 110 * Math.log2(Math.max(count, 2)) / 2.5);
        this.at = new Map([[center.name, {x, y}]]);
        workers.forEach((name, i) => {
            const angle = (180 + spread / 2 - spread * (count > 1 ? i / (count - 1) : 0.5)) * Math.PI / 180;
            this.at.set(
                name, {x: x + 1.18 * radius * Math.cos(angle) - (narrow ? 0 : 8), y: y - radius * Math.sin(angle)});
        });
        const servers = server_nodes.length;
        this.column = {
            width: narrow ? 50 : 74,
            height: servers > 4 ? Math.max(16, Math.min(30, 260 / servers)) :
                servers > 2     ? 48 :
                servers > 1     ? 70 :
                narrow          ? 96 :
                                  120
        };
        // Their name stands above the first.
        const high = Math.min(servers * (narrow ? 120 : 150), this.height - this.column.height - 48);
        server_nodes.forEach(
            (name, i) => this.at.set(
                name, {x: width - (narrow ? 42 : 78), y: y + (servers > 1 ? (i / (servers - 1) - 0.5) * high : 0)}));
        this.hub = center.name;
        this.disc = count > 16 ? (narrow ? 6 : 8) : count > 8 ? (narrow ? 9 : 12) : narrow ? 13 : 17;
        // Other hosts without processes are left out.
        this.fabric = {
            nodes: this.fabric.nodes,
            cables: this.fabric.cables.filter(({a, b}) => this.at.has(a) && this.at.has(b))
                        .map((cable) => ({
                                 ...cable,
                                 pieces: [[cable.a, cable.b].map((name) => [this.at.get(name).x, this.at.get(name).y])]
                             }))
        };
    }

    /// Scales the picture to the width.
    place_picture() {
        const {width} = this, points = this.fabric.cables.flatMap(({pieces}) => pieces.flat());
        const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
        const low = [Math.min(...xs), Math.min(...ys)], high = [Math.max(...xs), Math.max(...ys)];
        const wide = Math.max(high[0] - low[0], 1), tall = Math.max(high[1] - low[1], 1);
        const margin = this.motion.links.some(({name}) => name.startsWith("node-")) ? 66 : 34,
              most = width < 560 ? width : 420;
        const scale = Math.min((width - 2 * margin) / wide, (most - 2 * margin) / tall);
        // Trees are drawn taller than they are, so that their cables do not lie flat.
        const upright = tall < 0.5 * wide ? Math.min(2, 0.5 * wide / tall) : 1;
        this.height = Math.max(140, Math.round(tall * scale * upright + 2 * margin + 16));
        const place =
            ([x, y]) => [(width - wide * scale) / 2 + (x - low[0]) * scale, margin + (y - low[1]) * scale * upright];
        this.fabric = {
            nodes: this.fabric.nodes,
            cables:
                this.fabric.cables.map((cable) => ({...cable, pieces: cable.pieces.map((piece) => piece.map(place))}))
        };
        this.at = new Map([...this.fabric.nodes.values()].map(({name, x, y}) => {
            const [a, b] = place([x, y]);
            return [name, {x: a, y: b}];
        }));
        const hosts = [...this.fabric.nodes.values()].filter(({host}) => host).map(({name}) => this.at.get(name));
        let near = Infinity;
        for (let i = 1; i < hosts.length; ++i)
            near = Math.min(near, Math.hypot(hosts[i].x - hosts[i - 1].x, hosts[i].y - hosts[i - 1].y));
        this.disc = Math.max(3.5, Math.min(18, 0.4 * near));
    }

    /// Puts points and normals of every cable into one list for each direction.
    measure() {
        this.ways = new Map();
        for (const cable of this.fabric.cables) {
            const there = {cable, pieces: cable.pieces.map(with_normals)};
            const turned = [...cable.pieces].reverse().map((piece) => [...piece].reverse());
            const back = {cable, pieces: turned.map(with_normals)};
            for (const way of [there, back]) way.length = way.pieces.reduce((sum, piece) => sum + piece.length_px, 0);
            if (!this.ways.has(`${cable.a} ${cable.b}`)) this.ways.set(`${cable.a} ${cable.b}`, there);
            if (!this.ways.has(`${cable.b} ${cable.a}`)) this.ways.set(`${cable.b} ${cable.a}`, back);
        }
    }

    lay_cables() {
        const {motion} = this;
        this.way_of = motion.links.map(({name}) => this.ways.get(ends_of_link(name).join(" ")) ?? null);
        this.route_ways = motion.routes.map((route) => route.map((link) => this.way_of[link]).filter(Boolean));
        motion.links.forEach((link, i) => {
            const way = this.way_of[i];
            if (way) Object.assign(way, {link: i, bandwidth_Bps: link.bandwidth_Bps, name: link.name});
        });
    }

    /// Finds how many senders share each direction of a cable at most, and whether both directions are used at once.
    weigh() {
        const {motion} = this, events = motion.events();
        const step = Math.max(1, Math.floor(events.length / 150));
        for (const way of this.ways.values()) Object.assign(way, {most: 0, both: false});
        for (let k = 0; k + 1 < events.length; k += step) {
            const time = (events[k] + events[k + 1]) / 2, senders = new Map();
            for (const i of motion.active(time))
                for (const way of this.route_ways[motion.route[i]] ?? []) {
                    if (!senders.has(way)) senders.set(way, new Set());
                    senders.get(way).add(this.party(i));
                }
            for (const [way, set] of senders) {
                way.most = Math.max(way.most, set.size);
                const back = this.ways.get(`${way.cable.b} ${way.cable.a}`) === way ?
                    this.ways.get(`${way.cable.a} ${way.cable.b}`) :
                    this.ways.get(`${way.cable.b} ${way.cable.a}`);
                if (senders.has(back)) way.both = back.both = true;
            }
        }
        const most = Math.max(1, ...[...this.ways.values()].map((way) => way.most));
        const lane = this.incast ? 48 : Math.max(4, Math.min(20, 1.3 * this.disc));
        this.stripe = Math.min(this.incast ? 7 : 5, lane / most);
        for (const way of this.ways.values()) way.lane = Math.max(this.incast ? 2 : 2.4, this.stripe * way.most);
        for (const cable of this.fabric.cables) {
            const there = this.ways.get(`${cable.a} ${cable.b}`), back = this.ways.get(`${cable.b} ${cable.a}`);
            cable.both = there.both;
            cable.wide = there.both ? there.lane + back.lane + 1.5 : Math.max(there.lane, back.lane);
            // Lanes keep to the right, as on a road.
            there.offset = cable.both ? (back.lane + 1.5) / 2 : 0;
            back.offset = cable.both ? (there.lane + 1.5) / 2 : 0;
        }
        this.largest = motion.bytes.reduce((most_bytes, bytes) => Math.max(most_bytes, bytes), 1);
        this.sums = motion.traffic.map(({list}) => {
            const sent = new Map(), got = new Map();
            for (const i of list) {
                sent.set(motion.from[i], (sent.get(motion.from[i]) ?? 0) + motion.bytes[i]);
                got.set(motion.to[i], (got.get(motion.to[i]) ?? 0) + motion.bytes[i]);
            }
            return {sent, got};
        });
    }

    /// Returns the hosts of the picture, by node, that are ports of one node. Their devices reach each other inside it.
    ports() {
        const {motion} = this, node_of = new Map();
        motion.route.forEach((route, i) => {
            for (const link of motion.routes[route] ?? []) {
                const [, node] = /^(node-\d+)\//.exec(motion.links[link].name) ?? [];
                if (!node || this.route_ways[route].length > 0) continue;
                node_of.set(motion.from[i], node);
                node_of.set(motion.to[i], node);
            }
        });
        const ports = new Map();
        motion.nodes.forEach((host, process) => {
            const node = node_of.get(process);
            if (!node || !this.at.has(host)) return;
            if (!ports.has(node)) ports.set(node, []);
            if (!ports.get(node).includes(host)) ports.get(node).push(host);
        });
        return [...ports].filter(([, hosts]) => hosts.length > 1);
    }

    paint_ground() {
        const {motion} = this;
        for (const [node, hosts] of this.incast ? [] : this.ports()) {
            const points = hosts.map((host) => this.at.get(host)),
                  middle = this.outside(points[0], points[points.length - 1], 82);
            this.ground.append(
                shape("path", {
                    d: points_path(points.map(({x, y}) => [x, y])),
                    fill: "none",
                    stroke: "var(--stage-soft)",
                    "stroke-width": short(2 * this.disc + 12),
                    "stroke-linejoin": "round",
                    "stroke-linecap": "round"
                }),
                middle_text(middle[0], middle[1] + 4, 12, node.replace("-", " "), {fill: "var(--faint)"}));
        }
        for (const cable of this.fabric.cables) {
            const d = cable.pieces.map((piece) => points_path(piece)).join("");
            const line = {
                d,
                fill: "none",
                "stroke-linejoin": "round",
                "stroke-linecap": cable.pieces.length > 1 ? "butt" : "round"
            };
            cable.casing = shape("path", {...line, stroke: "var(--load-0)", "stroke-width": short(cable.wide + 3)});
            cable.bed =
                shape("path", {...line, stroke: "var(--stage-soft)", "stroke-width": short(Math.max(1, cable.wide))});
            this.ground.append(
                titled(cable.casing, `${cable.a} – ${cable.b}${cable.text ? `, ${cable.text}` : ""}`), cable.bed);
        }
        this.hosts = [];
        const crowd = this.incast ? 0 : [...this.fabric.nodes.values()].filter(({host}) => !host).length;
        for (const node of this.fabric.nodes.values()) {
            const at = this.at.get(node.name);
            if (!at) continue;
            const processes = this.hosted.get(node.name) ?? [];
            const title = processes.length > 0 ?
                `${node.name}: ${listed(processes.slice(0, 8).map((process) => motion.name(process)))}${
                    processes.length > 8 ? " …" : ""}` :
                node.name;
            if (!node.host) {
                const big = node.name === this.hub,
                      radius = big ? (this.width < 560 ? 26 : 34) : Math.max(7, Math.min(15, this.disc));
                const mark = big ? shape("circle", {
                    cx: at.x,
                    cy: at.y,
                    r: radius,
                    fill: "var(--card)",
                    stroke: "var(--ink)",
                    "stroke-width": 1.5
                }) :
                                   shape("rect", {
                                       x: at.x - radius,
                                       y: at.y - radius,
                                       width: 2 * radius,
                                       height: 2 * radius,
                                       rx: 4,
                                       fill: "var(--card)",
                                       stroke: "var(--ink)",
                                       "stroke-width": 1.5
                                   });
                this.over.append(titled(mark, title));
                if (big)
                    this.over.append(middle_text(at.x, at.y + 4, 12, "switch"));
                else if (crowd <= 2)
                    this.over.append(middle_text(at.x, at.y - radius - 6, 12, node.name, {class: "haloed"}));
            } else if (this.incast && processes.some((process) => this.servers[process])) {
                const {width, height} = this.column;
                this.over.append(titled(
                    shape("rect", {
                        x: at.x - width / 2,
                        y: at.y - height / 2,
                        width,
                        height,
                        rx: 9,
                        fill: "var(--card)",
                        stroke: "var(--ink)",
                        "stroke-width": 1.5
                    }),
                    title));
                this.hosts.push({node, at, processes, server: true});
            } else {
                const single = processes.length === 1 ? processes[0] : null;
                const paint = single !== null ? hue_paint(motion.hues[single]) : "var(--ink)";
                this.over.append(titled(
                    shape("circle", {
                        cx: at.x,
                        cy: at.y,
                        r: this.disc,
                        fill: processes.length > 0 ? "var(--card)" : "var(--stage-soft)",
                        stroke: paint,
                        "stroke-width": this.disc > 9 ? 3 : 2
                    }),
                    title));
                this.hosts.push({node, at, processes, paint, server: false});
            }
        }
        this.fills = this.over.appendChild(shape("g"));
        for (const {at, processes, server} of this.hosts) {
            if (server || processes.length === 0 || this.disc < 7) continue;
            const text = processes.length === 1 ? motion.labels[processes[0]] : `×${processes.length}`;
            this.over.append(middle_text(
                at.x, at.y + (this.disc > 12 ? 4 : 3),
                this.disc > 12    ? 12 :
                    this.disc > 9 ? 10 :
                                    8,
                text, {"font-weight": 600, "pointer-events": "none"}));
            if (processes.length > 1 && this.disc > 9 && !this.incast)
                this.over.append(middle_text(
                    at.x, at.y + this.disc + 14, 11,
                    `${motion.labels[processes[0]]}–${motion.labels[processes[processes.length - 1]]}`,
                    {fill: "var(--faint)"}));
        }
        if (this.incast) {
            const servers = this.hosts.filter(({server}) => server), top = Math.min(...servers.map(({at}) => at.y));
            this.over.append(middle_text(
                servers[0].at.x, top - this.column.height / 2 - 10, 13,
                servers.length > 1 ? `${servers.length} servers` : "server", {"font-weight": 600}));
        }
        this.busiest_label =
            this.inside.appendChild(middle_text(0, 0, 12.5, "", {class: "haloed", "font-weight": 700}));
    }

    /// A flow has the colour of its sender, or of the worker that a server answers.
    party(i) {
        const {motion} = this;
        return this.servers[motion.from[i]] && !this.servers[motion.to[i]] ? motion.to[i] : motion.from[i];
    }

    /// Names a cable by the process at its end, if there is one.
    cable_name({a, b}) {
        const processes = [a, b].map((node) => this.hosted.get(node) ?? []).find((list) => list.length === 1);
        return processes ? `that of ${this.motion.name(processes[0])}` : `${a} – ${b}`;
    }

    /// Returns the exchanges that run now, or the last that ended.
    present(time) {
        const at = time + this.motion.slack_s, list = this.motion.traffic;
        const now = list.filter(({first_s, last_s}) => first_s <= at && at < last_s);
        if (now.length > 0) return now;
        const last = this.motion.current(list, time);
        // Exchanges with several servers that ran together belong together.
        return last ?
            list.filter(({first_s, last_s}) => last_s <= at && last_s > last.first_s && first_s < last.last_s) :
            [];
    }

    draw(time) {
        const {motion} = this, active = motion.active(time);
        const flows = new Map();  // way → sender → {rate, bytes}
        for (const i of active) {
            const rate = motion.rate(i, time), through = motion.progress(i, time) * motion.bytes[i];
            for (const way of this.route_ways[motion.route[i]] ?? []) {
                if (!flows.has(way)) flows.set(way, new Map());
                const senders = flows.get(way), known = senders.get(this.party(i));
                if (known) {
                    known.rate += rate;
                    known.through = Math.max(known.through, through);
                } else {
                    senders.set(this.party(i), {rate, through});
                }
            }
        }
        let busiest = null;
        for (const [way, senders] of flows) {
            let rate = 0;
            for (const flow of senders.values()) rate += flow.rate;
            way.use = way.bandwidth_Bps > 0 ? Math.min(1, rate / way.bandwidth_Bps) : 0;
            const rank = way.use + 1e-3 * senders.size;
            if (!busiest || rank > busiest.rank + 1e-9) busiest = {way, rank, use: way.use, senders: senders.size};
        }
        this.colour_cables(flows);
        this.moving.innerHTML = this.stripes(flows) + this.inner_lines(active);
        this.dotted.innerHTML = this.dots(active, time);
        this.fills.innerHTML = this.contents(time, active);
        this.label_busiest(busiest);
        return this.say(time, active, busiest);
    }

    colour_cables(flows) {
        for (const cable of this.fabric.cables) {
            const use = Math.max(...[`${cable.a} ${cable.b}`, `${cable.b} ${cable.a}`].map(
                (key) => (flows.has(this.ways.get(key)) ? this.ways.get(key).use : 0)));
            const level = use <= 0.001 ? 0 : use < 0.34 ? 1 : use < 0.67 ? 2 : use < 0.95 ? 3 : 4;
            if (cable.level === level) continue;
            cable.level = level;
            cable.casing.setAttribute("stroke", `var(--load-${level})`);
        }
    }

    stripes(flows) {
        let text = "", count = 0;
        for (const senders of flows.values()) count += senders.size;
        for (const [way, senders] of flows) {
            const list = [...senders].sort((a, b) => a[0] - b[0]);
            const merged = count > 160 && list.length > 6;  // a browser takes too long for more
            const wide = merged ? way.lane : Math.min(this.stripe, way.lane);
            (merged ? [[-1, list[0][1]]] : list).forEach(([sender, {rate, through}], k) => {
                const offset = way.offset + (merged ? 0 : (k - (list.length - 1) / 2) * wide);
                const d = way.pieces.map((piece) => offset_path(piece, offset)).join("");
                const paint = merged ? "var(--load-3)" : hue_paint(this.motion.hues[sender]);
                text += mark_of("path", {d, fill: "none", stroke: paint, "stroke-width": Math.max(1, wide + 0.3)});
                if (rate > 0)
                    text += mark_of("path", {
                        d,
                        fill: "none",
                        class: "flow",
                        "stroke-width": Math.max(1, 0.55 * wide),
                        "stroke-dasharray": "3 10",
                        "stroke-dashoffset": -220 * through / this.largest
                    });
            });
        }
        return text;
    }

    /// Returns a point between two places, as far outside them as asked.
    outside(a, b, far, round = 0.125) {
        const x = (a.x + b.x) / 2, y = (a.y + b.y) / 2, away = Math.hypot(x - this.width / 2, y - this.height / 2) || 1;
        const along = Math.hypot(b.x - a.x, b.y - a.y), sag = round * along + far;
        return [x + (x - this.width / 2) / away * sag, y + (y - this.height / 2) / away * sag];
    }

    /// Messages inside a node, between places of its ports.
    inner_way(i) {
        const {motion} = this, a = this.at.get(motion.nodes[motion.from[i]]),
              b = this.at.get(motion.nodes[motion.to[i]]);
        return a && b && a !== b ? {a, b, control: this.outside(a, b, 2 * this.disc + 14, 0.5)} : null;
    }

    inner_lines(active) {
        if (active.length > 64 || this.incast) return "";
        let text = "";
        for (const i of active) {
            if ((this.route_ways[this.motion.route[i]] ?? []).length > 0) continue;
            const way = this.inner_way(i);
            if (!way) continue;
            const {a, b, control: [x, y]} = way;
            text += mark_of("path", {
                d: `M${short(a.x)} ${short(a.y)}Q${short(x)} ${short(y)} ${short(b.x)} ${short(b.y)}`,
                fill: "none",
                stroke: hue_paint(this.motion.hues[this.motion.from[i]]),
                "stroke-width": 2
            });
        }
        return text;
    }

    inner_dot(i, time) {
        const way = this.inner_way(i);
        if (!way) return "";
        const {a, b, control: [x, y]} = way, part = this.motion.progress(i, time), rest = 1 - part;
        const at = (start, control, end) => rest * rest * start + 2 * rest * part * control + part * part * end;
        return mark_of("circle", {
            cx: at(a.x, x, b.x),
            cy: at(a.y, y, b.y),
            r: 4.5,
            fill: hue_paint(this.motion.hues[this.motion.from[i]]),
            stroke: "var(--card)",
            "stroke-width": 1.5
        });
    }

    /// Messages as dots at the part of their way that they have come. Many small ones are left to the stripes.
    dots(active, time) {
        if (active.length > 64 || this.incast) return "";
        const {motion} = this;
        let text = "";
        for (const i of active) {
            const ways = this.route_ways[motion.route[i]] ?? [];
            const whole = ways.reduce((sum, way) => sum + way.length, 0);
            if (whole === 0) {
                text += this.inner_dot(i, time);
                continue;
            }
            let left = motion.progress(i, time) * whole, at = null;
            for (const way of ways) {
                if (left <= way.length || way === ways[ways.length - 1]) {
                    at = point_at(way, Math.min(left, way.length));
                    break;
                }
                left -= way.length;
            }
            const numbered = motion.block[i] >= 0 && motion.blocks[i] === 1 && active.length <= 32 && this.disc > 9;
            text += mark_of("circle", {
                cx: at[0],
                cy: at[1],
                r: numbered ? 9 : 5,
                fill: hue_paint(motion.hues[this.party(i)]),
                stroke: "var(--card)",
                "stroke-width": 1.5
            });
            if (numbered)
                text += mark_of(
                    "text", {
                        x: at[0],
                        y: at[1] + 3.5,
                        "font-size": 10,
                        "font-weight": 700,
                        "text-anchor": "middle",
                        class: "on-owner"
                    },
                    motion.block[i]);
        }
        return text;
    }

    /// Discs of workers empty while they send; columns of servers fill with what they receive.
    contents(time, active) {
        const {motion} = this, now = this.present(time);
        const sent = new Map(), got = new Map(), from = new Map(), to = new Map();
        const add = (map, key, value) => map.set(key, (map.get(key) ?? 0) + value);
        const stacked = new Map();  // server → sender → bytes
        for (const {list, index} of now) {
            const sums = this.sums[motion.traffic.findIndex((exchange) => exchange.index === index)];
            for (const [process, bytes] of sums.sent) add(sent, process, bytes);
            for (const [process, bytes] of sums.got) add(got, process, bytes);
            for (const i of list) {
                const part = motion.landed(i, time) ? 1 : motion.progress(i, time);
                if (part <= 0) continue;
                add(from, motion.from[i], part * motion.bytes[i]);
                add(to, motion.to[i], part * motion.bytes[i]);
                if (this.servers[motion.to[i]]) {
                    if (!stacked.has(motion.to[i])) stacked.set(motion.to[i], new Map());
                    add(stacked.get(motion.to[i]), motion.from[i], part * motion.bytes[i]);
                }
            }
        }
        const sends = new Set(active.map((i) => motion.from[i])), receives = new Set(active.map((i) => motion.to[i]));
        const waiting = active.length === 0 ? this.computed(time) : null;
        let text = "";
        for (const {at, processes, server, paint} of this.hosts) {
            if (server) {
                const [process] = processes, {width, height} = this.column;
                const whole = got.get(process) ?? 0, x = at.x - width / 2 + 4, inner = height - 8;
                let y = at.y + inner / 2;
                if (whole > 0)
                    for (const [sender, bytes] of [...(stacked.get(process) ?? [])].sort((a, b) => a[0] - b[0])) {
                        const high = inner * bytes / whole;
                        y -= high;
                        text += mark_of(
                            "rect", {x, y, width: width - 8, height: high + 0.3, fill: hue_paint(motion.hues[sender])});
                    }
                const answers = whole === 0 && (sent.get(process) ?? 0) > 0;
                if (answers)
                    text += mark_of("rect", {
                        x,
                        y: at.y - inner / 2,
                        width: width - 8,
                        height: inner,
                        fill: "var(--reduction)",
                        "fill-opacity": 0.7
                    });
                const part = answers ? 1 : whole > 0 ? (to.get(process) ?? 0) / whole : 0;
                if (height > 26 && part > 0)
                    text += mark_of(
                        "text", {
                            x: at.x,
                            y: at.y + 4,
                            "font-size": 12,
                            "font-weight": 700,
                            "text-anchor": "middle",
                            class: "haloed"
                        },
                        part > 0.9999 ? "Σ" : busy_part(part));
                continue;
            }
            if (processes.length === 0) continue;
            const sum = (map) => processes.reduce((all, process) => all + (map.get(process) ?? 0), 0);
            let part = 0, fill = paint;
            if (waiting !== null) {
                part = waiting;
                fill = "var(--computation)";
            } else if (processes.some((process) => sends.has(process))) {
                part = 1 - sum(from) / Math.max(1, sum(sent));
            } else if (processes.some((process) => receives.has(process))) {
                part = sum(to) / Math.max(1, sum(got));
            } else if (sum(to) > 0) {
                part = sum(to) / Math.max(1, sum(got));
            }
            const d = pie_path(at.x, at.y, this.disc - 2, part);
            if (d) text += mark_of("path", {d, fill, "fill-opacity": 0.42});
        }
        return text;
    }

    /// Returns the part of the time without messages that has passed, before the next message; null after the last.
    computed(time) {
        const {motion} = this, busy = motion.busy();
        const next = busy.find(([start]) => start > time + motion.slack_s);
        if (!next) return null;
        const before = [...busy].reverse().find(([, end]) => end <= time + motion.slack_s);
        const start = before ? before[1] : 0;
        return (time - start) / Math.max(next[0] - start, 1e-30);
    }

    label_busiest(busiest) {
        if (!busiest || busiest.use < 0.005) {
            this.busiest_label.replaceChildren();
            this.busiest_label.setAttribute("x", "0");
            this.busiest_label.setAttribute("y", "0");
            return;
        }
        const {way} = busiest, [x, y] = point_at(way, way.length / 2);
        this.busiest_label.textContent = `${busy_part(busiest.use)} busy`;
        this.busiest_label.setAttribute("x", short(Math.min(this.width - 36, Math.max(36, x))));
        this.busiest_label.setAttribute("y", short(y + (this.incast ? way.cable.wide / 2 + 17 : 4)));
    }

    say(time, active, busiest) {
        const {motion} = this, who = (process) => motion.name(process);
        const left = motion.thinned ? ` ${motion.left_out} further messages are not drawn.` : "";
        if (active.length === 0) {
            if (this.computed(time) === null) {
                const [, last_s] = motion.busy()[motion.busy().length - 1] ?? [];
                if (last_s === undefined) return "Computing. Nothing is sent.";
                return after_exchanges(motion, 0, time, last_s) ??
                    `Done. The last message arrived after ${units.s(last_s)}.${left}`;
            }
            const doing = doing_of(motion.run, who(0), time);
            return `${before_sending(motion.run)} ${doing ? `Rank 0 runs the ${doing}; the` : "The"} cables are idle.`;
        }
        const busy = busiest && busiest.use >= 0.005 ?
            `The busiest cable, ${this.cable_name(busiest.way.cable)}, is ${busy_part(busiest.use)} busy${
                busiest.senders > 1 ? `: ${busiest.senders} flows share it` : ""}.` :
            active.every((i) => (this.route_ways[motion.route[i]] ?? []).length === 0) ?
            "All of it stays inside nodes, so the cables between them are idle." :
                                      "No cable carries bytes at this moment: messages wait for their latency.";
        const pushes = active.filter((i) => this.servers[motion.to[i]]),
              pulls = active.filter((i) => this.servers[motion.from[i]]);
        if (pushes.length + pulls.length > 0) {
            const words = [];
            const rate = (list) => units.Bps(middle_of(list.map((i) => motion.rate(i, time))));
            const of = (list) => {
                const all = list.reduce((sum, i) => sum + motion.bytes[i], 0);
                const through = list.reduce((sum, i) => sum + motion.bytes[i] * motion.progress(i, time), 0);
                return `${units.B(through < 0.5 ? 0 : Number((through / list.length).toPrecision(3)))} of its ${
                    units.B(Number((all / list.length).toPrecision(3)))}`;
            };
            const workers = (list, end) => new Set(list.map((i) => end[i])).size;
            if (pushes.length > 0) {
                const count = workers(pushes, motion.from), servers = workers(pushes, motion.to);
                words.push(`Push. ${capital(counted(count, "worker"))} send${count === 1 ? "s" : ""} gradients to ${
                    servers === 1 ? "one server" :
                                    `${servers} servers`}: a flow gets ${rate(pushes)}, ${of(pushes)} have arrived.`);
            }
            if (pulls.length > 0) {
                const count = workers(pulls, motion.to), servers = workers(pulls, motion.from);
                words.push(`${pushes.length > 0 ? "" : "Pull. "}${
                    servers === 1 ? "One server sends" : `${servers} servers send`} the sum back to ${
                    counted(count, "worker")}: a flow gets ${rate(pulls)}, ${of(pulls)} have arrived.`);
            }
            return `${words.join(" ")} ${busy}${left}`;
        }
        const [i] = active, senders = new Set(active.map((k) => motion.from[k])).size;
        const same = this.hosted.get(motion.nodes[motion.from[i]])?.includes(motion.to[i]);
        return `${counted(active.length, "message")}. ${capital(who(motion.from[i]))} sends ${
            units.B(motion.bytes[i])} to ${who(motion.to[i])}${same ? ", inside a node" : ""} (${
            busy_part(motion.progress(
                i, time))} through); ${senders === 1 ? "nobody else sends" : `${senders} ranks send`}. ${busy}${left}`;
    }
}

function with_normals(points) {
    const lengths = [0];
    for (let k = 1; k < points.length; ++k)
        lengths.push(lengths[k - 1] + Math.hypot(points[k][0] - points[k - 1][0], points[k][1] - points[k - 1][1]));
    const normals = points.map((_, k) => {
        const [a, b] = [points[Math.max(0, k - 1)], points[Math.min(points.length - 1, k + 1)]];
        const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
        return [-(b[1] - a[1]) / length, (b[0] - a[0]) / length];
    });
    return {points, normals, lengths, length_px: lengths[lengths.length - 1]};
}

const points_path = (points) => points.map(([x, y], k) => `${k ? "L" : "M"}${short(x)} ${short(y)}`).join("");
const offset_path = ({points, normals}, offset) =>
    points_path(points.map(([x, y], k) => [x + normals[k][0] * offset, y + normals[k][1] * offset]));

/// Returns the point of a direction of a cable after a length in pixels.
function point_at({pieces, offset}, length) {
    let left = length;
    for (const piece of pieces) {
        if (left > piece.length_px && piece !== pieces[pieces.length - 1]) {
            left -= piece.length_px;
            continue;
        }
        let k = 1;
        while (k < piece.points.length - 1 && piece.lengths[k] < left) ++k;
        const part = Math.min(
            1, Math.max(0, (left - piece.lengths[k - 1]) / Math.max(piece.lengths[k] - piece.lengths[k - 1], 1e-9)));
        const [a, b] = [piece.points[k - 1], piece.points[k]];
        return [
            a[0] + (b[0] - a[0]) * part + piece.normals[k][0] * (offset ?? 0),
            a[1] + (b[1] - a[1]) * part + piece.normals[k][1] * (offset ?? 0)
        ];
    }
    return [0, 0];
}
