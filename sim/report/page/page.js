// The page as a whole: its sections.

// The results' notes, and the number of folded messages if the scenario asks for folding.
function result_notes() {
    return `${data.folded}\n${data.notes}`
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => note(sentence_of(line)));
}

/// Returns the variants with the highest throughput, one for each workload.
function best_of(results) {
    // Throughputs of different workloads are not comparable.
    // A trace has no samples.
    const rate = (result) => result.throughput_samples_per_s ?? 1 / Math.max(result.iteration_time_s, 1e-12);
    const fastest = (workload) => results.filter((result) => result.workload === workload)
                                      .reduce((best, result) => (rate(result) > rate(best) ? result : best));
    return [...new Set(results.map((result) => result.workload))].map(fastest);
}

/// Says which variant is the fastest, if there are several.
function training_lead(results, best) {
    if (results.length === 1) return;
    const sentence = (result) => {
        const among = results.filter(({workload}) => workload === result.workload).length;
        return `${best.length > 1 ? `${result.workload}: ` : ""}${result.variant} is the fastest of ${among} variants, with ${
            result.samples > 0 ? `${digits(result.throughput_samples_per_s ?? 0, 4)} samples per second` :
                                 units.s(result.iteration_time_s)}.`;
    };
    document.getElementById("lead").textContent = best.map(sentence).join(" ");
}

function training_summary(results) {
    const parent = section("summary", "All numbers");
    const part = (caption, fields) =>
        narrow_table(caption, fields, results.map((result) => fields.map(([, , of]) => of(result))));
    parent.append(make(
        "div", {class: "figure"},
        make(
            "p", {},
            "Times refer to the rank that finishes last. Its communication is exposed while it computes " +
                "nothing. It waits for other ranks, servers or clocks; the rest of the time it is idle. Memory " +
                "refers to the device that needs the most."),
        ...result_notes(),
        part(
            "Time and throughput",
            [
                ["variant", "text", (result) => result.variant],
                ["iteration time", "s", (result) => result.iteration_time_s],
                ...iteration_parts.map(([name, of]) => [name, "s", of]),
                ["samples per second", "number", (result) => result.throughput_samples_per_s],
                ["tokens per second", "number", (result) => result.tokens_per_s],
                ["scaling efficiency", "share", (result) => result.scaling_efficiency],
                ["model FLOPS utilisation", "share", (result) => result.model_flops_utilisation],
                ["pipeline bubble", "share", (result) => result.pipeline_bubble]
            ]),
        part("Configuration, traffic and cost", [
            ["variant", "text", (result) => result.variant], ["workload", "text", (result) => result.workload],
            ["ranks", "number", (result) => result.ranks], ["scaling", "text", (result) => result.scaling],
            ["exchange", "text", (result) => result.exchange], ["algorithm", "text", (result) => result.algorithm],
            ["fabric", "text", (result) => result.fabric], ["transport", "text", (result) => result.transport],
            ["messages", "number", (result) => result.messages], ["bytes sent", "B", (result) => result.bytes_sent],
            ["memory", "GiB", (result) => result.memory.total_bytes],
            ["cost per million samples", "number", (result) => result.cost_per_million_samples]
        ])));
}

function training_comparison(results) {
    const parent = section("comparison", "Comparison of variants");
    const labels = results.map((result) => result.variant);
    const grid = parent.appendChild(make("div", {class: "grid"}));
    figure(grid, {
        title: "Iteration time",
        text:
            "The bars show one iteration of the rank that finishes last. Shorter is better. If workloads or batch sizes " +
            "differ, compare the throughput instead.",
        unit: "s",
        config: () => across_config(
            "iteration time", "s", "variant", labels, iteration_parts.map(([name, of]) => bars(name, results.map(of))),
            true),
        height: 60 + across_height(labels.length),
        columns: [["variant", "text"], ["iteration time", "s"], ...iteration_parts.map(([name]) => [name, "s"])],
        rows: results.map(
            (result) => [result.variant, result.iteration_time_s, ...iteration_parts.map(([, of]) => of(result))]),
    });
    if (results.every(({samples}) => samples === 0)) return;
    figure(grid, {
        title: "Throughput",
        text: "The bars show how many samples all ranks together process per second. Longer is better.",
        config: () => across_config(
            "samples per second", "number", "variant", labels,
            [bars("samples per second", results.map((result) => result.throughput_samples_per_s))]),
        height: 60 + across_height(labels.length),
        columns: [["variant", "text"], ["samples per second", "number"], ["scaling efficiency", "share"]],
        rows: results.map((result) => [result.variant, result.throughput_samples_per_s, result.scaling_efficiency]),
    });
}

/// Shows the answer and the explanation of the variant that the address names, or else of the best one.
function training_details(results, best, answer, details) {
    const choice = make("div", {class: "variants", role: "group", "aria-label": "Variant"});
    const place = make("div");
    if (results.length > 1) answer.append(choice);
    answer.append(place);
    const show = (index) => {
        [...choice.children].forEach(
            (button, i) => button.setAttribute("aria-pressed", String(i === index)));
        show_answer(place, results[index], data.variants[index], results.length > 1);
        show_variant(details, results[index], data.variants[index]);
    };
    const choose = (index) => {
        remember("variant", results[index].variant);
        show(index);
    };
    choice.append(...results.map((result, i) => make(
                                     "button", {type: "button", onclick: () => choose(i)}, make("span", {}, result.variant),
                                     ` ${units.s(result.iteration_time_s)}`)));
    const named = results.findIndex(({variant}) => variant === address.get("variant"));
    show(named >= 0 ? named : results.indexOf(best));
}

function scaling_section() {
    const curves = data.scaling.filter((curve) => curve.points.length > 0);
    if (curves.length === 0 && data.scaling_note === "") return;
    const parent = section("scaling", "Scaling");
    if (data.scaling_note !== "") parent.append(note(data.scaling_note));
    const grid = parent.appendChild(make("div", {class: "grid"}));
    const columns = [
        ["variant", "text"], ["ranks", "number"], ["iteration time", "s"], ["samples per second", "number"],
        ["efficiency", "share"]
    ];
    const rows = curves.flatMap(
        (curve) => curve.points.map(
            (point) =>
                [curve.variant, point.ranks, point.iteration_time_s, point.throughput_samples_per_s,
                 point.scaling_efficiency]));
    const draw_field = (title, text, field, unit, scale) => figure(grid, {
        title,
        text,
        unit,
        height: 340,
        columns,
        rows,
        config: () => ({
            type: "line",
            data: {
                datasets: curves.map(
                    (curve, i) => line(
                        curve.variant,
                        curve.points.filter((point) => point[field] !== null)
                            .map((point) => ({x: point.ranks, y: point[field]})),
                        i))
            },
            options: {
                scales: {
                    x: measured_axis("ranks", rows.map((row) => row[1]), String),
                    y: axis(title.toLowerCase(), unit, scale)
                }
            }
        }),
    });
    draw_field(
        "Samples per second", "The scenario is simulated again with fewer ranks. Both axes are logarithmic.",
        "throughput_samples_per_s", "number", {type: "logarithmic"});
    draw_field(
        "Scaling efficiency",
        "The scaling efficiency is the throughput divided by the number of ranks times the throughput of one rank. Weak scaling keeps the samples " +
            "per replica constant, strong scaling the total number of samples.",
        "scaling_efficiency", "share", {beginAtZero: true});
}

function scenario_section() {
    const parent = section("scenario", "Scenario");
    parent.append(make(
        "p", {class: "note"},
        "This is the scenario with all referenced files inlined. Save it as a file to run it with ",
        make("code", {}, "syncline run"), "."));
    const texts = new Map();
    for (const variant of data.variants)
        texts.set(variant.scenario, [...(texts.get(variant.scenario) ?? []), variant.name]);
    for (const [text, variants] of texts)
        parent.append(make(
            "details", {open: texts.size === 1}, make("summary", {}, variants.join(", ")),
            make("pre", {tabindex: "0"}, text)));
}

function training_page() {
    const {results} = data.report, best = best_of(results);
    training_lead(results, best);
    const answer = document.getElementById("main").appendChild(make("section", {id: "answer", "aria-label": "Answer"}));
    if (results.length > 1) training_comparison(results);
    const details = section("why", "Why this iteration time?").appendChild(make("div"));
    training_details(results, best[0], answer, details);
    training_summary(results);
    scaling_section();
    scenario_section();
}

function exchange_page() {
    const {results} = data.report;
    document.getElementById("lead").textContent = `This page shows how long ${listed([
        ...new Set(results.map((result) => result.operation))
    ])} takes, by the number of bytes, for ${results.length === 1 ? "one variant" : `${results.length} variants`}.`;
    const parent = section("curves", "Time and bandwidth by size");
    const described = ["variant", "operation", "algorithm", "ranks", "fabric"];
    parent.append(
        narrow_table(
            "Variants", described.map((name) => [name, name === "ranks" ? "number" : "text"]),
            results.map((result) => described.map((name) => result[name]))),
        ...result_notes());
    const columns = [
        ["variant", "text"], ["size", "B"], ["time", "s"], ["closed form", "s"], ["algorithm bandwidth", "Bps"],
        ["bus bandwidth", "Bps"], ["algorithm", "text"]
    ];
    const rows = results.flatMap(
        (result) => result.points.map(
            (point) =>
                [result.variant, point.bytes, point.completion_time_s, point.closed_form_s,
                 point.algorithm_bandwidth_Bps, point.bus_bandwidth_Bps, point.algorithm]));
    const xy = (result, field) => result.points.filter((point) => point[field] !== null && point.bytes > 0)
                                      .map((point) => ({x: point.bytes, y: point[field]}));
    const chart = (title, text, quantity, unit, datasets, y) => figure(parent, {
        title,
        text,
        unit,
        height: 420,
        columns,
        rows,
        config: () => ({
            type: "line",
            data: {datasets: datasets()},
            options: {
                scales: {
                    x: measured_axis(
                        "size",
                        results.flatMap((result) => result.points.map((point) => point.bytes))
                            .filter((bytes) => bytes > 0),
                        units.B),
                    y: axis(quantity, unit, y)
                }
            }
        }),
    });
    chart(
        "Time by size",
        "Filled marks are simulated times. Hollow marks on dashed lines are the closed form (a formula), if there is one. " +
            "Both axes are logarithmic.",
        "time", "s",
        () => results.flatMap(
            (result, i) =>
                [line(result.variant, xy(result, "completion_time_s"), i),
                 ...(result.points.some((point) => point.closed_form_s !== null) ?
                         [line(`${result.variant}, closed form`, xy(result, "closed_form_s"), i, {
                             borderDash: [3, 4],
                             pointRadius: 7,
                             pointStyle: "circle",
                             backgroundColor: "transparent"
                         })] :
                         [])]),
        {type: "logarithmic"});
    chart(
        "Bus bandwidth by size",
        "The bus bandwidth is defined as in nccl-tests: the bandwidth that each link must provide, whatever the number of ranks.",
        "bus bandwidth", "Bps",
        () => results.filter((result) => result.points.some((point) => point.bus_bandwidth_Bps !== null))
                  .map((result, i) => line(result.variant, xy(result, "bus_bandwidth_Bps"), i)),
        {beginAtZero: true});
    scenario_section();
}

theme();
({training: training_page, jobs: jobs_page, exchange: exchange_page, batch: batch_page, validation: validation_page, plan: plan_page})[data.kind]();
document.getElementById("footer").textContent = `Generated by ${data.program}. Charts: Chart.js ${
    Chart.version}, MIT licence. This page is self-contained and loads nothing from the network.`;
show_place();
