// A batch: a chart of a result over a setting, the best points, a sortable table of all points.

function batch_page() {
    const {columns, rows, numbers} = data;
    const value_at = (row, column) => numbers[row][column] ?? rows[row][column];
    const unit_at = (column) => (columns[column].figure ? columns[column].unit : "text");
    const figures = columns.map((_, i) => i).filter((i) => columns[i].figure);
    const settings = columns.map((_, i) => i).filter((i) => columns[i].setting);
    const all = rows.map((_, i) => i);
    const listed_in = columns.map((_, i) => i).filter((i) => columns[i].listed);

    document.getElementById("lead").textContent = `This page shows a batch of ${
        rows.length} points: one simulation for each combination of settings. ${data.note}`;
    if (figures.length > 0 && settings.length > 0 && rows.length > 1)
        batch_chart(columns, rows, value_at, figures, settings);
    if (figures.length > 0) {
        const best = section("best", "Best points");
        const which = (figure) => {
            const found = all.filter((row) => typeof value_at(row, figure) === "number");
            const better = columns[figure].most_is_best ? -1 : 1;
            return found.sort((a, b) => better * (value_at(a, figure) - value_at(b, figure))).slice(0, 5);
        };
        const choice = chooser("Objective", figures, columns, () => {
            remember("objective", columns[choice.value].name);
            fill();
        });
        choice.value = figures.find((figure) => columns[figure].name === address.get("objective")) ??
            main_figure(columns, figures);
        const shown = (figure) => (columns[figure].listed ? listed_in : [...listed_in, figure]);
        const place = make("div");
        best.append(make("label", {class: "choice"}, "Objective ", choice), place);
        const fill = () => {
            const figure = Number(choice.value);
            place.replaceChildren(
                note(`The five points with the ${columns[figure].most_is_best ? "highest" : "lowest"} ${
                    words_of(columns[figure].name)}, best first.`),
                table(
                    "Best points", shown(figure).map((i) => ([words_of(columns[i].name), unit_at(i)])),
                    which(figure).map((row) => shown(figure).map((i) => rows[row][i]))));
        };
        fill();
    }
    sortable(section("points", "All points"), listed_in.map((i) => columns[i]),
        rows.map((row) => listed_in.map((i) => row[i])), (row, i) => value_at(row, listed_in[i]),
        (i) => unit_at(listed_in[i]));
}

/// Adds a table whose headings sort it.
function sortable(parent, columns, rows, value_at, unit_at) {
    const order = rows.map((_, i) => i);
    const place = make("div");
    const named = columns.findIndex((column) => column.name === (address.get("sort") ?? "").replace(/^-/, ""));
    let by = named < 0 ? null : named, down = (address.get("sort") ?? "").startsWith("-");
    const compare = (a, b) => {
        const one = value_at(a, by), other = value_at(b, by);
        if (one === null || other === null) return (one === null) - (other === null);
        const less = typeof one === "number" && typeof other === "number" ? one - other :
                                                                            String(one).localeCompare(String(other));
        return down ? -less : less;
    };
    const fill = () => {
        const made = table(
            `${rows.length} points`, columns.map((column, i) => ([words_of(column.name), unit_at(i)])),
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
                        remember("sort", (down ? "-" : "") + columns[by].name);
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
    if (by !== null) order.sort(compare);
    fill();
    parent.append(
        make("p", {class: "note"}, "Click a heading to sort by its column, and again to reverse the order."), place);
}
