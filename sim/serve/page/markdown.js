// The Markdown of lessons as elements. Texts become text nodes: nothing in them is read as HTML.

/// Returns the nodes of a line: code, strong, emphasised, links (as text: the page has no other pages).
function inline_markdown(text) {
    const nodes = [];
    const marks =
        /(`+)(.+?)\1|\*\*(.+?)\*\*|(?<![\w*])\*([^*\s][^*]*?)\*(?![\w*])|!?\[([^\]]*)\]\([^)]*\)|<(https?:[^>]+)>/g;
    let done = 0;
    for (const found of text.matchAll(marks)) {
        if (found.index > done) nodes.push(text.slice(done, found.index));
        const [all, , code, strong, emphasis, link, address] = found;
        nodes.push(
            code !== undefined         ? make("code", {}, code) :
                strong !== undefined   ? make("strong", {}, ...inline_markdown(strong)) :
                emphasis !== undefined ? make("em", {}, ...inline_markdown(emphasis)) :
                link !== undefined     ? make("span", {}, ...inline_markdown(link)) :
                                         address ?? all);
        done = found.index + all.length;
    }
    if (done < text.length) nodes.push(text.slice(done));
    return nodes;
}

const list_mark = /^(\s*)([-*]|\d+\.)\s+(.*)$/;
const cells_of = (line) => line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

function markdown_table(lines) {
    const [head, , ...rows] = lines.map(cells_of);
    const row = (cells, tag) => make(
        "tr", {},
        ...cells.map(
            (cell, i) => make(tag, tag === "th" ? {scope: "col"} : {"data-name": head[i]}, ...inline_markdown(cell))));
    return make(
        "div", {class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${head.join(", ")}`},
        make(
            "table", {}, make("thead", {}, row(head, "th")),
            make("tbody", {}, ...rows.map((cells) => row(cells, "td")))));
}

/// Returns the elements of a Markdown text. `code(text)` makes a block of code; headings become h3 and h4.
function markdown(text, code = (block) => make("pre", {tabindex: "0"}, make("code", {}, block))) {
    const lines = text.split("\n"), elements = [];
    const blank = (line) => line.trim() === "";
    for (let i = 0; i < lines.length;) {
        const line = lines[i];
        const take = (belongs) => {
            const from = i;
            while (i < lines.length && belongs(lines[i], i - from)) ++i;
            return lines.slice(from, i);
        };
        if (blank(line)) {
            ++i;
        } else if (/^#+ /.test(line)) {
            const [, depth, title] = /^(#+) (.*)$/.exec(line);
            elements.push(make(depth.length > 2 ? "h4" : "h3", {}, ...inline_markdown(title)));
            ++i;
        } else if (/^```/.test(line)) {
            ++i;
            const block = take((other) => !/^```/.test(other));
            ++i;
            elements.push(code(block.join("\n")));
        } else if (/^\s*\|/.test(line)) {
            elements.push(markdown_table(take((other) => /^\s*\|/.test(other))));
        } else if (/^ {4}/.test(line)) {
            elements.push(make(
                "pre", {class: "formula", tabindex: "0"},
                take((other) => /^ {4}/.test(other)).map((one) => one.slice(4)).join("\n")));
        } else if (list_mark.test(line)) {
            const ordered = /^\d/.test(line.trim()), items = [];
            // An item goes on in indented lines, also after a blank one.
            while (i < lines.length && list_mark.test(lines[i]) && !/^\s/.test(lines[i])) {
                const [, , mark, first] = list_mark.exec(lines[i]);
                const indent = new RegExp(`^ {1,${mark.length + 1}}`);
                ++i;
                const more = take(
                    (other, at) => /^ {2,}\S/.test(other) || (blank(other) && /^ {2,}\S/.test(lines[i + 1] ?? "")) ||
                        (at === 0 && !blank(other) && !list_mark.test(other) && /^\s/.test(other)));
                items.push(make(
                    "li", {}, ...markdown([first, ...more.map((one) => one.replace(indent, ""))].join("\n"), code)));
                while (i < lines.length && blank(lines[i]) && list_mark.test(lines[i + 1] ?? "") &&
                       !/^\s/.test(lines[i + 1]))
                    ++i;
            }
            elements.push(make(ordered ? "ol" : "ul", {}, ...items));
            if (items.length === 0) ++i;
        } else {
            const paragraph =
                take((other, at) => at === 0 || !(blank(other) || /^(#+ |```|\s*\||[-*] |\d+\. )/.test(other)));
            elements.push(make("p", {}, ...inline_markdown(paragraph.map((one) => one.trim()).join(" "))));
        }
    }
    return elements;
}

/// Returns a section of a lesson without its heading.
const without_heading = (text) => (text ?? "").replace(/^\s*## [^\n]*\n/, "");
