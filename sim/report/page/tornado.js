// What-ifs as a tornado: how much longer or shorter a sample takes with each change.

/// Returns the change of the time per sample: -0.5 if twice as many samples are trained per second.
const change_of_time = ({speed_up}) => 1 / speed_up - 1;

const signed = (value) =>
    (Math.abs(value) < 5e-5 ? "0 %" : `${value > 0 ? "+" : "−"}${digits(100 * Math.abs(value), 2)} %`);

/// Groups answers about the same resource, with the largest effect first.
function resources_of(answers) {
    const groups = new Map();
    for (const answer of answers) {
        const [, resource] = /^(.*?)( [x=].*)?$/.exec(answer.change);
        groups.set(resource, [...(groups.get(resource) ?? []), answer]);
    }
    const effect = (list) => Math.max(...list.map((answer) => Math.abs(change_of_time(answer))));
    return [...groups].map(([resource, list]) => ({resource, list})).sort((a, b) => effect(b.list) - effect(a.list));
}

function what_if_figure(parent, answers) {
    const known = answers.filter((answer) => answer.problem === null), groups = resources_of(known);
    const changes = known.map(change_of_time);
    const least = Math.min(0, ...changes), most = Math.max(0, ...changes);
    const draw = (width) => {
        const names = Math.min(width * 0.36, 10 + Math.max(...known.map(({change}) => text_width(change, 12.5)), 40));
        const room = 58, left = names + (least < 0 ? room : 8), right = width - (most > 0 ? room : 8);
        const scale = (right - left) / Math.max(most - least, 1e-3), zero = left - least * scale;
        const shapes = [], high = 24;
        groups.forEach(({list}, i) => {
            const y = 4 + i * high;
            shapes.push(label_at(0, y + 15, list.map(({change}) => change).join(", "), {"font-size": 12.5}));
            for (const answer of list) {
                const change = change_of_time(answer), faster = change < 0 || (change === 0 && most === 0);
                const length = Math.max(Math.abs(change) * scale, 1);
                shapes.push(
                    titled(
                        shape("rect", {
                            x: short(faster ? zero - length : zero),
                            y,
                            width: short(length),
                            height: high - 5,
                            rx: 2,
                            fill: faster ? "var(--faster)" : "var(--slower)"
                        }),
                        `${answer.text}: ${units.s(answer.iteration_time_s)}`),
                    label_at(
                        short(faster ? zero - length - 6 : zero + length + 6), y + 14, signed(change),
                        {"text-anchor": faster ? "end" : "start", "font-weight": 600}));
            }
        });
        const bottom = 4 + groups.length * high;
        shapes.push(
            shape("path", {d: `M${zero} 0V${bottom}`, stroke: "var(--ink)", "stroke-width": 1.5}),
            label_at(zero, bottom + 16, "0 %", {"text-anchor": zero > width - 20 ? "end" : "middle", fill: "var(--faint)"}));
        return {height: bottom + 22, shapes};
    };
    const best = groups[0]?.list[0];
    svg_figure(parent, {
        title: "What would change the time?",
        text: "The scenario is simulated again with one change. To the left a sample takes less time, to the right more." +
            (best ? ` Most: ${best.text}, ${signed(change_of_time(best))}.` : ""),
        draw,
        columns: [
            ["change", "text"], ["description", "text"], ["iteration time", "s"], ["samples per second", "number"],
            ["time per sample", "written"], ["speed-up", "number"], ["not simulated because", "text"]
        ],
        rows: answers.map((answer) => [
            answer.change, answer.text, answer.iteration_time_s, answer.throughput_samples_per_s,
            answer.problem === null ? signed(change_of_time(answer)) : null, answer.speed_up, answer.problem
        ]),
    });
}
