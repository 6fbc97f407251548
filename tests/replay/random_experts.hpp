#pragma once

#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/replay/even_worlds.hpp"
#include "tests/replay/random_plans.hpp"

/// Random trainings of experts: how tokens are exchanged, beside pipelines, rows and shards, on fabrics with several
/// ways, with and without a library's protocols.
namespace syncline {

namespace random_experts {

/// Returns a switch, rails, a fat tree with two ways up, or a dragonfly, around nodes of so many devices.
inline Cluster cluster(Chance& chance, std::int64_t nodes, std::int64_t devices, std::string& name) {
    Cluster made = nodes_of(nodes, devices, chance.below(2) == 0 ? devices : 1, chance.of<double>({1e8, 1e9}));
    made.node.links = chance.of<NodeLinks>({NodeLinks::crossbar, NodeLinks::all_to_all});
    TopologySpec& fabric = made.fabric.topology;
    fabric.latency_s = {chance.of<double>({0, 2e-6})};
    const auto ports = static_cast<std::uint32_t>(made.node.nics);
    name = chance.of<std::string>({"star", "rails", "fat-tree", "dragonfly"});
    if (name == "rails") {
        made.node.nics = devices;
        fabric.shape = Shape::rails;
        fabric.rails = static_cast<std::uint32_t>(devices);
        fabric.nodes_per_group = 2;
        fabric.spines = 2;
        made.transport.pxn = chance.of<std::optional<bool>>({std::nullopt, true, false});
    } else if (name == "fat-tree") {
        fabric.shape = Shape::fat_tree;
        fabric.down = {2 * ports, 32};
        fabric.up = {1, 2};
    } else if (name == "dragonfly") {
        fabric.shape = Shape::dragonfly;
        made.fabric.routing.policy =
            chance.of<std::optional<Routing::Policy>>({std::nullopt, Routing::Policy::valiant});
    }
    if (name != "star" && chance.below(4) == 0) made.fabric.routing.policy = Routing::Policy::spray;
    name += fmt::format(" of nodes of {} with {} ports", devices, made.node.nics);
    return made;
}

inline Model model(Chance& chance, std::int64_t blocks, std::int64_t experts, std::int64_t top_k, bool capacity) {
    const std::int64_t width = 8 * (1 + chance.below(3)), positions = 24;
    Model made;
    made.name = "random experts";
    for (std::int64_t i = 0; i < blocks; ++i) {
        made.layers.push_back(
            attention(fmt::format("a{}", i), {.positions = positions, .width = width, .heads = 4, .norm = Norm::none}));
        made.layers.push_back(syncline::experts(fmt::format("e{}", i), {.positions = positions,
                                                                        .width = width,
                                                                        .hidden = 8 * (1 + chance.below(3)),
                                                                        .experts = experts,
                                                                        .top_k = top_k,
                                                                        .shared = chance.below(2),
                                                                        .shared_hidden = 16,
                                                                        .gated = chance.below(2) == 0,
                                                                        .norm = Norm::none,
                                                                        .capacity = capacity ? 1.5 : 0}));
    }
    return made;
}

inline RandomPlan drawn(std::uint64_t seed, std::uint64_t attempt) {
    Chance chance(seed * 1'000'003 + attempt);
    RandomPlan made;
    made.seed = seed;
    Plan& plan = made.plan;
    Parallelism& split = plan.parallelism;
    ExpertGroups& groups = split.experts;
    Pipeline& pipeline = split.pipeline;
    const std::int64_t devices = chance.of<std::int64_t>({1, 2, 4});
    groups.exchange = chance.of<ExpertExchange>({ExpertExchange::copies, ExpertExchange::deduplicated});
    groups.ranks = chance.of<std::int64_t>({2, 4, 8});
    groups.fp8_dispatch = chance.below(2) == 0;
    const bool once = groups.exchange == ExpertExchange::deduplicated;
    if (once && chance.below(2) == 0) groups.token_nodes = 1 + chance.below(3);
    if (!once && chance.below(3) == 0) groups.imbalance = 0.3;

    pipeline.schedule = chance.of<PipelineSchedule>({PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved,
                                                     PipelineSchedule::zero_bubble_h1, PipelineSchedule::zero_bubble_v,
                                                     PipelineSchedule::dualpipe_v});
    pipeline.stages = chance.of<std::int64_t>({1, 2, 2, 3});
    if (pipeline.stages == 1) pipeline.schedule = PipelineSchedule::one_f_one_b;
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    pipeline.virtual_stages = interleaved || pipeline.turns() ? 2 : 1;
    pipeline.micro_batches =
        interleaved || pipeline.turns() ? pipeline.stages * (2 + chance.below(2)) : 1 + chance.below(8);
    pipeline.pairs = (interleaved || (pipeline.stages == 1 && pipeline.micro_batches > 1)) && chance.below(3) > 0;
    split.layout.rows = chance.of<std::int64_t>({1, 1, 2});
    split.sequence = split.layout.rows > 1 && chance.below(2) == 0;
    if (split.sequence && chance.below(2) == 0) groups.model = 1;
    split.sharding = chance.of<Sharding>({Sharding::none, Sharding::optimizer, Sharding::gradients});
    if (divides_updates(split.sharding) && chance.below(2) == 0) split.gather = Gather::before_forward;
    split.algorithms.all_to_all = chance.of<std::string>({"direct", "pairwise"});
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
    plan.recomputation = chance.below(4) == 0 ? Recomputation::full : Recomputation::none;
    plan.ranks = pipeline.stages * split.layout.rows * groups.ranks * (1 + chance.below(2));
    plan.batch_per_rank = pipeline.micro_batches;
    plan.compute = ComputeKind::roofline;
    plan.iterations = 1 + chance.below(3);
    plan.fusion.threshold_bytes = chance.of<double>({0, 2e4});
    plan.algorithm.name = "ring";
    plan.set_seed(seed);
    const std::int64_t top_k = chance.of<std::int64_t>({1, 2, 4});
    made.model =
        model(chance, pipeline.stages * pipeline.virtual_stages * (1 + chance.below(2)),
              groups.ranks * (1 + chance.below(2)), std::min(top_k, groups.ranks), !once && chance.below(4) == 0);
    made.cluster = cluster(chance, (plan.ranks + devices - 1) / devices, devices, made.fabric);
    made.cluster.latency = chance.of<Latency>({Latency::travelling, Latency::blocking});
    made.cluster.device.speed_beside_exchange = chance.of<double>({1, 1, 0.6});
    if (chance.below(3) == 0) {
        made.cluster.transport.name = "library";
        made.cluster.transport.between.latency_s = 5e-6;
        made.cluster.transport.between.payload = 0.9;
        made.cluster.transport.selection = std::make_shared<const Selection>(random_plans::library());
        made.cluster.node.switch_reduces = made.cluster.node.links == NodeLinks::crossbar && devices > 1;
    }
    return made;
}

}  // namespace random_experts

/// Returns the first plan of a seed that is possible and does not take too long.
inline RandomPlan random_expert_plan(std::uint64_t seed) {
    return first_possible([seed](std::uint64_t attempt) { return random_experts::drawn(seed, attempt); }, 60'000);
}

}  // namespace syncline
