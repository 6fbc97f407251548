// A whole run with failures: where its time, money and energy go, and how much runs differ.

/// Returns the time of a checkpoint, or between two of them, for which minutes are usual.
function interval_text(seconds) {
    if (seconds < 120) return units.s(seconds);
    return seconds < 10800 ? `${digits(seconds / 60, 3)} min` : `${digits(seconds / 3600, 3)} h`;
}

/// Says what fails, what a failure costs, and what becomes of a broken node.
function run_sentences(result, {repair_s, more_nodes, fewer}, replicas) {
    const sentences = [];
    const every = interval_text(result.run_checkpoint_interval_s), best = result.run_daly_interval_s;
    if (result.run_mtbf_s === undefined)
        sentences.push("Nothing fails.");
    else
        sentences.push(
            `Some part of the cluster fails every ${long_time(result.run_mtbf_s)}, ${
                digits(result.run_failures, 3)} times in the mean run. Each failure undoes the work since the last checkpoint, ${
                interval_text(result.run_lost_s / Math.max(1, result.run_failures))} on average, and takes a restart.`);
    sentences.push(
        `A checkpoint after every ${every} of computation stops the training for ${
            interval_text(result.run_checkpoint_blocking_s)}.` +
        (best === undefined ? "" : ` Daly's optimum interval is ${interval_text(best)}.`));
    if (repair_s > 0) {
        const spares = Math.round((more_nodes - 1) * result.nodes);
        const stand_by = spares === 0 ? "no node stands by" :
            spares === 1              ? "one node stands by and is paid for" :
                                        `${spares} nodes stand by and are paid for`;
        sentences.push(
            `A broken node is back after ${long_time(repair_s)}; ${stand_by}.` +
            (result.run_waiting_s > 0 ? " When too few are left, the run waits for a repair." : ""));
        const slow = fewer.filter(({replicas: number}) => number < replicas).reverse();
        if (slow.length > 0)
            sentences.push(
                `For ${long_time(result.run_fewer_replicas_s)} fewer than all ${replicas} replicas of the model train, which takes time for the same samples: ${
                    slow.slice(0, 4)
                        .map(({replicas: number, iteration_s}) => `${number} replicas ${
                            units.share(iteration_s / result.iteration_time_s - 1)} longer`)
                        .join(", ")}.`);
    }
    return sentences.join(" ");
}

/// Returns the sentence that a reader looks for first: what failures and checkpoints add.
function run_price(parts) {
    const [useful, ...others] = parts;
    const added = (of) => others.reduce((sum, part) => sum + part[of], 0);
    const days = added("seconds");
    const facts = [
        long_time(days), ...(useful.cost === null ? [] : [`${money(added("cost"))} in cost`]),
        ...(useful.energy_J === null ? [] : [units.J(added("energy_J"))])
    ];
    return days > 0 ? `Checkpoints and failures add ${listed(facts)}: ${part_of(days / useful.seconds)} of the time without them.` :
                      "Checkpoints and failures add nothing.";
}

function run_bar(result, spread, replicas) {
    const parts = spread.parts.filter(({seconds}) => seconds > 0);
    const all = parts.reduce((sum, {seconds}) => sum + seconds, 0);
    const bar = make("div", {class: "parts", "aria-hidden": "true"});
    for (const {part, seconds} of parts)
        bar.append(make("i", {style: `width: ${100 * seconds / all}%; background: ${paint_of(part)}`}));
    const legend = make("ul", {class: "legend"}, ...parts.map(({part, seconds}) => make(
                                                     "li", {}, make("i", {style: `background: ${paint_of(part)}`}),
                                                     `${part} `, make("b", {}, part_of(seconds / all)))));
    const [first] = parts;
    const columns = [
        ["part of the mean run", "text"], ["time", "written"], ["share", "written"],
        ...(first.cost === null ? [] : [["cost", "written"]]), ...(first.energy_J === null ? [] : [["energy", "written"]])
    ];
    // All in one unit, to be compared.
    const time = (seconds) => (all < 172800 ? long_time(seconds) : `${digits(seconds / 86400, 3)} days`);
    const row = (name, {seconds, cost, energy_J}) =>
        [name, time(seconds), part_of(seconds / all), ...(first.cost === null ? [] : [money(cost)]),
         ...(first.energy_J === null ? [] : [units.J(energy_J)])];
    const sum = (of) => parts.reduce((total, part) => total + part[of], 0);
    const rows = [
        ...parts.map((part) => row(part.part, part)),
        row("together", {seconds: all, cost: sum("cost"), energy_J: sum("energy_J")})
    ];
    return make(
        "div", {class: "figure time"}, make("h3", {}, "Where the run's time goes"), make("p", {}, run_price(spread.parts)), bar,
        legend, narrow_table("Time, cost and energy of the run", columns, rows),
        make("p", {class: "note"}, run_sentences(result, spread, replicas)));
}

function run_spread(parent, result, {from_s, step_s, runs}) {
    if (runs.length < 2) return;
    const days = (bar) => digits((from_s + bar * step_s) / 86400, 4);
    figure(parent, {
        title: "Elapsed time of the run",
        text: `The bars count the sampled runs by elapsed time. Half take more than ${
            long_time(result.run_elapsed_median_s)}; one in twenty takes less than ${
            long_time(result.run_elapsed_p05_s)}, and one in twenty more than ${long_time(result.run_elapsed_p95_s)}.`,
        height: 260,
        columns: [["from, days", "written"], ["to, days", "written"], ["runs", "number"]],
        rows: runs.map((count, bar) => [days(bar), days(bar + 1), count]),
        config: () => ({
            type: "bar",
            data: {
                labels: runs.map((_, bar) => days(bar + 0.5)),
                datasets: [bars("runs", runs, {barPercentage: 1, categoryPercentage: 0.96})]
            },
            options: {
                scales: {x: {title: {display: true, text: "days"}}, y: axis("runs", "number", {beginAtZero: true})},
                plugins: {legend: {display: false}}
            }
        })
    });
}

/// Shows a run with failures, or nothing.
function show_run(parent, result, spread, replicas) {
    if (!spread) return;
    parent.append(run_bar(result, spread, replicas));
    run_spread(parent, result, spread);
}
