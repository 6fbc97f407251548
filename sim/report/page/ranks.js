// The time of each rank, divided into its parts.

const parts_of_rank = [
    ["compute_s", "computation"], ["exposed_communication_s", "exposed communication"], ["reduction_s", "reduction"],
    ["copies_s", "copies"], ["waiting_s", "waiting"], ["idle_s", "idle"]
];

/// Returns at most `count` of the numbers below `all`, evenly spaced and including `wanted`.
function some_of(all, count, wanted) {
    if (all <= count) return Array.from({length: all}, (_, i) => i);
    const chosen = Array.from({length: count}, (_, i) => Math.floor(i * (all - 1) / (count - 1)));
    if (!chosen.includes(wanted)) chosen[Math.max(1, chosen.findLastIndex((rank) => rank < wanted))] = wanted;
    return chosen;
}

function rank_parts(parent, {ranks, window_s, last_rank}) {
    const most = 32;
    // A bar that is a thousandth of the chart longer than another looks the same.
    const equal = (one, other) =>
        parts_of_rank.every(([field]) => Math.abs(one[field] - other[field]) <= 1e-3 * window_s);
    const bands = groups_of(ranks, equal).map((members) => band_of("rank", members, members));
    let lines = [];
    const arrange = () => {
        const all = bands.flatMap(
            (band) =>
                (band.open ? band.members.map((rank) => ({name: `rank ${rank}`, rank, band})) :
                             [{name: band.name, rank: band.members[0], band}]));
        const last =
            all.findIndex(({rank, band}) => (band.open ? rank === last_rank : band.members.includes(last_rank)));
        lines = some_of(all.length, most, last).map((i) => all[i]);
    };
    arrange();
    const share = (field) => part_of(ranks[last_rank][field] / window_s);
    const shown_parts = parts_of_rank.filter(([field], i) => i < 2 || ranks.some((parts) => parts[field] > 0));
    const grouped = bands.filter((band) => band.members.length > 1);
    const tools = make("div", {class: "tools"});
    const made = figure(parent, {
        title: "Time breakdown by rank",
        text:
            `Rank ${last_rank} finishes last. Of its ${units.s(window_s)} it spends ${
                share("compute_s")} in computation, ${share("exposed_communication_s")} in exposed communication and ${
                share("waiting_s")} waiting for other ranks, servers or clocks.` +
            (grouped.length > 0 ? " Ranks whose parts differ by less than 0.1 % of this time share a bar; " +
                     "click it, or use its button, to see them one by one." :
                                  "") +
            (Math.max(bands.length, ...grouped.map((band) => band.members.length)) > most ?
                 ` At most ${most} bars are drawn, evenly spaced; the table lists all ${ranks.length} ranks.` :
                 ""),
        config: () => across_config(
            "time", "s", "rank", lines.map(({name}) => name),
            shown_parts.map(([field, name]) => bars(name, lines.map(({rank}) => ranks[rank][field]))), true),
        height: () => 140 + 20 * lines.length,
        before: tools,
        unit: "s",
        columns:
            [["rank", "number"], ...parts_of_rank.map(([, name]) => [name, "s"]), ["overlapped communication", "s"]],
        rows: ranks.map(
            (parts, rank) => [rank, ...parts_of_rank.map(([field]) => parts[field]), parts.hidden_communication_s]),
    });
    const band_at = (index) => (lines[index]?.band.members.length > 1 ? lines[index].band : undefined);
    const changed = () => {
        arrange();
        made.redraw();
    };
    openable(made, tools, grouped, {band_at, changed, whole: true});
}
