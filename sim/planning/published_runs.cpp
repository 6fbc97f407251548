#include "sim/planning/published_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>
#include <variant>

namespace syncline::planning {

std::string generation_of(const std::string& device) {
    const std::size_t letter = device.starts_with("g") ? 1 : 0;
    const auto is = [&](std::size_t at, auto what) {
        return at < device.size() && what(static_cast<unsigned char>(device[at])) != 0;
    };
    const bool named =
        is(letter, [](int c) { return std::isalpha(c); }) && is(letter + 1, [](int c) { return std::isdigit(c); });
    return named ? device.substr(letter, 1) : "";
}

std::int64_t most_experts(const Model& model) {
    std::int64_t most = 0;
    for (const Layer& layer : model.layers)
        if (const auto* experts = std::get_if<Experts>(&layer.shape)) most = std::max(most, experts->experts);
    return most;
}

Spread spread_of(const std::vector<PublishedRun>& runs, const Device& device, const Model& model, std::int64_t ranks) {
    const std::string generation = generation_of(device.name);
    const bool experts = most_experts(model) > 0;
    const auto ratio = [](std::int64_t one, std::int64_t other) {
        return std::log(static_cast<double>(one) / static_cast<double>(other));
    };
    std::vector<std::pair<double, const PublishedRun*>> near;
    for (const PublishedRun& run : runs) {
        if (generation.empty() || generation_of(run.device) != generation || (run.experts > 0) != experts) continue;
        if (!run.reliable || run.measured_by_predicted == 0) continue;
        const double distance = std::hypot(ratio(run.ranks, ranks), ratio(run.parameters, model.parameters()));
        if (distance <= Spread::farthest) near.emplace_back(distance, &run);
    }
    std::ranges::stable_sort(near, {}, &std::pair<double, const PublishedRun*>::first);
    if (near.size() > Spread::most_runs) near.resize(Spread::most_runs);
    Spread spread;
    for (const auto& [distance, run] : near) spread.runs.push_back(*run);
    std::ranges::stable_sort(spread.runs, {}, &PublishedRun::measured_by_predicted);
    if (near.empty()) return spread;
    const std::size_t off = near.size() >= Spread::trimmed_from ? 1 : 0;
    spread.first = spread.runs[off];
    spread.last = spread.runs[near.size() - 1 - off];
    spread.least = spread.first.measured_by_predicted;
    spread.most = spread.last.measured_by_predicted;
    return spread;
}

std::string words_of(const Spread& spread) {
    if (!spread.any()) return "";
    const auto named = [](const PublishedRun& run) {
        return fmt::format("{} ({}, {} {})", run.name, run.model, run.ranks, run.device);
    };
    if (spread.runs.size() == 1)
        return fmt::format("the nearest published run took {:.2f} times as long as predicted: {}", spread.least,
                           named(spread.first));
    const std::size_t all = spread.runs.size(), kept = all - (all >= Spread::trimmed_from ? 2 : 0);
    return fmt::format("{} nearest published runs took {:.2f} to {:.2f} times as long as predicted: from {} to {}",
                       kept == all ? fmt::format("the {}", all) : fmt::format("{} of the {}", kept, all), spread.least,
                       spread.most, named(spread.first), named(spread.last));
}

}  // namespace syncline::planning
