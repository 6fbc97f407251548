#include "sim/replay/lanes.hpp"

#include <algorithm>
#include <numeric>

namespace syncline {

Lanes::Lanes(const TaskGraph& graph) : further_(graph.streams().size(), 0) {
    struct Part {
        std::uint32_t most = 1, exchange_channels = 1;
    };
    std::vector<Part> parts(std::max<std::size_t>(1, graph.parts().size()));
    const auto part_of = [&](GroupId group) -> Part& {
        const std::span<const ProcessId> members = graph.group(group);
        return parts[members.empty() ? 0 : graph.processes()[members.front()].part];
    };
    for (const Task& task : graph.tasks()) {
        if (task.exchange == Task::no_exchange) continue;
        const Exchange& exchange = graph.exchange(task.exchange);
        const std::uint32_t lanes = exchange.algorithm->lanes();
        Part& part = part_of(exchange.group);
        part.most = std::max(part.most, lanes);
        further_[task.stream] = std::max(further_[task.stream], lanes - 1);
        part.exchange_channels = std::max(part.exchange_channels, exchange.tag + 1);
    }
    for (const Part& part : parts) channels_ = std::max(channels_, part.exchange_channels * part.most);
    for (GroupId group = 0; group < graph.groups(); ++group) most_.push_back(part_of(group).most);
    stream_.resize(graph.streams().size());
    std::iota(stream_.begin(), stream_.end(), StreamId{0});
    for (StreamId stream = 0; stream < further_.size(); ++stream) {
        first_.push_back(count());
        stream_.insert(stream_.end(), further_[stream], stream);
    }
}

std::vector<LaneId> Lanes::of(StreamId stream) const {
    std::vector<LaneId> lanes{stream};
    for (std::uint32_t i = 0; i < further_[stream]; ++i) lanes.push_back(first_[stream] + i);
    return lanes;
}

}  // namespace syncline
