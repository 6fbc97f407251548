#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/iteration/exchange.hpp"
#include "sim/replay/replay.hpp"

/// One collective whose members' steps are given, on a cluster, and the time at which each member is done.
namespace syncline {

/// Member r executes steps[r], in blocks of one byte: a message of `count` blocks has as many bytes.
class Scripted : public CollectiveAlgorithm {
public:
    explicit Scripted(std::vector<std::vector<Step>> steps) : steps_(std::move(steps)) {}

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        return {{bytes, static_cast<std::uint32_t>(bytes)}, steps_[rank]};
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

private:
    const std::vector<std::vector<Step>> steps_;
};

struct Played {
    std::vector<double> ends;  ///< by member
    Timeline timeline;
};

inline Played play(const Cluster& cluster, const std::vector<Place>& places,
                   const std::vector<std::vector<Step>>& steps, std::uint64_t bytes = 1 << 20,
                   const Protocol& protocol = {}) {
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : places) workers.push_back(graph.add_process({place}));
    const Arrivals results =
        add_collectives(graph, workers, {{bytes, std::make_shared<const Scripted>(steps), protocol}}, {}, cluster);
    graph.seal();
    Played played{{}, replay_isolated(cluster, graph, {})};
    for (const std::vector<Arrival>& own : results.own)
        played.ends.push_back(played.timeline.measured()[own.front().task].end_s);
    return played;
}

}  // namespace syncline
