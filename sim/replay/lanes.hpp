#pragma once

#include <cstdint>
#include <vector>

#include "sim/taskgraph/task_graph.hpp"

/// Numbers of the lanes of streams.
///
/// A stream that takes part in an exchange runs its lanes (CollectiveAlgorithm::lanes()) side by side. The first is the
/// stream itself and has its number; further ones are numbered after all streams. Simulators, folding and traces know
/// lanes only. The channels of an exchange's programs are told apart from those of other exchanges by a number that
/// follows from the exchange's own channel, and from the largest number of lanes in the exchange's part of the graph:
/// routes may depend on it, and those of a part do not depend on others.
namespace syncline {

using LaneId = std::uint32_t;

class Lanes {
public:
    explicit Lanes(const TaskGraph& graph);

    /// Counts all lanes of all streams.
    std::uint32_t count() const { return static_cast<std::uint32_t>(stream_.size()); }
    /// Returns the lanes of a stream; the first is its own number.
    std::vector<LaneId> of(StreamId stream) const;
    /// Returns the number after the stream's last further lane.
    LaneId end(StreamId stream) const { return first_[stream] + further_[stream]; }
    StreamId stream(LaneId lane) const { return stream_[lane]; }
    /// Returns the stream of each lane.
    const std::vector<StreamId>& streams() const { return stream_; }

    /// Returns the channel of the messages of a program of an exchange, and the number of these channels.
    std::uint32_t channel(const Exchange& exchange, const Program& program) const {
        return exchange.tag * most_[exchange.group] + program.channel;
    }
    std::uint32_t channels() const { return channels_; }

private:
    std::uint32_t channels_ = 1;
    std::vector<std::uint32_t> most_;     // by group: lanes of an exchange in its part of the graph
    std::vector<StreamId> stream_;        // by lane
    std::vector<LaneId> first_;           // by stream: the first of its further lanes
    std::vector<std::uint32_t> further_;  // and their number
};

}  // namespace syncline
