// A whole run with failures: where its time goes, and how much runs differ.

/// The parts of the elapsed time, each with its colour in page.css.
const run_parts = [
    ["useful", (result) => result.run_time_s], ["checkpoints", (result) => result.run_checkpoints_s],
    ["lost work", (result) => result.run_lost_s], ["restarts", (result) => result.run_restarts_s]
];

/// Returns the time of a checkpoint, or between two of them, for which minutes are usual.
function interval_text(seconds) {
    if (seconds < 120) return units.s(seconds);
    return seconds < 10800 ? `${digits(seconds / 60, 3)} min` : `${digits(seconds / 3600, 3)} h`;
}

/// Says what a run with failures assumes, and what follows from it.
function run_sentences(result) {
    const failures = result.run_mtbf_s === undefined ?
        "Nothing fails." :
        `A part that the job uses fails every ${long_time(result.run_mtbf_s)}: ${
            digits(result.run_failures, 3)} failures in the mean run.`;
    const every = interval_text(result.run_checkpoint_interval_s), best = result.run_daly_interval_s;
    const checkpoint = `A checkpoint after every ${every} of useful time stops the training for ${
        interval_text(result.run_checkpoint_blocking_s)}${best === undefined ? "" : `; Daly's optimum is every ${interval_text(best)}`}.`;
    return `${failures} ${checkpoint} Goodput, useful / elapsed time, is ${units.share(result.run_goodput)}.`;
}

function run_bar(result) {
    const parts = run_parts.map(([name, of]) => [name, of(result)]).filter(([, seconds]) => seconds > 0);
    const all = parts.reduce((sum, [, seconds]) => sum + seconds, 0);
    const bar = make("div", {class: "parts", "aria-hidden": "true"});
    for (const [name, seconds] of parts)
        bar.append(make("i", {style: `width: ${100 * seconds / all}%; background: ${paint_of(name)}`}));
    return make(
        "div", {class: "figure time"}, make("h3", {}, "Where the run's time goes"), bar,
        make("ul", {class: "legend"}, ...parts.map(([name, seconds]) => make(
                                          "li", {}, make("i", {style: `background: ${paint_of(name)}`}), `${name} `,
                                          make("b", {}, `${long_time(seconds)}, ${part_of(seconds / all)}`)))),
        make("p", {class: "note"}, run_sentences(result)));
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
function show_run(parent, result, spread) {
    if (!spread) return;
    parent.append(run_bar(result));
    run_spread(parent, result, spread);
}
