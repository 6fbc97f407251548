#include "sim/training/algorithm_fit.hpp"

#include <fmt/format.h>

namespace syncline {

void judge_algorithm(const AlgorithmSpec& algorithm, std::int64_t ranks, std::uint64_t bytes, Complaints& complaints) {
    try {
        const auto members = static_cast<std::uint32_t>(ranks);
        make_algorithm(algorithm, members)->program(0, members, bytes, 0);
    } catch (const AlgorithmError& error) {
        complaints.push_back({error.key, error.what(), error.hint});
    }
}

void judge_selection(const Selection& selection, const std::string& operation, const Cluster& cluster,
                     std::int64_t ranks, std::uint64_t bytes, Complaints& complaints) {
    if (!selection.covers(operation))
        complaints.push_back({"selection", fmt::format("'{}' has no row for {}", selection.name, operation), ""});
    const auto members = static_cast<std::uint32_t>(ranks);
    for (std::size_t i = 0; i < selection.rows.size(); ++i) {
        const SelectionRow& row = selection.rows[i];
        if (row.operation() != operation || !row.condition.holds_for_ranks(members)) continue;
        const std::string name = fmt::format("row {} of '{}'", i + 1, selection.name);
        if (row.candidates.size() > 1 && cluster.native)
            complaints.push_back(
                {"selection",
                 name + " predicts times from bandwidths, which a platform in SimGrid's format does not give",
                 "write a row with one algorithm"});
        Complaints found;
        for (const Candidate& candidate : row.candidates)
            judge_algorithm(candidate.algorithm, ranks, row.condition.most_bytes(bytes, members), found);
        for (const Complaint& one : found) complaints.push_back({"selection", name + ": " + one.message, one.hint});
    }
}

void judge_round(const CollectivePlan& plan, Complaints& complaints) {
    if (plan.round == CollectivePlan::all_rounds) return;
    if (plan.algorithm.peers == Peers::all)
        return complaints.push_back({"round", "'round' has no effect here: all rounds are the same",
                                     "remove it; peers change with `peers: one` and `peers: inner-outer`"});
    const std::uint32_t rounds = make_algorithm(plan.algorithm, static_cast<std::uint32_t>(plan.ranks))->period();
    if (static_cast<std::uint32_t>(plan.round) >= rounds)
        complaints.push_back({"round", fmt::format("there is no round {}", plan.round),
                              fmt::format("peers repeat after {} rounds: write 0 to {}", rounds, rounds - 1)});
}

}  // namespace syncline
