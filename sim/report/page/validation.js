// Predictions compared with measurements: `data.report` is the JSON output of syncline validate.

const unit_of = (field) => data.units[field] ?? "number";
/// Formats a value in the unit of its field.
const in_unit = (value, {field}) => units[unit_of(field)](value);

function figures_text({median_accuracy, worst_accuracy, share_above_085}, rows) {
    if (median_accuracy === null) return "No row is predicted.";
    return `Accuracy of ${rows} predicted ${rows === 1 ? "row" : "rows"}: median ${accuracy_text(median_accuracy)}, ` +
        `minimum ${accuracy_text(worst_accuracy)}, above 0.85 for ${units.share(share_above_085)}.`;
}

const predicted_rows = (point) => point.rows.filter((row) => row.role === "predicted" && row.predicted !== null).length;

function validation_summary({points, without_doubtful, ...all}) {
    const doubted = points.some((point) => point.rows.some((row) => row.doubt !== null));
    const {sample} = all;
    document.getElementById("lead").textContent = figures_text(all, all.rows) +
        (sample ? ` A sample: ${sample.rows} of ${sample.of} rows, seed ${sample.seed}.` : "") +
        (doubted ? ` Reliable rows only: ${figures_text(without_doubtful, without_doubtful.rows)}` : "");
    const line = (name, rows, figures) =>
        [name, rows, accuracy_text(figures.median_accuracy), accuracy_text(figures.worst_accuracy),
         figures.share_above_085, figures.uncalibrated ? accuracy_text(figures.uncalibrated.median_accuracy) : null];
    const parent = section("summary", "Accuracy");
    parent.append(make(
        "div", {class: "figure"},
        make(
            "p", {},
            "Each row compares a measurement with its simulation. The error is predicted / measured − 1, the accuracy " +
                "max(0, 1 − |error|). Unknown cluster parameters are fitted to the calibration rows, which are shown " +
                "but never counted; the predicted rows are not used for fitting. The unfitted error is " +
                "that of predictions without any fit, which a user gets who has measured nothing. A row is unreliable " +
                "if it is not a fair test, for the stated reason."),
        table(
            "Accuracy of predicted rows",
            [
                ["scenario", "text"], ["predicted rows", "number"], ["median", "written"], ["minimum", "written"],
                ["above 0.85", "share"], ["median, uncalibrated", "written"]
            ],
            [
                line("all", all.rows, all), line("reliable rows", without_doubtful.rows, without_doubtful),
                ...points.map((point) => line(point.name, predicted_rows(point), point))
            ]),
        errors_table(
            [["all", all], ["reliable rows", without_doubtful], ...points.map((point) => [point.name, point])])));
    order_figure(parent, points);
}

const endings = {
    "found": "",
    "at-least": "at its minimum: the rows suggest a smaller value",
    "at-most": "at its maximum: the rows suggest a larger value",
    "plateau": "nearby values fit equally well",
    "no-effect": "not determined: the rows do not depend on it",
    "too-few-rows": "not determined: fewer rows than parameters",
};
function remark({ending, not_told_from, hardly_determined, percent_per_percent}, noise) {
    const off = 100 * (noise ?? 0.01);
    if (hardly_determined)
        return `poorly determined: an error of ${digits(off, 3)} % in the rows changes it by ` +
            `${digits(off * percent_per_percent, 3)} %`;
    return endings[ending] ?? `not determined: the rows cannot distinguish it from ${not_told_from.join(", ")}`;
}
const with_unit = (value, unit) => digits(value, 5) + (unit === null ? "" : " " + unit);
const value_of = ({value, unit}) => (value === null ? "unchanged" : with_unit(value, unit));

function parameters_table(parameters, noise) {
    return make(
        "div", {class: "figure"}, make("h3", {}, "Fitted parameters"),
        make(
            "p", {},
            "The sensitivity is the change of the parameter, in percent, for independent errors of 1 % in all rows: the " +
                "smaller it is, the better the rows determine the parameter."),
        table(
            "Parameters fitted to calibration rows",
            [
                ["parameter", "text"], ["value", "written"], ["sensitivity", "written"], ["standard error", "written"],
                ["range", "written"], ["rows", "text"], ["remark", "text"]
            ],
            parameters.map(
                (one) =>
                    [one.key, value_of(one),
                     one.percent_per_percent === null ? null : digits(one.percent_per_percent, 3) + " %",
                     one.relative_standard_error === null ? null : digits(100 * one.relative_standard_error, 2) + " %",
                     `${with_unit(one.least, null)} … ${with_unit(one.most, one.unit)}`, one.rows.join(", "),
                     remark(one, noise)])));
}

function rows_table(rows) {
    const doubts = rows.some((row) => row.doubt !== null), own = rows.some((row) => "uncalibrated_error" in row);
    const own_error = (row) => (row.uncalibrated_error === null ? null : signed_percent(row.uncalibrated_error));
    const columns = [
        ["row", "text"], ["quantity", "text"], ["measured", "written"], ["predicted", "written"], ["error", "written"],
        ...(own ? [["unfitted", "written"]] : []), ["role", "text"], ...(doubts ? [["doubt", "text"]] : [])
    ];
    return make(
        "div", {class: "figure"}, make("h3", {}, "Rows"),
        table(
            "Measured and predicted", columns,
            rows.map(
                (row) =>
                    [row.name, words_of(row.field), in_unit(row.measured, row),
                     ...(row.predicted === null ? ["failed", null] :
                                                  [in_unit(row.predicted, row), signed_percent(row.error)]),
                     ...(own ? [own_error(row)] : []), row.role, ...(doubts ? [row.doubt] : [])])));
}

function assumed_table(rows) {
    const keys = ["measured", "predicted_lowest", "predicted", "predicted_highest"];
    return make(
        "div", {class: "figure"}, make("h3", {}, "Range over the assumptions"),
        table(
            "Lowest and highest prediction",
            [
                ["row", "text"], ["measured", "written"], ["lowest", "written"], ["as written", "written"],
                ["highest", "written"]
            ],
            rows.filter((row) => row.predicted !== null)
                .map((row) => [row.name, ...keys.map((key) => in_unit(row[key], row))])));
}

function left_out_tables(lines, parameters) {
    const shown = (one) =>
        value_of(one) + (one.at_bound ? ` (its ${one.ending === "at-least" ? "minimum" : "maximum"})` : "");
    const changed = lines.flatMap(
        (line) => line.parameters.map((one, i) => [line.row, one.key, shown(parameters[i]), shown(one)])
                      .filter(([, , before, after]) => before !== after));
    const kept = lines.some((line) => line.parameters.some((one) => one.ending === "too-few-rows"));
    return make(
        "div", {class: "figure"}, make("h3", {}, "Leave-one-out sensitivity"),
        make("p", {}, "Change of the predictions if the parameters are fitted without one calibration row."),
        table(
            "Change of the predictions",
            [["left out", "text"], ["median change", "written"], ["largest change", "written"], ["of row", "text"]],
            lines.map(
                (line) =>
                    [line.row, percent(line.median_change), percent(line.largest_change), line.largest_change_row])),
        ...(changed.length === 0 ? [note("No parameter changes.")] : [
            make(
                "p", {},
                "Parameters fitted without the row; only parameters that change are listed." +
                    (kept ? " Unchanged: too few rows are left to fit it, so the scenario's own value is used." : "")),
            table(
                "Parameters fitted without the row",
                [["left out", "text"], ["parameter", "text"], ["with it", "written"], ["without it", "written"]],
                changed)
        ]));
}

function point_section(point, index) {
    const parent = section(`scenario-${index}`, point.name);
    parent.append(
        make(
            "p", {}, `Source: ${point.source}. `,
            point.noise === null ? "The source states no spread." :
                                   `The source states a spread of ${units.share(point.noise)}.`),
        make("p", {}, figures_text(point, predicted_rows(point))));
    if (!point.converged) parent.append(note("The parameter fit stopped before it converged."));
    if (point.parameters.length > 0) parent.append(parameters_table(point.parameters, point.noise));
    parent.append(rows_table(point.rows));
    for (const failure of [...point.rows.flatMap((row) => row.failure ?? []), ...(point.incomplete ?? [])])
        parent.append(note(`Failed: ${failure}.`));
    if (point.rows.some((row) => "predicted_lowest" in row)) parent.append(assumed_table(point.rows));
    if (point.assumptions) parent.append(assumptions_figure(point));
    if (point.leave_one_out.length > 0) parent.append(left_out_tables(point.leave_one_out, point.parameters));
}

function validation_page() {
    const {points} = data.report;
    validation_summary(data.report);
    const all_rows = points.flatMap(
        (point, point_index) => point.rows.map(
            (row, i) => ({...row, point: point.name, point_index, place: (i + 0.5) / point.rows.length})));
    const rows = all_rows.filter((row) => row.predicted !== null);
    const parent = section("charts", "Predicted and measured");
    for (const failure of data.report.failed ?? []) parent.append(note(`Failed: ${failure}.`));
    if (rows.length > 0) ratios_figure(parent, points, rows);
    const grid = parent.appendChild(make("div", {class: "grid"}));
    const kinds = new Map();
    for (const row of rows) {
        const unit = unit_of(row.field), title = quantities[unit] ?? words_of(row.field);
        if (!kinds.has(title)) kinds.set(title, {unit, rows: []});
        kinds.get(title).rows.push(row);
    }
    for (const [title, kind] of kinds) scatter_figure(grid, title, kind.unit, points, kind.rows);
    if (data.report.mechanisms) mechanisms_section(data.report);
    points.forEach(point_section);
}
