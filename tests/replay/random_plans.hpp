#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/iteration/iteration.hpp"
#include "sim/lowering/arrangement.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/every_shape.hpp"

/// Random trainings: every way to split a model and to exchange gradients, on every fabric, with noise.
namespace syncline {

struct RandomPlan {
    std::uint64_t seed = 0;
    std::string fabric;
    Cluster cluster;
    Model model;
    Plan plan;

    /// Describes the plan, to find out why a test fails.
    std::string words() const {
        const Parallelism& parallelism = plan.parallelism;
        const Layout& layout = parallelism.layout;
        const Pipeline& pipeline = parallelism.pipeline;
        const auto number = [](auto value) { return static_cast<int>(value); };
        std::string text = fmt::format("seed {}: {} ranks on {}, placement {}, exchange {} by {}{}", seed, plan.ranks,
                                       fabric, number(plan.placement.order), number(plan.exchange), plan.algorithm.name,
                                       plan.selection ? " by size" : "");
        if (plan.algorithm.overlay) text += fmt::format(" over {}", shape_name(plan.algorithm.overlay->shape));
        text += fmt::format(", {} iterations of {} layers, {} stages × {} rows × {}×{} cells, {} microbatches",
                            plan.iterations, model.layers.size(), pipeline.stages, layout.rows, layout.height,
                            layout.width, pipeline.micro_batches);
        text += fmt::format(", schedule {} of {} virtual stages, sharding {}, sequence {}, {} ranges",
                            number(pipeline.schedule), pipeline.virtual_stages, number(parallelism.sharding),
                            parallelism.sequence, parallelism.ranges.size());
        text +=
            fmt::format(", overlap {}, fusion {} B, cycle {} s, partition {} B, order {}", number(plan.overlap),
                        plan.fusion.threshold_bytes, plan.fusion.cycle_s, plan.partition_bytes, number(plan.schedule));
        text += fmt::format(", {} servers, jitter {}, {} stragglers × {}, transport '{}', network {}",
                            plan.servers.count, plan.noise.jitter, plan.noise.stragglers.count,
                            plan.noise.stragglers.slowdown, cluster.transport.name, number(cluster.network));
        if (pipeline.stages > 1)
            text += fmt::format(", transfers {}, scatter {}", number(pipeline.transfers), pipeline.scatter_gather);
        if (plan.recomputation != Recomputation::none) text += ", layers recomputed";
        if (const ExpertGroups& groups = parallelism.experts; groups.ranks > 1)
            text += fmt::format(", {} expert ranks of {} rows, exchange {} to {} nodes, imbalance {}, FP8 {}, pairs {}",
                                groups.ranks, groups.model, number(groups.exchange), groups.token_nodes,
                                groups.imbalance, groups.fp8_dispatch, pipeline.pairs);
        return text;
    }
};

namespace random_plans {

/// Returns layers with short computations, whose sizes are all divisible by `parts`, or none is.
inline Model model(Chance& chance, std::uint32_t parts, std::uint32_t least_layers, bool images, bool sequences) {
    Model made;
    made.name = "random";
    made.sample_elements = 100;
    const std::uint32_t layers = least_layers + chance.below(4);
    for (std::uint32_t i = 0; i < layers; ++i) {
        const std::string name = fmt::format("l{}", i);
        const std::int64_t inputs = 1 + chance.below(400), outputs = std::int64_t{parts} * (1 + chance.below(90));
        const std::uint32_t kind = chance.below(4);
        if (sequences || kind == 0) {
            Dense shape;
            shape.inputs = parts * inputs;
            shape.outputs = outputs;
            shape.positions = sequences ? parts : 1;
            made.layers.push_back(dense(name, shape));
        } else if (images || kind == 1) {
            Convolution conv;
            conv.channels = 1 + chance.below(7), conv.filters = outputs;
            conv.height = 3 + chance.below(7), conv.width = 3 + chance.below(7);
            conv.kernel[0] = conv.kernel[1] = chance.of<std::int64_t>({1, 3});
            made.layers.push_back(convolution(name, conv));
        } else {
            made.layers.push_back({name, chance.below(4) == 0 ? 0 : std::int64_t{parts} * (1 + chance.below(20'000)),
                                   chance.below(1'000'000), inputs, outputs});
        }
    }
    return made;
}

inline Transport transport(Chance& chance) {
    Transport made;
    if (chance.below(2) == 0) return made;
    made.name = "random";
    made.between.send_overhead_s = chance.of<double>({0, 0, 2e-6});
    made.between.receive_overhead_s = chance.of<double>({0, 0, 3e-6});
    made.between.latency_s = chance.of<double>({0, 5e-6});
    if (chance.below(3) == 0) made.between.bandwidth = {{1000, 1e8}, {1e6, 5e8}};
    if (chance.below(3) == 0) made.host_Bps = 7e8;
    made.staging.unit =
        chance.of<Staging::Unit>({Staging::Unit::none, Staging::Unit::message, Staging::Unit::collective});
    made.staging.rate_Bps = 3e9;
    made.staging.latency_s = chance.of<double>({0, 4e-6});
    made.reduction.rate_Bps = chance.of<double>({1e9, 2e10});
    made.reduction.launch_s = chance.of<double>({0, 3e-6});
    made.launch_s = chance.of<double>({0, 1e-5});
    return made;
}

inline AlgorithmSpec allreduce(Chance& chance, std::uint32_t members) {
    for (;;) {
        AlgorithmSpec spec;
        if (chance.below(3) > 0) return spec;
        spec.name = chance.of(algorithm_names("allreduce"));
        if (spec.name == "direct" && members > 16) continue;  // takes long, and has no repetitions
        if (chance.below(3) == 0) spec.segment_bytes = 3000;
        try {
            make_algorithm(spec, members);
            return spec;
        } catch (const AlgorithmError&) {
        }
    }
}

/// Returns rings whose small messages carry flags, like NCCL's.
inline Selection rings_by_size() {
    const AlgorithmSpec ring;
    const ProtocolTerms flags{"LL", 2e-6, 1e-6, 2e-6, 0.5}, plain{"Simple", 5e-6, 3e-6, 7e-6, 1};
    SelectionCondition small;
    small.below_bytes = 64e3;
    return {"rings", {{small, {{ring, flags}}}, {{}, {{ring, plain}}}}};
}

/// Returns what a library like NCCL chooses by itself, switches inside nodes included where they add up.
inline Selection library() {
    const ProtocolTerms flags{"LL", 2e-6, 1e-6, 2e-6, 0.5}, plain{.name = "Simple", .launch_s = 5e-6, .copy_Bps = 1e9};
    ProtocolTerms rounds = plain;
    rounds.name = "NVLS";
    rounds.inside_Bps = 8e8;
    rounds.chunk_latency_s = 1e-6;
    const auto ring = [&](const char* operation) {
        const AlgorithmSpec spec{.operation = operation};
        return SelectionRow{{}, {{spec, flags}, {spec, plain}}};
    };
    SelectionRow inside = ring("allreduce"), among = ring("allreduce");
    inside.condition.nodes_below = 2;
    inside.candidates.push_back({{.name = in_network_allreduce}, rounds});
    among.candidates.push_back({{.name = in_network_allreduce}, rounds});
    among.candidates.push_back({{.name = "nccl-tree"}, flags});
    return {"library", {inside, among, ring("reduce-scatter"), ring("allgather")}};
}

inline AlgorithmSpec gossip(Chance& chance, std::uint32_t ranks) {
    for (;;) {
        AlgorithmSpec spec{.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}};
        spec.overlay->shape = chance.of<Shape>(
            {Shape::ring, Shape::exponential, Shape::hypercube, Shape::full_mesh, Shape::star, Shape::torus});
        spec.overlay->directed = spec.overlay->shape == Shape::exponential && chance.below(2) == 0;
        spec.peers = chance.of<Peers>({Peers::all, Peers::one});
        if (spec.overlay->shape == Shape::full_mesh && ranks > 16) continue;  // as above
        try {
            make_algorithm(spec, ranks);
            return spec;
        } catch (const std::runtime_error&) {
        }
    }
}

/// Draws options that require every rank to have the whole model.
inline void add_data_only(Chance& chance, Plan& plan, bool large) {
    if (!large)
        plan.exchange =
            chance.of<ExchangeKind>({ExchangeKind::allreduce, ExchangeKind::allreduce, ExchangeKind::allreduce,
                                     ExchangeKind::parameter_server, ExchangeKind::gossip});
    const auto ranks = static_cast<std::uint32_t>(plan.ranks);
    if (plan.exchange == ExchangeKind::gossip) plan.algorithm = gossip(chance, ranks);
    if (plan.exchange == ExchangeKind::parameter_server) {
        plan.servers.location =
            chance.of<ServerLocation>({ServerLocation::dedicated, ServerLocation::packed, ServerLocation::spread});
        plan.servers.count = 1 + chance.below(std::min(ranks, 4u));
        plan.servers.assignment = chance.of<ServerAssignment>(
            {ServerAssignment::round_robin, ServerAssignment::greedy_bytes, ServerAssignment::sliced});
        plan.servers.pull = chance.of<PullStart>({PullStart::together, PullStart::each});
        plan.servers.local_reduction = chance.below(3) == 0;
    }
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free, Overlap::across_iterations});
    plan.schedule =
        chance.of<Schedule>({Schedule::fifo, Schedule::fifo, Schedule::fifo, Schedule::priority, Schedule::random});
    if (chance.below(large ? 6 : 3) == 0) plan.fusion.cycle_s = chance.of<double>({1e-4, 3.7e-4, 1e-3});
    if (plan.exchange == ExchangeKind::allreduce && chance.below(5) == 0)
        plan.fusion.negotiation = chance.of<Negotiation>({Negotiation::on_ready, Negotiation::ahead});
    if (!large && chance.below(4) == 0) plan.partition_bytes = 10'000 * static_cast<double>(plan.ranks);
}

inline void add_parallelism(Chance& chance, Plan& plan, std::uint32_t most_ranks) {
    Parallelism& parallelism = plan.parallelism;
    Pipeline& pipeline = parallelism.pipeline;
    pipeline.stages = 1 + chance.below(4);
    pipeline.schedule = chance.of<PipelineSchedule>(
        {PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved});
    const bool interleaved = pipeline.schedule == PipelineSchedule::interleaved;
    pipeline.virtual_stages = interleaved ? 1 + chance.below(2) : 1;
    pipeline.micro_batches = interleaved ? pipeline.stages * (1 + chance.below(2)) : 1 + chance.below(5);
    Layout& layout = parallelism.layout;
    layout.rows = 1 + chance.below(6);
    if (chance.below(4) == 0) {
        layout.rows = 1 + chance.below(2);
        layout.height = 1 + chance.below(2);
        layout.width = 1 + chance.below(2);
    }
    const std::int64_t replica = pipeline.stages * layout.replica();
    const std::int64_t columns =
        1 + chance.below(static_cast<std::uint32_t>(std::max<std::int64_t>(1, most_ranks / replica)));
    plan.ranks = replica * columns;
    plan.batch_per_rank = pipeline.micro_batches * (1 + chance.below(3));
    plan.overlap = chance.of<Overlap>({Overlap::none, Overlap::wait_free});
    parallelism.sharding = chance.of<Sharding>(
        {Sharding::none, Sharding::none, Sharding::optimizer, Sharding::gradients, Sharding::parameters});
    parallelism.sequence = layout.cells() == 1 && layout.rows > 1 && chance.below(4) == 0;
    ActivationAlgorithms& algorithms = parallelism.algorithms;
    const auto often_ring = [&](const char* operation) {
        return chance.below(3) > 0 ? std::string("ring") : chance.of(algorithm_names(operation));
    };
    algorithms.allgather = often_ring("allgather");
    algorithms.reduce_scatter = often_ring("reduce-scatter");
    algorithms.allreduce = often_ring("allreduce");
    algorithms.all_to_all = chance.of<std::string>({"direct", "pairwise", "bruck"});
}

/// Draws options of the exchange of gradients in groups of replicas, which take no other draws' place.
inline void add_exchange_options(Chance chance, Plan& plan) {
    const Parallelism& parallelism = plan.parallelism;
    const bool grouped = parallelism.sharding == Sharding::none && parallelism.ranges.empty() &&
                         parallelism.layout.cells() == 1 && plan.offload == Offload::none && plan.replicas() > 1;
    if (!grouped) return;
    plan.parallelism.gradient_sync = GradientSync::automatic;
    if (chance.below(3) == 0) {
        plan.exchange = ExchangeKind::gossip;
        plan.selection.reset();
        plan.algorithm = gossip(chance, static_cast<std::uint32_t>(plan.replicas()));
    } else if (parallelism.pipeline.micro_batches == 1 && chance.below(2) == 0) {
        plan.compression.kind = Compression::Kind::fp16;
    } else if (chance.below(2) == 0) {
        plan.fusion.negotiation = chance.of<Negotiation>({Negotiation::on_ready, Negotiation::ahead});
    }
    if (!plan.compression.any()) {
        plan.schedule = chance.of<Schedule>({Schedule::fifo, Schedule::priority, Schedule::random});
        if (chance.below(2) == 0) plan.overlap = Overlap::across_iterations;
    }
    if (parallelism.pipeline.stages == 1 && chance.below(2) == 0)
        plan.fusion.cycle_s = chance.of<double>({1e-4, 3.7e-4, 1e-3});
}

/// Draws another layout for some consecutive layers.
inline void add_range(Chance& chance, const Model& model, Plan& plan) {
    const auto layers = static_cast<std::uint32_t>(model.layers.size());
    const std::uint32_t first = chance.below(layers), last = first + chance.below(layers - first);
    LayerRange range{model.layers[first].name, model.layers[last].name, Layout{}, {}};
    if (chance.below(2) == 0)
        range.layout->rows = plan.stage_ranks();
    else
        plan.batch_per_rank = plan.parallelism.pipeline.micro_batches * plan.stage_ranks();
    plan.parallelism.ranges = {range};
}

/// Returns true if the plan of a seed has more than 128 ranks.
inline bool is_large(std::uint64_t seed) {
    return seed % 50 == 7;
}

inline RandomPlan drawn(std::uint64_t seed, std::uint64_t attempt) {
    Chance chance(seed * 1'000'003 + attempt);
    RandomPlan made;
    made.seed = seed;
    Plan& plan = made.plan;
    plan.algorithm.name = "ring";
    // Rings above the size up to which only exact folding is done.
    const bool large = is_large(seed);
    const bool data_only = large || chance.below(3) == 0;
    if (data_only) {
        plan.ranks = large ? 129 + chance.below(16) : 2 + chance.below(31);
        plan.batch_per_rank = 1 + chance.below(4);
        add_data_only(chance, plan, large);
    } else {
        add_parallelism(chance, plan, 48);
    }
    const Parallelism& parallelism = plan.parallelism;
    const auto parts = static_cast<std::uint32_t>(parallelism.pipeline.stages * parallelism.pipeline.virtual_stages);
    // Blocks of equal size are folded in all groups.
    const std::uint32_t unit =
        chance.below(large ? 2 : 6) == 0 ? 1 : static_cast<std::uint32_t>(12 * plan.stage_ranks());
    made.model = model(chance, unit, large ? 1 : parts, parallelism.layout.cells() > 1, parallelism.sequence);
    if (!data_only && chance.below(4) == 0) add_range(chance, made.model, plan);
    if (plan.exchange == ExchangeKind::allreduce && parallelism.sharding == Sharding::none && !large)
        plan.algorithm = allreduce(chance, static_cast<std::uint32_t>(plan.replicas()));
    if (plan.exchange == ExchangeKind::allreduce && parallelism.sharding == Sharding::none && chance.below(6) == 0)
        plan.selection = rings_by_size();

    NamedFabric fabric = chance.of(fabrics());
    // Only fabrics on which rings share no links: on others a thousand plans would take too long.
    while (large && fabric.name.find("star") == std::string::npos && fabric.name != "tree" && fabric.name != "fat-tree")
        fabric = chance.of(fabrics());
    const bool dedicated =
        plan.exchange == ExchangeKind::parameter_server && plan.servers.location == ServerLocation::dedicated;
    Cluster& cluster = made.cluster;
    cluster = fabric.cluster(static_cast<std::uint32_t>(plan.ranks), dedicated ? plan.servers.count : 0);
    made.fabric = fabric.name;
    cluster.fabric.routing.policy =
        chance.of<std::optional<Routing::Policy>>({std::nullopt, Routing::Policy::first, Routing::Policy::ecmp});
    cluster.latency = seed % 2 == 0 ? Latency::travelling : Latency::blocking;
    cluster.fabric.topology.latency_s = {chance.of<double>({0, 1e-6, 2e-5})};
    cluster.device.flops_per_s = chance.of<double>({1e9, 1e10, 1e11});
    cluster.device.memory_Bps = 1e10;
    cluster.device.host_link_Bps = chance.of<double>({unlimited, 1e8});
    cluster.device.reduction_Bps = chance.of<double>({unlimited, 1e9});
    cluster.device.speed_beside_exchange = chance.of<double>({1, 1, 1, 0.6});
    cluster.host.reduction_Bps = 1e10;
    cluster.transport = transport(chance);
    if (chance.below(10) == 0 && !large)
        cluster.network = chance.of<NetworkModel>({NetworkModel::Constant, NetworkModel::LV08});

    plan.compute = ComputeKind::roofline;
    plan.iterations = 1 + chance.below(large ? 3 : 5);
    plan.input_copy = chance.of<InputCopy>({InputCopy::none, InputCopy::overlapped, InputCopy::blocking});
    plan.fusion.threshold_bytes = large ? 1e7 : chance.of<double>({0, 2e4, 1e6});
    plan.placement.order = chance.of<RankPlacement::Order>(
        {RankPlacement::Order::packed, RankPlacement::Order::packed, RankPlacement::Order::packed,
         RankPlacement::Order::round_robin, RankPlacement::Order::random});
    if (large) plan.placement.order = RankPlacement::Order::packed;
    if (chance.below(3) == 0) plan.noise.jitter = chance.of<double>({0.02, 0.3});
    if (chance.below(4) == 0) plan.noise.stragglers = {1 + chance.below(2), {}, chance.of<double>({1.2, 3})};
    plan.noise.stragglers.count = std::min(plan.noise.stragglers.count, plan.ranks);
    plan.set_seed(seed);
    if (chance.below(3) == 0) plan.recomputation = Recomputation::full;
    Parallelism& split = plan.parallelism;
    if (split.pipeline.schedule == PipelineSchedule::gpipe && split.pipeline.stages > 1 && chance.below(2) == 0)
        split.pipeline.schedule = PipelineSchedule::zero_bubble_h1;
    if (split.sharding != Sharding::none && split.ranges.empty() && chance.below(2) == 0)
        split.shard_ranks = chance.of<std::int64_t>({2, 3});
    if (split.layout.rows > 1 && split.ranges.empty() && chance.below(3) == 0)
        split.model_overlap = chance.of<ModelOverlap>({ModelOverlap::none, ModelOverlap::weight_gradients});
    if (plan.exchange == ExchangeKind::allreduce && plan.overlap != Overlap::across_iterations &&
        chance.below(4) == 0) {
        const bool leave = split.pipeline.micro_batches == 1 && !plan.compression.any();
        plan.offload = leave && chance.below(2) == 0 ? Offload::gradients : Offload::optimizer;
        plan.optimizer = Optimizer::adam;
        cluster.device.host_link_Bps = 1e8;
        cluster.host.memory_Bps = chance.of<double>({1e8, 1e10});
    }
    if (divides_updates(split.sharding) && chance.below(2) == 0) split.gather = Gather::before_forward;
    if (split.takes_turns() && split.pipeline.micro_batches > 1 && chance.below(2) == 0)
        split.gradient_sync = chance.of<GradientSync>({GradientSync::last_micro_batch, GradientSync::each_micro_batch});
    // By the seed alone, so that nothing else of the plan depends on them.
    split.pipeline.transfers = static_cast<Transfers>(seed % 3);
    split.pipeline.scatter_gather = seed % 4 != 0;
    if (seed % 5 == 2 && !large) {
        cluster.transport.name = "random";
        cluster.transport.between.payload = 0.9;
        cluster.transport.inside.payload = 0.8;
        cluster.transport.selection = std::make_shared<const Selection>(library());
        cluster.node.switch_reduces = cluster.node.links == NodeLinks::crossbar && cluster.node.devices > 1;
    }
    const bool may_turn = split.pipeline.virtual_stages == 2 && split.pipeline.stages > 1;
    if (may_turn && split.sharding != Sharding::parameters && seed % 2 == 0)
        split.pipeline.schedule = split.pipeline.micro_batches >= 2 * split.pipeline.stages
                                      ? PipelineSchedule::dualpipe_v
                                      : PipelineSchedule::zero_bubble_v;
    if (!data_only && seed % 3 == 1) add_exchange_options(Chance(seed * 7919 + attempt), plan);
    return made;
}

}  // namespace random_plans

/// Returns the first of the plans that `draw(attempt)` gives that is possible and has at most so many messages.
template <class Draw>
RandomPlan first_possible(const Draw& draw, std::uint64_t most_messages) {
    for (std::uint64_t attempt = 0;; ++attempt) {
        RandomPlan plan = draw(attempt);
        try {
            const TaskGraph graph = build_iteration(lower(plan.cluster, plan.model, plan.plan));
            if (count_messages(graph, static_cast<std::uint32_t>(plan.plan.iterations) + 1) <= most_messages)
                return plan;
        } catch (const ParallelismError&) {
        } catch (const TopologyError&) {
        } catch (const AlgorithmError&) {
        }
    }
}

/// Returns the plan of a seed: the first drawn plan that is possible and does not take too long.
inline RandomPlan random_plan(std::uint64_t seed) {
    return first_possible([seed](std::uint64_t attempt) { return random_plans::drawn(seed, attempt); },
                          random_plans::is_large(seed) ? 250'000 : 100'000);
}

/// Three stages of four rows and two columns, four microbatches, on a ring of nodes of two devices. A stage is one
/// layer, so a row may begin an exchange for a microbatch while others are still in the exchange of the previous one.
inline RandomPlan micro_batches_of_rows() {
    RandomPlan made;
    made.fabric = "ring of two-device nodes";
    made.cluster = cluster_on(wired(Shape::ring, bandwidth, latency), 12);
    made.cluster.node.devices = 2;
    made.cluster.node.link = {bandwidth, latency};
    made.cluster.device.flops_per_s = 1e10;
    made.cluster.device.memory_Bps = 1e10;
    Plan& plan = made.plan;
    plan.parallelism.pipeline.stages = 3;
    plan.parallelism.pipeline.micro_batches = 4;
    plan.parallelism.layout.rows = 4;
    plan.ranks = 24;
    plan.batch_per_rank = 4;
    plan.compute = ComputeKind::roofline;
    plan.input_copy = InputCopy::none;
    plan.overlap = Overlap::none;
    for (std::size_t layer = 0; layer < 3; ++layer)
        made.model.layers.push_back(dense(fmt::format("l{}", layer), 96, 96, false));
    made.model.name = "chain";
    return made;
}

}  // namespace syncline
