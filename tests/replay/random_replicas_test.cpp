#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/replay/rounding.hpp"
#include "tests/catch.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/random_plans.hpp"
#include "tests/replay/same_result.hpp"
#include "tests/sanitized.hpp"

// Compares random trainings message by message with those of which only the ranks are built that stand for others. Most
// buffers do not divide among the ranks, so that blocks differ by a byte.

using namespace syncline;

namespace {

RandomPlan drawn(std::uint64_t seed, std::uint64_t attempt) {
    Chance chance(seed * 1'000'003 + attempt);
    RandomPlan made;
    made.seed = seed;
    Plan& plan = made.plan;
    Parallelism& split = plan.parallelism;
    Pipeline& pipeline = split.pipeline;
    const bool data_only = chance.below(2) == 0;
    const std::int64_t replicas = 2 + chance.below(data_only ? 11 : 4);
    if (!data_only) {
        pipeline.stages = chance.of<std::int64_t>({1, 1, 2});
        pipeline.schedule = chance.of<PipelineSchedule>({PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b});
        split.layout.rows = chance.of<std::int64_t>({1, 1, 2, 3});
    }
    pipeline.micro_batches = chance.of<std::int64_t>({1, 1, 2, data_only ? 6 : 12});
    plan.ranks = pipeline.stages * split.layout.rows * replicas;
    plan.batch_per_rank = pipeline.micro_batches * (1 + chance.below(3));
    split.sharding =
        chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
    if (split.sharding != Sharding::none) split.shard_ranks = chance.of<std::int64_t>({0, 2, 2, 3, 4});
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free, Overlap::across_iterations});

    double bytes = 0;
    const std::uint32_t layers = static_cast<std::uint32_t>(pipeline.stages) + chance.below(4);
    for (std::uint32_t i = 0; i < layers; ++i) {
        const std::string name = fmt::format("l{}", i);
        if (chance.below(2) == 0) {
            made.model.layers.push_back(
                dense(name, 6 * (1 + chance.below(300)), 6 * (1 + chance.below(300)), chance.below(2) == 0));
        } else {
            const std::int64_t parameters = chance.of<std::int64_t>({1, 1000, 300'000, 3'000'000});
            made.model.layers.push_back({name, parameters + chance.below(97), chance.below(1'000'000),
                                         6 * (1 + chance.below(100)), 6 * (1 + chance.below(100))});
        }
        bytes += 4.0 * static_cast<double>(made.model.layers.back().parameters);
    }
    made.model.name = "uneven";
    if (chance.below(2) == 0) plan.partition_bytes = 4 + std::floor(bytes / (1 + chance.below(60)));
    plan.fusion.threshold_bytes = chance.of<double>({0, 1e4, 1e6, 1e9});

    plan.algorithm.name = "ring";
    if (split.sharding == Sharding::none) {
        if (chance.below(3) == 0)
            plan.algorithm = random_plans::allreduce(chance, static_cast<std::uint32_t>(replicas));
        else if (chance.below(5) == 0)
            plan.selection = random_plans::rings_by_size();
    }
    split.algorithms.all_to_all = chance.of<std::string>({"direct", "pairwise"});
    Cluster& cluster = made.cluster;
    if (chance.below(3) > 0) {
        const std::int64_t devices = chance.of<std::int64_t>({1, 1, 1, 2, 3});
        cluster = nodes_of((plan.ranks + devices - 1) / devices, devices, chance.below(2) == 0 ? 1 : devices,
                           chance.of<double>({1.25e7, 1e9}));
        made.fabric = fmt::format("star of nodes of {}", devices);
    } else {
        const NamedFabric fabric = chance.of(fabrics());
        cluster = fabric.cluster(static_cast<std::uint32_t>(plan.ranks), 0);
        made.fabric = fabric.name;
    }
    cluster.fabric.topology.latency_s = {chance.of<double>({0, 2.5e-6, 5e-5})};
    cluster.latency = chance.of<Latency>({Latency::travelling, Latency::blocking});
    cluster.device.flops_per_s = chance.of<double>({1e9, 1e11, 1e13});
    cluster.device.memory_Bps = 1e10;
    cluster.device.reduction_Bps = chance.of<double>({unlimited, 1e9});
    cluster.device.speed_beside_exchange = chance.of<double>({1, 1, 1, 0.6});
    if (chance.below(3) == 0) cluster.transport = random_plans::transport(chance);

    plan.compute = ComputeKind::roofline;
    plan.iterations = 1 + chance.below(3);
    plan.input_copy = chance.of<InputCopy>({InputCopy::none, InputCopy::overlapped});
    plan.set_seed(seed);
    return made;
}

RandomPlan uneven_plan(std::uint64_t seed) {
    return first_possible([seed](std::uint64_t attempt) { return drawn(seed, attempt); }, 40'000);
}

struct Seen {
    int plans = 0, represented = 0, within = 0, rounded = 0, bounded = 0, micro_batches = 0;
    double worst = 0;  ///< relative difference without a bound

    void check(RandomPlan random) {
        INFO(random.words());
        ++plans;
        try {
            random.plan.fidelity = Fidelity::message;
            const ReplayedIteration all = replay_representatives(lower(random.cluster, random.model, random.plan));
            random.plan.fidelity = Fidelity::folded;
            const ReplayedIteration some = replay_representatives(lower(random.cluster, random.model, random.plan));
            check_same_bytes(all.timeline, some.timeline);
            const double off_s = std::abs(some.time.iteration_s - all.time.iteration_s);
            CHECK(off_s <= some.folded.error_s);
            for (const ReplayedIteration* replayed : {&all, &some})
                for (const LinkLoad& load : busiest(random.cluster, replayed->timeline.links,
                                                    replayed->time.sending_s(replayed->timeline.links)))
                    CHECK(load.utilisation <= 1 + 1e-9);
            const bool bound = std::isfinite(some.folded.error_s);
            const bool rounds = any_rounded(some.graph);
            CHECK((bound || rounds));
            represented += some.folded.images > 1;
            within += std::ranges::any_of(some.graph.rotations().all(), [&](const Rotation& rotation) {
                return rotation.span < random.plan.stage_ranks();
            });
            rounded += rounds;
            bounded += rounds && bound;
            micro_batches += some.folded.micro_batches_folded > 0;
            if (!bound) worst = std::max(worst, off_s / all.time.iteration_s);
        } catch (const std::exception& error) {  // the process died, or it deadlocked
            FAIL_CHECK(error.what());
        }
    }

    void check(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t seed = first; seed < end; ++seed) check(uneven_plan(seed));
        WARN(fmt::format(
            "{} plans, {} of them by ranks that stand for others, {} within replicas, {} rounded, {} of these "
            "with a bound, {} with fewer microbatches; worst relative difference without a bound {:.1e}",
            plans, represented, within, rounded, bounded, micro_batches, worst));
        // Otherwise little would be tested.
        CHECK(represented > plans / 8);
        CHECK(within > plans / 20);
        CHECK(rounded - bounded > plans / 40);
        CHECK(bounded > plans / 40);
    }
};

}  // namespace

TEST_CASE("replicas: random plans with uneven blocks send the same bytes, in a time within the bound") {
#if defined(SYNCLINE_SANITIZED)
    Seen().check(0, 20);
#else
    Seen().check(0, 100);
#endif
}

TEST_CASE("replicas: a thousand random plans with uneven blocks", "[.][slow]") {
    Seen().check(1000, 2000);
}
