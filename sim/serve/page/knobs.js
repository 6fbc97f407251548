// Knobs: a slider for numbers, buttons or a list for choices.

/// Returns a value of `--set` as one reads it: "500 MB/s" for "500 MBps", "1 GB/s, 2 GB/s" for a list.
const shown_value = (text) =>
    String(text)
        .replace(/^\[(.*)\]$/, "$1")
        .replace(/\b([kMGT]?)Bps\b/g, "$1B/s")
        .replace(/\b([kMGT]?)bps\b/g, "$1bit/s")
        .replace(/\bus\b/g, "µs");

/// A variant is a start from which the other knobs go away: its name says nothing about them.
const knob_label = ({key, label}) => (key === "variant" ? "variant, to start from" : label);

/// Draws knobs into `parent`; `turn(key, value)` is called when the reader turns one. Returns {show(knobs)}: it moves
/// them, and keeps the element that has the focus if the knobs are the same.
function knob_panel(parent, turn) {
    let drawn = "", moves = [];

    function number(knob, id) {
        const output = make("output", {for: id
        });
        // A key that the scenario does not set has a place before the first value.
        const input = make("input", {
            type: "range",
            id,
            min: knob.at === null ? -1 : 0,
            max: knob.values.length - 1,
            step: 1,
            oninput: () => {
                const at = Number(input.value);
                say(at < 0 ? null : at);
                turn(knob.key, at < 0 ? null : knob.values[at]);
            }
        });
        const element = make(
            "div", {class: "knob", "data-key": knob.key, title: knob.key}, make("div", {}, make("label", {for: id
                                                                                }, knob_label(knob)), output), input);
        const say = (at) => {
            const value = at === null ? "not set" : shown_value(knob.values[at]);
            output.textContent = value;
            input.setAttribute("aria-valuetext", value);
            element.dataset.value = at === null ? "" : knob.values[at];
        };
        return {
            element,
            move: (at) => {
                input.value = at ?? -1;
                say(at);
            }
        };
    }

    function choice(knob, id) {
        const few = knob.values.length <= 4 && knob.values.join("").length + 4 * knob.values.length <= 40;
        const element = make(
            "div", {class: "knob", "data-key": knob.key, title: knob.key},
            make("div", {}, make(few ? "span" : "label", {id, ...(few ? {} : {for: `${id}-list`})}, knob_label(knob))));
        const chosen = (value) => {
            element.dataset.value = value;
            turn(knob.key, value);
        };
        if (few) {
            const buttons = knob.values.map(
                (value) => make(
                    "button", {
                        type: "button",
                        onclick: () => {
                            mark(value);
                            chosen(value);
                        }
                    },
                    shown_value(value)));
            const mark = (value) =>
                buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(knob.values[i] === value)));
            element.append(make("div", {class: "segments", role: "group", "aria-labelledby": id}, ...buttons));
            return {
                element,
                move: (at) => {
                    element.dataset.value = at === null ? "" : knob.values[at];
                    mark(knob.values[at] ?? null);
                }
            };
        }
        const select = make(
            "select", {id: `${id}-list`, onchange: () => chosen(select.value)},
            ...knob.values.map((value) => make("option", {value}, shown_value(value))));
        element.append(select);
        return {
            element,
            move: (at) => {
                element.dataset.value = at === null ? "" : knob.values[at];
                select.selectedIndex = at ?? -1;
            }
        };
    }

    return {
        show(knobs) {
            const now = JSON.stringify(knobs.map(({key, values}) => [key, values]));
            if (now !== drawn) {
                const held = document.activeElement?.closest?.(".knob")?.dataset.key;
                drawn = now;
                const made = knobs.map((knob, i) => (knob.kind === "number" ? number : choice)(knob, `knob-${i}`));
                moves = made.map(({move}) => move);
                parent.replaceChildren(...made.map(({element}) => element));
                const again = made.find(({element}) => element.dataset.key === held)?.element;
                again?.querySelector("input, select, [aria-pressed=true], button")?.focus();
            }
            knobs.forEach(({at}, i) => moves[i](at));
        }
    };
}
