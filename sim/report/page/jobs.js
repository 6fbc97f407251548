// Jobs that share a platform: when each waits and runs, and on which racks; who slows whom.

const lost_to_others = "exposed communication", held = "computation";  // their colours
const most_job_rows = 120, most_rack_rows = 48;

/// Returns diagonal lines that fill a rectangle.
function hatch(x, y, width, height) {
    const step = 6, lines = [];
    for (let at = -height; at < width; at += step) {
        const from = Math.max(at, 0), to = Math.min(at + height, width);
        if (to > from) lines.push(`M${short(x + from)} ${short(y + height - (from - at))}L${short(x + to)} ${short(y + height - (to - at))}`);
    }
    return shape("path", {d: lines.join(""), stroke: paint_of("waiting"), "stroke-width": 1.3, fill: "none"});
}

const rounded = (value) => (value === null ? null : Number(digits(value, 4)));

const started_jobs = (result) => result.jobs.filter(({start_s}) => start_s !== null);

/// Returns "racks 0–3", or the nodes if all are in one rack.
function place_of_job(job, racks) {
    if (racks > 1) return `${job.in_racks.length > 1 ? "racks" : "rack"} ${ranges(job.in_racks)}`;
    return `${job.nodes.length > 1 ? "nodes" : "node"} ${ranges(job.nodes)}`;
}

/// Returns what takes most time from a job, in words.
function taken_from(job) {
    const first = job.neighbours[0];
    return first === undefined ? "" :
                                 `${first.job} takes ${units.s(first.taken_s)} of each iteration on link ${first.link}`;
}

function jobs_over_time(parent, result) {
    const racks = new Set(result.jobs.flatMap(({in_racks}) => in_racks)).size;
    const all = [...started_jobs(result)].sort((a, b) => a.arrival_s - b.arrival_s || a.start_s - b.start_s);
    const shown = all.slice(0, most_job_rows);
    if (all.length === 0) return;
    const end = Math.max(...all.map(({end_s}) => end_s)), begin = Math.min(...all.map(({arrival_s}) => arrival_s));
    const waits = all.some(({wait_s}) => wait_s > 0);
    const loses = all.some(({slowdown}) => slowdown > 1.0005);
    const legend = [
        {fill: paint_of(held), text: "runs: the time that it takes alone"},
        ...(loses ? [{fill: paint_of(lost_to_others), text: "lost to other jobs"}] : []),
        ...(waits ? [{fill: paint_of("waiting"), opacity: 0.45, text: "waits for devices (hatched)"}] : [])
    ];
    const draw = (width) => {
        const row = shown.length > 40 ? 14 : 24, size = row > 20 ? 12 : 10;
        const longest = Math.max(...shown.map(({name}) => text_width(name, size)));
        const left = Math.min(longest + 10, 0.3 * width), right = width - 4;
        const named = legend_of(legend, width, 0);
        const top = named.height + 6, bottom = top + row * shown.length;
        const x = (time) => left + (right - left) * (time - begin) / (end - begin);
        const fitting = Math.floor((left - 8) / (0.56 * size));
        const shapes = [...named.shapes, ...time_axis({from: begin, to: end, left, right, top, bottom})];
        shown.forEach((job, i) => {
            const y = top + i * row + 2, height = row - 5;
            const alone_end = job.start_s + job.alone_s * job.iterations;
            const texts = [
                `${job.name}: ${place_of_job(job, racks)}, ${units.s(job.start_s)} to ${units.s(job.end_s)}`,
                ...(job.wait_s > 0 ? [`waited ${units.s(job.wait_s)}`] : []), `slowdown ${digits(job.slowdown, 4)}`,
                taken_from(job)
            ].filter(Boolean);
            const box = (from, to, fill) => titled(
                shape("rect", {
                    x: short(x(from)),
                    y,
                    width: short(Math.max(0.7, x(to) - x(from))),
                    height,
                    rx: x(to) - x(from) > 8 ? 2 : null,
                    fill
                }),
                texts.join("; "));
            const name = job.name.length > fitting ? `${job.name.slice(0, Math.max(1, fitting - 1))}…` : job.name;
            shapes.push(titled(
                label_at(left - 6, y + height / 2 + 4, name, {"text-anchor": "end", "font-size": size}), texts.join("; ")));
            if (job.wait_s > 0)
                shapes.push(
                    titled(
                        shape("rect", {
                            x: short(x(job.arrival_s)),
                            y,
                            width: short(x(job.start_s) - x(job.arrival_s)),
                            height,
                            fill: paint_of("waiting"),
                            "fill-opacity": 0.15
                        }),
                        texts.join("; ")),
                    hatch(x(job.arrival_s), y, x(job.start_s) - x(job.arrival_s), height));
            shapes.push(box(job.start_s, Math.min(alone_end, job.end_s), paint_of(held)));
            if (job.end_s > alone_end && job.slowdown > 1.0005) shapes.push(box(alone_end, job.end_s, paint_of(lost_to_others)));
            const place = place_of_job(job, racks);
            if (row > 20 && x(job.end_s) - x(job.start_s) > text_width(place, 11) + 10)
                shapes.push(label_at(x(job.start_s) + 5, y + height / 2 + 4, place, {
                    "font-size": 11,
                    "font-weight": 600,
                    fill: "var(--card)",
                    "pointer-events": "none"
                }));
        });
        return {height: bottom + 22, shapes};
    };
    const waiting = all.filter(({wait_s}) => wait_s > 0);
    const longest = waiting.reduce((most, job) => (most && most.wait_s >= job.wait_s ? most : job), null);
    svg_figure(parent, {
        title: "Jobs over time",
        text: "Each row is a job, from its arrival to its end. " +
            (loses ? "The last part of a run is the time by which other jobs make it longer than it is alone on the same devices. " :
                     "No job makes another one slower. ") +
            (longest ? `${waiting.length} of ${all.length} jobs wait for devices, ${longest.name} longest: ${
                           units.s(longest.wait_s)}.` :
                       "No job waits for devices.") +
            (shown.length < all.length ? ` The first ${shown.length} of ${all.length} jobs are drawn; the table has all.` : ""),
        draw,
        columns: [
            ["job", "text"], ["place", "text"], ["arrives", "s"], ["waits", "s"], ["starts", "s"], ["ends", "s"],
            ["lost to others", "s"]
        ],
        rows: all.map((job) => [
            job.name, place_of_job(job, racks), job.arrival_s, job.wait_s, job.start_s, job.end_s,
            Math.max(0, (job.iteration_s - job.alone_s) * job.iterations)
        ])
    });
}

function racks_over_time(parent, result) {
    const jobs = started_jobs(result);
    const racks = [...new Set(jobs.flatMap(({in_racks}) => in_racks))].sort((a, b) => a - b);
    if (racks.length < 2 || jobs.length > 400) return;
    const shown = racks.slice(0, most_rack_rows);
    const end = Math.max(...jobs.map(({end_s}) => end_s)), begin = Math.min(...jobs.map(({arrival_s}) => arrival_s));
    // In a rack, jobs that are there at the same time are below each other.
    const rows = shown.map((rack) => {
        const lanes = [], placed = [];
        for (const job of jobs.filter(({in_racks}) => in_racks.includes(rack)).sort((a, b) => a.start_s - b.start_s)) {
            let lane = lanes.findIndex((until) => until <= job.start_s);
            if (lane < 0) lane = lanes.push(0) - 1;
            lanes[lane] = job.end_s;
            placed.push({job, lane});
        }
        return {rack, lanes: lanes.length, placed};
    });
    const colour = new Map(jobs.map(({name}, i) => [name, `var(--series-${i % series_colours})`]));
    const draw = (width) => {
        const left = 58, right = width - 4, lane = rows.length > 16 ? 9 : 15, gap = 5, shapes = [];
        let y = 4;
        const tops = rows.map((row) => {
            const top = y;
            y += row.lanes * lane + gap;
            return top;
        });
        const x = (time) => left + (right - left) * (time - begin) / (end - begin);
        shapes.push(...time_axis({from: begin, to: end, left, right, top: 4, bottom: y}));
        rows.forEach(({rack, lanes, placed}, i) => {
            shapes.push(
                label_at(left - 6, tops[i] + lanes * lane / 2 + 4, `rack ${rack}`, {"text-anchor": "end", "font-size": 11}));
            for (const {job, lane: number} of placed) {
                const from = x(job.start_s), long = x(job.end_s) - from;
                shapes.push(titled(
                    shape("rect", {
                        x: short(from),
                        y: tops[i] + number * lane,
                        width: short(Math.max(0.7, long - 0.8)),
                        height: lane - 1.5,
                        fill: colour.get(job.name)
                    }),
                    `${job.name}, ${units.s(job.start_s)} to ${units.s(job.end_s)}`));
                if (lane > 12 && long > text_width(job.name, 10) + 8)
                    shapes.push(label_at(from + 4, tops[i] + number * lane + 10.5, job.name, {
                        "font-size": 10,
                        "font-weight": 600,
                        fill: "var(--card)",
                        "pointer-events": "none"
                    }));
            }
        });
        return {height: y + 22, shapes};
    };
    svg_figure(parent, {
        title: "Racks over time",
        text: "Each row is a rack, the nodes at one switch, with the jobs that have devices in it. Jobs in the same racks share the links " +
            "of these racks to others." +
            (shown.length < racks.length ? ` ${shown.length} of ${racks.length} racks are drawn.` : ""),
        draw,
        columns: [["rack", "number"], ["job", "text"], ["from", "s"], ["to", "s"]],
        rows: racks.flatMap((rack) => jobs.filter(({in_racks}) => in_racks.includes(rack))
                                          .map(({name, start_s, end_s}) => [rack, name, start_s, end_s]))
    });
}

function slowdowns(parent, result) {
    const jobs = started_jobs(result).sort((a, b) => b.slowdown - a.slowdown);
    const most = 40, shown = jobs.slice(0, most);
    if (!jobs.some(({slowdown}) => slowdown > 1.0005)) return;
    figure(parent, {
        title: "Slowdown of each job",
        text: "The slowdown is a job's iteration time beside the others, divided by the same alone on the same devices: 1 is no loss." +
            (shown.length < jobs.length ? ` The ${shown.length} jobs that lose most are drawn.` : ""),
        config: () => across_config(
            "slowdown", "number", "job", shown.map(({name}) => name),
            [bars("slowdown", shown.map(({slowdown}) => slowdown))]),
        height: 60 + across_height(shown.length),
        columns: [["job", "text"], ["slowdown", "number"], ["iteration", "s"], ["alone", "s"]],
        rows: jobs.map((job) => [job.name, rounded(job.slowdown), job.iteration_s, job.alone_s])
    });
}

function neighbours_table(parent, result) {
    const jobs = started_jobs(result).filter(({neighbours}) => neighbours.length > 0);
    if (jobs.length === 0) return;
    jobs.sort((a, b) => b.slowdown - a.slowdown);
    // Links between the same racks lose alike: of a neighbour the one that takes most is enough.
    const rows = jobs.flatMap((job) => {
        const first = new Map();
        for (const one of job.neighbours)
            first.set(one.job, {links: (first.get(one.job)?.links ?? 0) + 1, most: first.get(one.job)?.most ?? one});
        return [...first].map(
            ([name, {links, most}]) =>
                [job.name, name, most.taken_s, most.link, most.shared_s, most.bytes, most.utilisation, links]);
    });
    const all = jobs.flatMap((job) => job.neighbours.map((one) => [
        job.name, one.job, one.taken_s, one.link, one.shared_s, one.bytes, one.utilisation
    ]));
    const columns = [
        ["job", "text"], ["neighbour", "text"], ["takes", "s"], ["link", "text"], ["shared time", "s"], ["moves there", "B"],
        ["utilisation", "share"]
    ];
    parent.append(make(
        "div", {class: "figure"}, make("h3", {}, "Who takes which link from whom"),
        make(
            "p", {},
            "While messages of a job and of a neighbour are on a link, the bytes of the neighbour take that link from the job: for so " +
                "long in each of its iterations, if the link is full and nothing else holds the job back. Of each neighbour the link " +
                "that loses most is listed."),
        table("Neighbours, per iteration of the job", [...columns, ["links shared", "number"]], rows, 20),
        folded("neighbours on all links", columns, all)));
}

function jobs_table(parent, result) {
    const racks = new Set(result.jobs.flatMap(({in_racks}) => in_racks)).size;
    const first = (job, of) => (job.neighbours.length > 0 ? of(job.neighbours[0]) : null);
    parent.append(make(
        "div", {class: "figure"}, make("h3", {}, "All jobs"),
        narrow_table(
            "Jobs",
            [
                ["job", "text"], ["ranks", "number"], ["place", "text"], ["iterations", "number"], ["waits", "s"],
                ["iteration", "s"], ["alone", "s"], ["slowdown", "number"], ["energy", "J"], ["neighbour that takes most", "text"],
                ["takes", "s"], ["link", "text"]
            ],
            result.jobs.map((job) => [
                job.name, job.ranks, job.start_s === null ? "never starts" : place_of_job(job, racks), job.iterations, job.wait_s,
                job.iteration_s, job.alone_s, rounded(job.slowdown), job.energy_J ?? null, first(job, (one) => one.job),
                first(job, (one) => one.taken_s), first(job, (one) => one.link)
            ]))));
}

function jobs_answer(parent, result, several) {
    const jobs = started_jobs(result);
    const worst = jobs.reduce((most, job) => (most && most.slowdown >= job.slowdown ? most : job), null);
    const never = result.jobs.length - jobs.length;
    const seeds = (low, high, show) => (low === undefined ? "" : `${result.repeats} seeds: ${show(low)} to ${show(high)} (5 to 95 %)`);
    const numbers = [
        big_number(
            "makespan", long_time(result.makespan_s),
            ["from the first arrival to the last end", seeds(result.makespan_p05_s, result.makespan_p95_s, long_time)], true),
        big_number(
            "mean slowdown", digits(result.mean_slowdown, 4),
            ["1: as fast as alone", seeds(result.mean_slowdown_p05, result.mean_slowdown_p95, (value) => digits(value, 4))]),
        big_number("worst slowdown", digits(result.worst_slowdown, 4), worst ? worst.name : ""),
        big_number("mean wait", units.s(result.mean_wait_s), "for devices"),
        big_number(
            "devices held by jobs", units.share(result.devices_held), `all devices compute for ${units.share(result.cluster_use)} of the time`),
    ];
    if (result.energy_J !== undefined)
        numbers.push(big_number(
            "energy", units.J(result.energy_J),
            [
                result.power_W === undefined ? "" : `${units.W(result.power_W)} on average`,
                result.energy_unheld_J === undefined ? "" : `${units.J(result.energy_unheld_J)} by devices that no job has`
            ]));
    clear(parent);
    const limit = worst && worst.slowdown > 1.0005 ?
        [`${worst.name} loses most: ${digits(worst.slowdown, 3)} times its time alone.`, taken_from(worst)] :
        ["No job slows another one.", ""];
    parent.append(
        ...(several ? [make("h2", {"aria-live": "polite"}, result.variant)] : []),
        make(
            "p", {class: "subtitle"},
            [`${result.jobs.length} jobs`, `${result.ranks} ranks`, `fabric ${result.fabric}`].join(" · ")),
        make("div", {class: "answer-numbers"}, ...numbers),
        make("p", {class: "limit"}, make("b", {}, limit[0]), limit[1] === "" ? "" : ` Its neighbour ${limit[1]}.`),
        ...(never > 0 ?
                [note(`${never} of ${result.jobs.length} jobs never start: ${
                    listed(result.jobs.filter(({start_s}) => start_s === null).slice(0, 5).map(({name}) => name))}.`)] :
                []));
}

function jobs_page() {
    const {results} = data.report;
    document.getElementById("lead").textContent =
        "Jobs that share a platform: when each runs, where, and what it loses to the others.";
    const main = document.getElementById("main");
    const answer = main.appendChild(make("section", {id: "answer", "aria-label": "Answer"}));
    const choice = make("div", {class: "variants", role: "group", "aria-label": "Variant"});
    const place = make("div");
    if (results.length > 1) answer.append(choice);
    answer.append(place);
    if (results.length > 1) {
        const parent = section("comparison", "Comparison of variants");
        parent.append(narrow_table(
            "Variants",
            [
                ["variant", "text"], ["makespan", "s"], ["mean slowdown", "number"], ["worst slowdown", "number"],
                ["mean wait", "s"], ["devices held", "share"], ["energy", "J"]
            ],
            results.map((result) => [
                result.variant, result.makespan_s, rounded(result.mean_slowdown), rounded(result.worst_slowdown),
                result.mean_wait_s,
                result.devices_held, result.energy_J ?? null
            ])));
    }
    const time = section("time", "When and where jobs run").appendChild(make("div"));
    const who = section("neighbours", "Who slows whom").appendChild(make("div"));
    const numbers = section("summary", "All numbers").appendChild(make("div"));
    const show = (index) => {
        const result = results[index];
        [...choice.children].forEach((button, i) => button.setAttribute("aria-pressed", String(i === index)));
        jobs_answer(place, result, results.length > 1);
        for (const parent of [time, who, numbers]) clear(parent);
        jobs_over_time(time, result);
        racks_over_time(time, result);
        slowdowns(who, result);
        neighbours_table(who, result);
        if (who.children.length === 0) who.append(note("No job is on the links of another one while it uses them."));
        jobs_table(numbers, result);
        numbers.append(...result_notes());
    };
    choice.append(...results.map((result, i) => make(
                                     "button", {
                                         type: "button",
                                         onclick: () => {
                                             remember("variant", result.variant);
                                             show(i);
                                         }
                                     },
                                     make("span", {}, result.variant), ` ${long_time(result.makespan_s)}`)));
    const named = results.findIndex(({variant}) => variant === address.get("variant"));
    show(Math.max(named, 0));
    scenario_section();
}
