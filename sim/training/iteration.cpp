#include "sim/training/iteration.hpp"

#include <algorithm>

#include "sim/training/buckets.hpp"
#include "sim/training/chooser.hpp"
#include "sim/training/exchange.hpp"
#include "sim/workload/compute_model.hpp"

namespace syncline {

namespace {

/// The computation of one rank, up to the tasks after which its buckets may leave.
class RankComputation {
public:
    RankComputation(TaskGraph& graph, ProcessId process)
        : graph_(graph), process_(process), compute_(graph.add_stream(process, StreamKind::compute)) {}

    void add_layers(const std::vector<LayerTime>& times) {
        const auto layers = static_cast<std::uint32_t>(times.size());
        for (std::uint32_t i = 0; i < layers; ++i) {
            forward_.push_back(graph_.add_task({compute_, Phase::forward, i, times[i].forward_s}));
        }
        backward_.resize(layers);
        for (std::uint32_t i = layers; i-- > 0;) {
            backward_[i] = graph_.add_task({compute_, Phase::backward, i, times[i].backward_s()});
        }
    }

    /// The batch of an iteration is on the device before its first layer starts: copied then (blocking), or while the
    /// iteration before it computed (overlapped).
    void add_input_copy(double seconds, InputCopy mode) {
        if (mode == InputCopy::none) return;
        const StreamId stream = graph_.add_stream(process_, StreamKind::input_copy);
        const TaskId copy = graph_.add_task({stream, Phase::input_copy, 0, seconds});
        graph_.depend(forward_.front(), copy, mode == InputCopy::overlapped);
        graph_.depend(copy, update_, true);
    }

    std::vector<TaskId> add_releases(const std::vector<Bucket>& buckets, const Plan& plan) {
        const auto ready = [&](const Bucket& bucket) {
            return plan.overlap == Overlap::none ? backward_.front() : backward_[bucket.layers.back()];
        };
        std::vector<TaskId> releases;
        if (plan.fusion.cycle_s == 0) {
            for (const Bucket& bucket : buckets) releases.push_back(ready(bucket));
            return releases;
        }
        const StreamId timer = graph_.add_stream(process_, StreamKind::release);
        double timer_s = 0;
        while (releases.size() < buckets.size()) {
            // A tick releases all that is ready by then at once; the last of it completes it.
            const auto first = static_cast<std::uint32_t>(releases.size());
            const double tick_s = buckets[first].release_s;
            std::uint32_t last = first;
            while (last + 1 < buckets.size() && buckets[last + 1].release_s == tick_s) ++last;
            const double wait_s = tick_s - std::max(buckets[last].ready_s, timer_s);
            timer_s = tick_s;
            const TaskId release = graph_.add_task({timer, Phase::release, first, std::max(0.0, wait_s)});
            graph_.depend(release, ready(buckets[last]));
            releases.insert(releases.end(), last + 1 - first, release);
        }
        return releases;
    }

    void add_update() { update_ = graph_.add_task({compute_, Phase::update, 0, 0}); }

    /// The update waits for a result.
    void update_after(TaskId task) { graph_.depend(update_, task); }

    /// The next iteration's forward pass of a bucket's layers waits for its result: the lowest of them, as the others
    /// come behind it.
    void next_forward_after(const Bucket& bucket, TaskId task) {
        graph_.depend(forward_[bucket.layers.back()], task, true);
    }

private:
    TaskGraph& graph_;
    ProcessId process_;
    StreamId compute_;
    TaskId update_ = 0;
    std::vector<TaskId> forward_, backward_;  // by layer
};

Results add_exchanges(TaskGraph& graph, const std::vector<ProcessId>& workers, const std::vector<Bucket>& buckets,
                      const Ready& ready, const Plan& plan, const Cluster& cluster) {
    if (plan.exchange == ExchangeKind::parameter_server) {
        return add_parameter_server(graph, workers, place(buckets, plan.servers), ready, plan.servers, cluster,
                                    coordinate(buckets, plan));
    }
    std::vector<Collective> collectives;
    for (const Chosen& chosen : choose_exchanges(cluster, plan, buckets))
        collectives.push_back({buckets[collectives.size()].bytes, chosen.algorithm, chosen.protocol});
    return add_collectives(graph, workers, collectives, ready, cluster, coordinate(buckets, plan));
}

}  // namespace

std::vector<Chosen> choose_exchanges(const Cluster& cluster, const Plan& plan, const std::vector<Bucket>& buckets) {
    Chooser chooser(cluster, place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)),
                    plan.algorithm, plan.exchange == ExchangeKind::allreduce ? plan.selection : std::nullopt);
    std::vector<Chosen> all;
    for (const Bucket& bucket : buckets) all.push_back(chooser.choose(bucket.bytes));
    return all;
}

std::vector<Bucket> plan_buckets(const Cluster& cluster, const Model& model, const Plan& plan) {
    const std::vector<LayerTime> times = layer_times(model, cluster.device, plan.batch_per_rank);
    const double start_s = plan.input_copy == InputCopy::blocking ? input_copy_seconds(cluster, model, plan) : 0;
    return plan.ranks > 1 ? make_buckets(model, times, start_s, plan) : std::vector<Bucket>{};
}

double input_copy_seconds(const Cluster& cluster, const Model& model, const Plan& plan) {
    if (plan.input_copy == InputCopy::none) return 0;
    const double elements = static_cast<double>(model.sample_elements) * static_cast<double>(plan.batch_per_rank);
    return elements * model.element_bytes / cluster.device.host_link_Bps;
}

TaskGraph build_iteration(const Cluster& cluster, const Model& model, const Plan& plan) {
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    const std::vector<LayerTime> times = layer_times(model, cluster.device, plan.batch_per_rank);
    const double copy_s = input_copy_seconds(cluster, model, plan);
    const std::vector<Bucket> buckets = plan_buckets(cluster, model, plan);

    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : place_ranks(cluster, plan.placement, ranks))
        workers.push_back(graph.add_process({place, cluster.device.speed_beside_exchange}));
    std::vector<RankComputation> computations;
    Ready ready(buckets.size(), std::vector<TaskId>(ranks));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankComputation& computation = computations.emplace_back(graph, workers[rank]);
        computation.add_layers(times);
        const std::vector<TaskId> releases = computation.add_releases(buckets, plan);
        for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) ready[bucket][rank] = releases[bucket];
    }
    Results results{{}, std::vector<std::vector<Arrival>>(ranks)};
    if (!buckets.empty()) results = add_exchanges(graph, workers, buckets, ready, plan, cluster);
    const bool across = plan.overlap == Overlap::across_iterations;
    if (!across) results = last_of(graph, results);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        RankComputation& computation = computations[rank];
        computation.add_update();
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]}) {
            for (const auto& [bucket, task] : *arrivals) {
                if (across)
                    computation.next_forward_after(buckets[bucket], task);
                else
                    computation.update_after(task);
            }
        }
        computation.add_input_copy(copy_s, plan.input_copy);
    }
    graph.seal();
    return graph;
}

}  // namespace syncline
