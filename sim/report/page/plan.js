// The answer of `syncline plan`: days against cost, a point for each plan, and what is known of each.

const plan_numbers = {
    days: (plan) => (plan.run_time_s === null ? null : plan.run_time_s / 86400),
    days_by_runs: (plan) =>
        (plan.run_time_least_s === null ?
             null :
             [plan.run_time_least_s, plan.run_time_most_s].map((seconds) => digits(seconds / 86400, 3)).join(" to ")),
    days_with_failures: (plan) =>
        (plan.run_elapsed_median_s === null ?
             null :
             `${digits(plan.run_elapsed_median_s / 86400, 3)} (${
                 [plan.run_elapsed_p05_s, plan.run_elapsed_p95_s].map((seconds) => digits(seconds / 86400, 3)).join(" to ")})`),
    gibibytes: (bytes) => (bytes === null ? null : bytes / 2 ** 30),
};

const plan_money = (value) => (value === null ? "–" : value < 1e5 ? digits(value, 3) : `${digits(value / 1e6, 3)} M`);

const counts_failures = (plans) => plans.every((plan) => plan.run_elapsed_median_s !== null);

/// Returns what a chart of the plans compares: days and cost, or what of them is known.
function plan_axes(plans) {
    const failing = counts_failures(plans);
    const days = failing ?
        ["days with failures, median", (plan) => plan.run_elapsed_median_s / 86400, (value) => digits(value, 3)] :
        ["days", plan_numbers.days, (value) => digits(value, 3)];
    const cost = failing ? ["cost with failures, median", (plan) => plan.run_elapsed_cost_median, plan_money] :
                           ["cost", (plan) => plan.run_cost, plan_money];
    const ranks = ["ranks", (plan) => plan.ranks, (value) => digits(value)];
    const iteration = ["iteration", (plan) => plan.iteration_time_s, units.s];
    if (plans.every((plan) => plan.run_cost !== null)) return [days, cost];
    return plans.every((plan) => plan.run_time_s !== null) ? [ranks, days] : [ranks, iteration];
}

/// Returns for example "512 ranks", with the platform if there are several.
function size_of(plan) {
    const several = new Set(data.answer.answers.map(({platform}) => platform)).size > 1;
    return `${plan.ranks} rank${plan.ranks === 1 ? "" : "s"}${several ? ` of ${plan.platform}` : ""}`;
}

/// Returns "NVLink x2 4 % faster"; nothing for a change without effect.
function effect_text({words, time_factor}) {
    const faster = 1 / time_factor - 1;
    if (Math.abs(faster) < 0.0005) return null;
    return faster > 0 ? `${words} ${units.share(faster)} faster` : `${words} ${units.share(time_factor - 1)} slower`;
}

function plan_lead(best) {
    const days = plan_numbers.days(best), by_runs = plan_numbers.days_by_runs(best);
    const facts = [
        days === null ? `${units.s(best.iteration_time_s)} for an iteration` : `${digits(days, 3)} days`,
        best.run_elapsed_median_s === null ?
            null :
            `${plan_numbers.days_with_failures(best)} with ${digits(best.run_failures, 3)} failures`,
        by_runs ? `${by_runs} by published runs` : null, best.run_cost === null ? null : `cost ${plan_money(best.run_cost)}`,
        best.run_energy_J === undefined ? null : units.J(best.run_energy_J),
        best.model_flops_utilisation === null ? null : `MFU ${units.share(best.model_flops_utilisation)}`,
        best.limited_by ? `limited by ${best.limited_by}` : null
    ];
    document.getElementById("lead").textContent = `The fastest plan, ${best.plan} on ${best.ranks} rank${best.ranks === 1 ? "" : "s"} of ${
        best.platform}: ${facts.filter(Boolean).join(", ")}.`;
}

/// Returns what a sentence can say of a plan that was published.
function published_sentence(published, best) {
    const of_run = `${published.plan} (${published.run})`;
    if (!published.fits) return `${of_run} does not fit.`;
    const slower =
        published.estimated_time_s / (best.shares.computation_s + best.shares.bubble_s + best.shares.exchanges_s) - 1;
    if (published.parallelism === best.parallelism) return `${of_run} is the best plan.`;
    const parts = [["computation_s", "computation"], ["bubble_s", "bubble"], ["exchanges_s", "exposed exchanges"]];
    const reasons = parts.map(([key, name]) => [published.shares[key] - best.shares[key], name])
                        .filter(([more]) => Math.abs(more) > 0.005 * best.iteration_time_s)
                        .map(([more, name]) => `${units.s(Math.abs(more))} ${more > 0 ? "more" : "less"} ${name}`);
    return `${of_run} is estimated to be ${units.share(Math.abs(slower))} ${slower < 0 ? "faster" : "slower"}` +
        (reasons.length > 0 ? `: ${listed(reasons)}.` : ".");
}

function plan_page() {
    const plans = data.answer.answers;
    const fastest =
        plans.reduce((best, plan, index) => (plan.iteration_time_s < plans[best].iteration_time_s ? index : best), 0);
    plan_lead(plans[fastest]);
    const parent = section("chart", "Plans");
    const [[x_name, x_of, x_text], [y_name, y_of, y_text]] = plan_axes(plans);
    const sizes = [...new Set(plans.map(size_of))];
    const points_of = (size) => plans.map((plan, index) => ({plan, index}))
                                    .filter(({plan}) => size_of(plan) === size)
                                    .map(({plan, index}) => ({x: x_of(plan), y: y_of(plan), plan, index}));
    // Plans of platforms without power have no energy.
    const metered = plans.some((plan) => plan.run_energy_J !== undefined);
    const columns = [
        ["ranks", "number"], ["platform", "text"], ["plan", "text"], ["iteration", "s"], ["days", "written"],
        ["days by published runs", "written"], ["cost", "written"],
        ...(metered ? [["energy", "J"]] : []), ["tokens/s/GPU", "number"],
        ["TFLOP/s/GPU", "number"], ["MFU", "share"], ["memory, GiB", "number"], ["limited by", "text"]
    ];
    const failing = counts_failures(plans);
    if (failing) columns.splice(7, 0, ["days with failures, median (5 to 95 %)", "written"], ["cost with failures, median", "written"], ["goodput, mean", "share"]);
    const short = (value) => (value === null ? null : digits(value, 3));
    const rows = plans.map(
        (plan) =>
            [plan.ranks, plan.platform, plan.plan, plan.iteration_time_s, short(plan_numbers.days(plan)),
             plan_numbers.days_by_runs(plan), plan.run_cost === null ? null : plan_money(plan.run_cost),
             ...(failing ? [plan_numbers.days_with_failures(plan),
                            plan.run_elapsed_cost_median === null ? null : plan_money(plan.run_elapsed_cost_median),
                            plan.run_goodput] :
                           []),
             ...(metered ? [plan.run_energy_J ?? null] : []),
             plan.tokens_per_s_per_device && Number(digits(plan.tokens_per_s_per_device)),
             plan.tflops_per_device && Number(digits(plan.tflops_per_device)), plan.model_flops_utilisation,
             Number(digits(plan_numbers.gibibytes(plan.memory_total_bytes), 3)), plan.limited_by]);
    const hover = ({raw}) =>
        [raw.plan.plan, `${x_name}: ${x_text(raw.x)}, ${y_name}: ${y_text(raw.y)}`,
         ...(plan_numbers.days_by_runs(raw.plan) ? [`${plan_numbers.days_by_runs(raw.plan)} days by published runs`] :
                                                   [])];
    figure(parent, {
        title: capital(`${y_name} by ${x_name}`),
        text: "Each mark is a plan; marks of one colour have as many ranks. Choose one to see its scenario.",
        height: 420,
        columns,
        rows,
        config: () => ({
            type: "line",
            data: {
                datasets: sizes.map(
                    (size, i) => line(
                        size, points_of(size), i, {showLine: false, pointRadius: 7, clip: 12, pointHoverRadius: 10}))
            },
            options: {
                scales: {
                    x: axis(
                        x_name, "number", {type: "linear", ticks: {callback: x_text}}),
                    y: axis(y_name, "number", {ticks: {callback: y_text}})
                },
                plugins: {tooltip: {callbacks: {title: ([item]) => item.dataset.label, label: hover}}},
                onClick: (_, [mark], chart) => {
                    if (mark) show(chart.data.datasets[mark.datasetIndex].data[mark.index].index);
                },
                onHover: ({native}, marks) => {
                    native.target.style.cursor = marks.length > 0 ? "pointer" : "default";
                }
            }
        })
    });

    const detail = section("plan", "Plan and scenario");
    const select = make(
        "select", {id: "choice", onchange: () => show(Number(select.value))},
        ...plans.map((plan, i) => make("option", {value: i}, `${size_of(plan)}: ${plan.plan}`)));
    const place = make("div", {"aria-live": "polite"});
    detail.append(make("label", {class: "choice"}, "Plan ", select), place);
    const fill = (index) => {
        const plan = plans[index], {file, text} = data.scenarios[index];
        const runs = plan.published;
        const lines = plan.place > 1 ? [] : [
            ...(runs ? [`Of the ${runs.runs.length} nearest published runs (${
                           listed(runs.runs.map(({run}) => run))}) most took ${digits(runs.least, 3)} to ${
                           digits(runs.most, 3)} times as long as predicted.`] :
                       []),
            ...plan.published_plans.slice(0, 3).map((published) => published_sentence(published, plan)),
            `What would change it: ${plan.effects.map(effect_text).filter(Boolean).join("; ")}.`
        ];
        select.value = index;
        place.replaceChildren(
            narrow_table("The plan", columns.map(([name, unit]) => [name, unit]), [rows[index]]),
            ...(lines.length > 0 ? [make("ul", {}, ...lines.map((sentence) => make("li", {}, sentence)))] : []),
            make(
                "p", {class: "note"}, "Scenario: ", make("a", {href: file}, file), ", to run with ",
                make("code", {}, `syncline run ${file} --report report.html`), "."),
            make("pre", {tabindex: "0"}, text));
    };
    const show = (index) => {
        fill(index);
        detail.scrollIntoView();
    };
    fill(fastest);
    const notes = section("notes", "Notes");
    notes.append(...data.answer.notes.map((text) => note(sentence_of(text))));
}
