// The chart of a batch: a figure over a setting, a line for each value of another, the others fixed by filters.

function batch_chart(columns, rows, value_at, figures, settings) {
    const parent = section("chart", "Results by setting");
    const name = (column) => words_of(columns[column].name);
    const varied = settings.filter(
        (column) =>
            !["point", "points"].includes(columns[column].name) && new Set(rows.map((row) => row[column])).size > 1);
    const usable = varied.length > 0 ? varied : settings;
    // By column, as the reader set the filter, or the address does.
    const chosen = new Map(usable.map((column) => [column, address.get(`only ${columns[column].name}`)])
                               .filter(([, value]) => value !== null));
    const limit = columns.findIndex((column) => column.name === "limited_by");
    const axes_changed = () => {
        if (series.value === x.value) series.value = "";
        show();
    };
    const y = chooser("Vertical axis", figures, columns, () => show());
    const x = chooser("Horizontal axis", usable, columns, axes_changed);
    const series = chooser("Lines", usable, columns, axes_changed);
    series.prepend(make("option", {value: ""}, "a single line"));
    const named = (what, among) => among.find((column) => columns[column].name === address.get(what));
    y.value = named("y", figures) ?? main_figure(columns, figures);
    x.value = named("x", usable) ?? main_setting(columns, rows, usable, value_at);
    const others = usable.filter((column) => String(column) !== x.value);
    series.value = address.get("lines") === "one" ? "" :
                                                    named("lines", others) ?? main_series(columns, rows, others, value_at) ?? "";
    const log = make("input", {type: "checkbox", checked: address.get("log") === "y", onchange: () => show()});
    const choose = (what, select) => select.addEventListener(
        "change", () => remember(what, select.value === "" ? "one" : columns[select.value].name));
    [["y", y], ["x", x], ["lines", series]].forEach(([what, select]) => choose(what, select));
    log.addEventListener("change", () => remember("log", log.checked ? "y" : null));
    const fixed = make("div", {class: "tools filters"}), place = make("div");
    parent.append(
        make(
            "div", {class: "tools"}, make("label", {}, "vertical axis ", y), make("label", {}, "horizontal axis ", x),
            make("label", {}, "a line for each ", series), make("label", {}, log, " logarithmic vertical axis")),
        fixed, place);

    /// Shows a select box for each setting that is fixed.
    function show_filters(filters) {
        const focused = [...fixed.querySelectorAll("select")].indexOf(document.activeElement);
        fixed.replaceChildren(...filters.map(({column, values, value}) => {
            const select = make("select", {
                "data-setting": columns[column].name,
                onchange: () => {
                    chosen.set(column, select.value);
                    remember(`only ${columns[column].name}`, select.value);
                    show();
                }
            });
            select.append(
                ...values.map((text) => make("option", {value: text}, text)),
                make("option", {value: all_values}, "all (mean)"));
            select.value = value;
            return make("label", {}, `${name(column)} = `, select);
        }));
        fixed.querySelectorAll("select")[focused]?.focus();
    }

    /// Returns the range of a row's figure: a group of points has columns of its own for it.
    function range_of(row, up) {
        const stem = columns[up].name.replace(/_mean$/, "");
        const end = (what) => {
            const column = columns.findIndex((one) => one.name === stem + what);
            return column < 0 || stem === columns[up].name ? value_at(row, up) : value_at(row, column);
        };
        return [end("_least"), end("_most")];
    }

    /// Returns by line, by horizontal position: {mean, low, high, points}.
    function knots_of(some, up, along, by) {
        const lines = new Map();
        for (const row of some) {
            const value = value_at(row, up), at = value_at(row, along);
            if (typeof value !== "number" || at === null) continue;
            const label = by === null ?
                name(up) :
                (columns[by].name === "variant" ? "" : name(by) + " ") + written_as(rows[row][by]);
            if (!lines.has(label)) lines.set(label, new Map());
            const knots = lines.get(label), [low, high] = range_of(row, up);
            const before = knots.get(at) ?? {mean: 0, low, high, points: 0, limits: []};
            const limits = limit < 0 || rows[row][limit] === null ? [] : [String(rows[row][limit])];
            const points = before.points + 1;
            knots.set(at, {
                mean: before.mean + (value - before.mean) / points,
                low: Math.min(before.low, low),
                high: Math.max(before.high, high),
                points,
                limits: [...new Set([...before.limits, ...limits])]
            });
        }
        return lines;
    }

    /// Returns the line that says what limits a mark's points, for those whose results do.
    const limits_of = ({limits}) => (limits.length > 0 ? `limited by ${listed(limits)}` : undefined);

    function description(filters, lines, shown) {
        const held = filters.filter(({value}) => value !== all_values);
        const averaged = filters.filter(({value}) => value === all_values).map(({column}) => name(column));
        const knots = [...lines.values()].flatMap((line) => [...line.values()]);
        const spreads = knots.some(({low, high}) => high > low);
        return [
            averaged.length > 0 ?
                `Each mark is the mean over all values of ${listed(averaged)}.` :
                columns.some((column) => column.name === "points") ?
                "Each mark is the mean of a group of points." :
                knots.some(({points}) => points > 1) ?
                "Each mark is the mean of points that differ in other settings, which this page does not list." :
                "Each mark is one point of the batch.",
            spreads ? "Vertical bars reach from the minimum to the maximum." : "",
            held.length > 0 ?
                `Only points with ${
                    listed(held.map(
                        ({column, value}) => `${name(column)} = ${value}`))} are drawn; choose other values above.` :
                "",
            shown < lines.size ? `Only the first ${shown} of ${lines.size} lines are drawn; the table lists all.` : ""
        ].filter(Boolean)
            .join(" ");
    }

    function show() {
        clear(place);
        const up = Number(y.value), along = Number(x.value), by = series.value === "" ? null : Number(series.value);
        const axes = by === null ? [along] : [along, by];
        const {some, filters} = fixed_settings(columns, rows, value_at, usable, axes, chosen);
        show_filters(filters);
        const lines = knots_of(some, up, along, by);
        const positions = [...new Set([...lines.values()].flatMap((knots) => [...knots.keys()]))];
        const numeric = positions.length > 0 && positions.every((at) => typeof at === "number");
        positions.sort((a, b) => (numeric ? a - b : String(a).localeCompare(String(b))));
        const written = new Map(some.map((row) => [value_at(row, along), String(rows[row][along])]));
        const unit = columns[up].unit, shown = [...lines].slice(0, 24);
        const points_of = (knots) => positions.filter((at) => knots.has(at)).map((at) => {
            const {mean, low, high, limits} = knots.get(at);
            return {x: numeric ? at : written.get(at), y: mean, low, high, limits};
        });
        const knots_drawn = [...lines.values()].flatMap((knots) => [...knots.values()]);
        figure(place, {
            title: capital(`${name(up)} by ${name(along)}`),
            unit,
            text: description(filters, lines, shown.length),
            config: () => ({
                type: "line",
                data: {
                    labels: numeric ? undefined : positions.map((at) => written.get(at)),
                    datasets: shown.map(([label, knots], i) => line(label, points_of(knots), i))
                },
                plugins: [spread],
                options: {
                    plugins: {tooltip: {callbacks: {afterLabel: ({raw}) => limits_of(raw)}}},
                    scales: {
                        x: numeric ? measured_axis(name(along), positions, (at) => written.get(at)) :
                                     axis(name(along), null),
                        y: axis(name(up), unit, {
                            ...(log.checked ? {type: "logarithmic"} : {beginAtZero: true}),
                            suggestedMin: knots_drawn.reduce((least, {low}) => Math.min(least, low), Infinity),
                            suggestedMax: knots_drawn.reduce((most, {high}) => Math.max(most, high), -Infinity)
                        })
                    }
                }
            }),
            height: 420,
            columns: [
                [by === null ? "line" : name(by), "text"], [name(along), "text"], ["points", "number"],
                ["minimum", unit], ["mean", unit], ["maximum", unit], ...(limit < 0 ? [] : [["limited by", "text"]])
            ],
            rows: [...lines].flatMap(([label, knots]) => positions.filter((at) => knots.has(at)).map((at) => {
                const {mean, low, high, points, limits} = knots.get(at);
                return [label, written.get(at), points, low, mean, high, ...(limit < 0 ? [] : [listed(limits)])];
            })),
        });
    }
    show();
}
