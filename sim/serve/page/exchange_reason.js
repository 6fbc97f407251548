// Why an exchange by itself takes longer or shorter: what its busiest link carries, and how many steps follow each
// other.

/// Returns the link that the messages need for the longest time, {name, bytes, bandwidth_Bps}; null if not all of them
/// are known.
function busiest_of_exchange(run) {
    const motion = motion_of(run);
    if (motion.count === 0 || motion.left_out > 0) return null;
    const carried = new Float64Array(motion.links.length);
    motion.route.forEach((route, i) => {
        for (const link of motion.routes[route] ?? []) carried[link] += motion.bytes[i];
    });
    const seconds = (link) => carried[link] / motion.links[link].bandwidth_Bps;
    let most = 0;
    for (let link = 1; link < carried.length; ++link)
        if (seconds(link) > seconds(most) * (1 + 1e-9)) most = link;
    if (!(carried[most] > 0)) return null;
    const {name, bandwidth_Bps} = motion.links[most];
    return {name: name.replace("->", " → "), bytes: carried[most], bandwidth_Bps};
}

/// Returns in how many steps, one after the other, the first rank sends; null if they overlap or are not known.
function steps_of_exchange(run) {
    const motion = motion_of(run), steps = new Map();  // exchange and step → [start, end]
    if (motion.count === 0 || motion.left_out > 0) return null;
    const first = Math.min(...motion.from);
    motion.from.forEach((process, i) => {
        if (process !== first) return;
        const key = `${motion.exchange[i]} ${motion.step[i]}`, [start, end] = steps.get(key) ?? [Infinity, 0];
        steps.set(key, [Math.min(start, motion.start_s[i]), Math.max(end, motion.end_s[i])]);
    });
    const list = [...steps.values()].sort((a, b) => a[0] - b[0]);
    const apart = list.every(([start], i) => i === 0 || start >= list[i - 1][1] - motion.slack_s);
    return apart && list.length > 0 ? list.length : null;
}

/// Says what changed in the exchange that the moving picture shows, the largest one.
function exchange_reason(before, after) {
    const sizes = after.result.points.length, said = [];
    const the = sizes > 1 ? `With ${units.B(after.result.points[sizes - 1].bytes)} the` : "The";
    const [had, has] = [before, after].map(steps_of_exchange);
    if (had && has && had !== has)
        said.push(`A rank sends in ${counted(has, "step")}, one after the other, in place of ${had}.`);
    const [from, to] = [before, after].map(busiest_of_exchange);
    if (from && to) {
        const same = same_exactly(from.bytes, to.bytes), as_fast = from.bandwidth_Bps === to.bandwidth_Bps;
        const before_it = [
            same ? "" : units.B(from.bytes), as_fast ? "" : units.Bps(from.bandwidth_Bps)
        ].filter(Boolean).join(" at ");
        const fast = as_fast ? "" : ` at ${units.Bps(to.bandwidth_Bps)}`;
        const was = before_it ? ` in place of ${before_it}` : ", as before";
        const there = to.name === from.name ? `${the} busiest link, ${to.name}, carries` :
                                              `${the} busiest link is ${to.name}, which carries`;
        if (!before_it && had && had === has)
            said.push(`A rank still sends in ${counted(has, "step")}, one after the other.`);
        said.push(`${there} ${units.B(to.bytes)}${fast}${was}.`);
    }
    return said.join(" ");
}
