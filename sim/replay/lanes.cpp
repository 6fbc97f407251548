#include "sim/replay/lanes.hpp"

#include <algorithm>
#include <numeric>

namespace syncline {

Lanes::Lanes(const TaskGraph& graph) : further_(graph.streams().size(), 0) {
    std::uint32_t exchange_channels = 1;
    for (const Task& task : graph.tasks()) {
        if (task.exchange == Task::no_exchange) continue;
        const Exchange& exchange = graph.exchange(task.exchange);
        const std::uint32_t lanes = exchange.algorithm->lanes();
        most_ = std::max(most_, lanes);
        further_[task.stream] = std::max(further_[task.stream], lanes - 1);
        exchange_channels = std::max(exchange_channels, exchange.tag + 1);
    }
    channels_ = exchange_channels * most_;
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
