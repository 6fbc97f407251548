#include "sim/training/iteration.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "sim/training/exchange.hpp"
#include "sim/training/gradient_sync.hpp"
#include "sim/training/offload.hpp"
#include "sim/training/passes.hpp"

namespace syncline {

namespace {

/// First and last task of a step of the optimizer.
struct StepTasks {
    TaskId first = 0, last = 0;
};

/// Tasks of one rank around its passes, up to the tasks after which its buckets may leave.
class RankIteration {
public:
    RankIteration(TaskGraph& graph, const RankPasses& passes)
        : graph_(graph), passes_(passes), computed_(passes.computed.empty() ? no_task : passes.computed.back()) {}

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
        if (plan.fusion.tick_s() == 0) {
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
            release.tick_s = plan.fusion.tick_s();
            releases.push_back(graph_.add_task(release));
            graph_.depend(releases.back(), ready(bucket, plan));
        }
        return releases;
    }

    /// Adds the decoding of a bucket, after the passes, when `arrived` has ended.
    void add_decoding(std::uint32_t bucket, double seconds, TaskId arrived) {
        computed_ = graph_.add_task({passes_.compute, Phase::decode, bucket, seconds});
        graph_.depend(computed_, arrived);
    }

    /// Adds the copy of gradients to the host, after the previous copy, when `reduced` has ended; no_task: when they
    /// are computed.
    void add_gradient_copy(std::uint32_t layer, double seconds, TaskId reduced) {
        gradients_on_host_ = graph_.add_task({host_copies(), Phase::to_host, layer, seconds});
        graph_.depend(*gradients_on_host_, reduced == no_task ? passes_.gradients[layer] : reduced);
    }

    /// Adds the parts of the optimizer's step, one after the other. Returns nothing if they take no time.
    std::optional<StepTasks> add_step(const StepTime& time) {
        std::optional<StepTasks> step;
        const auto add = [&](Phase phase, double seconds) {
            if (seconds == 0) return;
            const bool copies = phase != Phase::optimizer;
            const TaskId task = graph_.add_task({copies ? host_copies() : passes_.compute, phase, 0, seconds});
            if (step)
                graph_.depend(task, step->last);
            else if (copies)
                graph_.depend(task, computed_);
            step = {step ? step->first : task, task};
        };
        add(Phase::optimizer, time.device_s);
        add(Phase::to_host, time.to_host_s);
        add(Phase::optimizer, time.host_s);
        add(Phase::to_device, time.to_device_s);
        if (step && gradients_on_host_) graph_.depend(step->first, *gradients_on_host_);
        return step;
    }

    /// Makes the first forward pass of a bucket's layers, the lowest one's, wait for its weights, which are gathered
    /// after the previous iteration's update. The gatherings of a rank are in order.
    void forward_after(const Bucket& bucket, TaskId gathered) {
        graph_.depend(passes_.forward[bucket.layers.back()], gathered);
        if (gathered_.empty()) gathered_.push_back(gathered);
    }

    void add_update() {
        update_ = graph_.add_task({passes_.compute, Phase::update, 0, 0});
        const std::vector<TaskId>* const firsts[] = {&passes_.inputs, &passes_.gathered, &gathered_};
        for (const std::vector<TaskId>* first : firsts)
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
    StreamId host_copies() {
        if (!host_copies_) host_copies_ = graph_.add_stream(passes_.process, StreamKind::host_copy);
        return *host_copies_;
    }

    TaskGraph& graph_;
    const RankPasses& passes_;
    TaskId computed_;  ///< the last task of the passes and of what follows them
    TaskId update_ = 0;
    std::vector<TaskId> gathered_;  ///< the first gathering of updated weights before the forward pass
    std::optional<StreamId> host_copies_;
    std::optional<TaskId> gradients_on_host_;  ///< the last copy
};

/// Exchange of gradients by collectives, among ranks that hold the same weights.
class GradientExchange {
public:
    GradientExchange(TaskGraph& graph, const Lowered& training, const std::vector<ProcessId>& workers,
                     const Passes& passes)
        : graph_(graph), training_(training), workers_(workers), passes_(passes) {}

    /// Adds the exchanges of the gradients of all micro-batches but the last, if each one's are exchanged, before the
    /// barriers behind them.
    void sync_micro_batches() {
        const std::uint32_t stage_ranks = training_.arrangement.stage_ranks;
        for (std::size_t end = 0; end < passes_.ranks().front().ends.size(); ++end) {
            Ready ready(training_.buckets.size(), std::vector<TaskId>(workers_.size(), no_task));
            for (std::size_t b = 0; b < ready.size(); ++b) {
                const Bucket& bucket = training_.buckets[b];
                for (std::uint32_t rank = bucket.stage * stage_ranks; rank < (bucket.stage + 1) * stage_ranks; ++rank) {
                    if (!graph_.built(workers_[rank])) continue;
                    const MicroBatchEnd& of = passes_.ranks()[rank].ends[end];
                    ready[b][rank] =
                        training_.plan.overlap == Overlap::none ? of.computed : of.gradients[bucket.layers.back()];
                }
            }
            const Arrivals results = last_of(graph_, reduce(ready, static_cast<std::uint32_t>(end)));
            for (std::size_t rank = 0; rank < workers_.size(); ++rank)
                for (const Arrival& arrival : results.own[rank])
                    graph_.depend(passes_.ranks()[rank].ends[end].barrier, arrival.task);
        }
    }

    /// Adds the exchanges of gradients, of a micro-batch or of all together.
    Arrivals reduce(const Ready& ready, std::uint32_t micro_batch = 0) {
        Arrivals results{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        std::vector<Collective> collectives;
        const std::vector<Bucket>& buckets = training_.buckets;
        for (std::size_t b = 0; b < buckets.size(); ++b)
            collectives.push_back({buckets[b].bytes, training_.exchanges[b].algorithm, training_.exchanges[b].protocol,
                                   training_.plan.exchange == ExchangeKind::gossip ? ExchangeClass::point_to_point
                                                                                   : ExchangeClass::collective});
        for (std::size_t b = 0; b < training_.second_exchanges.size(); ++b) {
            const Chosen& second = training_.second_exchanges[b];
            collectives[b].second_bytes = buckets[b].second_bytes;
            collectives[b].second = second.algorithm;
            collectives[b].second_protocol = second.protocol;
            collectives[b].between_s = buckets[b].between_s;
        }
        for (Collective& collective : collectives) collective.micro_batch = micro_batch;
        const Parallelism& parallelism = training_.plan.parallelism;
        const Sharding sharding = parallelism.sharding;
        const auto among = [&](const Bucket& bucket) {
            return sharding == Sharding::none ? bucket.replicas : bucket.shards;
        };
        const Coordination coordination = coordinate(buckets, training_.plan);
        add_runs(collectives, &ready, coordination, streams_, among, results);
        order_beside_gatherings(ready, results);
        if (training_.shard_exchanges.empty()) return results;
        const Ready scattered = tasks_of(results);
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const Chosen& chosen = training_.shard_exchanges[b];
            collectives[b] = {buckets[b].shard_bytes(), chosen.algorithm, chosen.protocol};
            collectives[b].micro_batch = micro_batch;
        }
        Arrivals shards{{}, std::vector<std::vector<Arrival>>(workers_.size())};
        add_runs(collectives, &scattered, coordination, shard_streams_, shard_copies, shards);
        reduced_ = tasks_of(shards);
        for (std::size_t rank = 0; rank < workers_.size(); ++rank)
            results.own[rank].insert(results.own[rank].end(), shards.own[rank].begin(), shards.own[rank].end());
        return results;
    }

    /// Returns the tasks after which a rank has its share of reduced gradients, by bucket and rank.
    Ready reduced(const Arrivals& results) const { return reduced_.empty() ? tasks_of(results) : reduced_; }

    /// Adds the gatherings of the weights of which every rank has updated its share, if there are any. `steps`: of the
    /// ranks' optimizers.
    void gather(const std::vector<std::optional<StepTasks>>& steps, Arrivals& results) {
        if (training_.gatherings.empty()) return;
        std::vector<Collective> collectives;
        for (std::size_t b = 0; b < training_.buckets.size(); ++b)
            collectives.push_back({training_.buckets[b].weight_bytes, training_.gatherings[b]});
        const bool stepped = std::ranges::any_of(steps, [](const auto& step) { return step.has_value(); });
        Ready updated = reduced_;
        if (stepped) {
            updated.assign(training_.buckets.size(), std::vector<TaskId>(workers_.size(), no_task));
            for (std::vector<TaskId>& bucket : updated)
                for (std::size_t rank = 0; rank < workers_.size(); ++rank)
                    if (steps[rank]) bucket[rank] = steps[rank]->last;
        }
        const auto among = [](const Bucket& bucket) { return bucket.shards; };
        add_runs(collectives, updated.empty() ? nullptr : &updated, {}, streams_, among, results);
    }

    /// Adds the same gatherings to the start of the iteration, in the order of the forward passes.
    void gather_before_forward(std::vector<RankIteration>& iterations) {
        Streams streams;
        for (std::size_t b = training_.gatherings.size(); b-- > 0;) {
            const Bucket& bucket = training_.buckets[b];
            for (const std::vector<std::uint32_t>& group : built_groups(bucket, bucket.shards)) {
                std::vector<ProcessId> members;
                for (const std::uint32_t rank : group) members.push_back(workers_[rank]);
                const ExchangeId exchange = graph_.add_exchange(
                    {training_.gatherings[b], graph_.add_group(members), weight_channel, bucket.weight_bytes});
                for (std::uint32_t member = 0; member < group.size(); ++member) {
                    const std::uint32_t rank = group[member];
                    const StreamId stream = stream_of(rank, streams, StreamKind::weights);
                    if (stream == no_stream) continue;
                    const TaskId task =
                        graph_.add_task({stream, Phase::weights, bucket.layers.back(), 0, exchange, member});
                    iterations[rank].forward_after(bucket, task);
                }
            }
        }
    }

private:
    using Streams = std::map<std::uint32_t, StreamId>;

    /// Returns the groups of a bucket with a rank that is built.
    std::vector<std::vector<std::uint32_t>> built_groups(const Bucket& bucket, const Grouping& among) const {
        std::vector<std::vector<std::uint32_t>> groups = groups_of(bucket, among, training_.plan);
        std::erase_if(groups, [&](const std::vector<std::uint32_t>& group) {
            return std::ranges::none_of(group, [&](std::uint32_t rank) { return graph_.built(workers_[rank]); });
        });
        return groups;
    }

    static Grouping shard_copies(const Bucket& bucket) { return copies_of(bucket.replicas, bucket.shards); }

    /// Returns the tasks of the arrivals by bucket and rank.
    Ready tasks_of(const Arrivals& arrivals) const {
        Ready tasks(training_.buckets.size(), std::vector<TaskId>(workers_.size(), no_task));
        for (std::size_t rank = 0; rank < workers_.size(); ++rank)
            for (const Arrival& arrival : arrivals.own[rank]) tasks[arrival.bucket][rank] = arrival.task;
        return tasks;
    }

    /// Orders the exchanges of gradients and the gatherings of weights of one group as they are issued: what is
    /// gathered for the next pass goes before the gradients of a pass, what is gathered for later ones after them.
    void order_beside_gatherings(const Ready& ready, const Arrivals& exchanged) {
        for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
            const std::vector<Gathering>& gatherings = passes_.ranks()[rank].gatherings;
            if (gatherings.empty()) continue;
            for (const auto& [bucket, task] : exchanged.own[rank]) {
                const TaskId computed = ready[bucket][rank];
                const Grouping among = training_.buckets[bucket].shards;
                const auto earlier = [&](const Gathering& one) { return one.after == no_task || one.after < computed; };
                const auto alike = [&](const Gathering& one) { return one.among == among; };
                const auto later = std::ranges::partition_point(gatherings, earlier);
                const auto next = std::find_if(later, gatherings.end(), alike);
                if (next != gatherings.end()) graph_.depend(next->task, task);
                const auto last = std::find_if(std::make_reverse_iterator(later), gatherings.rend(), alike);
                if (last != gatherings.rend()) graph_.depend(task, last->task);
            }
        }
    }

    /// Returns the rank's stream of these, no_stream if the rank is not built.
    StreamId stream_of(std::uint32_t rank, Streams& streams, StreamKind kind) {
        if (!graph_.built(workers_[rank])) return no_stream;
        const auto [found, added] = streams.try_emplace(rank);
        if (added) found->second = graph_.add_stream(workers_[rank], kind);
        return found->second;
    }

    /// `ready`: null if the order of the streams is the only dependency. `among` returns the groups of a bucket.
    /// Priorities and negotiations require plans in which all ranks form one group.
    void add_runs(const std::vector<Collective>& collectives, const Ready* ready, const Coordination& coordination,
                  Streams& rank_streams, const std::function<Grouping(const Bucket&)>& among, Arrivals& results) {
        for (const auto& [first, end] : bucket_runs(training_.buckets)) {
            const std::vector<Collective> some(collectives.begin() + static_cast<std::ptrdiff_t>(first),
                                               collectives.begin() + static_cast<std::ptrdiff_t>(end));
            const Bucket& bucket = training_.buckets[first];
            for (const std::vector<std::uint32_t>& group : built_groups(bucket, among(bucket))) {
                std::vector<ProcessId> members;
                std::vector<StreamId> streams;
                Ready members_ready(ready ? end - first : 0);
                for (const std::uint32_t rank : group) {
                    members.push_back(workers_[rank]);
                    streams.push_back(stream_of(rank, rank_streams, StreamKind::exchange));
                    for (std::size_t b = 0; b < members_ready.size(); ++b)
                        members_ready[b].push_back((*ready)[first + b][rank]);
                }
                const Arrivals some_results =
                    add_collectives(graph_, members, streams, some, members_ready, training_.cluster, coordination);
                for (std::size_t member = 0; member < group.size(); ++member)
                    for (const Arrival& arrival : some_results.own[member])
                        results.own[group[member]].push_back(
                            {static_cast<std::uint32_t>(first) + arrival.bucket, arrival.task});
            }
        }
    }

    TaskGraph& graph_;
    const Lowered& training_;
    const std::vector<ProcessId>& workers_;
    const Passes& passes_;
    Streams streams_, shard_streams_;  ///< by rank
    Ready reduced_;                    ///< the last exchanges of gradients, if there are several; else empty
};

/// Adds the copies of gradients to the host: of a bucket after its task of `reduced`, of others after their layer.
void add_gradient_copies(std::vector<RankIteration>& iterations, const Lowered& training, const Ready& reduced,
                         std::uint32_t built) {
    const std::uint32_t stage_ranks = training.arrangement.stage_ranks;
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
        const double copy_Bps = host_copy_rate(training, stage);
        for (const OffloadedGradients& gradients : offloaded_gradients(training, stage))
            for (std::uint32_t rank = stage * stage_ranks; rank < stage * stage_ranks + built; ++rank)
                iterations[rank].add_gradient_copy(gradients.layer, gradients.bytes / copy_Bps,
                                                   gradients.exchanged ? reduced[gradients.bucket][rank] : no_task);
    }
}

/// `period`: the number of ranks of each stage that are built.
TaskGraph build(const Lowered& training, std::uint32_t period) {
    const Cluster& cluster = training.cluster;
    const Plan& plan = training.plan;
    const Arrangement& arrangement = training.arrangement;
    const std::vector<Bucket>& buckets = training.buckets;
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);

    TaskGraph graph;
    std::vector<ProcessId> workers;
    const std::vector<Pace> pace = paces(plan.noise, ranks);
    for (const Place& place : training.places) {
        Pace own = pace[workers.size()];
        own.node = place.node;
        workers.push_back(graph.add_process({place, speed_beside_exchange(cluster), own}));
    }
    graph.set_lateness(plan.noise.lateness());
    graph.set_block(arrangement.stage_ranks);
    const bool rounds = plan.fidelity == Fidelity::folded;
    if (period < arrangement.stage_ranks)
        graph.represent(period, rounds ? training.model.gradient_bytes() / 1'000'000 : 0);
    std::vector<std::uint32_t> built;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (graph.built(workers[rank])) built.push_back(rank);
    const Passes passes(graph, cluster, plan, arrangement, workers);
    std::vector<RankIteration> iterations;
    for (const RankPasses& of : passes.ranks()) iterations.emplace_back(graph, of);
    Ready ready(buckets.size(), std::vector<TaskId>(ranks, no_task));
    for (const std::uint32_t rank : built) {
        RankIteration& iteration = iterations[rank];
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
    Arrivals results{{}, std::vector<std::vector<Arrival>>(ranks)};
    GradientExchange exchange(graph, training, workers, passes);
    if (!buckets.empty() && training.served())
        results = add_parameter_server(graph, workers, place(buckets, plan.servers), ready, plan.servers, cluster,
                                       coordinate(buckets, plan));
    else if (!buckets.empty()) {
        exchange.sync_micro_batches();
        results = exchange.reduce(ready, gradient_syncs(plan, arrangement) - 1);
    }
    const bool across = plan.overlap == Overlap::across_iterations;
    if (plan.compression.any())
        for (const std::uint32_t rank : built)
            for (const auto& [bucket, task] : results.own[rank])
                iterations[rank].add_decoding(bucket, buckets[bucket].decode_s, task);
    if (plan.offload == Offload::gradients)
        add_gradient_copies(iterations, training, exchange.reduced(results), period);
    if (!across) results = last_of(graph, results);
    // Across iterations the steps of the buckets, which wait for their exchanges, are counted together, before them.
    std::vector<std::optional<StepTasks>> steps(ranks);
    for (const std::uint32_t rank : built) {
        steps[rank] = iterations[rank].add_step(training.steps[rank / arrangement.stage_ranks]);
        if (!steps[rank] || across) continue;
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]})
            for (const Arrival& arrival : *arrivals) graph.depend(steps[rank]->first, arrival.task);
    }
    if (plan.parallelism.gather == Gather::before_forward)
        exchange.gather_before_forward(iterations);
    else
        exchange.gather(steps, results);
    if (!training.gatherings.empty()) results = last_of(graph, results);
    for (const std::uint32_t rank : built) {
        RankIteration& iteration = iterations[rank];
        iteration.add_update();
        if (plan.offload != Offload::none && steps[rank]) iteration.update_after(steps[rank]->last);
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]}) {
            for (const auto& [bucket, task] : *arrivals) {
                if (across)
                    iteration.next_forward_after(buckets[bucket], task);
                else
                    iteration.update_after(task);
            }
        }
        if (rank < arrangement.stage_ranks) iteration.add_input_copy(training.input_copy_s, plan.input_copy);
    }
    graph.seal();
    return graph;
}

}  // namespace

TaskGraph build_iteration(const Lowered& training) {
    return build(training, training.arrangement.stage_ranks);
}

TaskGraph build_representatives(const Lowered& training, std::uint32_t period) {
    return build(training, period);
}

}  // namespace syncline
