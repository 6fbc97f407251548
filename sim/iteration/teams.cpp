#include "sim/iteration/teams.hpp"

#include <algorithm>

#include "sim/collective/parameter_server.hpp"

namespace syncline {

Teams::Teams(TaskGraph& graph, const std::vector<ProcessId>& workers, bool local_reduction, const Cluster& cluster,
             bool by_urgency)
    : graph_(graph), gamma_s_per_B_(gamma_of(reduction_Bps(cluster))) {
    const auto node_of = [&](std::uint32_t rank) { return graph.processes()[workers[rank]].place.node; };
    for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
        const auto same_node = [&](const Team& team) { return node_of(team.ranks.front()) == node_of(rank); };
        const auto team = local_reduction ? std::find_if(teams_.begin(), teams_.end(), same_node) : teams_.end();
        (team == teams_.end() ? teams_.emplace_back() : *team).ranks.push_back(rank);
    }
    for (Team& team : teams_) {
        leaders_.push_back(workers[team.ranks.front()]);
        if (team.ranks.size() == 1) continue;
        std::vector<ProcessId> members;
        for (const std::uint32_t rank : team.ranks) {
            members.push_back(workers[rank]);
            team.reduce.push_back(graph.add_stream(workers[rank], StreamKind::exchange));
            team.broadcast.push_back(graph.add_stream(workers[rank], StreamKind::exchange));
        }
        team.group = graph.add_group(std::move(members));
        if (by_urgency) graph.take_by_priority(team.reduce);
        // Pulls from several servers end in any order; each is passed on as soon as it is complete.
        graph.take_by_priority(team.broadcast);
    }
}

std::vector<TaskId> Teams::add(const Team& team, const std::vector<StreamId>& streams, const Exchange& exchange,
                               std::uint32_t bucket, std::uint32_t urgency) {
    const ExchangeId id = graph_.add_exchange(exchange);
    std::vector<TaskId> tasks;
    for (std::uint32_t member = 0; member < team.ranks.size(); ++member)
        tasks.push_back(graph_.add_task({streams[member], Phase::exchange, bucket, 0, id, member, urgency}));
    return tasks;
}

std::vector<std::optional<TaskId>> Teams::reduce(std::uint32_t bucket, std::uint64_t bytes,
                                                 const std::vector<TaskId>* ready, std::uint32_t urgency) {
    static const auto to_first = std::make_shared<const Push>();
    std::vector<std::optional<TaskId>> sums;
    for (const Team& team : teams_) {
        if (team.ranks.size() == 1) {
            sums.push_back(ready ? std::optional((*ready)[team.ranks.front()]) : std::nullopt);
            continue;
        }
        const auto tasks = add(team, team.reduce, {to_first, team.group, 0, bytes, gamma_s_per_B_}, bucket, urgency);
        for (std::size_t member = 0; ready && member < tasks.size(); ++member)
            graph_.depend(tasks[member], (*ready)[team.ranks[member]]);
        sums.emplace_back(tasks.front());
    }
    return sums;
}

void Teams::broadcast(std::uint32_t bucket, std::uint64_t bytes, const std::vector<std::vector<TaskId>>& pulled,
                      std::uint32_t urgency, Arrivals& results) {
    static const auto from_first = std::make_shared<const Pull>();
    for (std::size_t i = 0; i < teams_.size(); ++i) {
        const Team& team = teams_[i];
        if (team.ranks.size() == 1) {
            // The message keeps its receiver busy after its sender is done with it.
            for (const TaskId shard : pulled[i]) results.own[team.ranks.front()].push_back({bucket, shard});
            continue;
        }
        const auto tasks = add(team, team.broadcast, {from_first, team.group, 0, bytes, 0}, bucket, urgency);
        for (const TaskId shard : pulled[i]) graph_.depend(tasks.front(), shard);
        for (std::size_t member = 0; member < tasks.size(); ++member)
            results.own[team.ranks[member]].push_back({bucket, tasks[member]});
    }
}

}  // namespace syncline
