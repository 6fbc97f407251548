#include "sim/collective/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "sim/base/units.hpp"

namespace syncline {

bool SelectionCondition::holds_for_ranks(std::uint32_t ranks) const {
    return (!ranks_below || ranks < *ranks_below) && (!ranks_from || ranks >= *ranks_from) &&
           (!even_ranks || (ranks % 2 == 0) == *even_ranks) &&
           (!power_of_two || std::has_single_bit(ranks) == *power_of_two);
}

bool SelectionCondition::holds(std::uint64_t bytes, std::uint32_t ranks) const {
    const auto size = static_cast<double>(bytes);
    return (!below_bytes || size < *below_bytes) && (!block_below_bytes || size / ranks < *block_below_bytes) &&
           holds_for_ranks(ranks);
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
    return !below_bytes && !block_below_bytes && !ranks_below && !ranks_from && !even_ranks && !power_of_two;
}

std::string SelectionCondition::words() const {
    std::vector<std::string> parts;
    if (below_bytes) parts.push_back("below " + format_quantity(*below_bytes, Dimension::bytes));
    if (block_below_bytes) parts.push_back("blocks below " + format_quantity(*block_below_bytes, Dimension::bytes));
    if (ranks_below) parts.push_back(fmt::format("fewer than {} ranks", *ranks_below));
    if (ranks_from) parts.push_back(fmt::format("{} ranks or more", *ranks_from));
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

/// Returns the candidates of a row by ascending predicted time; equal ones keep their order.
std::vector<std::pair<double, std::size_t>> by_time(const SelectionRow& row, std::uint64_t bytes,
                                                    const Terrain& terrain) {
    std::vector<std::pair<double, std::size_t>> times;
    for (std::size_t i = 0; i < row.candidates.size(); ++i) {
        const auto& [algorithm, protocol] = row.candidates[i];
        times.emplace_back(predicted_time_s(algorithm.operation, algorithm.name, protocol, bytes, terrain), i);
    }
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace

Choice choose(const Selection& selection, const std::string& operation, std::uint64_t bytes, const Terrain& terrain) {
    const auto row = std::find_if(selection.rows.begin(), selection.rows.end(), [&](const SelectionRow& one) {
        return one.operation() == operation && one.condition.holds(bytes, terrain.ranks);
    });
    if (row == selection.rows.end())
        throw std::logic_error(fmt::format("no row of {} fits {} of {} B", selection.name, operation, bytes));
    Choice choice;
    choice.row = static_cast<std::size_t>(row - selection.rows.begin());
    choice.why = fmt::format("row {} of {}: {}", choice.row + 1, selection.name, row->condition.words());
    if (row->candidates.size() > 1) {
        const auto times = by_time(*row, bytes, terrain);
        choice.candidate = times.front().second;
        std::vector<std::string> words;
        for (const auto& [seconds, i] : times)
            words.push_back(fmt::format("{} {}",
                                        candidate_name(row->candidates[i].algorithm, row->candidates[i].protocol),
                                        format_quantity(seconds, Dimension::seconds)));
        choice.why += fmt::format("; shortest predicted time of {}: {}", times.size(), fmt::join(words, ", "));
    }
    choice.algorithm = row->candidates[choice.candidate].algorithm;
    choice.protocol = row->candidates[choice.candidate].protocol;
    return choice;
}

}  // namespace syncline
