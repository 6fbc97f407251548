// A batch: the best points, a chart of a result over a setting, a sortable table of all points.

function batch_page() {
    const {columns, rows, numbers} = data;
    const value_at = (row, column) => numbers[row][column] ?? rows[row][column];
    const unit_at = (column) => (columns[column].figure ? columns[column].unit : "text");
    const figures = columns.map((_, i) => i).filter((i) => columns[i].figure);
    const settings = columns.map((_, i) => i).filter((i) => columns[i].setting);
    const all = rows.map((_, i) => i);

    document.getElementById("lead").textContent = `A batch of ${rows.length} points. ${data.note}`;
    if (figures.length > 0) {
        const best = section("best", "Best points");
        const which = (figure) => {
            const found = all.filter((row) => typeof value_at(row, figure) === "number");
            const better = columns[figure].most_is_best ? -1 : 1;
            return found.sort((a, b) => better * (value_at(a, figure) - value_at(b, figure))).slice(0, 5);
        };
        const choice = chooser("Objective", figures, columns, () => fill());
        choice.value = figures.find((figure) => columns[figure].name.startsWith("throughput")) ?? figures[0];
        const place = make("div");
        best.append(make("label", {class: "choice"}, "Objective ", choice), place);
        const fill = () => {
            const figure = Number(choice.value);
            place.replaceChildren(
                note(`The five points with the ${columns[figure].most_is_best ? "highest" : "lowest"} ${
                    words_of(columns[figure].name)}, best first.`),
                table(
                    "Best points", columns.map((column, i) => ({name: words_of(column.name), unit: unit_at(i)})),
                    which(figure).map((row) => rows[row])));
        };
        fill();
        if (settings.length > 0 && rows.length > 1) batch_chart(columns, rows, value_at, figures, settings);
    }
    sortable(section("points", "All points"), columns, rows, value_at, unit_at);
}

function chooser(label, options, columns, changed) {
    const select = make("select", {"aria-label": label, onchange: changed});
    for (const option of options) select.append(make("option", {value: option}, words_of(columns[option].name)));
    return select;
}

function batch_chart(columns, rows, value_at, figures, settings) {
    const parent = section("chart", "Results by setting");
    const distinct = (column) => new Set(rows.map((row) => row[column])).size;
    const varied = settings.filter((column) => distinct(column) > 1);
    const usable = varied.length > 0 ? varied : settings;
    const y = chooser("Vertical axis", figures, columns, () => show()), x = chooser("Horizontal axis", usable, columns, () => show());
    const series = chooser("Series", usable, columns, () => show());
    series.prepend(make("option", {value: ""}, "none: a single line"));
    const by_default = usable.find((column) => String(column) !== x.value && distinct(column) <= 8);
    series.value = by_default ?? "";
    const log = make("input", {type: "checkbox", onchange: () => show()});
    const place = make("div");
    parent.append(
        make(
            "div", {class: "tools"}, make("label", {}, "Vertical axis ", y), make("label", {}, "horizontal axis ", x),
            make("label", {}, "series ", series), make("label", {}, log, " logarithmic")),
        place);

    function show() {
        clear(place);
        const up = Number(y.value), along = Number(x.value), by = series.value === "" ? null : Number(series.value);
        const groups = new Map();
        rows.forEach((row, i) => {
            const value = value_at(i, up), at = value_at(i, along);
            if (typeof value !== "number" || at === null) return;
            const name =
                by === null ? words_of(columns[up].name) : `${words_of(columns[by].name)} ${row[by] ?? "none"}`;
            if (!groups.has(name)) groups.set(name, new Map());
            const knots = groups.get(name);
            if (!knots.has(at)) knots.set(at, []);
            knots.get(at).push(value);
        });
        const marks_along = [...new Set([...groups.values()].flatMap((knots) => [...knots.keys()]))];
        const numeric = marks_along.every((at) => typeof at === "number");
        marks_along.sort((a, b) => (numeric ? a - b : String(a).localeCompare(String(b))));
        const written = new Map(rows.map((row, i) => [value_at(i, along), String(row[along])]));
        const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
        const many = [...groups.values()].some((knots) => [...knots.values()].some((values) => values.length > 1));
        const unit = columns[up].unit, shown = [...groups].slice(0, 24);
        figure(place, {
            title: `${words_of(columns[up].name)} by ${words_of(columns[along].name)}`,
            unit,
            text: (many ? "Each mark is the mean of all points with these settings; the points differ in other settings." :
                          "Each mark is a point of the batch.") +
                (shown.length < groups.size ? ` Only the first ${shown.length} of ${groups.size} lines are drawn.` : ""),
            config: () => ({
                type: "line",
                data: {
                    labels: marks_along.map((at) => written.get(at)),
                    datasets: shown.map(
                        ([name, knots], i) => line(
                            name, marks_along.map((at) => (knots.has(at) ? mean(knots.get(at)) : null)), i,
                            {spanGaps: true}))
                },
                options: {
                    scales: {
                        x: axis(words_of(columns[along].name), null),
                        y: axis(
                            words_of(columns[up].name), unit, log.checked ? {type: "logarithmic"} : {beginAtZero: true})
                    }
                }
            }),
            height: 420,
            columns: [
                {name: by === null ? "line" : words_of(columns[by].name), unit: "text"},
                {name: words_of(columns[along].name), unit: "text"}, {name: "points", unit: "number"},
                {name: "minimum", unit}, {name: "mean", unit}, {name: "maximum", unit}
            ],
            rows: [...groups].flatMap(([name, knots]) => marks_along.filter((at) => knots.has(at)).map((at) => {
                const values = knots.get(at);
                return [name, written.get(at), values.length, Math.min(...values), mean(values), Math.max(...values)];
            })),
        });
    }
    show();
}

/// Adds a table whose headings sort it.
function sortable(parent, columns, rows, value_at, unit_at) {
    const order = rows.map((_, i) => i);
    const place = make("div");
    let by = null, down = false;
    const compare = (a, b) => {
        const one = value_at(a, by), other = value_at(b, by);
        if (one === null || other === null) return (one === null) - (other === null);
        const less = typeof one === "number" && typeof other === "number" ? one - other :
                                                                            String(one).localeCompare(String(other));
        return down ? -less : less;
    };
    const fill = () => {
        const made = table(
            `${rows.length} points`, columns.map((column, i) => ({name: words_of(column.name), unit: unit_at(i)})),
            order.map((row) => rows[row]));
        made.querySelectorAll("th").forEach((head, column) => {
            const text = head.textContent;
            head.replaceChildren(make(
                "button", {
                    type: "button",
                    "data-column": column,
                    onclick: () => {
                        down = by === column ? !down : false;
                        by = column;
                        order.sort(compare);
                        fill();
                        place.querySelector(`[data-column="${column}"]`).focus();
                    }
                },
                text));
            if (by === column) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        });
        place.replaceChildren(made);
    };
    fill();
    parent.append(make("p", {class: "note"}, "Click a heading to sort by its column, and again to reverse the order."), place);
}
