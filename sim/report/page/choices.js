// What the chart of a batch shows: the axes, the lines, and the value at which every other setting is fixed.

const all_values = "all";
const written_as = (value) => (value === null ? "none" : String(value));

function chooser(label, options, columns, changed) {
    const select = make("select", {"aria-label": label, onchange: changed});
    for (const option of options) select.append(make("option", {value: option}, words_of(columns[option].name)));
    return select;
}

/// Returns the figure that interests most: the throughput, if there is one.
const main_figure = (columns, figures) =>
    figures.find((figure) => columns[figure].name.startsWith("throughput")) ?? figures[0];

/// Returns the distinct values of a column in `some` rows: numbers in order, others as they come.
function distinct_values(rows, some, column, value_at) {
    const values = [...new Map(some.map((row) => [written_as(rows[row][column]), value_at(row, column)]))];
    if (values.every(([, value]) => typeof value === "number")) values.sort((a, b) => a[1] - b[1]);
    return values.map(([text]) => text);
}

/// Returns the setting with most distinct numbers, or else the first.
function main_setting(rows, settings, value_at) {
    const numbers = (column) => {
        const values = new Set(rows.map((_, row) => value_at(row, column)).filter((value) => value !== null));
        return [...values].every((value) => typeof value === "number") ? values.size : 0;
    };
    return settings.reduce((best, column) => (numbers(column) > numbers(best) ? column : best), settings[0]);
}

/// Returns the setting that has a line for each value: the variant, or else names before numbers; null if none has few.
function main_series(columns, rows, settings, value_at) {
    const rank = (column) =>
        (columns[column].name === "variant"                    ? 0 :
             typeof value_at(0, column) === "string"           ? 1 :
             ["repeat", "seed"].includes(columns[column].name) ? 9 :
                                                                 2);
    const few = settings.filter((column) => distinct_values(rows, [...rows.keys()], column, value_at).length <= 8);
    return few.filter((column) => rank(column) < 9).sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/// Fixes every setting that is neither an axis nor determined by those before it, at the value in `chosen`, or else at
/// the value of most rows; repetitions are averaged. Returns the rows that remain and for each such setting {column,
/// values, value}.
function fixed_settings(columns, rows, value_at, settings, axes, chosen) {
    let some = rows.map((_, row) => row);
    const keys = [...axes], filters = [];
    for (const column of settings.filter((setting) => !axes.includes(setting))) {
        const seen = new Map();
        const free = some.some((row) => {
            const key = JSON.stringify(keys.map((one) => written_as(rows[row][one])));
            const text = written_as(rows[row][column]);
            if (!seen.has(key)) seen.set(key, text);
            return seen.get(key) !== text;
        });
        if (!free) continue;
        keys.push(column);
        const values = distinct_values(rows, some, column, value_at);
        const count = (text) => some.filter((row) => written_as(rows[row][column]) === text).length;
        const usual = ["repeat", "seed"].includes(columns[column].name) ?
            all_values :
            values.reduce((best, text) => (count(text) > count(best) ? text : best));
        const wanted = chosen.get(column);
        const value = wanted === all_values || values.includes(wanted) ? wanted : usual;
        filters.push({column, values, value});
        if (value !== all_values) some = some.filter((row) => written_as(rows[row][column]) === value);
    }
    return {some, filters};
}
