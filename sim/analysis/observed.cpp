#include "sim/analysis/observed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/counted.hpp"
#include "sim/base/units.hpp"

namespace syncline {

Timeline watched_replay(const Cluster& cluster, const TaskGraph& graph, ReplayOptions options, const Watch& watch) {
    if (watch) {
        const std::uint64_t expected = count_messages(graph, options.iterations);
        options.progress = [watch, expected](const Progress& progress) { watch(progress, expected); };
    }
    return replay_isolated(cluster, graph, options);
}

std::vector<std::string> fault_notes(const Cluster& cluster, double end_s, const std::vector<double>& iterations_s) {
    const auto words = [](double seconds) { return format_quantity(seconds, Dimension::seconds); };
    std::vector<std::string> notes;
    const auto [shortest, longest] = std::ranges::minmax_element(iterations_s);
    constexpr double rounding = 1e-9;
    const std::string what = cluster.faults.size() == 1
                                 ? cluster.faults.front().words()
                                 : fmt::format("{} faults of the platform", cluster.faults.size());
    if (!iterations_s.empty() && *longest - *shortest <= rounding * *longest)
        notes.push_back(fmt::format("with {} the {} take {} each", what, counted(iterations_s.size(), "iteration"),
                                    words(*longest)));
    else if (!iterations_s.empty())
        notes.push_back(fmt::format("with {} the {} take {} to {}; number {} is the longest", what,
                                    counted(iterations_s.size(), "iteration"), words(*shortest), words(*longest),
                                    longest - iterations_s.begin() + 1));
    for (const Fault& fault : cluster.faults)
        if (fault.from_s >= end_s && fault.to_s > fault.from_s)
            notes.push_back(
                fmt::format("{}: no effect, since the simulation ends after {}", fault.words(), words(end_s)));
    return notes;
}

Cluster without_faults(Cluster cluster) {
    cluster.faults.clear();
    return cluster;
}

std::string transport_of(const Cluster& cluster) {
    if (!cluster.transport.name.empty()) return cluster.transport.name;
    return is_plain(cluster.transport) ? "" : "unnamed";
}

std::string fabric_of(const Cluster& cluster) {
    return cluster.native ? cluster.native->file : shape_name(cluster.fabric.topology.shape);
}

std::string overlay_of(const AlgorithmSpec& algorithm) {
    return algorithm.overlay ? shape_name(algorithm.overlay->shape) : "";
}

std::uint64_t most(const std::vector<std::uint64_t>& by_process, std::int64_t ranks) {
    return *std::max_element(by_process.begin(), by_process.begin() + ranks);
}

std::vector<LinkLoad> busiest(const Cluster& cluster, const std::vector<LinkUse>& uses, double seconds) {
    std::vector<LinkLoad> loads;
    if (cluster.network == NetworkModel::Constant) return loads;  // bytes take no time there
    for (const LinkUse& use : uses) {
        if (seconds > 0)
            loads.push_back({use.name, use.bytes, static_cast<double>(use.bytes) / (use.bandwidth_Bps * seconds)});
    }
    std::stable_sort(loads.begin(), loads.end(),
                     [](const LinkLoad& a, const LinkLoad& b) { return a.utilisation > b.utilisation; });
    constexpr std::size_t shown = 10;
    if (loads.size() > shown) loads.resize(shown);
    return loads;
}

std::vector<std::string> unused_ways_note(const Cluster& cluster, const std::vector<LinkUse>& uses) {
    if (cluster.network == NetworkModel::Constant) return {};
    for (const LinkUse& use : uses) {
        if (use.unused_ways < 1) continue;
        constexpr double many = 1e6;
        const std::string ways = use.unused_ways > many ? "more than a million other routes"
                                 : use.unused_ways == 1 ? "another route"
                                                        : fmt::format("{:.0f} other routes", use.unused_ways);
        return {
            fmt::format("the busiest link {} carries {}, while {} of the same length {} unused (`routing.policy: {}`)",
                        use.name, format_quantity(static_cast<double>(use.bytes), Dimension::bytes), ways,
                        use.unused_ways == 1 ? "is" : "are", policy_name(policy_of(cluster.fabric)))};
    }
    return {};
}

}  // namespace syncline
