#include "sim/iteration/switched_exchanges.hpp"

namespace syncline {

void SwitchedExchanges::add_switches(const InNetwork& algorithm) {
    const SwitchTree& tree = algorithm.tree();
    const std::uint32_t node = graph_.processes()[workers_.front()].place.node;
    std::vector<ProcessId> switches, members = workers_;
    for (std::uint32_t i = 0; i < tree.switches(); ++i)
        switches.push_back(graph_.add_process({place_of_switch(tree, i, node)}));
    members.insert(members.end(), workers_.begin(), workers_.end());
    members.insert(members.end(), switches.begin(), switches.end());
    members.insert(members.end(), switches.begin() + 1, switches.end());
    for (std::size_t member = streams_.size(); member < members.size(); ++member)
        streams_.push_back(graph_.add_stream(members[member], StreamKind::exchange));
    group_ = graph_.add_group(members);
    added_ = true;
}

std::vector<TaskId> SwitchedExchanges::add(const std::shared_ptr<const InNetwork>& algorithm, std::uint32_t bucket,
                                           std::uint64_t bytes, const Protocol& protocol,
                                           const std::vector<TaskId>* after, const std::vector<TaskId>* and_after) {
    if (!added_) add_switches(*algorithm);
    const auto ranks = static_cast<std::uint32_t>(workers_.size());
    const ExchangeId exchange = graph_.add_exchange({algorithm, group_, 0, bytes, 0, protocol});
    std::vector<TaskId> tasks;
    for (std::uint32_t member = 0; member < streams_.size(); ++member) {
        tasks.push_back(graph_.add_task({streams_[member], Phase::exchange, bucket, 0, exchange, member}));
        for (const std::vector<TaskId>* before : {after, and_after})
            if (before && member < 2 * ranks) graph_.depend(tasks.back(), (*before)[member % ranks]);
    }
    for (std::uint32_t rank = 0; rank < before_.size(); ++rank) graph_.depend(tasks[rank], before_[rank]);
    const auto results = tasks.begin() + ranks;
    before_.assign(results, results + ranks);
    return before_;
}

}  // namespace syncline
