// Links: the fabric's picture with cables coloured by utilisation, and utilisation over time.

/// Steps from light to dark, then red; lines also get wider, for readers who cannot tell the colours apart.
const use_scale = [
    {least: 0, width: 1.2, text: "unused"},
    {least: 0.00005, width: 2, text: "below 20 %"},
    {least: 0.2, width: 2.8, text: "20 to 40 %"},
    {least: 0.4, width: 3.6, text: "40 to 60 %"},
    {least: 0.6, width: 4.6, text: "60 to 80 %"},
    {least: 0.8, width: 6, text: "80 % or more"},
].map((step, i) => ({...step, colour: colour_of(`use-${i}`)}));
const step_of = (use) => use_scale.findLast((step) => use >= step.least);

function heat_map(parent, variant) {
    const {links, cables, notes} = variant.links;
    const text =
        "The utilisation of a link is the number of bytes that it carries in the iteration, divided by what its bandwidth " +
        `allows.${cables ? " A cable shows the busier of its two directions. Point at a cable to see its name." : ""}`;
    const drawn_here = cables && variant.picture !== null;
    const element = make(
        "div", {class: "figure"},
        drawn_here ? heading("Links of the fabric", () => element.querySelector(".picture svg")) :
                     make("h3", {}, "Links of the fabric"),
        make("p", {}, [text, ...notes].join(" ")));
    if (drawn_here) {
        const picture = make("div", {
            class: "picture",
            role: "img",
            "aria-label": "The fabric's cables, coloured by utilisation; the table below lists the numbers."
        });
        picture.innerHTML = data.pictures[variant.picture];
        picture.querySelector("g").setAttribute("stroke-opacity", "1");
        picture.querySelectorAll("path.cable").forEach((path, cable) => {
            const step = step_of(cables[cable]);
            path.setAttribute("stroke", step.colour);
            path.setAttribute("stroke-width", Math.max(step.width, Number(path.getAttribute("stroke-width"))));
            path.querySelector("title").textContent += `: ${units.share(cables[cable])} utilisation`;
        });
        const sample = (step) => {
            const legend = make("li");
            legend.innerHTML = `<svg width="34" height="12" aria-hidden="true"><path d="M2 6h30" stroke="${
                step.colour}" stroke-width="${step.width}"/></svg>`;
            legend.append(step.text);
            return legend;
        };
        const size = make("input", {
            type: "range",
            min: 100,
            max: 500,
            step: 25,
            value: 100,
            oninput: () => {
                const svg = picture.querySelector("svg");
                svg.style.width = svg.style.maxWidth = size.value > 100 ? size.value + "%" : "";
                svg.style.maxHeight = size.value > 100 ? "none" : "";
            }
        });
        element.append(
            make("ul", {class: "scale", "aria-label": "Colours"}, ...use_scale.map(sample)),
            make("div", {class: "tools"}, make("label", {}, "Picture size ", size)), picture);
    }
    element.append(folded(
        "links by utilisation", [["link, one direction", "text"], ["bytes", "B"], ["utilisation", "share"]],
        links.map((link) => [link.link, link.bytes, link.utilisation])));
    parent.append(element);
}

/// The links with the highest utilisation, equal ones as one bar.
function busiest_links(parent, groups, links) {
    if (groups.length === 0) return;
    const label = ({links, count}) => (count > 1 ? `${links} (${count})` : links);
    figure(parent, {
        title: "Busiest links",
        text: "Links that differ only in their numbers, and have the same utilisation, are one bar with their count. " +
            "Each direction of a cable is a link.",
        unit: "share",
        config: () => across_config(
            "utilisation", "share", "link", groups.map(label),
            [bars("utilisation", groups.map((group) => group.utilisation))]),
        height: across_height(groups.length),
        columns: [["link", "text"], ["count", "number"], ["bytes", "B"], ["utilisation", "share"]],
        rows: [
            ...groups.map(({links, count, bytes, utilisation}) => [links, count, bytes, utilisation]),
            ...links.map((link) => [link.link, 1, link.bytes, link.utilisation])
        ],
    });
}

function link_profiles(parent, links, window_s) {
    const recorded = links.filter((link) => link.profile.length > 0);
    const alike = (one, other) => one.profile.every((use, part) => Math.abs(use - other.profile[part]) <= 1e-3);
    const with_profile = groups_of(recorded, alike).slice(0, 5).map((members) => ({
        ...recorded[members[0]],
        link: recorded[members[0]].link + (members.length > 1 ? ` and ${members.length - 1} more` : "")
    }));
    if (with_profile.length > 0) {
        const parts = with_profile[0].profile.length;
        const times = Array.from({length: parts}, (_, i) => i * window_s / parts);
        // The last interval ends with the window.
        const steps =
            ({profile}) => [...profile.map((y, part) => ({x: times[part], y})), {x: window_s, y: profile[parts - 1]}];
        figure(parent, {
            title: "Link utilisation over time",
            unit: "share",
            text: `The chart shows the ${recorded.length} most utilised links in ${
                parts} equal intervals of the window; those that are alike are one line. The bytes of a message are spread evenly over its transfer time.`,
            config: () => ({
                type: "line",
                data: {
                    datasets: with_profile.map(
                        (link, i) => line(
                            link.link, steps(link), i, {pointRadius: 0, stepped: "before", borderDash: dashes[i]},
                            link_colour(i)))
                },
                options: {
                    interaction: {mode: "index", intersect: false},
                    scales: {
                        x: axis("time from the start of the window", "s", {type: "linear", min: 0, max: window_s}),
                        y: axis("utilisation", "share", {beginAtZero: true})
                    }
                }
            }),
            height: 320,
            columns: [["start of the interval", "s"], ...with_profile.map((link) => [link.link, "share"])],
            rows: times.map((time, part) => [time, ...with_profile.map((link) => link.profile[part])]),
        });
    }
    const of_pattern = (link) => links.find((other) => pattern_of(other.link) === pattern_of(link.link));
    const one_of_each = links.filter((link) => link.alike === 1 || of_pattern(link) === link);
    parent.append(make(
        "div", {class: "figure"}, make("h3", {}, "Time lost to sharing links"),
        make(
            "p", {},
            "Messages that share a link delay each other. The lost time of a link is the sum, over all its messages, of " +
                "the additional transfer time compared with each message alone on its route. " +
                "Links that are alike are one row."),
        table(
            "Busiest links and their lost time",
            [
                ["link", "text"], ["bandwidth", "Bps"], ["bytes", "B"], ["busy", "s"], ["utilisation", "share"],
                ["lost", "s"], ["top users", "text"]
            ],
            one_of_each.map(
                (link) =>
                    [link.alike > 1 ? `${link.link} (×${link.alike})` : link.link, link.bandwidth_Bps, link.bytes, link.busy_s, link.utilisation, link.lost_s,
                     link.users.slice(0, 3).map((share) => `${share.what} (${units.B(share.bytes)})`).join(", ")]))));
}
