// The answer: what a reader looks for first, for the variant that is chosen.

/// Returns a large number with what it is and what belongs to it.
const big_number = (what, value, more, main = false) => make(
    "div", {class: main ? "main" : null}, make("span", {}, what), make("b", {}, value),
    ...[more].flat().filter(Boolean).map((text) => (typeof text === "string" ? make("small", {}, text) : text)));

const money = (value) =>
    (value >= 1e6 ? `${digits(value / 1e6, 3)} million` : Number(Number(value).toPrecision(3)).toLocaleString("en"));

function long_time(seconds) {
    if (seconds >= 172800) return `${digits(seconds / 86400, 3)} days`;
    return seconds >= 7200 ? `${digits(seconds / 3600, 3)} hours` : units.s(seconds);
}

function memory_bar({memory}) {
    const parts = [
        ["weights", "weights", memory.weights_bytes], ["gradients", "gradients", memory.gradients_bytes],
        ["optimizer", "update", memory.optimizer_bytes], ["activations", "activations", memory.activations_bytes]
    ];
    const all = Math.max(memory.device_bytes ?? 0, memory.total_bytes);
    const bar = make("div", {class: "parts", "aria-hidden": "true"});
    for (const [, colour, bytes] of parts)
        bar.append(make("i", {style: `width: ${100 * bytes / all}%; background: ${paint_of(colour)}`}));
    const text = [...parts].filter(([, , bytes]) => bytes > 0).sort((a, b) => b[2] - a[2]).map(
        ([name, , bytes]) => `${name} ${units.GiB(bytes).replace(" GiB", "")}`);
    return [bar, `${text.join(", ")} GiB`];
}

/// Returns the quantiles of the sampled runs, or nothing.
const range_of = (text, p05, p95) =>
    ((p05 ?? null) === null ? "" : `${text(p05)} to ${text(p95)} (5 to 95 %)`);

/// Returns the time of the whole training: with failures, if they are counted.
function whole_run_numbers(result) {
    const iterations = `${digits(result.run_iterations, 6)} iterations`, elapsed = result.run_elapsed_median_s ?? null;
    if (elapsed === null) return [big_number("whole training", long_time(result.run_time_s), iterations, true)];
    const range = range_of(long_time, result.run_elapsed_p05_s, result.run_elapsed_p95_s);
    const free = `goodput ${units.share(result.run_goodput)}; without failures ${long_time(result.run_time_s)}`;
    return [big_number("whole training with failures, median", long_time(elapsed), [range, free, iterations], true)];
}

function answer_numbers(result, facts) {
    const {memory} = result, run = result.run_time_s ?? null;
    const tokens = result.tokens_per_s !== null && result.tokens_per_s !== undefined;
    const spread = result.pipeline_bubble ? `bubble ${part_of(result.pipeline_bubble)}` : "";
    const numbers = run === null ?
        [big_number(
             "one iteration", units.s(result.iteration_time_s),
             [spread, result.samples > 0 ? `${facts?.batch ?? result.samples} samples` : `${result.ranks} ranks`], true)] :
        [
            ...whole_run_numbers(result),
            big_number("iteration", units.s(result.iteration_time_s), spread)
        ];
    const cost = result.run_elapsed_cost_median ?? result.run_cost ?? null, per_million = result.cost_per_million_samples ?? null;
    if (cost !== null)
        numbers.push(big_number(
            "cost", money(cost),
            [facts?.price ? `${facts.price} per node and hour` : "",
             range_of(money, result.run_elapsed_cost_p05, result.run_elapsed_cost_p95)]));
    else if (per_million !== null)
        numbers.push(big_number("cost per million samples", money(per_million), `${facts?.price ?? "–"} per node and hour`));
    if (result.energy_J !== undefined)
        numbers.push(big_number(
            "energy", units.J(result.run_elapsed_energy_median_J ?? result.run_energy_J ?? result.energy_J),
            [result.power_W === undefined ? "" : `${units.W(result.power_W)} while it computes`,
             range_of(units.J, result.run_elapsed_energy_p05_J, result.run_elapsed_energy_p95_J)]));
    if (result.throughput_samples_per_s !== null)
        numbers.push(tokens ?
            big_number(
                "tokens per second and device", digits(result.tokens_per_s_per_device, 4),
                `${digits(result.tokens_per_s, 3)} together`) :
            big_number(
                "samples per second", digits(result.throughput_samples_per_s, 4),
                result.scaling_efficiency === null ? "" :
                                                     `scaling efficiency ${units.share(result.scaling_efficiency)}`));
    if (result.model_flops_utilisation)
        numbers.push(big_number(
            "MFU", units.share(result.model_flops_utilisation),
            result.tflops_per_device ? `${digits(result.tflops_per_device, 3)} TFLOP/s per device` : ""));
    if (memory.total_bytes > 0) {
        const total = units.GiB(memory.total_bytes), device = memory.device_bytes;
        numbers.push(big_number(
            "memory of the fullest device",
            device === null ? total : `${total.replace(" GiB", "")} of ${units.GiB(device)}`,
            [...(memory.fraction > 1 ? ["does not fit"] : []), ...memory_bar(result)]));
    }
    return make("div", {class: "answer-numbers"}, ...numbers);
}

/// The parts of the iteration time, which the result counts on the rank that finishes last.
const iteration_parts = [
    ["computation", (result) => result.compute_time_s],
    ["exposed communication", (result) => result.exposed_communication_time_s],
    ["waiting", (result) => result.waiting_time_s], ["idle", (result) => result.idle_time_s]
];

/// Returns the iteration as one bar: computation, exposed communication, waiting, idle.
function time_bar(result) {
    const parts = iteration_parts.map(([name, of]) => [name, of(result) / result.iteration_time_s])
                      .filter(([, share]) => share > 0.0005);
    const bar = make("div", {class: "parts", "aria-hidden": "true"});
    for (const [name, share] of parts)
        bar.append(make("i", {style: `width: ${100 * share}%; background: ${paint_of(name)}`}));
    return make(
        "div", {class: "figure time"}, 
        make("h3", {}, result.run_time_s === undefined ? "Where the time goes" : "Where an iteration's time goes"), bar,
        make("ul", {class: "legend"}, ...parts.map(([name, share]) => make(
                                          "li", {}, make("i", {style: `background: ${paint_of(name)}`}),
                                          `${name} `, make("b", {}, part_of(share))))));
}

/// Returns the sentences about what bounds the iteration, if the result has them.
function limit(result, explanation) {
    const by = result.limited_by ?? "", diagnosis = explanation?.diagnosis ?? "";
    if (by === "" && diagnosis === "") return null;
    const [first, ...rest] = diagnosis === "" ? [""] : diagnosis.split(/(?<=\.) (?=[A-Z])/);
    const lead = /^limited by/i.test(first) || by === "" ? first : `Limited by ${by}.`;
    const more = lead === first ? rest.join(" ") : diagnosis;
    return make("p", {class: "limit"}, make("b", {}, lead), more ? ` ${more}` : "");
}

function show_answer(parent, result, variant, several) {
    const {facts, explanation} = variant;
    clear(parent);
    parent.append(
        ...(several ? [make("h2", {"aria-live": "polite"}, result.variant)] : []),
        make(
            "p", {class: "subtitle"},
            [result.workload, facts?.place, facts && `platform ${facts.platform}`, `fabric ${result.fabric}`]
                .filter(Boolean)
                .join(" · ")),
        answer_numbers(result, facts),
        ...(facts ? [make("ul", {class: "plan", "aria-label": "Plan"}, ...facts.plan.map(({name, value, meaning}) => make(
                                                                          "li", {title: meaning}, `${name} `,
                                                                          make("b", {}, value))))] :
                    []),
        ...[limit(result, explanation)].filter(Boolean), time_bar(result));
    show_run(parent, result, facts?.runs, facts?.replicas);
}
