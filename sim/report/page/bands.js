// Bands: equal ranks as one bar, which opens into the single ones.

/// Returns "0–3, 8" for [0, 1, 2, 3, 8].
function ranges(numbers) {
    const texts = [];
    for (let i = 0; i < numbers.length;) {
        let last = i;
        while (numbers[last + 1] === numbers[last] + 1) ++last;
        texts.push(last > i ? `${numbers[i]}–${numbers[last]}` : String(numbers[i]));
        i = last + 1;
    }
    return texts.join(", ");
}

/// Groups those of `items` that are `equal` to the first of the group; returns lists of indices, in order.
function groups_of(items, equal) {
    const groups = [];
    items.forEach((item, i) => {
        const group = groups.find((members) => equal(items[members[0]], item));
        if (group)
            group.push(i);
        else
            groups.push([i]);
    });
    return groups;
}

/// Returns the name of a group of numbered processes, for instance "ranks 0–31: the same".
function band_name(noun, numbers) {
    if (numbers.length === 1) return `${noun} ${numbers[0]}`;
    const list = ranges(numbers);
    const last = numbers[numbers.length - 1];
    return list.length > 12 ? `${numbers.length} of ${noun}s ${numbers[0]}–${last}: the same` :
                              `${noun}s ${list}: the same`;
}

/// Returns a band of numbered processes; `title` lists them all.
const band_of = (noun, numbers, members) =>
    ({name: band_name(noun, numbers), title: `${noun}s ${ranges(numbers)}`, members, open: false});

/// Adds to a figure the buttons that open and close its bands, and opens the band whose name is clicked, or with
/// `whole` also its bar. `bands`: those with several members; `band_at(index)`: the band at a line
/// of the chart, or undefined; `changed()` draws again. Many buttons are folded away.
function openable(made, tools, bands, {band_at, changed, whole}) {
    const toggle = (band) => {
        band.open = !band.open;
        changed();
        fill();
    };
    const place = make("div", {class: "tools"});
    tools.append(
        bands.length > 4 ? make("details", {}, make("summary", {}, `Open one of ${bands.length} groups`), place) :
                           place);
    const fill = () => {
        const focused = [...place.children].indexOf(document.activeElement);
        place.replaceChildren(...bands.map(
            (band) => make(
                "button", {
                    type: "button",
                    class: "opens",
                    title: band.title,
                    "aria-expanded": String(band.open),
                    onclick: () => toggle(band)
                },
                `${band.open ? "▾ close" : "▸ open"} ${band.name}`)));
        if (focused >= 0) place.children[focused].focus();
    };
    const under = ({offsetX, offsetY}) => {
        const chart = made.chart(), {left, right, top, bottom} = chart.scales.y;
        if (offsetX < left || (!whole && offsetX > right) || offsetY < top || offsetY > bottom) return undefined;
        return band_at(chart.scales.y.getValueForPixel(offsetY));
    };
    made.canvas.addEventListener("click", (event) => {
        const band = under(event);
        if (band) toggle(band);
    });
    made.canvas.addEventListener("mousemove", (event) => {
        made.canvas.style.cursor = under(event) ? "pointer" : "";
    });
    fill();
}
