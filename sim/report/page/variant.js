// One variant: the explanation of its iteration time.

const most_bars = 25;

/// Returns a sentence if not all are drawn; else "".
function longest_drawn(drawn, all, what = "") {
    if (drawn.length === all.length) return "";
    return ` The ${drawn.length} longest of ${all.length}${what} are drawn; the table lists all.`;
}

function layers_figure(parent, layers, rank) {
    const alike = (a, b) => same_time(a.forward_s, b.forward_s) && same_time(a.backward_s, b.backward_s);
    const groups = grouped(layers, "layer", ["forward_s", "backward_s"], alike), shown = groups.slice(0, most_bars);
    figure(parent, {
        title: "Computation by layer",
        text: `The bars show how long rank ${rank} computes each layer, in the forward and in the backward pass. ` +
            "Equal layers share a bar, which is their sum." + longest_drawn(shown, groups, " bars"),
        config: () => across_config(
            "computation time", "s", "layer", shown.map((layer) => layer.layer),
            [
                bars("forward pass", shown.map((layer) => layer.forward_s)),
                bars("backward pass", shown.map((layer) => layer.backward_s))
            ],
            true),
        height: across_height(shown.length),
        unit: "s",
        columns: [["layer", "text"], ["forward", "s"], ["backward", "s"]],
        rows: layers.map((layer) => [layer.layer, layer.forward_s, layer.backward_s]),
    });
}

function kernels_figure(parent, kernels, rank) {
    const shown = kernels.slice(0, most_bars);
    const label = (one) => one.kernel + (one.pass === null ? "" : `, ${one.pass}`);
    figure(parent, {
        title: "What the device computes",
        text: `The bars show the time of each kernel on rank ${
                  rank}, all its runs together. Together they are the time ` +
            "for which the rank computes." + longest_drawn(shown, kernels),
        config: () => across_config(
            "time", "s", "kernel", shown.map(label), [bars("all runs", shown.map((one) => one.seconds))], true),
        height: across_height(shown.length),
        unit: "s",
        columns: [
            ["kernel", "text"], ["pass", "text"], ["count", "number"], ["each", "s"], ["all", "s"], ["bound by", "text"]
        ],
        rows: kernels.map(
            (one) =>
                [one.kernel, one.pass, one.pass === null ? null : one.count,
                 one.pass === null ? null : one.seconds / one.count, one.seconds, one.bound]),
    });
}

function buckets_figure(parent, buckets, rank) {
    const timed = buckets.map((one) => ({...one, overlapped_s: one.communication_s - one.exposed_s}));
    const groups = grouped(timed, "what", ["exposed_s", "overlapped_s"], (a, b) => a.bytes === b.bytes);
    const shown = groups.slice(0, most_bars);
    figure(parent, {
        title: "Exchanges",
        text: `The length of a bar is the time that the exchange is in flight on rank ${
                  rank}. Communication is overlapped ` +
            "while the rank computes, and exposed while it computes nothing; exchanges that are exposed at the same " +
            "time share it evenly. Equal exchanges share a bar, which is their sum." + longest_drawn(shown, groups, " bars"),
        config: () => across_config(
            "time", "s", "exchange", shown.map(({what}) => what),
            [
                bars("overlapped communication", shown.map((one) => one.overlapped_s)),
                bars("exposed communication", shown.map((one) => one.exposed_s))
            ],
            true),
        height: across_height(shown.length),
        unit: "s",
        columns:
            [["exchange", "text"], ["bytes", "B"], ["start", "s"], ["end", "s"], ["in flight", "s"], ["exposed", "s"]],
        rows: buckets.map(
            (bucket) =>
                [bucket.what, bucket.bytes, bucket.start_s, bucket.end_s, bucket.communication_s, bucket.exposed_s]),
    });
}

const path_kinds = {
    compute: "computation",
    transfer: "transfer",
    latency: "latency",
    overhead: "message overhead",
    copy: "copies",
    reduction: "reduction",
    timer: "timer",
    waiting: "waiting",
};

/// Returns for example "99.1 % computation, 0.9 % latency", the largest first.
function kinds_of(shares) {
    const sums = new Map();
    for (const {kind, share} of shares) sums.set(kind, (sums.get(kind) ?? 0) + share);
    return listed([...sums].sort((a, b) => b[1] - a[1]).map(([kind, sum]) => `${part_of(sum)} ${path_kinds[kind]}`));
}

/// Returns a sentence about exchanges inside layers, of which each is a small part; "" if there are none.
function core_phases(phases) {
    const inside = phases.filter(({phase}) => ["context", "dispatch", "combine"].includes(phase));
    if (inside.length === 0) return "";
    const sum = inside.reduce((all, {share}) => all + share, 0);
    return ` Exchanges between ranks that divide experts or sequences are ${part_of(sum)} of it: ` +
        `${listed(inside.map(({phase, share}) => `${part_of(share)} ${phase}`))}.`;
}

function longer(part) {
    if (Math.abs(part) < 1e-6) return "the same time";
    return `${digits(100 * Math.abs(part), 3)} % ${part > 0 ? "longer" : "less"}`;
}

/// Adds a chart of closed form and simulation; with an explanation also bounds and the causes of the difference.
function theory_figure(parent, result, explanation) {
    const closed = result.closed_form;
    const lines = [["simulated", result.iteration_time_s], ["closed form", closed.iteration_time_s]];
    if (explanation) {
        lines.push(["simulated without contention", explanation.uncontended_iteration_time_s]);
        if (explanation.theory.lower_bound_s > 0)
            lines.push([`lower bound: ${explanation.theory.lower_bound_of}`, explanation.theory.lower_bound_s]);
    }
    const shown = lines.filter(([, value]) => value !== null);
    const made = figure(parent, {
        title: "Theory and simulation",
        text: closed.iteration_time_s === null ?
            "This iteration has no closed form." :
            `According to the closed form, which is a formula, an iteration takes ${
                units.s(closed.iteration_time_s)}; the simulation takes ${
                longer(result.iteration_time_s / closed.iteration_time_s - 1)}.`,
        config: () => across_config(
            "iteration time", "s", "method", shown.map(([name]) => name),
            [bars("iteration time", shown.map(([, value]) => value))]),
        height: across_height(shown.length),
        unit: "s",
        columns: [["method", "text"], ["iteration time", "s"]],
        rows: lines,
    });
    const formula = explanation?.theory.formula || closed.formula;
    if (formula) {
        // The reason why there is no closed form may replace or follow the formula.
        const [exchange, reason] = formula.split("; none ");
        const label = /^(no exchange$|none )/.test(exchange) ? "Closed form: " : "Formula, for exchanges of S bytes: ";
        made.element.append(make("p", {}, label, make("code", {}, exchange)));
        if (reason) made.element.append(make("p", {}, `Closed form of the iteration: none ${reason}`));
    }
    if (!explanation) return;
    const {theory} = explanation;
    if (theory.differences.length > 0) {
        const labels = theory.differences.map((part) => part.cause);
        figure(parent, {
            title: "Causes of the difference",
            text:
                "The bars show how each cause alone changes the iteration time; negative values save time. The causes do not " +
                "add up. " + theory.differences.map((part) => `${capital(part.cause)}: ${part.text}.`).join(" "),
            unit: "s",
            config: () => across_config(
                "change of the iteration time", "s", "cause", labels,
                [bars("difference", theory.differences.map((part) => part.seconds))]),
            height: across_height(labels.length),
            columns: [["cause", "text"], ["time", "s"], ["description", "text"]],
            rows: theory.differences.map((part) => [part.cause, part.seconds, part.text]),
        });
    }
    if (theory.terms.length > 0)
        made.element.append(folded(
            "terms of the formula", [["symbol", "text"], ["meaning", "text"], ["value", "number"], ["unit", "text"]],
            theory.terms.map((term) => [term.symbol, term.meaning, term.value, term.unit])));
}

/// Shows everything known about one variant, what explains its time first.
function show_variant(parent, result, variant) {
    clear(parent);
    const {explanation, timeline, stages} = variant;
    if (stages)
        stages_figure(parent, stages);
    else if (timeline)
        timeline_figure(parent, timeline);
    if (explanation?.critical_path_shares.length > 0 && variant.path) path_figure(parent, variant);
    const beside = make("div", {class: "grid"});
    if (explanation?.what_if.length > 0) what_if_figure(beside, explanation.what_if);
    if (variant.memory && variant.memory.stages.length <= 4) memory_figure(beside, variant.memory);
    if (beside.children.length > 0) parent.append(beside);
    if (variant.memory && variant.memory.stages.length > 4) memory_figure(parent, variant.memory);
    if (timeline && stages) timeline_figure(parent, timeline);
    if (explanation) {
        const {level, level_reason, iterations, window_s, buckets, layers, kernels, links, ranks} = explanation;
        parent.append(note([
            level === "tasks" ? "Only tasks were recorded: exchanges are not divided into messages." :
                                "Every message was recorded.",
            level_reason ? sentence_of(level_reason) : "",
            `The charts show a window of ${units.s(window_s)}, which is ${
                iterations > 1 ? `${iterations} iterations; times are totals over all of them` : "one iteration"}.`
        ].filter(Boolean).join(" ")));
        if (ranks.length > 0) rank_parts(parent, explanation);
        const grid = parent.appendChild(make("div", {class: "grid"}));
        if (buckets.length > 0) buckets_figure(grid, buckets, explanation.last_rank);
        if (layers.length > 0) layers_figure(grid, layers, explanation.last_rank);
        if (kernels.length > 0) kernels_figure(grid, kernels, explanation.last_rank);
        heat_map(parent, variant);
        busiest_links(parent, variant.links.groups, result.links);
        if (links.length > 0) link_profiles(parent, links, explanation.window_s);
    } else {
        heat_map(parent, variant);
        busiest_links(parent, variant.links.groups, result.links);
    }
    theory_figure(parent, result, explanation);
}
