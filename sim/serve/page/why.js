// What changed and why: one sentence from two runs.

const change_text = (before, after) => {
    if (same_exactly(before, after)) return "no change";
    const change = after / before - 1;
    return change > 2 ? `${digits(after / before, 3)} times` :
                        `${change > 0 ? "+" : "−"}${digits(Math.abs(100 * change), 2)} %`;
};
const same_exactly = (a, b) => Math.abs(a - b) <= 5e-4 * Math.max(Math.abs(a), Math.abs(b));

/// Returns for example "ranks: 8 → 16" for each knob that moved.
function moved_knobs(before, after) {
    const value = (knob) => (knob.at === null ? "not set" : shown_value(knob.values[knob.at]));
    return after.knobs.flatMap((knob) => {
        const was = before.knobs.find(({key}) => key === knob.key);
        if (!was || value(was) === value(knob)) return [];
        return [{key: knob.key, text: `${knob.label}: ${value(was)} → ${value(knob)}`}];
    });
}

const part_verbs = {
    computation: "Computation",
    "exposed communication": "Exposed communication",
    waiting: "Waiting for others",
    idle: "Idle time"
};

/// Says which part of the iteration moved most, and which did not.
function moved_parts(before, after) {
    const parts =
        iteration_parts.map(([name, of]) => ({name, from: of(before), to: of(after)}))
            .filter(
                ({from, to}) => Math.max(from, to) > 1e-3 * Math.max(before.iteration_time_s, after.iteration_time_s));
    const moved = parts.filter(({from, to}) => !same_exactly(from, to))
                      .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from));
    const still = parts.filter(({from, to}) => same_exactly(from, to)).sort((a, b) => b.to - a.to);
    const sentences = [];
    if (moved.length > 0) {
        const [{name, from, to}] = moved;
        sentences.push(
            to < 1e-9 ? `${part_verbs[name]} of ${units.s(from)} is gone.` :
                from < 1e-9 ? `${part_verbs[name]} of ${units.s(to)} appears.` :
                              `${part_verbs[name]} takes ${units.s(to)} in place of ${units.s(from)}.`);
    }
    if (moved.length > 0 && still.length > 0)
        sentences.push(`${part_verbs[still[0].name]} still takes ${units.s(still[0].to)}.`);
    return sentences;
}

/// Says what the busiest link carries, in which way the traffic changed.
function moved_traffic(before, after) {
    const busiest = ({variant}) => {
        const first = variant.explanation?.links?.[0];
        // Several iterations are simulated where they differ.
        const bytes = first && first.bytes / (variant.explanation.iterations ?? 1);
        return first && {...first, bytes, link: first.link.replace("->", " → ")};
    };
    const [from, to] = [busiest(before), busiest(after)];
    if (!from || !to) return "";
    if (to.link === from.link && to.bandwidth_Bps !== from.bandwidth_Bps && same_exactly(to.bytes, from.bytes))
        return `The busiest link, ${to.link}, carries the same ${units.B(to.bytes)} at ${
            units.Bps(to.bandwidth_Bps)} in place of ${units.Bps(from.bandwidth_Bps)}.`;
    if (!same_exactly(to.bytes, from.bytes))
        return `The busiest link${to.link === from.link ? ", " : " is "}${to.link}${
            to.link === from.link ? "," : ", which"} carries ${units.B(to.bytes)} in place of ${units.B(from.bytes)}.`;
    if (after.result.messages !== before.result.messages)
        return `The same bytes go in ${digits(after.result.messages, 6)} messages in place of ${
            digits(before.result.messages, 6)}.`;
    return "";
}

const first_sentence = (text) =>
    (text ?? "").replaceAll("->", " → ").replace(/(\d) us\b/g, "$1 µs").split(/(?<=\.) (?=[A-Z])/)[0];

/// Returns the sentence's parts: {knobs, time, reason}.
function what_changed(before, after) {
    const knobs = moved_knobs(before, after).map(({text}) => text).join(", ");
    if (after.kind === "exchange") {
        const [old_points, points] = [before.result.points, after.result.points];
        const pairs = old_points.length === 1 && points.length === 1 ?
            [[old_points[0], points[0]]] :
            points.map((point) => [old_points.find(({bytes}) => bytes === point.bytes), point]).filter(([was]) => was);
        const said = pairs.length > 1 ? [pairs[0], pairs[pairs.length - 1]] : pairs;
        const change = ([was, now]) =>
            `${pairs.length > 1 ? units.B(now.bytes) : "Time"}: ${units.s(was.completion_time_s)} → ${
                units.s(now.completion_time_s)} (${change_text(was.completion_time_s, now.completion_time_s)})`;
        return {knobs, time: said.map(change).join("; "), reason: exchange_reason(before, after)};
    }
    const [from, to] = [before.result.iteration_time_s, after.result.iteration_time_s];
    const time = `Iteration ${units.s(from)} → ${units.s(to)} (${change_text(from, to)})`;
    const limit = first_sentence(after.variant.explanation?.diagnosis);
    const reasons = moved_parts(before.result, after.result);
    const traffic = moved_traffic(before, after);
    const [had, has] = [before, after].map(({result}) => result.memory?.total_bytes ?? 0);
    const memory = has > 0 && had > 0 && Math.abs(has / had - 1) > 0.01 ?
        [`A device needs ${units.B(has)} of memory in place of ${units.B(had)}.`] :
        [];
    if (same_exactly(from, to)) {
        const rate = after.result.throughput_samples_per_s;
        const more = rate && !same_exactly(rate, before.result.throughput_samples_per_s ?? 0) ?
            `All ranks together train ${digits(rate, 4)} samples per second in place of ${
                digits(before.result.throughput_samples_per_s ?? 0, 4)}. ` :
            "";
        return {
            knobs,
            time,
            reason: [more.trim(), more || memory.length > 0 ? "" : traffic, limit, ...memory].filter(Boolean).join(" ")
        };
    }
    if (traffic && /^Exposed/.test(reasons[0] ?? "")) reasons.splice(1, 0, traffic);
    const bubbles = [before, after].map(({result}) => result.pipeline_bubble ?? 0);
    if (bubbles.every((bubble) => bubble > 0) && !same_exactly(...bubbles))
        reasons.unshift(`The bubble goes from ${units.share(bubbles[0])} to ${units.share(bubbles[1])}.`);
    if (before.result.limited_by !== after.result.limited_by && limit) reasons.push(limit);
    return {knobs, time, reason: [...reasons.slice(0, 3), ...memory].join(" ")};
}
