#include "sim/iteration/sweep.hpp"

#include <algorithm>
#include <numeric>

#include "sim/collective/in_network.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/lowering/buckets.hpp"
#include "sim/plan/collective_plan.hpp"

namespace syncline {

namespace {

/// A fixed round of an algorithm whose programs change from round to round, used for every execution. Its closed form
/// is that of the algorithm, which is the same for every round (see Gossip and InnerOuterGossip).
class OneRound : public CollectiveAlgorithm {
public:
    OneRound(std::shared_ptr<const CollectiveAlgorithm> of, std::uint32_t round) : of_(std::move(of)), round_(round) {}
    Program program(std::uint32_t rank, std::uint32_t ranks, std::uint64_t bytes, std::uint32_t) const override {
        return of_->program(rank, ranks, bytes, round_);
    }
    std::optional<double> cost(std::uint32_t ranks, std::uint64_t bytes, const MessageCost& message) const override {
        return of_->cost(ranks, bytes, message);
    }
    std::string formula(bool travels) const override { return of_->formula(travels); }

private:
    std::shared_ptr<const CollectiveAlgorithm> of_;
    std::uint32_t round_;
};

/// Adds only the push to sliced servers, or only the pull from them: the server's reduction is part of its push.
void add_half(TaskGraph& graph, const std::vector<ProcessId>& workers, bool push, std::uint64_t bytes,
              std::uint32_t servers, TaskId after, const Cluster& cluster) {
    std::shared_ptr<const CollectiveAlgorithm> algorithm = std::make_shared<Pull>();
    if (push) algorithm = std::make_shared<Push>();
    std::vector<Place> places;
    for (const ProcessId worker : workers) places.push_back(graph.processes()[worker].place);
    const std::uint32_t free = first_free_node(places);
    for (std::uint32_t server = 0; server < servers; ++server) {
        std::vector<ProcessId> members{graph.add_process({{free + server, Place::host}})};
        members.insert(members.end(), workers.begin(), workers.end());
        const GroupId group = graph.add_group(members);
        const ExchangeId exchange = graph.add_exchange(
            {algorithm, group, server, Partition{bytes, servers}.size(server), gamma_of(cluster.host.reduction_Bps)});
        for (std::uint32_t member = 0; member < members.size(); ++member) {
            const StreamId stream = graph.add_stream(members[member], push ? StreamKind::push : StreamKind::pull);
            const TaskId task = graph.add_task({stream, push ? Phase::push : Phase::pull, 0, 0, exchange, member});
            graph.depend(task, after);
        }
    }
}

/// Makes `barrier` wait for every task from `first` on.
void close(TaskGraph& graph, TaskId first, TaskId barrier) {
    for (TaskId task = first; task < graph.tasks().size(); ++task) graph.depend(barrier, task);
}

}  // namespace

std::vector<std::uint64_t> sizes_of(const CollectivePlan& plan) {
    return plan.sweep.empty() ? std::vector<std::uint64_t>{plan.bytes} : plan.sweep;
}

std::vector<Chosen> choose_exchanges(const Cluster& cluster, const CollectivePlan& plan) {
    std::vector<Chosen> all;
    if (plan.served()) return all;
    const std::vector<Place> places = place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks));
    Terrains terrains(cluster, first_free_node(places));
    Chooser chooser(cluster, places, plan.algorithm, plan.selection, plan.channels, terrains);
    for (const std::uint64_t bytes : sizes_of(plan)) {
        all.push_back(chooser.choose(bytes));
        if (plan.round == CollectivePlan::all_rounds) continue;
        auto& algorithm = all.back().algorithm;
        algorithm = std::make_shared<OneRound>(algorithm, static_cast<std::uint32_t>(plan.round));
    }
    return all;
}

std::uint32_t rounds_of(const std::vector<Chosen>& chosen) {
    std::uint32_t rounds = 1;
    for (const Chosen& one : chosen) rounds = std::lcm(rounds, one.algorithm->period());
    return rounds;
}

std::vector<Rotation> alike_ranks(const CollectivePlan& plan, const std::vector<Chosen>& chosen) {
    std::vector<Rotation> alike;
    const bool reduced_in_network = std::ranges::any_of(
        chosen, [](const Chosen& one) { return dynamic_cast<const InNetwork*>(one.algorithm.get()) != nullptr; });
    if (plan.served() || reduced_in_network) return alike;
    for (const std::uint32_t span : spans_within(static_cast<std::uint32_t>(plan.ranks))) alike.push_back({span, 1});
    return alike;
}

Sweep build_sweep(const Cluster& cluster, const CollectivePlan& plan, const std::vector<Chosen>& chosen,
                  const Rotations& rotations) {
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const std::vector<std::uint64_t> sizes = sizes_of(plan);
    Sweep sweep;
    TaskGraph& graph = sweep.graph;
    std::vector<ProcessId> workers;
    for (const Place& place : place_ranks(cluster, plan.placement, ranks))
        workers.push_back(graph.add_process({place}));
    if (ranks == 1) {
        graph.seal();
        return sweep;
    }
    if (rotations.images() > 1) {
        graph.set_spans({ranks});
        graph.represent(rotations, {});
    }

    const StreamId stream = graph.add_stream(workers.front(), StreamKind::release);
    Ready ready;
    for (std::uint32_t i = 0; i <= sizes.size(); ++i) {
        sweep.barriers.push_back(graph.add_task({stream, Phase::barrier, i, 0}));
        if (i < sizes.size()) ready.emplace_back(ranks, sweep.barriers.back());
    }
    if (plan.served()) {
        const Servers sliced{plan.servers, ServerAssignment::sliced, ServerLocation::dedicated};
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            // Each size has its own servers, on the same nodes, because pulls wait for all aggregations of their
            // servers.
            const auto first = static_cast<TaskId>(graph.tasks().size());
            const std::vector<Bucket> whole{{sizes[i], {}, 0, 0}};
            if (plan.algorithm.operation == "allreduce")
                add_parameter_server(graph, workers, place(whole, sliced), {ready[i]}, sliced, cluster);
            else
                add_half(graph, workers, plan.algorithm.operation == "push", sizes[i],
                         static_cast<std::uint32_t>(plan.servers), sweep.barriers[i], cluster);
            close(graph, first, sweep.barriers[i + 1]);
        }
    } else {
        const auto first = static_cast<TaskId>(graph.tasks().size());
        std::vector<Collective> collectives;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            collectives.emplace_back(sizes[i], chosen[i].algorithm, chosen[i].protocol);
        sweep.rounds = rounds_of(chosen);
        std::vector<StreamId> streams;
        for (const ProcessId worker : workers)
            streams.push_back(graph.built(worker) ? graph.add_stream(worker, StreamKind::exchange) : no_stream);
        add_collectives(graph, workers, streams, collectives, ready, cluster);
        for (TaskId task = first; task < graph.tasks().size(); ++task)
            graph.depend(sweep.barriers[graph.tasks()[task].subject + 1], task);
    }
    graph.seal();
    return sweep;
}

}  // namespace syncline
