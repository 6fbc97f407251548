// The memory of each stage over the iteration, with its peak.

const memory_parts = [["weights", "weights"], ["gradients", "gradients"], ["optimizer", "update"]];

function memory_figure(parent, memory) {
    const {window_s, tick_s, device_bytes, virtual_stages, micro_batches} = memory;
    const stages = memory.stages.map((stage) => {
        const steps = [];
        for (let i = 0; i < stage.steps.length; i += 2)
            steps.push({time_s: stage.steps[i] * tick_s, bytes: stage.steps[i + 1]});
        const always = memory_parts.reduce((sum, [part]) => sum + stage[part], 0);
        return {...stage, steps, always, total: always + stage.activations};
    });
    const several = memory.count > 1, fullest = stages.find(({stage}) => stage === memory.fullest);
    const name = ({stage}) => (several ? `stage ${stage}` : "device");
    // The fullest stage is the largest picture.
    const high = (stage) => (stage === fullest ? 140 : stages.length > 6 ? 26 : 50);
    const top_bytes = fullest.total, full = device_bytes !== null && device_bytes <= 1.4 * top_bytes;
    const scale_bytes = full ? Math.max(device_bytes, top_bytes) : top_bytes;
    const draw = (width) => {
        const left = several ? (width < 560 ? 60 : 66) : 4, right = width - 74, shapes = [];
        const x = (time) => left + (right - left) * time / window_s;
        const legend = legend_of(
            [
                ...memory_parts.map(([part, colour]) => ({fill: paint_of(colour), text: part})),
                {fill: paint_of("activations"), text: "activations"},
                ...(full ? [{fill: "var(--ink)", text: "the device's memory"}] : [])
            ],
            width, 0);
        const top = legend.height + 8, bottom = stages.reduce((sum, stage) => sum + high(stage), top);
        shapes.push(...legend.shapes, ...time_axis({from: 0, to: window_s, left, right, top, bottom}));
        let floor = top - 4;
        for (const stage of stages) {
            floor += high(stage);
            const base = floor, room = high(stage), y = (bytes) => base - (room - 8) * bytes / scale_bytes;
            const middle = base - room / 2 + 8;
            let below = 0;
            for (const [part, colour] of memory_parts) {
                shapes.push(shape("rect", {
                    x: left,
                    y: short(y(below + stage[part])),
                    width: right - left,
                    height: short(y(below) - y(below + stage[part])),
                    fill: paint_of(colour)
                }));
                below += stage[part];
            }
            let path = `M${left} ${short(y(below))}`;
            for (const {time_s, bytes} of stage.steps) path += `H${short(x(time_s))}V${short(y(below + bytes))}`;
            shapes.push(
                titled(
                    shape("path", {d: `${path}H${right}V${short(y(below))}Z`, fill: paint_of("activations")}),
                    `${name(stage)}: at most ${units.GiB(stage.activations)} of activations`),
                shape("path", {d: `M${left} ${floor}H${right}`, stroke: "var(--faint)"}));
            if (full)
                shapes.push(shape("path", {
                    d: `M${left} ${short(y(device_bytes))}H${right}`,
                    stroke: "var(--ink)",
                    "stroke-dasharray": "5 3"
                }));
            const bold = stage === fullest ? 700 : null;
            if (several)
                shapes.push(label_at(
                    left - 6, middle, name(stage),
                    {"text-anchor": "end", "font-size": width < 560 ? 11 : 12, "font-weight": bold}));
            shapes.push(label_at(right + 6, middle, units.GiB(stage.total), {"font-weight": bold}));
            if (stage === fullest)
                shapes.push(shape("path", {
                    d: `M${short(x(stage.peak_s))} ${short(y(stage.total) + 1)}l-5 -8h10Z`,
                    fill: "var(--ink)"
                }));
        }
        return {height: bottom + 22, shapes};
    };
    const held = fullest.held_passes;
    const what = virtual_stages > 1 ? `${held} passes of microbatches through one virtual stage` :
        held > 1                    ? `${held} microbatches` :
        micro_batches > 1           ? "one microbatch" :
                                      "the whole batch";
    const pass = `the ${fullest.forward ? "forward" : "backward"} pass` +
        (micro_batches > 1 ? ` of microbatch ${fullest.micro_batch + 1}` : "");
    svg_figure(parent, {
        title: "Memory over time",
        text: `${several ? `${capital(name(fullest))} is the fullest, with` : "The device needs"} ${
                  units.GiB(fullest.total)}${device_bytes === null ? "" :
                      fullest.total > device_bytes ?
                              `, more than its ${units.GiB(device_bytes)}` :
                              ` of ${units.GiB(device_bytes)}`}. ` +
            `The peak begins at ${units.s(fullest.peak_s)}, with ${pass}: the activations of ${what} are ${
                  units.GiB(fullest.activations)}. Weights (${units.GiB(fullest.weights)}), gradients (${
                  units.GiB(fullest.gradients)}, with their buffer) and the optimizer's state (${
                  units.GiB(fullest.optimizer)}) are counted all the time. ` +
            `Activations are counted from the start of ${
                fullest.by_layer ? "a layer's forward pass to the end of its" :
                                   "a forward pass to the end of its"} backward pass.` +
            (stages.length < memory.count ? ` ${stages.length} of ${memory.count} stages are drawn.` : ""),
        draw,
        columns: [
            ["stage", "number"], ["weights", "GiB"], ["gradients", "GiB"], ["optimizer", "GiB"],
            ["activations at their peak", "GiB"], ["total", "GiB"], ["peak at", "s"], ["passes held", "number"]
        ],
        rows: stages.map(
            (stage) =>
                [stage.stage, stage.weights, stage.gradients, stage.optimizer, stage.activations, stage.total,
                 stage.peak_s, stage.held_passes]),
    });
}
