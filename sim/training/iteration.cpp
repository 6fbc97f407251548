#include "sim/training/iteration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/training/exchange.hpp"
#include "sim/training/passes.hpp"

namespace syncline {

namespace {

/// Tasks of one rank around its passes, up to the tasks after which its buckets may leave.
class RankIteration {
public:
    RankIteration(TaskGraph& graph, const RankPasses& passes) : graph_(graph), passes_(passes) {}

    /// Adds the copy of an iteration's batch to the device, which precedes its first layer: just before it (blocking),
    /// or during the previous iteration (overlapped).
    void add_input_copy(double seconds, InputCopy mode) {
        if (mode == InputCopy::none) return;
        const StreamId stream = graph_.add_stream(passes_.process, StreamKind::input_copy);
        const TaskId copy = graph_.add_task({stream, Phase::input_copy, 0, seconds});
        graph_.depend(passes_.computed.front(), copy, mode == InputCopy::overlapped);
        for (const TaskId exchange : passes_.inputs) graph_.depend(exchange, copy, mode == InputCopy::overlapped);
        graph_.depend(copy, update_, true);
        if (mode == InputCopy::blocking) graph_.begin_with(copy);
    }

    /// Returns the task after which the gradients of a bucket are ready, and may leave unless a cycle delays them.
    TaskId ready(const Bucket& bucket, const Plan& plan) const {
        return plan.overlap == Overlap::none ? passes_.computed.back() : passes_.gradients[bucket.layers.back()];
    }

    /// Returns, by bucket, the task after which it may leave. With a cycle a bucket waits for the next tick once its
    /// gradients are ready, whenever that is; buckets that become ready between the same two ticks leave together.
    std::vector<TaskId> add_releases(const std::vector<Bucket>& buckets, const Plan& plan) {
        std::vector<TaskId> releases;
        if (plan.fusion.cycle_s == 0) {
            for (const Bucket& bucket : buckets) releases.push_back(ready(bucket, plan));
            return releases;
        }
        graph_.begin_with(passes_.computed.front());
        const StreamId timer = graph_.add_stream(passes_.process, StreamKind::release);
        for (const Bucket& bucket : buckets) {
            // Pieces of one bucket leave with the first piece.
            if (bucket.part > 0) {
                releases.push_back(releases.back());
                continue;
            }
            Task release{timer, Phase::release, static_cast<std::uint32_t>(releases.size())};
            release.tick_s = plan.fusion.cycle_s;
            releases.push_back(graph_.add_task(release));
            graph_.depend(releases.back(), ready(bucket, plan));
        }
        return releases;
    }

    void add_update() {
        update_ = graph_.add_task({passes_.compute, Phase::update, 0, 0});
        for (const std::vector<TaskId>* first : {&passes_.inputs, &passes_.gathered})
            for (const TaskId task : *first) graph_.depend(task, update_, true);
    }

    /// Makes the update wait for a result.
    void update_after(TaskId task) { graph_.depend(update_, task); }

    /// Makes the next iteration's forward pass of a bucket's layers wait for its result: of the lowest layer, since the
    /// others follow it.
    void next_forward_after(const Bucket& bucket, TaskId task) {
        graph_.depend(passes_.forward[bucket.layers.back()], task, true);
    }

private:
    TaskGraph& graph_;
    const RankPasses& passes_;
    TaskId update_ = 0;
};

/// Returns the groups of ranks that exchange a run of buckets with each other.
std::vector<std::vector<std::uint32_t>> groups_of(const Bucket& bucket, const Plan& plan) {
    std::vector<std::vector<std::uint32_t>> groups;
    const auto stage_ranks = static_cast<std::uint32_t>(plan.stage_ranks());
    for (std::uint32_t index = 0; index < stage_ranks; ++index) {
        const Grouping& replicas = bucket.replicas;
        if (replicas.first(index) != index || index % replicas.stride >= bucket.contributors) continue;
        std::vector<std::uint32_t>& group = groups.emplace_back();
        for (std::uint32_t member = 0; member < replicas.size; ++member)
            group.push_back(bucket.stage * stage_ranks + replicas.index(index, member));
    }
    return groups;
}

/// Exchange of gradients by collectives, among ranks that hold the same weights.
class GradientExchange {
public:
    GradientExchange(TaskGraph& graph, const Cluster& cluster, const Plan& plan, const std::vector<ProcessId>& workers,
                     const std::vector<Bucket>& buckets)
        : graph_(graph), cluster_(cluster), plan_(plan), workers_(workers), buckets_(buckets) {}

    Results add(const Ready& ready) {
        Results results{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        std::vector<Collective> collectives;
        for (const Chosen& chosen : choose_exchanges(cluster_, plan_, buckets_))
            collectives.push_back({buckets_[collectives.size()].bytes, chosen.algorithm, chosen.protocol});
        add_runs(collectives, &ready, results);
        const Sharding sharding = plan_.parallelism.sharding;
        if (sharding != Sharding::optimizer && sharding != Sharding::gradients) return results;
        // Every rank updates its share of the weights, and then all shares are gathered.
        for (std::size_t b = 0; b < buckets_.size(); ++b)
            collectives[b] = {buckets_[b].bytes,
                              make_algorithm(plan_.parallelism.weight_gathering(), buckets_[b].replicas.size)};
        add_runs(collectives, nullptr, results);
        return results;
    }

private:
    /// `ready`: null if the order of the streams is the only dependency.
    void add_runs(const std::vector<Collective>& collectives, const Ready* ready, Results& results) {
        // Priorities and negotiations require plans in which all ranks form one group.
        const Coordination coordination = ready ? coordinate(buckets_, plan_) : Coordination{};
        for (const auto& [first, end] : runs_of(buckets_)) {
            const std::vector<Collective> some(collectives.begin() + static_cast<std::ptrdiff_t>(first),
                                               collectives.begin() + static_cast<std::ptrdiff_t>(end));
            for (const std::vector<std::uint32_t>& group : groups_of(buckets_[first], plan_)) {
                std::vector<ProcessId> members;
                std::vector<StreamId> streams;
                Ready members_ready(ready ? end - first : 0);
                for (const std::uint32_t rank : group) {
                    members.push_back(workers_[rank]);
                    streams.push_back(stream(rank));
                    for (std::size_t b = 0; b < members_ready.size(); ++b)
                        members_ready[b].push_back((*ready)[first + b][rank]);
                }
                const Results some_results =
                    add_collectives(graph_, members, streams, some, members_ready, cluster_, coordination);
                for (std::size_t member = 0; member < group.size(); ++member)
                    for (const Arrival& arrival : some_results.own[member])
                        results.own[group[member]].push_back(
                            {static_cast<std::uint32_t>(first) + arrival.bucket, arrival.task});
            }
        }
    }

    StreamId stream(std::uint32_t rank) {
        const auto [found, added] = streams_.try_emplace(rank);
        if (added) found->second = graph_.add_stream(workers_[rank], StreamKind::exchange);
        return found->second;
    }

    TaskGraph& graph_;
    const Cluster& cluster_;
    const Plan& plan_;
    const std::vector<ProcessId>& workers_;
    const std::vector<Bucket>& buckets_;
    std::map<std::uint32_t, StreamId> streams_;
};

std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan,
                                 const Arrangement& arrangement) {
    if (plan.parallelism.data_only()) {
        std::vector<LayerTime> times;
        for (const PlacedLayer& layer : arrangement.layers) times.push_back(layer.time);
        const double start_s =
            plan.input_copy == InputCopy::blocking ? input_copy_seconds(cluster, model, plan, arrangement) : 0;
        return plan.ranks > 1 ? make_buckets(model, times, start_s, plan) : std::vector<Bucket>{};
    }
    std::vector<Bucket> buckets;
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        std::vector<Gradient> gradients;
        for (auto i = static_cast<std::uint32_t>(model.layers.size()); i-- > 0;) {
            const PlacedLayer& layer = arrangement.layers[i];
            if (layer.part % arrangement.stages == stage && layer.replicas.size > 1)
                gradients.push_back({i, layer.bytes, 0, stage, layer.replicas, layer.contributors});
        }
        const std::vector<Bucket> own = make_buckets(gradients, plan);
        buckets.insert(buckets.end(), own.begin(), own.end());
    }
    return buckets;
}

}  // namespace

std::vector<BucketRun> runs_of(const std::vector<Bucket>& buckets) {
    std::vector<BucketRun> runs;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
        if (b == 0 || !same_ranks(buckets[b], buckets[b - 1])) runs.push_back({b, b});
        runs.back().end = b + 1;
    }
    return runs;
}

std::vector<Chosen> choose_exchanges(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets) {
    const std::vector<Place> places = place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks));
    AlgorithmSpec named = plan.algorithm;
    if (plan.parallelism.sharding != Sharding::none) named = plan.parallelism.gradient_scattering();
    std::vector<Chosen> all;
    for (const auto& [first, end] : runs_of(buckets)) {
        // All groups of a run have the same size, so the first represents them.
        const std::vector<std::vector<std::uint32_t>> groups = groups_of(buckets[first], plan);
        std::vector<Place> members;
        for (const std::uint32_t rank : groups.front()) members.push_back(places[rank]);
        Chooser chooser(cluster, members, named,
                        plan.exchange == ExchangeKind::allreduce ? plan.selection : std::nullopt);
        for (std::size_t b = first; b < end; ++b) all.push_back(chooser.choose(buckets[b].bytes));
        if (plan.parallelism.sharding == Sharding::none) continue;
        for (std::size_t b = first; b < end; ++b)
            all[b].why = fmt::format("`activations.reduce_scatter: {}`, because gradients are sharded", named.name);
    }
    return all;
}

std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan) {
    return plan_buckets(cluster, model, plan, arrange(cluster, model, plan));
}

double input_copy_seconds(const Cluster& cluster, const Model& model, const Plan& plan,
                          const Arrangement& arrangement) {
    if (plan.input_copy == InputCopy::none) return 0;
    const PlacedLayer& first = arrangement.layers.front();
    const double elements = static_cast<double>(model.sample_elements) * first.share.samples *
                            arrangement.micro_batches / static_cast<double>(first.layout.cells());
    return elements * model.element_bytes / cluster.device.host_link_Bps;
}

TaskGraph build_iteration(const Cluster& cluster, const Model& model, const Plan& plan) {
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const Arrangement arrangement = arrange(cluster, model, plan);
    const std::vector<Bucket> buckets = plan_buckets(cluster, model, plan, arrangement);
    const double copy_s = input_copy_seconds(cluster, model, plan, arrangement);

    TaskGraph graph;
    std::vector<ProcessId> workers;
    const std::vector<Pace> pace = paces(plan.noise, ranks);
    for (const Place& place : place_ranks(cluster, plan.placement, ranks))
        workers.push_back(graph.add_process({place, cluster.device.speed_beside_exchange, pace[workers.size()]}));
    const Passes passes(graph, cluster, plan, arrangement, workers);
    std::vector<RankIteration> iterations;
    Ready ready(buckets.size(), std::vector<TaskId>(ranks));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankIteration& iteration = iterations.emplace_back(graph, passes.ranks()[rank]);
        if (!plan.parallelism.data_only()) {
            for (std::size_t b = 0; b < buckets.size(); ++b) {
                if (buckets[b].stage == rank / arrangement.stage_ranks)
                    ready[b][rank] = iteration.ready(buckets[b], plan);
            }
            continue;
        }
        const std::vector<TaskId> releases = iteration.add_releases(buckets, plan);
        for (std::size_t b = 0; b < buckets.size(); ++b) ready[b][rank] = releases[b];
    }
    Results results{{}, std::vector<std::vector<Arrival>>(ranks)};
    if (!buckets.empty() && plan.exchange == ExchangeKind::parameter_server)
        results = add_parameter_server(graph, workers, place(buckets, plan.servers), ready, plan.servers, cluster,
                                       coordinate(buckets, plan));
    else if (!buckets.empty())
        results = GradientExchange(graph, cluster, plan, workers, buckets).add(ready);
    const bool across = plan.overlap == Overlap::across_iterations;
    if (!across) results = last_of(graph, results);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankIteration& iteration = iterations[rank];
        iteration.add_update();
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]}) {
            for (const auto& [bucket, task] : *arrivals) {
                if (across)
                    iteration.next_forward_after(buckets[bucket], task);
                else
                    iteration.update_after(task);
            }
        }
        if (rank < arrangement.stage_ranks) iteration.add_input_copy(copy_s, plan.input_copy);
    }
    graph.seal();
    return graph;
}

}  // namespace syncline
