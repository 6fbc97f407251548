// Predict first: bars to drag and fields to fill in; after that the answer grows over the guess.

const time_units = {
    s: 1,
    sec: 1,
    ms: 1e-3,
    us: 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    ns: 1e-9,
    min: 60
};

/// Returns the seconds of a text such as "1.2 s", "800 ms" or "1,5"; null if it is none. Without a unit it is the one
/// that comes nearest to `usual` seconds.
function parsed_time(text, usual) {
    const found = /^\s*([0-9]*[.,]?[0-9]+(?:e[-+]?\d+)?)\s*([a-zµμ]*)\s*$/i.exec(text);
    if (!found) return null;
    const number = Number(found[1].replace(",", "."));
    const off = (factor) => Math.abs(Math.log(number * factor / usual));
    const factor = found[2] ? time_units[found[2].toLowerCase()] :
                              [1, 1e-3, 1e-6].reduce((best, one) => (off(one) < off(best) ? one : best));
    return number * factor > 0 && Number.isFinite(number * factor) ? number * factor : null;
}

/// Returns the times that a text mentions, in seconds, and the unit of most of them.
function times_in(text) {
    const found = [...text.matchAll(/([0-9.]+) (s|ms|us|µs)\b/g)].map(
        ([, number, unit]) => ({unit, seconds: number * time_units[unit]}));
    const count = (unit) => found.filter((one) => one.unit === unit).length;
    const unit = ["ms", "s", "us", "µs"].reduce((most, one) => (count(one) > count(most) ? one : most));
    return {unit, seconds: found.map(({seconds}) => seconds).filter((value) => value > 0)};
}

/// Returns the scale of bars: linear from 0, or logarithmic if values differ by more than a factor of 40.
function bar_scale(values, least_top, bottom, top) {
    const known = values.filter((value) => value > 0);
    const high = Math.max(least_top, 1.08 * Math.max(0, ...known)), low = Math.min(high, ...known);
    if (high / low > 40) {
        const from = Math.floor(Math.log10(low) - 0.3), to = Math.log10(high * 1.3);
        const ticks = Array.from({length: Math.floor(to) - from + 1}, (_, i) => 10 ** (from + i));
        const y = (value) => bottom - (bottom - top) * (Math.log10(Math.max(value, 10 ** from)) - from) / (to - from);
        return {
            high,
            ticks,
            y,
            logarithmic: true,
            value: (at) => 10 ** (from + (to - from) * (bottom - at) / (bottom - top))
        };
    }
    const y = (value) => bottom - (bottom - top) * value / high;
    return {
        high,
        ticks: round_numbers(0, high, 4),
        y,
        logarithmic: false,
        value: (at) => high * (bottom - at) / (bottom - top)
    };
}

const answer_parts = ["computation", "exposed communication", "waiting", "idle"];

/// Returns for example "+33 %", or "4.1 ×" if it is far off.
function error_text(guess, answer) {
    const factor = guess / answer;
    if (factor > 3 || factor < 1 / 3) return `${digits(factor, 2)} ×`;
    const percent = 100 * (factor - 1);
    return Math.abs(percent) < 0.05 ? "exact" : `${percent > 0 ? "+" : "−"}${digits(Math.abs(percent), 2)} %`;
}

/// Draws the step Predict into `parent`. `lesson` is the API's; `commit(seconds)` is called with the guess, all null if
/// skipped, and `again()` if the student wants to guess again. Returns {parts(row, result)}, which gives an answer's
/// bar its colours once its variant was simulated.
function predict(parent, lesson, {commit, again}) {
    const {rows} = lesson.guess, done = lesson.done;
    const {unit, seconds: mentioned} = times_in(lesson.question);
    const usual = mentioned.length > 0 ? Math.max(...mentioned) : 1;
    const guess = done ? (lesson.given ?? rows.map(() => null)) : rows.map(() => null);
    const stacks = rows.map(() => null);
    let top_value = 2.5 * usual, held = -1;

    const svg = shape("svg", {class: "drawing bars", role: "img"});
    const box = make("div", {class: "canvas"}, svg), fields = make("div", {class: "fields"});
    const inputs = rows.map((row, i) => (done ? null : make("input", {
                                type: "text",
                                inputmode: "text",
                                autocomplete: "off",
                                "data-row": row,
                                "aria-label": `Your guess for ${row}`,
                                placeholder: `? ${unit.replace("us", "µs")}`,
                                oninput: () => set(i, parsed_time(inputs[i].value, usual)),
                                onchange: () => {
                                    set(i, parsed_time(inputs[i].value, usual));
                                    if (guess[i] !== null) inputs[i].value = units.s(guess[i]);
                                }
                            })));
    const error = (i) => {
        if (guess[i] === null) return make("span", {class: "error"}, "no guess");
        const near = Math.abs(Math.log(guess[i] / lesson.seconds[i])) < 0.05;
        return make(
            "span", {class: `error ${near ? "near" : "far"}`, title: `Your guess: ${units.s(guess[i])}`},
            error_text(guess[i], lesson.seconds[i]));
    };
    fields.append(...rows.map(
        (row, i) => make(
            done ? "div" : "label", {class: "field"},
            make("span", {class: "row"}, make("b", {class: "index"}, i + 1), ...breakable_row(row)),
            ...(done ?
                    [
                        make("b", {class: "answer"}, units.s(lesson.seconds[i])),
                        ...(guess.some((value) => value !== null) ? [error(i)] : [])
                    ] :
                    [inputs[i]]))));

    let scale = null, place = null;
    function draw() {
        const width = Math.max(260, Math.round(box.clientWidth)), height = width < 480 ? 210 : 250;
        const left = 52, column = (width - left) / rows.length, bottom = height - 8;
        const narrow = column < 92;
        fields.classList.toggle("list", narrow);
        fields.style.gridTemplateColumns = narrow ? "" : `repeat(${rows.length}, minmax(0, 1fr))`;
        fields.style.paddingLeft = narrow ? "" : `${left}px`;
        const values = [...guess, ...(done ? lesson.seconds : [])].filter((value) => value !== null);
        scale = bar_scale(values, done ? 0 : top_value, bottom - (narrow ? 18 : 0), 24);
        place = {left, column, bottom};
        const base = bottom - (narrow ? 18 : 0), size = column < 66 ? 11 : 13.5;
        const shapes = scale.ticks.flatMap(
            (tick) =>
                [shape("path", {d: `M${left - 6} ${scale.y(tick)}H${width}`, stroke: "var(--line)"}),
                 label_at(
                     left - 10, scale.y(tick) + 4, tick === 0 ? "0" : units.s(tick),
                     {"text-anchor": "end", "font-size": 11.5, fill: "var(--faint)"})]);
        rows.forEach((row, i) => {
            const x = left + column * (i + 0.21), wide = column * 0.58, middle = x + wide / 2;
            const time = (value) => units.s(column < 72 ? Number(value.toPrecision(3)) : value);
            const say = (y, text) => label_at(middle, y, text, {
                "text-anchor": "middle",
                "font-size": size,
                "font-weight": 700,
                stroke: "var(--card)",
                "stroke-width": 3,
                "paint-order": "stroke"
            });
            if (narrow)
                shapes.push(label_at(
                    middle, bottom, i + 1, {"text-anchor": "middle", "font-weight": 650, fill: "var(--faint)"}));
            if (done) {
                const parts = scale.logarithmic || stacks[i] === null ? [["quantity", lesson.seconds[i]]] : stacks[i];
                let from = 0;
                for (const [part, value] of parts) {
                    const low = scale.y(from), high = scale.y(from + value);
                    from += value;
                    if (low - high > 0.3)
                        shapes.push(titled(
                            shape("rect", {
                                class: "grow",
                                x,
                                y: high,
                                width: wide,
                                height: Math.max(0.5, (scale.logarithmic ? base : low) - high - 0.8),
                                rx: 2,
                                fill: paint_of(part)
                            }),
                            `${row}: ${part === "quantity" ? "" : `${part} `}${units.s(value)}`));
                }
                // Above the line of a guess that would cross it.
                const end = scale.y(lesson.seconds[i]), line = guess[i] === null ? end : scale.y(guess[i]);
                shapes.push(say((line < end && line > end - 24 ? line : end) - 7, time(lesson.seconds[i])));
                if (guess[i] !== null)
                    shapes.push(shape("path", {
                        d: `M${x - 8} ${scale.y(guess[i])}h${wide + 16}`,
                        stroke: "var(--ink)",
                        "stroke-width": 2.5,
                        "stroke-dasharray": "6 4"
                    }));
            } else {
                const known = guess[i] !== null, y = known ? scale.y(guess[i]) : base - 0.3 * (base - 24);
                shapes.push(
                    shape("rect", {
                        x,
                        y,
                        width: wide,
                        height: base - y,
                        rx: 4,
                        fill: known ? "var(--quantity)" : "none",
                        "fill-opacity": 0.35,
                        stroke: known ? null : "var(--faint)",
                        "stroke-dasharray": known ? null : "4 4"
                    }),
                    shape("rect", {
                        class: "handle",
                        x: x - 4,
                        y: y - 5,
                        width: wide + 8,
                        height: 10,
                        rx: 5,
                        fill: known ? "var(--ink)" : "var(--faint)"
                    }),
                    say(y - 12, known ? time(guess[i]) : "?"));
            }
        });
        shapes.push(shape("path", {d: `M${left - 6} ${base}H${width}`, stroke: "var(--ink)", "stroke-width": 1.5}));
        svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
        svg.setAttribute(
            "aria-label",
            done ? `Bars of the answer: ${rows.map((row, i) => `${row} ${units.s(lesson.seconds[i])}`).join(", ")}.` :
                   "Bars for your guess. The fields below are the same control.");
        svg.replaceChildren(...shapes);
    }
    function set(i, value) {
        guess[i] = value;
        draw();
    }

    /// Drags the bar under the pointer; above the chart's top the axis grows.
    const drag_to = (event) => {
        const {top, height} = svg.getBoundingClientRect(), view = svg.viewBox.baseVal.height / height;
        const y = (event.clientY - top) * view;
        if (!scale.logarithmic && y < 14) top_value = Math.max(top_value, scale.high) * 1.06;
        const value = scale.value(Math.max(14, Math.min(y, place.bottom - 2)));
        guess[held] = Math.max(Number(value.toPrecision(2)), 1e-9);
        inputs[held].value = units.s(guess[held]);
        draw();
    };
    if (!done) {
        svg.addEventListener("pointerdown", (event) => {
            const {left, width} = svg.getBoundingClientRect();
            const x = (event.clientX - left) * svg.viewBox.baseVal.width / width;
            held = Math.floor((x - place.left) / place.column);
            if (held < 0 || held >= rows.length) return void (held = -1);
            top_value = Math.max(top_value, scale.logarithmic ? 0 : scale.high);  // stays while one drags
            svg.setPointerCapture(event.pointerId);
            event.preventDefault();
            drag_to(event);
        });
        svg.addEventListener("pointermove", (event) => {
            if (held >= 0) drag_to(event);
        });
        for (const end of ["pointerup", "pointercancel"])
            svg.addEventListener(end, () => {
                held = -1;
            });
    }

    const missing = make("p", {class: "note", role: "status"});
    const button = done ? null : make("button", {type: "submit", class: "go", id: "commit"}, "Commit my guess");
    const side = done ?
        verdict(lesson, guess, again) :
        make(
            "div", {class: "ask"}, ...markdown(without_heading(lesson.prediction)),
            make(
                "p", {class: "note"},
                "Drag the tops of the bars, or type times with a unit: s, ms or µs. Nobody sees your guess but you."),
            make(
                "div", {class: "buttons"}, missing, button,
                make(
                    "button", {type: "button", class: "link", id: "skip", onclick: () => commit(rows.map(() => null))},
                    "Show me without a guess")));
    const form = make(
        "form", {
            id: "predict",
            class: `figure predict${done ? " done" : ""}`,
            "aria-label": "Your prediction",
            onsubmit: (event) => {
                event.preventDefault();
                const wrong = inputs.find((input, i) => guess[i] === null && input.value.trim() !== "");
                if (!wrong && guess.some((value) => value !== null)) return commit(guess);
                (wrong ?? inputs[0])?.focus();
                missing.textContent = wrong ? `“${wrong.value}” is not a time: write for instance 2 s or 500 ms.` :
                                              "Give at least one time, or choose to see it without a guess.";
            }
        },
        make(
            "div", {class: "chart"},
            make(
                "h3", {},
                done ? "Your guess and the answer" :
                       `Your guess: ${lesson.guess.column === "time" ? "time" : "time of one iteration"}`),
            box, fields,
            ...(done && guess.some((value) => value !== null) ?
                    [make("p", {class: "note"}, "Dashed: your guess. Solid: the answer.")] :
                    [])),
        side);
    if (rows.length === 0) form.querySelector(".chart").remove();
    parent.replaceChildren(form);
    if (rows.length > 0) {
        draw();
        let width = box.clientWidth;
        new ResizeObserver(() => {
            if (box.clientWidth > 0 && box.clientWidth !== width) {
                width = box.clientWidth;
                draw();
            }
        }).observe(box);
    }
    return {
        draw,
        /// Gives the bar of a row the colours of the parts of its time.
        parts(row, result) {
            const i = rows.indexOf(row);
            if (i < 0 || !done || !same_time(result.iteration_time_s, lesson.seconds[i])) return;
            stacks[i] = iteration_parts.map(([part, of]) => [part, of(result)])
                            .filter(([, value]) => value > 1e-3 * result.iteration_time_s);
            draw();
            if (scale.logarithmic) return;  // parts cannot be stacked
            const shown = answer_parts.filter((part) => stacks.some((stack) => stack?.some(([name]) => name === part)));
            const legend = make(
                "ul", {class: "legend"},
                ...shown.map((part) => make("li", {}, make("i", {style: `background: ${paint_of(part)}`}), part)));
            const chart = form.querySelector(".chart");
            chart.querySelector(".legend")?.remove();
            chart.append(legend);
        }
    };
}

/// Allows line breaks after hyphens and spaces of a row's name.
const breakable_row = (row) => row.split(/(?<=[-_/])/).flatMap((part, i) => (i > 0 ? [make("wbr"), part] : [part]));

/// Says whether the time of a wrong model, "40 + 80 = 120 ms", is right in this row.
const beside_cell = (cell, seconds) => {
    const told = parsed_time(cell.split("=").pop(), seconds);
    return told !== null && same_exactly(told, seconds) ? "which is right" : `and not ${units.s(seconds)}`;
};

/// Returns what the guess says about how the student thinks.
function verdict(lesson, guess, again) {
    const {rows} = lesson.guess, {model} = lesson, given = guess.some((value) => value !== null);
    const right = /^(right|you have it)/i.test(lesson.judgement ?? "") ||
        (given && rows.every((_, i) => guess[i] !== null && Math.abs(Math.log(guess[i] / lesson.seconds[i])) < 0.04));
    const children = [
        make(
            "h3", {},
            given ? (lesson.judgement ? sentence_of(lesson.judgement).replace(/\d(\.\d+)?e\+\d+/, Number) :
                                        "Compare your guess with the answer.") :
                    "No guess this time."),
    ];
    if (model)
        children.push(
            make("p", {}, "It gives:"),
            make(
                "table", {class: "cells"},
                make(
                    "tbody", {},
                    ...model.cells.map(
                        (cell, i) => make(
                            "tr", {}, make("th", {scope: "row"}, rows[i]), make("td", {}, make("code", {}, cell)),
                            make("td", {class: "note"}, beside_cell(cell, lesson.seconds[i])))))));
    children.push(
        make(
            "p", {class: "note"},
            "The reason is in the answer below. The simulation shows it: play it, and turn the knobs."),
        make("button", {type: "button", class: "link", id: "again", onclick: again}, "Guess again"));
    return make(
        "div", {
            class: `say ${
                right     ? "right" :
                    model ? "wrong" :
                            "off"}`,
            id: "judgement",
            tabindex: "-1",
            "aria-live": "polite"
        },
        ...children);
}
