// Figures that are drawn as SVG: their axes, bars, legends.

/// Adds a figure whose picture `draw(width)` returns as {height, shapes}; it is drawn again if the width changes.
/// `before` is above the picture.
function svg_figure(parent, {title, text, draw, columns, rows, before = null}) {
    const svg = shape("svg", {class: "drawing", role: "img", "aria-label": `${title}. The table below lists the numbers.`});
    const box = make("div", {class: "canvas"}, svg);
    const said = make("p", {}, text);
    const element = make(
        "div", {class: "figure"}, heading(title, () => svg), said, before, box, folded(title, columns, rows));
    parent.append(element);
    let drawn_width = 0;
    const redraw = () => {
        const width = printing ? 680 : Math.max(280, Math.round(box.clientWidth));
        const {height, shapes} = draw(width);
        drawn_width = width;
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.replaceChildren(...shapes);
    };
    redraw();
    new ResizeObserver(() => {
        if (box.clientWidth > 0 && Math.abs(box.clientWidth - drawn_width) > 1) redraw();
    }).observe(box);
    return {element, svg, box, said, redraw};
}

const paint_of = (name) => `var(--${name.replaceAll(" ", "-")})`;

/// Returns a text; `more` are further attributes.
function label_at(x, y, text, more = {}) {
    return shape("text", {x, y, "font-size": 12, fill: "var(--ink)", ...more}, text);
}

/// Returns about `room` round numbers from `from` to `to`.
function round_numbers(from, to, room) {
    const step = round_out((to - from) / Math.max(room, 1), true);
    const list = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; ++i) list.push(i * step);
    return list;
}

/// Returns a time axis from `from` to `to` seconds: lines from `top` to `bottom`, and labels below.
function time_axis({from, to, left, right, top, bottom}) {
    const x = (time) => left + (right - left) * (time - from) / (to - from);
    return round_numbers(from, to, (right - left) / 110).flatMap((time) => [
        shape("path", {d: `M${x(time)} ${top}V${bottom}`, stroke: "var(--line)"}),
        label_at(x(time), bottom + 15, units.s(time), {
            fill: "var(--faint)",
            "text-anchor": x(time) < left + 14 ? "start" : x(time) > right - 24 ? "end" : "middle"
        })
    ]);
}

const text_width = (text, size = 12) => 0.56 * size * text.length;

/// Returns a legend in lines of at most `width`, and its height. `entries`: [{fill, opacity, text}].
function legend_of(entries, width, top) {
    const shapes = [];
    let x = 0, y = top;
    for (const {fill, opacity, text} of entries) {
        const length = 22 + text_width(text, 12.5);
        if (x > 0 && x + length > width) {
            x = 0;
            y += 20;
        }
        shapes.push(
            shape("rect", {x, y: y + 3, width: 12, height: 12, rx: 2, fill, "fill-opacity": opacity}),
            label_at(x + 17, y + 13, text, {"font-size": 12.5}));
        x += length + 12;
    }
    return {shapes, height: y + 22 - top};
}

const titled = (element, text) => {
    element.append(shape("title", {}, text));
    return element;
};
