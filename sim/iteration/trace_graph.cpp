#include "sim/iteration/trace_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "sim/base/dependency_order.hpp"
#include "sim/collective/direct.hpp"
#include "sim/execution/trace_error.hpp"
#include "sim/iteration/exchange.hpp"

namespace syncline {

namespace {

using NodeId = std::uint32_t;

class Builder {
public:
    Builder(const Cluster& cluster, const TracePlan& plan)
        : cluster_(cluster), plan_(plan), trace_(*plan.trace), tasks_(trace_.size()), ranks_(trace_.ranks) {
        places_ = place_ranks(cluster, plan.placement, trace_.ranks);
        terrains_ = std::make_unique<Terrains>(cluster, first_free_node(places_));
        for (const Place& place : places_) {
            const ProcessId process = graph_.add_process({place});
            ranks_[process].compute = graph_.add_stream(process, StreamKind::compute);
            const StreamId begin = graph_.add_stream(process, StreamKind::release);
            ranks_[process].begin = graph_.add_task({begin, Phase::barrier});
        }
    }

    TaskGraph build() {
        pair_messages();
        gather_units();
        add_in_order();
        for (std::uint32_t rank = 0; rank < trace_.ranks; ++rank) {
            const TaskId update = graph_.add_task({ranks_[rank].compute, Phase::update});
            for (const TaskId task : ranks_[rank].ends) graph_.depend(update, task);
        }
        graph_.seal();
        return std::move(graph_);
    }

private:
    /// The tasks that stand for a node: when all have ended, it has. None: it takes no time and depends on nothing.
    using Tasks = std::vector<TaskId>;

    struct RankStreams {
        StreamId compute = no_stream, host = no_stream;
        std::map<std::uint32_t, StreamId> copies;  ///< by stream of the nodes
        TaskId begin = no_task;
        /// Streams for messages, by a task after which each is free.
        std::unordered_map<TaskId, std::vector<StreamId>> free_after;
        Tasks ends;  ///< of all its nodes, but those that others wait for
    };

    struct Channel {
        std::uint32_t from, to, tag;
        auto operator<=>(const Channel&) const = default;
    };

    void pair_messages() {
        std::map<Channel, std::vector<NodeId>> sent, received;
        for (NodeId node = 0; node < trace_.size(); ++node) {
            const TraceNode& one = trace_.nodes()[node];
            if (one.kind == NodeKind::send) sent[{one.rank, one.peer, one.tag}].push_back(node);
            if (one.kind == NodeKind::receive) received[{one.peer, one.rank, one.tag}].push_back(node);
        }
        for (const auto& [channel, nodes] : sent)
            for (std::size_t i = 0; i < nodes.size(); ++i) sender_[received[channel][i]] = nodes[i];
    }

    /// A unit is a node, or the nodes of all members of a collective, and has the number of its first node.
    void gather_units() {
        std::vector<std::map<std::uint32_t, std::uint32_t>> place(trace_.groups.size());
        for (std::size_t group = 0; group < place.size(); ++group)
            for (std::uint32_t i = 0; i < trace_.groups[group].size(); ++i) place[group][trace_.groups[group][i]] = i;
        using Call = std::pair<std::uint32_t, std::uint32_t>;  // of a group: its number in the group
        std::map<Call, std::uint32_t> calls;                   // by group and rank
        std::map<Call, NodeId> first;
        unit_of_.resize(trace_.size());
        for (NodeId node = 0; node < trace_.size(); ++node) {
            unit_of_[node] = node;
            const TraceNode& one = trace_.nodes()[node];
            if (one.kind != NodeKind::collective) continue;
            unit_of_[node] = first.try_emplace({one.group, calls[{one.group, one.rank}]++}, node).first->second;
            std::vector<NodeId>& members = collectives_[unit_of_[node]];
            members.resize(trace_.groups[one.group].size());
            members[place[one.group][one.rank]] = node;
        }
    }

    /// Adds the tasks of all units, each after those that it depends on.
    void add_in_order() {
        std::vector<Wait> waits;
        std::vector<bool> used(trace_.size(), false);
        for (NodeId node = 0; node < trace_.size(); ++node)
            for (const NodeId on : trace_.dependencies_of(node)) {
                waits.push_back({unit_of_[node], unit_of_[on]});
                used[on] = true;
            }
        for (const auto& [receiver, sender] : sender_)
            if (is_signal(receiver)) waits.push_back({receiver, sender});
        const std::vector<NodeId> order = dependency_order(static_cast<std::uint32_t>(trace_.size()), waits);
        if (order.size() < trace_.size()) refuse_cycle(order);
        for (const NodeId unit : order) {
            if (unit_of_[unit] != unit) continue;
            const auto collective = collectives_.find(unit);
            if (collective == collectives_.end())
                add_node(unit, !used[unit]);
            else
                add_collective(collective->second, used);
        }
    }

    [[noreturn]] void refuse_cycle(const std::vector<NodeId>& order) const {
        const std::set<NodeId> done(order.begin(), order.end());
        for (const auto& [unit, members] : collectives_) {
            if (done.contains(unit)) continue;
            const TraceNode& one = trace_.nodes()[members.front()];
            throw TraceError(
                fmt::format("{} of rank {} waits for itself: its members wait for collectives that wait "
                            "for it",
                            trace_.names[one.name], one.rank));
        }
        throw TraceError("nodes wait for each other in a cycle");
    }

    /// Returns whether a message takes no time: its receiver waits for what its sender waits for.
    bool is_signal(NodeId node) const { return trace_.free_signals && trace_.nodes()[node].bytes == 0; }

    /// Returns the tasks that a node waits for, without repetitions.
    Tasks before(NodeId node) const {
        Tasks all;
        if (trace_.nodes()[node].kind == NodeKind::receive && is_signal(node)) all = tasks_[sender_.at(node)];
        for (const NodeId on : trace_.dependencies_of(node))
            all.insert(all.end(), tasks_[on].begin(), tasks_[on].end());
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

    /// Adds a task after others; those on the same stream are in order.
    TaskId add(const Task& task, const Tasks& after) {
        const TaskId id = graph_.add_task(task);
        for (const TaskId on : after)
            if (graph_.tasks()[on].stream != task.stream) graph_.depend(id, on);
        return id;
    }

    void done(NodeId node, Tasks tasks, bool last) {
        RankStreams& rank = ranks_[trace_.nodes()[node].rank];
        if (last) rank.ends.insert(rank.ends.end(), tasks.begin(), tasks.end());
        tasks_[node] = std::move(tasks);
    }

    double seconds_of(const TraceNode& node) const {
        if (node.kind == NodeKind::host) return plan_.host_time ? node.seconds : 0;
        if (node.kind == NodeKind::copy) return node.seconds;
        return (node.flop > 0 ? node.flop / cluster_.device.flops_per_s : node.seconds) / plan_.speed;
    }

    void add_node(NodeId node, bool last) {
        const TraceNode& one = trace_.nodes()[node];
        const bool message = one.kind == NodeKind::send || one.kind == NodeKind::receive;
        if (message && !is_signal(node)) return add_message(node, last);
        Tasks after = before(node);
        const double seconds = message || one.kind == NodeKind::nothing ? 0 : seconds_of(one);
        if (seconds == 0) {
            constexpr std::size_t few = 4;
            if (after.size() > few) after = {joined(one.rank, after)};
            return done(node, std::move(after), last);
        }
        RankStreams& rank = ranks_[one.rank];
        if (one.kind == NodeKind::host && rank.host == no_stream)
            rank.host = graph_.add_stream(one.rank, StreamKind::input_copy);
        const StreamId stream = one.kind == NodeKind::host   ? rank.host
                                : one.kind == NodeKind::copy ? copies_of(one)
                                                             : rank.compute;
        Task task{stream, Phase::kernel, one.name, seconds};
        const TaskId added = add(task, after);
        pass_on(after, added);
        done(node, {added}, last);
    }

    StreamId copies_of(const TraceNode& node) {
        const auto [found, added] = ranks_[node.rank].copies.try_emplace(node.stream, no_stream);
        if (added) found->second = graph_.add_stream(node.rank, StreamKind::host_copy);
        return found->second;
    }

    /// Adds a task that takes no time, after others.
    TaskId joined(std::uint32_t rank, const Tasks& after) {
        return add({own_stream(rank, StreamKind::release, after), Phase::barrier}, after);
    }

    /// Makes streams that are free after a computation's dependencies free after the computation, where the next
    /// message will look for them.
    void pass_on(const Tasks& after, TaskId task) {
        auto& free = ranks_[graph_.streams()[graph_.tasks()[task].stream].process].free_after;
        for (const TaskId on : after) {
            const auto found = free.find(on);
            if (found == free.end()) continue;
            std::vector<StreamId> streams = std::move(found->second);
            free.erase(found);
            std::vector<StreamId>& later = free[task];
            later.insert(later.end(), streams.begin(), streams.end());
        }
    }

    /// Returns a stream on which nothing but a task that is waited for anyway comes before: one that ends with one of
    /// these tasks, or a new one. The next task must be added to it.
    StreamId own_stream(std::uint32_t rank, StreamKind kind, const Tasks& after) {
        auto& free = ranks_[rank].free_after;
        StreamId stream = no_stream;
        for (const TaskId task : after) {
            const auto found = free.find(task);
            if (found == free.end()) continue;
            const auto of_kind =
                std::ranges::find_if(found->second, [&](StreamId one) { return graph_.streams()[one].kind == kind; });
            if (of_kind == found->second.end()) continue;
            stream = *of_kind;
            found->second.erase(of_kind);
            break;
        }
        if (stream == no_stream) stream = graph_.add_stream(rank, kind);
        free[static_cast<TaskId>(graph_.tasks().size())].push_back(stream);
        return stream;
    }

    /// Adds a send or a receive. The exchange of both is made with the first of them. It has a tag of its own between
    /// its ranks, since messages on different streams may overtake each other.
    void add_message(NodeId node, bool last) {
        const TraceNode& one = trace_.nodes()[node];
        const bool sends = one.kind == NodeKind::send;
        const Tasks after = before(node);
        const StreamId stream = own_stream(one.rank, sends ? StreamKind::transfer : StreamKind::receive, after);
        Task task{stream, Phase::communication, one.name};
        task.exchange = exchange_of(sends ? node : sender_.at(node));
        task.member = sends ? 0 : 1;
        done(node, {add(task, after)}, last);
    }

    ExchangeId exchange_of(NodeId sender) {
        const auto [found, added] = messages_.try_emplace(sender, 0);
        if (!added) {
            const ExchangeId exchange = found->second;
            messages_.erase(found);
            return exchange;
        }
        const TraceNode& one = trace_.nodes()[sender];
        const auto [pair, first] = pairs_.try_emplace({one.rank, one.peer}, Pair{});
        if (first) pair->second.group = graph_.add_group({one.rank, one.peer});
        Exchange exchange{message_, pair->second.group, pair->second.messages++, one.bytes};
        exchange.kind = ExchangeClass::point_to_point;
        exchange.buffered = static_cast<double>(one.bytes) <= plan_.eager_bytes.value_or(trace_.eager_bytes);
        found->second = graph_.add_exchange(exchange);
        return found->second;
    }

    void add_collective(const std::vector<NodeId>& nodes, const std::vector<bool>& used) {
        const TraceNode& one = trace_.nodes()[nodes.front()];
        const std::vector<std::uint32_t>& members = trace_.groups[one.group];
        Group& group = group_of(one.group);
        std::vector<TaskId> ready(members.size());
        for (std::size_t i = 0; i < members.size(); ++i) {
            const Tasks after = before(nodes[i]);
            ready[i] = after.empty()       ? ranks_[members[i]].begin
                       : after.size() == 1 ? after.front()
                                           : joined(members[i], after);
        }
        if (members.size() == 1) return done(nodes.front(), before(nodes.front()), !used[nodes.front()]);
        Collective collective;
        try {
            collective = in_pieces(one.bytes, chooser(group, one.operation));
        } catch (const AlgorithmError& error) {
            throw TraceError(fmt::format("{} among {} ranks, as the platform's transport selects it: {}",
                                         trace_.operations[one.operation], members.size(), error.what()));
        }
        const Arrivals arrivals =
            add_collectives(graph_, group.workers, group.streams, {collective}, {ready}, cluster_, {}, one.name);
        for (std::size_t i = 0; i < members.size(); ++i) {
            Tasks tasks;
            for (const Arrival& arrival : arrivals.own[i]) tasks.push_back(arrival.task);
            done(nodes[i], std::move(tasks), !used[nodes[i]]);
        }
    }

    /// Throws AlgorithmError if the transport selects what cannot be among these ranks.
    Collective in_pieces(std::uint64_t bytes, Chooser& chooser) const {
        Collective collective;
        collective.phase = Phase::communication;
        const auto pieces = std::clamp<std::uint64_t>(bytes, 1, static_cast<std::uint64_t>(plan_.pieces));
        for (std::uint64_t i = 0; i < pieces; ++i) {
            const std::uint64_t size = bytes / pieces + (i < bytes % pieces ? 1 : 0);
            const Chosen chosen = chooser.choose(size);
            collective.links.push_back({size, chosen.algorithm, chosen.protocol});
        }
        return collective;
    }

    struct Group {
        std::vector<ProcessId> workers;
        std::vector<StreamId> streams;
        std::vector<Place> places;
        std::map<std::uint8_t, Chooser> choosers;
    };

    Group& group_of(std::uint32_t number) {
        const auto [found, added] = groups_.try_emplace(number);
        Group& group = found->second;
        if (!added) return group;
        for (const std::uint32_t rank : trace_.groups[number]) {
            group.workers.push_back(rank);
            group.streams.push_back(graph_.add_stream(rank, StreamKind::exchange));
            group.places.push_back(places_[rank]);
        }
        return group;
    }

    Chooser& chooser(Group& group, std::uint8_t operation) {
        const auto found = group.choosers.find(operation);
        if (found != group.choosers.end()) return found->second;
        return group.choosers
            .emplace(operation, trace_chooser(cluster_, group.places, trace_.operations[operation], *terrains_))
            .first->second;
    }

    struct Pair {
        GroupId group = 0;
        std::uint32_t messages = 0;
    };

    const Cluster& cluster_;
    const TracePlan& plan_;
    const ExecutionTrace& trace_;
    TaskGraph graph_;
    std::vector<Tasks> tasks_;  ///< by node
    std::vector<RankStreams> ranks_;
    std::vector<Place> places_;
    std::unique_ptr<Terrains> terrains_;
    std::vector<NodeId> unit_of_;                        ///< by node
    std::map<NodeId, std::vector<NodeId>> collectives_;  ///< by unit: members in the order of their group
    std::map<NodeId, NodeId> sender_;                    ///< by receive
    std::map<NodeId, ExchangeId> messages_;              ///< by send: exchanges of which one side is added
    std::map<std::pair<std::uint32_t, std::uint32_t>, Pair> pairs_;
    std::map<std::uint32_t, Group> groups_;
    const std::shared_ptr<const CollectiveAlgorithm> message_ =
        std::make_shared<const DirectRooted>(DirectRooted::Operation::broadcast);
};

}  // namespace

Chooser trace_chooser(const Cluster& cluster, const std::vector<Place>& places, const std::string& operation,
                      Terrains& terrains) {
    AlgorithmSpec spec;
    spec.operation = operation;
    spec.name = algorithm_names(operation).front();
    return {cluster, places, spec, std::nullopt, std::nullopt, terrains};
}

TaskGraph build_trace(const Cluster& cluster, const TracePlan& plan) {
    return Builder(cluster, plan).build();
}

}  // namespace syncline
