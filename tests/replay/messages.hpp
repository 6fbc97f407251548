#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/iteration/exchange.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"

/// Single messages on a cluster, and the times at which they end.
namespace syncline {

struct Sent {
    std::uint32_t from = 0, to = 0;  ///< ranks
    std::uint64_t bytes = 0;
};

/// Every rank sends and receives its messages of the list, all concurrently.
class Messages : public CollectiveAlgorithm {
public:
    explicit Messages(std::vector<Sent> list) : list_(std::move(list)) {}

    Program program(std::uint32_t rank, std::uint32_t, std::uint64_t bytes, std::uint32_t) const override {
        // Blocks have one byte: a message has as many blocks as bytes.
        Program program{{bytes, static_cast<std::uint32_t>(bytes)}, {}};
        Step step;
        for (const auto& [from, to, size] : list_) {
            if (from == rank) step.sends.push_back({to, 0, static_cast<std::uint32_t>(size)});
            if (to == rank) step.receives.push_back({from, 0, static_cast<std::uint32_t>(size)});
        }
        if (!step.sends.empty() || !step.receives.empty()) program.steps.push_back(step);
        return program;
    }
    std::optional<double> cost(std::uint32_t, std::uint64_t, const MessageCost&) const override { return {}; }
    std::string formula(bool) const override { return "none"; }

    std::uint64_t largest() const {
        std::uint64_t bytes = 1;
        for (const Sent& sent : list_) bytes = std::max(bytes, sent.bytes);
        return bytes;
    }

private:
    const std::vector<Sent> list_;
};

/// Rank r on device 0 of node r.
inline std::vector<Place> one_by_node(std::uint32_t ranks) {
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) places.push_back({rank, 0});
    return places;
}

/// Starts all messages at the same time; returns, by rank, the delivery of the last message that it sends or receives.
inline std::vector<double> ends_at_once(Cluster cluster, const std::vector<Place>& places,
                                        const std::vector<Sent>& list) {
    cluster.latency = Latency::blocking;  // senders wait for the delivery, too
    const auto algorithm = std::make_shared<const Messages>(list);
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : places) workers.push_back(graph.add_process({place}));
    const Arrivals results = add_collectives(graph, workers, {{algorithm->largest(), algorithm}}, {}, cluster);
    graph.seal();
    const Timeline timeline = replay_isolated(cluster, graph, {});
    std::vector<double> ends;
    for (const std::vector<Arrival>& own : results.own) ends.push_back(timeline.measured()[own.front().task].end_s);
    return ends;
}

/// Starts each message when the previous one is delivered; returns the time of each.
inline std::vector<double> times_one_by_one(const Cluster& cluster, const std::vector<Place>& places,
                                            const std::vector<Sent>& list) {
    TaskGraph graph;
    std::vector<ProcessId> workers;
    std::vector<StreamId> streams;
    for (const Place& place : places) {
        workers.push_back(graph.add_process({place}));
        streams.push_back(graph.add_stream(workers.back(), StreamKind::exchange));
    }
    std::vector<TaskId> receiving;
    for (const auto& [from, to, bytes] : list) {
        const auto algorithm = std::make_shared<const Messages>(std::vector<Sent>{{0, 1, bytes}});
        const GroupId pair = graph.add_group({workers[from], workers[to]});
        const ExchangeId exchange = graph.add_exchange({algorithm, pair, 0, algorithm->largest(), 0});
        const TaskId sender = graph.add_task({streams[from], Phase::exchange, 0, 0, exchange, 0});
        const TaskId receiver = graph.add_task({streams[to], Phase::exchange, 0, 0, exchange, 1});
        if (!receiving.empty()) {
            graph.depend(sender, receiving.back());
            graph.depend(receiver, receiving.back());
        }
        receiving.push_back(receiver);
    }
    graph.seal();
    const Timeline timeline = replay_isolated(cluster, graph, {});
    std::vector<double> times;
    for (const TaskId task : receiving)
        times.push_back(timeline.measured()[task].end_s - timeline.measured()[task].start_s);
    return times;
}

struct Expected {
    Sent sent;
    double seconds = 0;
};

/// Checks the times of messages that start at the same time, as far as their ranks show them: a rank ends with its last
/// message.
inline void check_at_once(const Cluster& cluster, const std::vector<Place>& places,
                          const std::vector<Expected>& messages) {
    std::vector<Sent> list;
    std::vector<double> expected(places.size(), 0);
    for (const auto& [sent, seconds] : messages) {
        list.push_back(sent);
        for (const std::uint32_t rank : {sent.from, sent.to}) expected[rank] = std::max(expected[rank], seconds);
    }
    const std::vector<double> ends = ends_at_once(cluster, places, list);
    for (std::size_t rank = 0; rank < ends.size(); ++rank) {
        CAPTURE(rank);
        CHECK(ends[rank] == Approx(expected[rank]).epsilon(1e-9).margin(1e-15));
    }
}

}  // namespace syncline
