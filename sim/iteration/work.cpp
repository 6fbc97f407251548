#include "sim/iteration/work.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <tuple>

#include "sim/collective/every_rounds.hpp"
#include "sim/collective/in_network.hpp"
#include "sim/collective/parameter_server.hpp"
#include "sim/collective/runs.hpp"
#include "sim/iteration/exchange.hpp"
#include "sim/iteration/operations.hpp"
#include "sim/iteration/sweep.hpp"
#include "sim/iteration/trace_graph.hpp"
#include "sim/lowering/gradient_sync.hpp"
#include "sim/lowering/offload.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/plan/placement.hpp"

namespace syncline {

namespace {

/// Messages of one member, or of a whole group.
struct Count {
    double sent = 0, unfolded = 0, single = 0, together = 0, listed = 0;

    static constexpr std::uint32_t large_group = 128;

    void add(const Count& other, double times) {
        sent += times * other.sent;
        unfolded += times * other.unfolded;
        single += times * other.single;
        together += times * other.together;
        listed += times * other.listed;
    }
};

Count count_of(const Program& program) {
    Count count;
    count.sent = static_cast<double>(messages_sent(program));
    for (const Step& step : program.steps) {
        count.listed += static_cast<double>(step.sends.size() + step.receives.size());
        count.together = std::max(count.together, static_cast<double>(step.sends.size()));
    }
    for (const Run& run : runs_of(program)) {
        double sent = 0;
        for (std::uint32_t i = run.first; i < run.end; ++i) {
            const Step& step = program.steps[i];
            sent += static_cast<double>(step.sends.size()) * step.repeat;
            for (const Message& message : step.sends) {
                const bool same = run.repeats && message.turn == 0;
                if (!same || i == run.first) count.single += same ? 1 : step.repeat;
            }
        }
        count.unfolded += run.repeats ? sent * least_repeats / run.taken : sent;
    }
    return count;
}

/// Returns a number coprime to `others`, about 0.618 of it: its multiples modulo `others` visit all, each stretch of
/// them spread evenly.
std::uint64_t spread(std::uint64_t others) {
    auto step = static_cast<std::uint64_t>(0.618 * static_cast<double>(others)) + 1;
    while (std::gcd(step, others) != 1) ++step;
    return step;
}

/// Counts a group's messages in one execution.
Count count_of(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes) {
    constexpr double enough = 20'000;  // listed messages
    constexpr std::uint64_t least = 8;
    const auto of = [&](std::uint64_t member) {
        Count count;
        for (std::uint32_t lane = 0; lane < algorithm.lanes(); ++lane)
            count.add(count_of(algorithm.lane_program(lane, static_cast<std::uint32_t>(member), members, bytes, 0)), 1);
        return count;
    };
    Count count = of(0), sample;
    const std::uint64_t others = members - 1, step = spread(std::max<std::uint64_t>(others, 1));
    std::uint64_t seen = 0;
    for (; seen < others && (seen < least || sample.listed + static_cast<double>(seen) < enough); ++seen)
        sample.add(of(1 + seen * step % others), 1);
    if (seen > 0) count.add(sample, static_cast<double>(others) / static_cast<double>(seen));
    if (members <= Count::large_group) count.single = 0;
    return count;
}

class Counter {
public:
    explicit Counter(double processes) { work_.processes = processes; }

    void add_tasks(double tasks) { work_.tasks += tasks; }

    /// Adds an exchange that `groups` groups make `times` times each; every member has a task for it.
    void add(const CollectiveAlgorithm& algorithm, std::uint32_t members, std::uint64_t bytes, double groups,
             double times = 1) {
        if (groups == 0 || times == 0) return;
        if (const auto* switched = dynamic_cast<const InNetwork*>(&algorithm)) members = switched->members();
        const auto [found, added] = counts_.try_emplace({&algorithm, members, bytes});
        if (added) found->second = count_of(algorithm, members, bytes);
        const Count& count = found->second;
        work_.tasks += times * groups * members;
        work_.messages += times * groups * count.sent;
        work_.unfolded += times * groups * count.unfolded;
        work_.single += times * groups * count.single;
        work_.together = std::max(work_.together, groups * count.together);
        work_.listed = std::max(work_.listed, groups * count.listed);
    }

    /// Adds a push and a pull of a buffer on one server, with its aggregation between them.
    void add_server(std::uint32_t workers, std::uint64_t bytes, bool pushes = true, bool pulls = true) {
        if (pushes) add(push_, workers + 1, bytes, 1);
        if (pushes && pulls) add_tasks(1);
        if (pulls) add(pull_, workers + 1, bytes, 1);
    }

    /// Adds a push and a pull of each worker by itself, with the applications of its gradients.
    void add_workers(std::uint32_t workers, std::uint64_t bytes) {
        add(push_, 2, bytes, workers);
        add_tasks(workers);
        add(pull_, 2, bytes, workers);
    }

    /// Adds requests that the first rank gathers and answers.
    void add_requests(std::uint32_t ranks, std::uint64_t bytes) {
        add(push_, ranks, bytes, 1);
        add(pull_, ranks, bytes, 1);
    }

    Work work() const { return work_; }

private:
    Work work_;
    const Push push_;
    const Pull pull_;
    std::map<std::tuple<const CollectiveAlgorithm*, std::uint32_t, std::uint64_t>, Count> counts_;
};

/// Returns whether all exchanges are of one group, one after the other, so that their steps fold.
bool one_at_a_time(const Lowered& training, const std::vector<VirtualStagePasses>& parts) {
    return training.arrangement.stages == 1 && training.plan.parallelism.sharding == Sharding::none &&
           !exchange_within_stages(parts);
}

/// Adds a pass of so many microbatches on the ranks of a stage.
void add_pass(Counter& counter, const PassProgram& pass, const Arrangement& arrangement, double times) {
    const double stage_ranks = arrangement.stage_ranks;
    for (const Operation& operation : pass.operations) {
        if (operation.kind == Operation::Kind::compute) counter.add_tasks(times * stage_ranks);
        if (!operation.exchange) continue;
        const ActivationExchange& exchange = *operation.exchange;
        counter.add(*exchange.algorithm, exchange.groups.size, exchange.bytes.front(),
                    stage_ranks / exchange.groups.size, times);
    }
}

void add_bucket(Counter& counter, const Lowered& training, std::size_t number) {
    const Plan& plan = training.plan;
    const Bucket& bucket = training.buckets[number];
    // The first ones of each row exchange it.
    const double ranks = static_cast<double>(training.arrangement.stage_ranks) *
                         std::min(bucket.contributors, bucket.replicas.stride) / bucket.replicas.stride;
    const auto add = [&](const BucketExchange& exchange, double times) {
        const CollectiveAlgorithm& algorithm = *exchange.chosen.algorithm;
        if (dynamic_cast<const EveryRounds*>(&algorithm) != nullptr) times /= static_cast<double>(plan.local_steps);
        counter.add(algorithm, exchange.among.size, exchange.bytes, ranks / exchange.among.size, times);
        if (exchange.before_s > 0) counter.add_tasks(ranks);
    };
    for (const BucketExchange& exchange : training.reductions[number])
        add(exchange, gradient_syncs(plan, training.arrangement));
    if (plan.compression.any()) counter.add_tasks(ranks);  // decoding
    if (!training.gatherings.empty()) add(training.gatherings[number], 1);
}

}  // namespace

Work work_of(const Lowered& training) {
    const Plan& plan = training.plan;
    const Arrangement& arrangement = training.arrangement;
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    Counter counter(ranks + (training.served() ? static_cast<double>(plan.servers.count) : 0));
    counter.add_tasks(ranks * gradient_syncs(plan, arrangement));  // updates, and ends of microbatches
    for (std::uint32_t stage = 0; stage < arrangement.stages; ++stage) {
        double parts = 0;
        if (plan.offload == Offload::gradients)
            parts += static_cast<double>(offloaded_gradients(training, stage).size());
        const StepTime& step = training.steps[stage];
        for (const double seconds : {step.device_s, step.to_host_s, step.host_s, step.to_device_s})
            if (seconds > 0) ++parts;
        counter.add_tasks(arrangement.stage_ranks * parts);
    }
    if (plan.input_copy != InputCopy::none) counter.add_tasks(arrangement.stage_ranks);
    if (plan.loading) counter.add_tasks(arrangement.stage_ranks);
    const std::vector<VirtualStagePasses> passes = passes_of(training);
    for (std::uint32_t part = 0; part < passes.size(); ++part) {
        const double all = arrangement.micro_batches;
        // Some of the backward passes compute all gradients.
        double whole = 0;
        if (!passes[part].whole.operations.empty())
            for (const Slot& slot : slots(plan.parallelism.pipeline, arrangement.stage_of(part)))
                if (slot.virtual_rank == part / arrangement.stages && !slot.forward && slot.gradients == Gradients::all)
                    ++whole;
        add_pass(counter, passes[part].forward, arrangement, all);
        add_pass(counter, passes[part].backward, arrangement, all - whole);
        add_pass(counter, passes[part].later, arrangement, all - whole);
        add_pass(counter, passes[part].whole, arrangement, whole);
    }
    if (arrangement.stages > 1) {
        const DirectRooted pass_on(DirectRooted::Operation::broadcast);
        for (std::uint32_t before = 0; before < arrangement.boundaries.size(); ++before) {
            const Boundary& boundary = arrangement.boundaries[before];
            if (arrangement.stage_of(before) == arrangement.stage_of(before + 1)) continue;
            counter.add(pass_on, 2, boundary.bytes, arrangement.stage_ranks, 2.0 * arrangement.micro_batches);
            for (const auto* gathering : {&boundary.activations, &boundary.gradients})
                if (*gathering)
                    counter.add(*(*gathering)->algorithm, (*gathering)->groups.size, (*gathering)->bytes.front(),
                                arrangement.stage_ranks / (*gathering)->groups.size, arrangement.micro_batches);
        }
    }
    if (plan.fusion.tick_s() > 0)
        for (const Bucket& bucket : training.buckets) counter.add_tasks(bucket.piece == 0 ? ranks : 0);
    if (training.served()) {
        for (const std::vector<ServerPart>& parts : place(training.buckets, plan.servers))
            for (const ServerPart& part : parts) {
                if (plan.relaxed())
                    counter.add_workers(ranks, part.bytes);
                else
                    counter.add_server(ranks, part.bytes);
            }
    } else {
        for (std::size_t bucket = 0; bucket < training.buckets.size(); ++bucket) add_bucket(counter, training, bucket);
        for (const std::uint64_t bytes : coordinate(training.buckets, plan).request_bytes)
            if (bytes > 0) counter.add_requests(ranks, bytes);
    }
    Work work = counter.work();
    if (!one_at_a_time(training, passes)) work.unfolded = work.messages;
    return work;
}

Work work_of(const CollectivePlan& plan, const std::vector<Chosen>& chosen) {
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    Counter counter(ranks + (plan.served() ? static_cast<double>(plan.servers) : 0));
    if (ranks == 1) return counter.work();
    const std::vector<std::uint64_t> sizes = sizes_of(plan);
    counter.add_tasks(static_cast<double>(sizes.size()) + 1);  // barriers
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (!plan.served()) {
            counter.add(*chosen[i].algorithm, ranks, sizes[i], 1);
            continue;
        }
        for (std::int64_t server = 0; server < plan.servers; ++server)
            counter.add_server(ranks, sizes[i] / static_cast<std::uint64_t>(plan.servers),
                               plan.algorithm.operation != "pull", plan.algorithm.operation != "push");
    }
    return counter.work();
}

Work work_of(const Cluster& cluster, const TracePlan& plan) {
    const ExecutionTrace& trace = *plan.trace;
    const std::vector<Place> places = place_ranks(cluster, plan.placement, trace.ranks);
    Terrains terrains(cluster, first_free_node(places));
    Counter counter(trace.ranks);
    double messages = 0;
    std::map<std::tuple<std::uint32_t, std::uint8_t, std::uint64_t>, double> members;  // of equal collectives
    for (const TraceNode& node : trace.nodes()) {
        if (node.kind == NodeKind::send) ++messages;
        if (node.kind == NodeKind::collective)
            ++members[{node.group, node.operation, node.bytes}];
        else if (node.kind != NodeKind::nothing)
            counter.add_tasks(1);
    }
    std::map<std::pair<std::uint32_t, std::uint8_t>, Chooser> choosers;
    for (const auto& [call, count] : members) {
        const auto& [group, operation, bytes] = call;
        const auto size = static_cast<std::uint32_t>(trace.groups[group].size());
        if (size < 2) continue;
        auto chooser = choosers.find({group, operation});
        if (chooser == choosers.end()) {
            std::vector<Place> of_group;
            for (const std::uint32_t rank : trace.groups[group]) of_group.push_back(places[rank]);
            chooser = choosers
                          .emplace(std::pair(group, operation),
                                   trace_chooser(cluster, of_group, trace.operations[operation], terrains))
                          .first;
        }
        counter.add(*chooser->second.choose(bytes).algorithm, size, bytes, 1, count / size);
    }
    Work work = counter.work();
    work.messages += messages;
    work.unfolded += messages;
    return work;
}

}  // namespace syncline
