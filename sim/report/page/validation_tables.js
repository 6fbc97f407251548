// Tables of a validation's errors, order of layouts, scaling, assumptions and mechanisms.

/// Formats as "+0.73 %", without a minus sign if it rounds to zero.
function signed_percent(part) {
    const text = (100 * Math.abs(part)).toFixed(2);
    return (part < 0 && Number(text) > 0 ? "−" : "+") + text + " %";
}
const percent = (part) => (part === null ? "–" : (100 * part).toFixed(2) + " %");
const signed_or_dash = (part) => (part === null ? "–" : signed_percent(part));
const accuracy_text = (value) => (value === null ? "–" : value.toFixed(3));

/// `lines`: [name, figures].
function errors_table(lines) {
    const below = (of) => (of.with_noise === 0 ? "–" : `${of.below_noise} of ${of.with_noise}`);
    return table(
        "Errors of predicted rows",
        [
            ["scenario", "text"], ["median", "written"], ["mean", "written"], ["bias", "written"],
            ["below the source's spread", "written"], ["worst row", "text"]
        ],
        lines.map(
            ([name, of]) =>
                [name, percent(of.median_error), percent(of.mean_error), signed_or_dash(of.bias), below(of),
                 of.worst_row]));
}

/// Adds how well the order of layouts and the growth with the ranks are predicted, if something says so.
function order_figure(parent, points) {
    const all = (key) => points.flatMap((point) => (point[key] ?? []).map((one) => ({...one, point: point.name})));
    const layouts = all("sweeps"), growth = all("scaling");
    if (layouts.length + growth.length === 0) return;
    const parts = [];
    if (layouts.length > 0)
        parts.push(
            make(
                "p", {},
                "Layouts of the same training: Spearman's rank correlation of predicted and measured values, that which " +
                    "a second measurement would have on average, given the source's spread, the pairs of layouts that " +
                    "are predicted in the right order, of those that differ by more than this spread, and the loss by " +
                    "taking the layout that is predicted to be the best."),
            table(
                "Order of layouts",
                [
                    ["scenario", "text"], ["layouts of", "text"], ["rows", "number"], ["rank correlation", "written"],
                    ["second measurement", "written"], ["pairs in order", "text"], ["lost", "written"]
                ],
                layouts.map(
                    (one) =>
                        [one.point, one.name, one.rows, one.rank_correlation.toFixed(3),
                         one.repeated_correlation === null ? "–" : one.repeated_correlation.toFixed(3),
                         `${one.pairs_in_order} of ${one.pairs}`, percent(one.regret)])));
    if (growth.length > 0)
        parts.push(
            make("p", {}, "Scaling: error of the ratio between the values with the most and with the fewest ranks."),
            table(
                "Scaling",
                [["scenario", "text"], ["series", "text"], ["rows", "number"], ["error of the ratio", "written"]],
                growth.map((one) => [one.point, one.series, one.rows, signed_percent(one.ratio_error)])));
    parent.append(make("div", {class: "figure"}, make("h3", {}, "Layouts and scaling"), ...parts));
}

/// Returns a note for each alternative that is refused for some rows.
const refusals = (alternatives) =>
    alternatives.filter((one) => one.refused_because !== null)
        .map((one) => note(`“${one.name}” is refused for ${one.refused} predicted rows: ${one.refused_because}.`));

function assumptions_figure(point) {
    const line = (name, of, refused, why) =>
        [name, of.rows, accuracy_text(of.median_accuracy), accuracy_text(of.worst_accuracy), signed_or_dash(of.bias),
         refused, why];
    return make(
        "div", {class: "figure"}, make("h3", {}, "Assumptions"),
        make(
            "p", {},
            "Figures with another plausible value of what the source leaves open, one at a time, with parameters fitted " +
                "again. Rows for which it is invalid are counted as refused."),
        table(
            "Accuracy under each assumption",
            [
                ["assumption", "text"], ["rows", "number"], ["median", "written"], ["minimum", "written"],
                ["bias", "written"], ["refused", "number"], ["what it is", "text"]
            ],
            [
                line("as written", {...point, rows: predicted_rows(point)}, 0, null),
                ...point.assumptions.map((one) => line(one.name, one, one.refused, one.why))
            ]),
        ...refusals(point.assumptions));
}

function mechanisms_section({points, mechanisms, ...all}) {
    const cell = (one) =>
        (one.applies && one.rows > 0 ? `${percent(one.median_error)} (${signed_percent(one.change)})` : "–");
    const parent = section("mechanisms", "Mechanisms");
    parent.append(make(
        "div", {class: "figure"},
        make(
            "p", {},
            "Median error with each mechanism of the simulation switched off, with parameters fitted again, and in " +
                "brackets its change over the same rows: above zero, the mechanism helps. A dash: no prediction changes."),
        table(
            "Median error without each mechanism",
            [["switched off", "text"], ...points.map(({name}) => [name, "written"]), ["all", "written"]],
            [
                ["nothing", ...points.map((point) => percent(point.median_error)), percent(all.median_error)],
                ...mechanisms.map((one) => [one.name, ...one.points.map(cell), cell(one)])
            ]),
        ...refusals(mechanisms)));
}
