#include "sim/iteration/iteration.hpp"

#include <optional>
#include <vector>

#include "sim/iteration/alike.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/iteration/gradient_exchange.hpp"
#include "sim/iteration/passes.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/lowering/offload.hpp"

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
        : graph_(graph), passes_(passes), computed_(passes.last_computed) {}

    /// Adds the reading of an iteration's batch: with a copy that overlaps, that of the next iteration's.
    void add_input_load(double seconds, std::int64_t prefetch, InputCopy copy) {
        const std::uint32_t ahead = copy == InputCopy::overlapped ? 1 : 0;
        load_ = graph_.add_task({graph_.add_stream(passes_.process, StreamKind::load), Phase::load, 0, seconds});
        graph_.depend(*load_, update_, 1 + static_cast<std::uint32_t>(prefetch) - ahead);
        if (copy == InputCopy::none) begin_after(*load_, 0);
    }

    /// Adds the copy of an iteration's batch to the device, which precedes its first layer: just before it (blocking),
    /// or during the previous iteration (overlapped).
    void add_input_copy(double seconds, InputCopy mode) {
        if (mode == InputCopy::none) return;
        const StreamId stream = graph_.add_stream(passes_.process, StreamKind::input_copy);
        const TaskId copy = graph_.add_task({stream, Phase::input_copy, 0, seconds});
        begin_after(copy, mode == InputCopy::overlapped ? 1 : 0);
        graph_.depend(copy, update_, 1);
        if (load_) graph_.depend(copy, *load_);
        if (mode == InputCopy::blocking) graph_.begin_with(copy);
    }

    /// Returns the task after which the gradients of a bucket are ready, and may leave unless a cycle delays them.
    TaskId ready(const Bucket& bucket, const Plan& plan) const {
        return plan.overlap == Overlap::none ? passes_.last_computed : passes_.gradients[bucket.layers.back()];
    }

    /// Returns, by bucket, the task after which it may leave; no_task for those of other stages. With a cycle a bucket
    /// waits for the next tick once its gradients are ready, whenever that is; buckets that become ready between the
    /// same two ticks leave together.
    std::vector<TaskId> add_releases(const std::vector<Bucket>& buckets, std::uint32_t stage, const Plan& plan) {
        std::vector<TaskId> releases(buckets.size(), no_task);
        const double tick_s = plan.fusion.tick_s();
        std::optional<StreamId> timer;
        for (std::uint32_t b = 0; b < buckets.size(); ++b) {
            if (buckets[b].stage != stage) continue;
            releases[b] = ready(buckets[b], plan);
            if (tick_s == 0) continue;
            // Pieces of one bucket leave with the first piece.
            if (buckets[b].piece > 0) {
                releases[b] = releases[b - 1];
                continue;
            }
            if (!timer) {
                graph_.begin_with(passes_.first_computed);
                timer = graph_.add_stream(passes_.process, StreamKind::release);
            }
            Task release{*timer, Phase::release, b};
            release.tick_s = tick_s;
            const TaskId leaves = graph_.add_task(release);
            graph_.depend(leaves, releases[b]);
            releases[b] = leaves;
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
            for (const TaskId task : *first) graph_.depend(task, update_, 1);
    }

    /// Makes the update wait for a result, of so many iterations before.
    void update_after(TaskId task, std::uint32_t distance = 0) { graph_.depend(update_, task, distance); }

    /// Makes the forward pass of a bucket's layers so many iterations later wait for its result: of the lowest layer,
    /// since the others follow it.
    void later_forward_after(const Bucket& bucket, TaskId task, std::uint32_t distance) {
        graph_.depend(passes_.forward[bucket.layers.back()], task, distance);
    }

private:
    /// Makes the passes wait for their input, of so many iterations before.
    void begin_after(TaskId input, std::uint32_t distance) {
        graph_.depend(passes_.first_computed, input, distance);
        for (const TaskId exchange : passes_.inputs) graph_.depend(exchange, input, distance);
    }

    StreamId host_copies() {
        if (!host_copies_) host_copies_ = graph_.add_stream(passes_.process, StreamKind::host_copy);
        return *host_copies_;
    }

    TaskGraph& graph_;
    const RankPasses& passes_;
    TaskId computed_;  ///< the last task of the passes and of what follows them
    TaskId update_ = 0;
    std::vector<TaskId> gathered_;  ///< the first gathering of updated weights before the forward pass
    std::optional<TaskId> load_;    ///< of the input
    std::optional<StreamId> host_copies_;
    std::optional<TaskId> gradients_on_host_;  ///< the last copy
};

/// Adds the copies of gradients to the host: of a bucket after its task of `reduced`, of others after their layer.
void add_gradient_copies(std::vector<RankIteration>& iterations, const Lowered& training, const Ready& reduced,
                         const std::vector<std::uint32_t>& built) {
    for (std::uint32_t stage = 0; stage < training.arrangement.stages; ++stage) {
        const double copy_Bps = host_copy_rate(training, stage);
        for (const OffloadedGradients& gradients : offloaded_gradients(training, stage))
            for (const std::uint32_t rank : built)
                if (rank / training.arrangement.stage_ranks == stage)
                    iterations[rank].add_gradient_copy(gradients.layer, gradients.bytes / copy_Bps,
                                                       gradients.exchanged ? reduced[gradients.bucket][rank] : no_task);
    }
}

/// Returns the bytes by which exchanges may be rounded up (chosen).
Rounding negligible(const Lowered& training) {
    if (!always_folds(training.plan.fidelity)) return {};
    const std::uint64_t bytes = training.model.gradient_bytes();
    return {bytes / 1'000'000, bytes / 10'000};
}

/// Returns the spans of consecutive ranks among which some may be alike, the largest first.
std::vector<std::uint32_t> spans_of(const Lowered& training) {
    std::vector<std::uint32_t> spans{training.arrangement.stage_ranks};
    for (const Rotation& rotation : alike_ranks(training))
        if (rotation.span < spans.back()) spans.push_back(rotation.span);
    return spans;
}

/// `rotations`: of ranks, of which those are built that stand for others.
TaskGraph build(const Lowered& training, const Rotations& rotations) {
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
        workers.push_back(graph.add_process({place, speed_beside_exchange(cluster, cluster.kind_of(place.node)), own}));
    }
    graph.set_lateness(plan.noise.lateness());
    if (training.documents_vary()) graph.set_work(arrangement.documents->varying);
    graph.set_spans(spans_of(training));
    if (rotations.images() > 1) graph.represent(rotations, negligible(training));
    std::vector<std::uint32_t> built;
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (graph.built(workers[rank])) built.push_back(rank);
    const std::vector<RankPasses> passes = add_passes(graph, training, workers);
    std::vector<RankIteration> iterations;
    for (const RankPasses& of : passes) iterations.emplace_back(graph, of);
    Ready ready(buckets.size(), std::vector<TaskId>(ranks, no_task));
    for (const std::uint32_t rank : built) {
        RankIteration& iteration = iterations[rank];
        const std::vector<TaskId> releases = iteration.add_releases(buckets, rank / arrangement.stage_ranks, plan);
        for (std::size_t b = 0; b < buckets.size(); ++b) ready[b][rank] = releases[b];
    }
    Arrivals results{{}, std::vector<std::vector<Arrival>>(ranks)};
    GradientExchange exchange(graph, training, workers, passes);
    if (!buckets.empty() && training.served() && plan.relaxed())
        results = add_updates_by_worker(graph, workers, place(buckets, plan.servers), ready, plan.servers, cluster);
    else if (!buckets.empty() && training.served())
        results = add_parameter_server(graph, workers, place(buckets, plan.servers), ready, plan.servers, cluster,
                                       coordinate(buckets, plan));
    else if (!buckets.empty()) {
        exchange.sync_micro_batches();
        results = exchange.reduce(ready, gradient_syncs(plan, arrangement) - 1);
    }
    const bool across = plan.overlap == Overlap::across_iterations;
    const auto delay = static_cast<std::uint32_t>(plan.exchange_delay);
    if (plan.compression.any())
        for (const std::uint32_t rank : built)
            for (const auto& [bucket, task] : results.own[rank])
                iterations[rank].add_decoding(bucket, buckets[bucket].decode_s, task);
    if (plan.offload == Offload::gradients) add_gradient_copies(iterations, training, exchange.reduced(results), built);
    if (!across) results = last_of(graph, results);
    // Across iterations the steps of the buckets, which wait for their exchanges, are counted together, before them.
    std::vector<std::optional<StepTasks>> steps(ranks);
    for (const std::uint32_t rank : built) {
        steps[rank] = iterations[rank].add_step(training.step_of(rank));
        if (!steps[rank] || across) continue;
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]})
            for (const Arrival& arrival : *arrivals) graph.depend(steps[rank]->first, arrival.task, delay);
    }
    if (plan.parallelism.gather == Gather::before_forward) {
        const std::vector<std::vector<Arrival>> gathered = exchange.gather_before_forward();
        for (const std::uint32_t rank : built)
            for (const auto& [bucket, task] : gathered[rank]) iterations[rank].forward_after(buckets[bucket], task);
    } else {
        std::vector<TaskId> stepped(ranks, no_task);
        for (const std::uint32_t rank : built)
            if (steps[rank]) stepped[rank] = steps[rank]->last;
        exchange.gather(stepped, results);
    }
    if (!training.gatherings.empty()) results = last_of(graph, results);
    for (const std::uint32_t rank : built) {
        RankIteration& iteration = iterations[rank];
        iteration.add_update();
        if (plan.offload != Offload::none && steps[rank]) iteration.update_after(steps[rank]->last);
        for (const std::vector<Arrival>* arrivals : {&results.everyone, &results.own[rank]}) {
            for (const auto& [bucket, task] : *arrivals) {
                if (across)
                    iteration.later_forward_after(buckets[bucket], task, 1 + delay);
                else
                    iteration.update_after(task, delay);
            }
        }
        if (rank >= arrangement.stage_ranks) continue;
        if (plan.loading) iteration.add_input_load(training.input_load_s, plan.loading->prefetch, plan.input_copy);
        iteration.add_input_copy(training.input_copy_of(rank), plan.input_copy);
    }
    graph.seal();
    return graph;
}

}  // namespace

TaskGraph build_iteration(const Lowered& training) {
    return build(training, {});
}

TaskGraph build_representatives(const Lowered& training, const Rotations& rotations) {
    return build(training, rotations);
}

}  // namespace syncline
