#include "sim/trace/cast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sim/trace/timeline_words.hpp"

namespace syncline {

Cast::Cast(const TaskGraph& graph)
    : graph_(graph), is_rank_(graph.processes().size(), false), among_(graph.streams().size()) {
    std::map<std::pair<ProcessId, StreamKind>, std::uint32_t> count;
    for (StreamId id = 0; id < graph.streams().size(); ++id) {
        const Stream& stream = graph.streams()[id];
        if (stream.kind == StreamKind::compute) is_rank_[stream.process] = true;
        among_[id].number = count[{stream.process, stream.kind}]++;
    }
    for (StreamId id = 0; id < graph.streams().size(); ++id) {
        const Stream& stream = graph.streams()[id];
        among_[id].of = count[{stream.process, stream.kind}];
    }
    for (ProcessId id = 0; id < graph.processes().size(); ++id) {
        number_.push_back(is_rank_[id] ? ranks_++ : servers_++);
        nodes_.push_back(graph.processes()[id].place.node);
    }
    std::sort(nodes_.begin(), nodes_.end());
    nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
}

std::string Cast::process(ProcessId process) const {
    const Place& place = graph_.processes()[process].place;
    const bool server = place.on_device() || place.device == Place::host;
    return fmt::format("{} {}", is_rank_[process] ? "rank" : server ? "server" : "switch", number_[process]);
}

std::string Cast::stream(StreamId stream) const {
    const Stream& shown = graph_.streams()[stream];
    const std::string name = fmt::format("{} {}", process(shown.process), word(shown.kind));
    return among_[stream].of > 1 ? fmt::format("{} {}", name, among_[stream].number) : name;
}

std::uint32_t Cast::node(StreamId stream) const {
    return graph_.processes()[graph_.streams()[stream].process].place.node;
}

}  // namespace syncline
