// Shared by all parts of the page: its data, DOM elements, number formats, tables.

const data = JSON.parse(document.getElementById("data").textContent);

/// Creates an element with attributes and children (elements or strings).
function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith("on"))
            element.addEventListener(name.slice(2), value);
        else if (name === "style")
            element.style.cssText = value;  // a content policy without inline styles allows it
        else if (value !== null && value !== undefined && value !== false)
            element.setAttribute(name, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

function digits(value, count = 4) {
    if (value === 0) return "0";
    return String(Number(Number(value).toPrecision(count)));
}

function scaled(value, units) {
    if (value === null || value === undefined) return "–";
    if (value === 0) return "0";
    const [factor, name] = units.find(([least]) => Math.abs(value) >= least * 0.9995) ?? units[units.length - 1];
    return digits(value / factor) + " " + name;
}

const units = {
    s: (value) => scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]),
    B: (value) => scaled(value, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]),
    GiB: (value) =>
        (value === null || value === undefined ? "–" : `${digits(value / 2 ** 30, value < 2 ** 30 ? 2 : 3)} GiB`),
    J: (value) => scaled(value, [[3.6e12, "GWh"], [3.6e9, "MWh"], [3.6e6, "kWh"], [1e3, "kJ"], [1, "J"]]),
    W: (value) => scaled(value, [[1e6, "MW"], [1e3, "kW"], [1, "W"]]),
    Bps: (value) => scaled(value, [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]]),
    share: (value) => (value === null || value === undefined ? "–" : digits(100 * value, 3) + " %"),
    per_s: (value) => (value === null || value === undefined ? "–" : digits(value, 5) + " /s"),
    number: (value) => (value === null || value === undefined ? "–" : digits(value, 6)),
    written: (value) => value ?? "–",  // already formatted as text
    text: (value) => (value === null || value === undefined || value === "" ? "–" : String(value)),
};

/// Returns a share for prose, where small digits say nothing.
const part_of = (value) => (value > 0 && value < 0.001 ? "< 0.1 %" : units.share(value));

/// Returns for example "a, b and c".
const listed = (texts) =>
    (texts.length > 1 ? texts.slice(0, -1).join(", ") + " and " : "") + (texts[texts.length - 1] ?? "");

/// Turns a field's name, such as `throughput_samples_per_s`, into words.
function words_of(name) {
    const [, quantity, of_group] = /^(.*?)(?:_(mean|least|most|deviation))?$/.exec(name);
    const words = quantity.replace(/^throughput_/, "")
                      .replace(/_per_s$/, " per second")
                      .replace(/_(s|Bps|J|W)$/, "")
                      .replaceAll("_", " ");
    const before = {mean: "mean ", least: "minimum ", most: "maximum ", deviation: "standard deviation of "};
    return (before[of_group] ?? "") + words;
}

/// Returns a line of the program's output as a sentence.
const sentence_of = (line) => capital(line) + (/[.:]$/.test(line) ? "" : ".");

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/// Returns a name with an asterisk for each of its numbers.
const pattern_of = (name) => name.replace(/[0-9]+/g, "*");

/// Groups rows whose names differ in numbers only and for which `alike(group's first, row)` holds. Returns the first row
/// of each group with the sums of `summed` and a name such as "layer1.attention (×20)", the largest sum first.
function grouped(rows, name, summed, alike) {
    const groups = [], by_pattern = new Map();
    for (const row of rows) {
        const pattern = pattern_of(row[name]);
        const same = by_pattern.get(pattern) ?? by_pattern.set(pattern, []).get(pattern);
        let group = same.find(({first}) => alike(first, row));
        if (!group) {
            group = {first: row, count: 0, sums: Object.fromEntries(summed.map((key) => [key, 0]))};
            same.push(group);
            groups.push(group);
        }
        ++group.count;
        for (const key of summed) group.sums[key] += row[key];
    }
    const size = ({sums}) => summed.reduce((all, key) => all + sums[key], 0);
    groups.sort((a, b) => size(b) - size(a));
    return groups.map(
        ({first, count, sums}) =>
            ({...first, ...sums, [name]: count > 1 ? `${first[name]} (×${count})` : first[name]}));
}

/// Returns whether two times are equal, to a percent.
const same_time = (a, b) => Math.abs(a - b) <= 0.01 * Math.max(Math.abs(a), Math.abs(b));

/// Allows line breaks after the dots of a long key.
const breakable = (text) => text.split(/(?<=\.)/).flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part]));

/// Creates a table. `columns`: [[name, unit]]; `rows`: lists of values. Shows the first `first` rows until asked for
/// more.
function table(caption, columns, rows, first = 500) {
    const body = make("tbody");
    const cell = (value, [name, unit]) =>
        (unit === "text" ? make("td", {"data-name": name}, make("span", {}, ...breakable(units.text(value)))) :
                           make("td", {"data-name": name, class: "number"}, units[unit](value)));
    let shown = 0;
    const more = make("button", {type: "button", onclick: () => add(rows.length)});
    const add = (until) => {
        for (; shown < Math.min(until, rows.length); ++shown)
            body.append(make("tr", {}, ...rows[shown].map((value, i) => cell(value, columns[i]))));
        more.textContent = `Show all ${rows.length} rows`;
        more.hidden = shown >= rows.length;
    };
    add(first);
    const head =
        columns.map(([name, unit]) => make("th", {scope: "col", class: unit === "text" ? null : "number"}, name));
    return make(
        "div", {},
        make(
            "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
            make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...head)), body)),
        make("div", {class: "tools"}, more));
}

/// Creates a table that is as wide as the page, and a sentence instead of those columns that are the same in all rows.
/// The first column names the rows.
function narrow_table(caption, columns, rows) {
    const known = columns.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== null));
    const alike = known.filter((i) => i > 0 && rows.length > 1 && rows.every((row) => row[i] === rows[0][i]));
    const shown = known.filter((i) => !alike.includes(i));
    const fits = table(caption, shown.map((i) => columns[i]), rows.map((row) => shown.map((i) => row[i])));
    fits.classList.add("fits");
    const values = alike.map((i) => `${columns[i][0]} = ${units[columns[i][1]](rows[0][i])}`);
    return make(
        "div", {}, ...(shown.length > 1 ? [fits] : []),
        ...(alike.length > 0 ? [note(`The same in all rows: ${values.join(", ")}.`)] : []));
}

/// Creates a table that is collapsed, and only built once it is opened.
function folded(caption, columns, rows) {
    const details = make("details", {class: "numbers"}, make("summary", {}, `Table: ${caption}`));
    details.addEventListener("toggle", () => {
        if (details.open && details.children.length === 1) details.append(table(caption, columns, rows));
    });
    return details;
}

/// Adds a section with a heading, listed in the contents.
function section(id, title) {
    const list = document.querySelector("#contents ul") ?? document.getElementById("contents").appendChild(make("ul"));
    const go = (event) => {
        event.preventDefault();
        remember("at", id);
        show_place();
    };
    list.append(make("li", {}, make("a", {href: "#at=" + id, onclick: go}, title)));
    const element = make("section", {id, "aria-labelledby": id + "-title"}, make("h2", {id: id + "-title"}, title));
    document.getElementById("main").append(element);
    return element;
}

function note(text) { return make("p", {class: "note"}, text); }
