// Charts as files: every chart has buttons that save it as SVG and PNG, in light colours.

const svg_space = "http://www.w3.org/2000/svg";

/// Creates an SVG element.
function shape(tag, attributes = {}, ...children) {
    const element = document.createElementNS(svg_space, tag);
    for (const [name, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}

/// Returns an SVG element as the text of a file, with the values of the page's colours, on white.
function svg_text(svg) {
    const copy = svg.cloneNode(true);
    const {x, y, width, height} = svg.viewBox.baseVal;
    for (const [name, value] of Object.entries(
             {xmlns: svg_space, width, height, "font-family": getComputedStyle(document.body).fontFamily}))
        copy.setAttribute(name, value);
    copy.removeAttribute("style");
    copy.prepend(shape("rect", {x, y, width, height, fill: "#ffffff"}));
    return new XMLSerializer().serializeToString(copy).replace(
        /var\((--[\w-]+)\)/g, (_, name) => colour_of(name.slice(2)));
}

function download(name, url) {
    const link = make("a", {href: url, download: name});
    document.body.append(link);
    link.click();
    link.remove();
}

/// Draws the text of an SVG on a canvas with twice as many pixels, and returns it as a data URL.
async function png_of(text, width, height) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
    await image.decode();
    const canvas = make("canvas", {width: 2 * width, height: 2 * height});
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0, width, height);
    return canvas.toDataURL("image/png");
}

/// Returns the buttons of a figure. `svg()` returns the chart as an SVG element.
function save_buttons(title, svg) {
    const name = `${document.title.split(" – ")[0]} ${title}`.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    const text = () => in_light_colours(() => svg_text(svg()));
    const button = (kind, action) =>
        make("button", {type: "button", title: `Save the chart as ${kind}`, onclick: action}, kind);
    return make(
        "span", {class: "save"},
        button("SVG", () => {
            const url = URL.createObjectURL(new Blob([text()], {type: "image/svg+xml"}));
            download(`${name}.svg`, url);
            setTimeout(() => URL.revokeObjectURL(url), 1000);
        }),
        button("PNG", async () => {
            const {width, height} = svg().viewBox.baseVal;
            download(`${name}.png`, await png_of(text(), width, height));
        }));
}

const heading = (title, svg) => make("div", {class: "heading"}, make("h3", {}, title), save_buttons(title, svg));
