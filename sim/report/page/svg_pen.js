// Charts of Chart.js as SVG: what a chart draws on its canvas is recorded while it draws itself once more.

const recorded_patterns = new WeakMap();  // fill styles of pattern(): {colour, ink, strokes}

const short = (value) => String(Math.round(100 * value) / 100);

/// Records the calls of a canvas's context as elements of an SVG.
class SvgPen {
    constructor(pen) {
        this.pen = pen;
        this.ratio = pen.canvas.width / pen.canvas.clientWidth;
        this.elements = [];
        this.path = "";
        this.parents = [this.elements];  // the innermost clipped group is last
        this.saved = [];                 // number of parents when the context was saved
        this.ids = 0;
        this.definitions = [];
    }

    /// Returns what is drawn by `draw()`.
    record(draw) {
        const {pen} = this;
        const calls = Object.getOwnPropertyNames(SvgPen.prototype).filter((name) => name.startsWith("on_"));
        for (const call of calls) {
            const name = call.slice(3), own = pen[name].bind(pen);
            pen[name] = (...values) => {
                this[call](...values);
                return own(...values);
            };
        }
        try {
            draw();
        } finally {
            for (const call of calls) delete pen[call.slice(3)];
        }
        return [shape("defs", {}, ...this.definitions), ...this.elements];
    }

    transform() {
        const {a, b, c, d, e, f} = this.pen.getTransform();
        const values = [a, b, c, d, e, f].map((value) => value / this.ratio);
        return values.every((value, i) => value === [1, 0, 0, 1, 0, 0][i]) ? null :
                                                                             `matrix(${values.map(short).join(" ")})`;
    }

    paint(style) {
        const known = recorded_patterns.get(style);
        if (known === undefined) return typeof style === "string" ? style : "none";
        const id = `tile-${this.definitions.length}`;
        this.definitions.push(shape(
            "pattern", {id, width: 8, height: 8, patternUnits: "userSpaceOnUse"},
            shape("rect", {width: 8, height: 8, fill: known.colour}),
            ...known.strokes.map(([x, y, to_x, to_y]) => shape("path", {
                                     d: `M${x} ${y}L${to_x} ${to_y}`,
                                     stroke: known.ink,
                                     "stroke-width": 1.2,
                                     "stroke-opacity": 0.75
                                 }))));
        return `url(#${id})`;
    }

    add(tag, attributes, ...children) {
        const opacity = this.pen.globalAlpha < 1 ? this.pen.globalAlpha : null;
        this.parents[this.parents.length - 1].push(
            shape(tag, {...attributes, opacity, transform: this.transform()}, ...children));
    }
    line() {
        const {strokeStyle, lineWidth} = this.pen, dash = this.pen.getLineDash();
        return {
            fill: "none",
            stroke: this.paint(strokeStyle),
            "stroke-width": lineWidth,
            "stroke-dasharray": dash.length > 0 ? dash.join(" ") : null
        };
    }

    on_beginPath() { this.path = ""; }
    on_moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
    on_lineTo(x, y) { this.path += `${this.path ? "L" : "M"}${short(x)} ${short(y)}`; }
    on_bezierCurveTo(...values) { this.path += `C${values.map(short).join(" ")}`; }
    on_rect(x, y, width, height) {
        this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}Z`;
    }
    on_arc(x, y, radius, from, to) {
        const at = (angle) => `${short(x + radius * Math.cos(angle))} ${short(y + radius * Math.sin(angle))}`;
        const middle = (from + to) / 2, round = `A${short(radius)} ${short(radius)} 0 0 1`;
        this.path += `${this.path ? "L" : "M"}${at(from)}${round} ${at(middle)}${round} ${at(to)}`;
    }
    on_closePath() { this.path += "Z"; }
    on_fill() {
        if (this.path) this.add("path", {d: this.path, fill: this.paint(this.pen.fillStyle)});
    }
    on_stroke() {
        if (this.path) this.add("path", {d: this.path, ...this.line()});
    }
    on_fillRect(x, y, width, height) { this.add("rect", {x, y, width, height, fill: this.paint(this.pen.fillStyle)}); }
    on_strokeRect(x, y, width, height) { this.add("rect", {x, y, width, height, ...this.line()}); }
    on_fillText(text, x, y) {
        const {font, fillStyle, textAlign, textBaseline} = this.pen;
        const anchor = {center: "middle", right: "end", end: "end"}[textAlign] ?? "start";
        const baseline = {middle: "central", top: "hanging"}[textBaseline] ?? "auto";
        this.add(
            "text",
            {x, y, fill: fillStyle, "text-anchor": anchor, "dominant-baseline": baseline, style: `font: ${font}`}, text);
    }
    on_clip() {
        const id = `clip-${this.ids++}`, inside = shape("g", {"clip-path": `url(#${id})`});
        this.definitions.push(
            shape("clipPath", {id}, shape("path", {d: this.path, transform: this.transform()})));
        this.parents[this.parents.length - 1].push(inside);
        this.parents.push({push: (element) => inside.append(element)});
    }
    on_save() { this.saved.push(this.parents.length); }
    on_restore() { this.parents.length = this.saved.pop() ?? this.parents.length; }
}

/// Returns a chart as an SVG element.
function svg_of_chart(chart) {
    const {width, height} = chart;
    return shape(
        "svg", {viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`},
        ...new SvgPen(chart.ctx).record(() => chart.draw()));
}
