#include "sim/collective/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sim/base/units.hpp"

namespace syncline {

bool SelectionCondition::holds_for_ranks(std::uint32_t ranks) const {
    return (!ranks_below || ranks < *ranks_below) && (!ranks_from || ranks >= *ranks_from) &&
           (!even_ranks || (ranks % 2 == 0) == *even_ranks) &&
           (!power_of_two || std::has_single_bit(ranks) == *power_of_two);
}

bool SelectionCondition::holds(std::uint64_t bytes, const Terrain& terrain) const {
    const auto size = static_cast<double>(bytes);
    return (!below_bytes || size < *below_bytes) && (!block_below_bytes || size / terrain.ranks < *block_below_bytes) &&
           (!nodes_below || terrain.nodes < *nodes_below) && (!nodes_from || terrain.nodes >= *nodes_from) &&
           (!node_ranks_below || terrain.ranks <= (*node_ranks_below - 1) * std::uint64_t{terrain.nodes}) &&
           holds_for_ranks(terrain.ranks);
}

std::uint64_t SelectionCondition::most_bytes(std::uint64_t bytes, std::uint32_t ranks) const {
    const auto below = [&](double limit) {
        if (static_cast<double>(bytes) >= limit)
            bytes = static_cast<std::uint64_t>(std::max(1.0, std::ceil(limit))) - 1;
    };
    if (below_bytes) below(*below_bytes);
    if (block_below_bytes) below(*block_below_bytes * ranks);
    return bytes;
}

bool SelectionCondition::always() const {
    return !below_bytes && !block_below_bytes && !ranks_below && !ranks_from && !nodes_below && !nodes_from &&
           !node_ranks_below && !even_ranks && !power_of_two;
}

std::string SelectionCondition::words() const {
    std::vector<std::string> parts;
    if (below_bytes) parts.push_back("below " + format_quantity(*below_bytes, Dimension::bytes));
    if (block_below_bytes) parts.push_back("blocks below " + format_quantity(*block_below_bytes, Dimension::bytes));
    if (ranks_below) parts.push_back(fmt::format("fewer than {} ranks", *ranks_below));
    if (ranks_from) parts.push_back(fmt::format("{} ranks or more", *ranks_from));
    if (nodes_below) parts.push_back(*nodes_below == 2 ? "one node" : fmt::format("fewer than {} nodes", *nodes_below));
    if (nodes_from) parts.push_back(fmt::format("{} nodes or more", *nodes_from));
    if (node_ranks_below)
        parts.push_back(*node_ranks_below == 2 ? "one rank on each node"
                                               : fmt::format("fewer than {} ranks on each node", *node_ranks_below));
    if (even_ranks) parts.emplace_back(*even_ranks ? "an even number of ranks" : "an odd number of ranks");
    if (power_of_two) parts.emplace_back(*power_of_two ? "power-of-two ranks" : "non-power-of-two ranks");
    return parts.empty() ? "always" : fmt::format("{}", fmt::join(parts, ", "));
}

bool Selection::covers(const std::string& operation) const {
    return std::any_of(rows.begin(), rows.end(), [&](const SelectionRow& row) { return row.operation() == operation; });
}

std::string candidate_name(const AlgorithmSpec& algorithm, const Protocol& protocol) {
    return protocol.name.empty() ? algorithm.name : algorithm.name + "/" + protocol.name;
}

namespace {

/// A candidate for an exchange.
struct Rated {
    double seconds = 0;
    std::size_t number = 0;
    Protocol protocol;
};

/// Returns the possible candidates of a row by ascending predicted time; equal ones keep their order.
std::vector<Rated> by_time(const SelectionRow& row, std::uint64_t bytes, const Terrain& terrain,
                           const Possible& possible) {
    std::vector<Rated> rated;
    for (std::size_t i = 0; i < row.candidates.size(); ++i) {
        const auto& [algorithm, terms] = row.candidates[i];
        if (!possible(algorithm)) continue;
        const Protocol protocol = terms.of(algorithm.operation, algorithm.name, bytes, terrain);
        const double seconds = row.candidates.size() == 1
                                   ? 0
                                   : predicted_time_s(algorithm.operation, algorithm.name, protocol, bytes, terrain);
        rated.push_back({seconds, i, protocol});
    }
    std::ranges::stable_sort(rated, {}, &Rated::seconds);
    return rated;
}

}  // namespace

std::optional<Choice> choose(const Selection& selection, const std::string& operation, std::uint64_t bytes,
                             const Terrain& terrain, const Possible& possible) {
    for (std::size_t number = 0; number < selection.rows.size(); ++number) {
        const SelectionRow& row = selection.rows[number];
        if (row.operation() != operation || !row.condition.holds(bytes, terrain)) continue;
        const std::vector<Rated> rated = by_time(row, bytes, terrain, possible);
        if (rated.empty()) continue;
        Choice choice;
        choice.row = number;
        choice.candidate = rated.front().number;
        choice.algorithm = row.candidates[choice.candidate].algorithm;
        choice.protocol = rated.front().protocol;
        choice.why = fmt::format("row {} of {}: {}", number + 1, selection.name, row.condition.words());
        if (row.candidates.size() > 1) {
            std::vector<std::string> words;
            for (const Rated& one : rated)
                words.push_back(fmt::format("{} {}", candidate_name(row.candidates[one.number].algorithm, one.protocol),
                                            format_quantity(one.seconds, Dimension::seconds)));
            choice.why += fmt::format("; shortest predicted time of {}: {}", words.size(), fmt::join(words, ", "));
        }
        return choice;
    }
    return std::nullopt;
}

}  // namespace syncline
