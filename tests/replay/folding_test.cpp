#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/analysis/estimate.hpp"
#include "sim/analysis/exchange_experiment.hpp"
#include "sim/analysis/experiment.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/chance.hpp"
#include "tests/replay/every_shape.hpp"
#include "tests/replay/training_worlds.hpp"
#include "tests/sanitized.hpp"

// Compares folded simulations with the same ones message by message.

using namespace syncline;
using namespace syncline::test;

namespace {

#if defined(SYNCLINE_SANITIZED)
constexpr bool everything = false;  // simulations take ten times as long with sanitizers
#else
constexpr bool everything = true;
#endif

/// Difference of the two, relative to the simulated time.
struct Comparison {
    double difference = 0;
    CollectiveResult simulated, folded;
};

Comparison compare(const Cluster& cluster, CollectivePlan plan) {
    Comparison result;
    plan.fidelity = Fidelity::message;
    result.simulated = simulate_collective(cluster, plan);
    plan.fidelity = Fidelity::folded;
    result.folded = simulate_collective(cluster, plan);
    const double expected_s = result.simulated.completion_time_s;
    if (expected_s > 0) result.difference = std::abs(result.folded.completion_time_s / expected_s - 1);
    CHECK(result.folded.messages == result.simulated.messages);
    CHECK(result.folded.bytes_sent == result.simulated.bytes_sent);
    CHECK(result.folded.sent_by == result.simulated.sent_by);
    CHECK(result.folded.received_by == result.simulated.received_by);
    CHECK(result.folded.folded.messages_simulated + result.folded.folded.messages_folded == result.folded.messages);
    CHECK(result.simulated.folded.messages_folded == 0);
    return result;
}

/// Every algorithm on `fabric`, or only those that repeat themselves and could therefore be folded.
struct Table {
    double worst = 0;
    std::size_t rows = 0, folded = 0;

    void add(const NamedFabric& fabric, std::uint32_t ranks, std::uint64_t bytes_per_rank, std::uint64_t rest,
             bool rings_only = false) {
        const Cluster cluster = fabric.cluster(ranks, 0);
        for (const std::string& operation : operation_names()) {
            for (const std::string& name : algorithm_names(operation)) {
                if (rings_only && name.find("ring") == std::string::npos && name != "scatter-allgather") continue;
                for (const double segment : {0.0, 800.0}) {
                    CollectivePlan plan;
                    plan.ranks = ranks;
                    plan.algorithm.operation = operation;
                    plan.algorithm.name = name;
                    plan.algorithm.segment_bytes = segment;
                    plan.bytes = operation == "barrier" ? 0 : ranks * bytes_per_rank + rest;
                    try {
                        make_algorithm(plan.algorithm, ranks);
                    } catch (const AlgorithmError&) {
                        continue;
                    }
                    CAPTURE(fabric.name, operation, name, ranks, segment, plan.bytes);
                    const Comparison compared = compare(cluster, plan);
                    CHECK(compared.difference <= 1e-9);
                    CHECK(compared.folded.folded.error_s <= 1e-9 * compared.folded.completion_time_s);
                    worst = std::max(worst, compared.difference);
                    ++rows;
                    folded += compared.folded.folded.messages_folded > 0;
                }
            }
        }
    }
    void show(const char* what) const {
        WARN(fmt::format("{}: {} pairs, {} of them folded, worst relative difference {:.1e}", what, rows, folded,
                         worst));
    }
};

/// Returns rings on a star of `ranks`, on separate streams, each of which begins this many seconds after the start.
TaskGraph rings_from(const Cluster& cluster, std::uint32_t ranks, std::uint64_t bytes,
                     const std::vector<double>& starts_s) {
    TaskGraph graph;
    std::vector<ProcessId> workers;
    for (const Place& place : place_ranks(cluster, {}, ranks)) workers.push_back(graph.add_process({place}));
    for (std::uint32_t ring = 0; ring < starts_s.size(); ++ring) {
        const StreamId clock = graph.add_stream(workers.front(), StreamKind::release);
        const TaskId start = graph.add_task({clock, Phase::barrier, ring, starts_s[ring]});
        const ExchangeId exchange = graph.add_exchange(
            {make_algorithm({.name = "ring", .overlay = {}}, ranks), graph.add_group(workers), ring, bytes});
        for (std::uint32_t member = 0; member < ranks; ++member) {
            const StreamId stream = graph.add_stream(workers[member], StreamKind::exchange);
            graph.depend(graph.add_task({stream, Phase::exchange, ring, 0, exchange, member}), start);
        }
    }
    graph.seal();
    return graph;
}

Timeline replayed(const Cluster& cluster, const TaskGraph& graph, bool fold) {
    ReplayOptions options;
    options.fold = fold;
    return replay_isolated(cluster, graph, options);
}

ReplayedIteration trained(const Cluster& cluster, const Model& model, Plan plan, Fidelity fidelity) {
    plan.fidelity = fidelity;
    return replay_iteration(lower(cluster, model, plan));
}

}  // namespace

TEST_CASE("folding: every algorithm on every fabric takes as long as message by message") {
    Table table;
    const std::vector<std::uint32_t> counts =
        everything ? std::vector<std::uint32_t>{2, 3, 4, 5, 8, 13, 16} : std::vector<std::uint32_t>{5, 8};
    for (const NamedFabric& fabric : fabrics())
        for (const std::uint32_t ranks : counts) table.add(fabric, ranks, 9600, 0);
    table.show("blocks of one size");
    CHECK(table.folded > table.rows / 20);
}

TEST_CASE("folding: blocks that differ by a byte change no time in small groups") {
    Table table;
    const std::vector<std::uint32_t> counts =
        everything ? std::vector<std::uint32_t>{3, 7, 12} : std::vector<std::uint32_t>{7};
    for (const NamedFabric& fabric : fabrics())
        for (const std::uint32_t ranks : counts) table.add(fabric, ranks, 9600, 7);
    table.show("blocks that differ by a byte");
}

TEST_CASE("folding: rings of up to 128 ranks are exact on every fabric", "[.][slow]") {
    Table table;
    for (const NamedFabric& fabric : fabrics()) {
        for (std::uint32_t ranks = 2; ranks <= 128; ranks += ranks < 16 ? 1 : 16)
            table.add(fabric, ranks, 9600, 0, true);
        for (const std::uint32_t ranks : {31u, 63u, 127u}) table.add(fabric, ranks, 9600, 7, true);
    }
    table.show("rings of up to 128 ranks");
    CHECK(table.folded > table.rows / 4);
}

TEST_CASE("folding: large rings on a star equal the formula, whatever their blocks") {
    for (const std::uint32_t ranks : {129u, 200u, 1000u, 4096u}) {
        if (!everything && ranks > 200) continue;
        for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{ranks} * 1000,
                                          std::uint64_t{ranks} * 1000 + 1, std::uint64_t{100'000'000}}) {
            CAPTURE(ranks, bytes);
            CollectivePlan plan;
            plan.ranks = ranks;
            plan.bytes = bytes;
            plan.fidelity = Fidelity::folded;
            Cluster cluster = star_cluster(ranks, 12.5e9, 1e-6);
            for (const Latency mode : {Latency::blocking, Latency::travelling}) {
                cluster.latency = mode;
                const CollectiveResult result = simulate_collective(cluster, plan);
                REQUIRE(result.closed_form_s);
                CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-9));
                CHECK(result.folded.error_s <=
                      (bytes % ranks == 0 ? 0 : 2 * ranks / 12.5e9) + 1e-9 * result.completion_time_s);
                CHECK(result.messages == 2ull * ranks * (ranks - 1));
                CHECK(result.bytes_sent == 2ull * (ranks - 1) * bytes);
                CHECK(result.folded.messages_simulated <= 6ull * ranks);
            }
        }
    }
}

TEST_CASE("folding: the error of a large ring on another fabric stays within its bound") {
    double worst = 0;
    std::size_t folded = 0;
    for (const NamedFabric& fabric : fabrics()) {
        for (const std::uint64_t rest : {0u, 1u, 77u}) {
            if (!everything && (rest != 1 || fabric.name.find("tree") == std::string::npos)) continue;
            CollectivePlan plan;
            plan.ranks = 144;
            plan.bytes = 144 * 20'000 + rest;
            CAPTURE(fabric.name, rest);
            const Comparison compared = compare(fabric.cluster(144, 0), plan);
            const double off_s = std::abs(compared.folded.completion_time_s - compared.simulated.completion_time_s);
            CHECK(off_s <= compared.folded.folded.error_s);
            CHECK(compared.difference < 0.01);
            worst = std::max(worst, compared.difference);
            folded += compared.folded.folded.messages_folded > 0;
        }
    }
    WARN(fmt::format("rings of 144 ranks on {} fabrics: {} folded, worst relative difference {:.1e}", fabrics().size(),
                     folded, worst));
    if (everything) CHECK(folded > 10);
}

TEST_CASE("folding: rings that may be in flight at the same time are simulated message by message", "[memory]") {
    constexpr std::uint32_t ranks = 32;
    constexpr std::uint64_t bytes = ranks * 1'000'000;
    const Cluster cluster = star_cluster(ranks, 1e9, 1e-6);
    for (const double second_s : {0.0, 40e-3, 200e-3}) {
        const TaskGraph graph = rings_from(cluster, ranks, bytes, {0.0, second_s});
        const Timeline simulated = replayed(cluster, graph, false), folded = replayed(cluster, graph, true);
        CHECK(folded.iteration_end_s == simulated.iteration_end_s);
        CHECK(folded.messages == simulated.messages);
        CHECK(folded.messages_folded == 0);
    }
    CHECK(replayed(cluster, rings_from(cluster, ranks, bytes, {0.0}), true).messages_folded > 0);
}

TEST_CASE("folding: steps without length do not mix up consecutive exchanges", "[memory]") {
    // Members that fold such steps do not sleep, so that they could send for the next exchange before others fold.
    for (const Latency mode : {Latency::blocking, Latency::travelling}) {
        Cluster cluster = star_cluster(8, 1e9, 0);
        cluster.network = NetworkModel::Constant;
        cluster.latency = mode;
        TaskGraph graph;
        std::vector<ProcessId> workers;
        for (std::uint32_t rank = 0; rank < 8; ++rank) workers.push_back(graph.add_process({{rank}}));
        const auto ring = make_algorithm({.name = "ring", .overlay = {}}, 8);
        add_collectives(graph, workers, {{800, ring}, {800, ring}, {800, ring}}, {}, cluster);
        graph.seal();
        const Timeline simulated = replayed(cluster, graph, false), folded = replayed(cluster, graph, true);
        CHECK(folded.iteration_end_s.front() == simulated.iteration_end_s.front());
        CHECK(folded.messages == simulated.messages);
        CHECK(folded.bytes_sent == simulated.bytes_sent);
    }
}

TEST_CASE("folding: late ranks delay a ring as they do message by message") {
    std::mt19937 random(3);
    const Model model = random_layers(random, 12, 4 * 24 * 25, 40);
    for (const std::uint32_t ranks : {24u, 50u}) {
        if (!everything && ranks > 24) continue;
        for (const double jitter : {0.0, 0.05, 0.5}) {
            for (const Overlap overlap : {Overlap::none, Overlap::wait_free, Overlap::across_iterations}) {
                CAPTURE(ranks, jitter, static_cast<int>(overlap));
                Plan plan;
                plan.ranks = ranks;
                plan.batch_per_rank = 1;
                plan.noise.jitter = jitter;
                plan.overlap = overlap;
                Cluster cluster = plain_star(1e9, 2e-6);
                for (const Latency mode : {Latency::blocking, Latency::travelling}) {
                    cluster.latency = mode;
                    const ReplayedIteration simulated = trained(cluster, model, plan, Fidelity::message);
                    const ReplayedIteration folded = trained(cluster, model, plan, Fidelity::folded);
                    CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
                    CHECK(folded.timeline.messages == simulated.timeline.messages);
                    CHECK(folded.timeline.bytes_sent == simulated.timeline.bytes_sent);
                    if (jitter == 0) CHECK(folded.timeline.messages_folded > 0);
                }
            }
        }
    }
}

TEST_CASE("folding: late ranks, many buckets and an oversubscribed tree stay within the bound of the error") {
    double worst = 0;
    std::mt19937 random(5);
    const Model model = random_layers(random, 8, 4 * 136 * 10, 60);
    TopologySpec tree = wired(Shape::tree, 1e9, 1e-6);
    tree.arity = 8;
    for (const std::uint32_t ranks : {48u, 136u}) {
        if (!everything && ranks > 48) continue;
        for (const double jitter : {0.0, 0.1}) {
            for (const double threshold : {0.0, 1e6}) {
                CAPTURE(ranks, jitter, threshold);
                Plan plan;
                plan.ranks = ranks;
                plan.batch_per_rank = 1;
                plan.iterations = 2;
                plan.noise.jitter = jitter;
                plan.fusion.threshold_bytes = threshold;
                Cluster cluster = plain_star(1e9, 2e-6);
                cluster.fabric.topology = tree;
                cluster.nodes = ranks;
                const ReplayedIteration simulated = trained(cluster, model, plan, Fidelity::message);
                const ReplayedIteration folded = trained(cluster, model, plan, Fidelity::folded);
                const double off_s = std::abs(folded.time.iteration_s - simulated.time.iteration_s);
                CHECK(off_s < 0.01 * simulated.time.iteration_s);
                CHECK(off_s <= folded.timeline.folding_error_s);
                worst = std::max(worst, off_s / simulated.time.iteration_s);
            }
        }
    }
    WARN(fmt::format("oversubscribed tree, jitter, buckets: worst relative difference {:.1e}", worst));
}

TEST_CASE("folding: repeated iterations are simulated once, others are not skipped", "[memory]") {
    std::mt19937 random(9);
    const Model model = random_layers(random, 6, 4000, 40);
    const Cluster cluster = plain_star(1e9, 2e-6);
    Plan plan;
    plan.ranks = 6;
    plan.batch_per_rank = 1;
    plan.iterations = 40;
    for (const ExchangeKind exchange : {ExchangeKind::allreduce, ExchangeKind::parameter_server}) {
        for (const Overlap overlap : {Overlap::none, Overlap::wait_free, Overlap::across_iterations}) {
            if (exchange == ExchangeKind::parameter_server && overlap == Overlap::across_iterations) continue;
            CAPTURE(static_cast<int>(exchange), static_cast<int>(overlap));
            plan.exchange = exchange;
            plan.overlap = overlap;
            const ReplayedIteration simulated = trained(cluster, model, plan, Fidelity::message);
            const ReplayedIteration folded = trained(cluster, model, plan, Fidelity::folded);
            CHECK(folded.time.iteration_s == Approx(simulated.time.iteration_s).epsilon(1e-9));
            CHECK(folded.timeline.iteration_end_s.at(39) ==
                  Approx(simulated.timeline.iteration_end_s.at(39)).epsilon(1e-9));
            CHECK(folded.timeline.iterations_folded > 30);
            CHECK(folded.timeline.messages == simulated.timeline.messages);
            CHECK(folded.timeline.bytes_sent == simulated.timeline.bytes_sent);
            CHECK(folded.timeline.sent_by == simulated.timeline.sent_by);
            for (TaskId task = 0; task < folded.graph.tasks().size(); ++task) {
                CHECK(folded.timeline.measured()[task].start_s == Approx(simulated.timeline.measured()[task].start_s));
                CHECK(folded.timeline.measured()[task].end_s == Approx(simulated.timeline.measured()[task].end_s));
            }
        }
    }
    plan.exchange = ExchangeKind::allreduce;
    plan.iterations = 5;
    plan.noise.jitter = 0.1;
    CHECK(trained(cluster, model, plan, Fidelity::folded).timeline.iterations_folded == 0);
}

TEST_CASE("folding: errors of large rings whose messages share links stay within their bounds, wherever ranks are") {
    Transport copying;
    copying.name = "copying";
    copying.staging = {Staging::Unit::message, 2e9, 5e-6};
    copying.reduction.launch_s = 3e-6;
    for (const NamedFabric& fabric : fabrics()) {
        if (fabric.name != "star" && (!everything || fabric.name != "rails of two-device nodes")) continue;
        for (const bool copies : {false, true}) {
            for (const std::uint64_t bytes : {100ull, 130ull, 130ull * 3000 + 17}) {
                for (const char* operation : {"allreduce", "all-to-all"}) {
                    CAPTURE(fabric.name, copies, bytes, operation);
                    Cluster cluster = fabric.cluster(130, 0);
                    if (copies) cluster.transport = copying;
                    CollectivePlan plan;
                    plan.ranks = 130;
                    plan.placement.order = RankPlacement::Order::random;
                    plan.algorithm.operation = operation;
                    plan.algorithm.name = operation == std::string("allreduce") ? "ring" : "pairwise";
                    plan.bytes = bytes;
                    const Comparison compared = compare(cluster, plan);
                    const double expected_s = compared.simulated.completion_time_s;
                    CHECK(std::abs(compared.folded.completion_time_s - expected_s) <= compared.folded.folded.error_s);
                }
            }
        }
    }
}

TEST_CASE("folding: of a direct all-to-all on a star one rank is simulated, and takes (N-1)S/N bytes and a latency") {
    for (const std::uint32_t ranks : {1U, 2U, 3U, 7U, 16U, 60U, 97U, 256U}) {
        for (const std::uint64_t block : {0U, 1U, 12'345U}) {
            CAPTURE(ranks, block);
            CollectivePlan plan;
            plan.ranks = ranks;
            plan.algorithm = {"all-to-all", "direct"};
            plan.bytes = ranks * block;
            const Cluster star = cluster_on(wired(Shape::star, bandwidth, latency), ranks);
            const CollectiveResult folded = compare(star, plan).folded;
            const double expected_s =
                ranks == 1 ? 0 : (ranks - 1) * static_cast<double>(block) / bandwidth + 2 * latency;
            CHECK(folded.completion_time_s == Approx(expected_s).epsilon(1e-9));
            CHECK(folded.folded.images == ranks);
            CHECK(folded.folded.messages_simulated == ranks - 1);
            CHECK(folded.folded.error_s <= 1e-9 * folded.completion_time_s);
            plan.fidelity = Fidelity::folded;
            CHECK(estimate(star, plan).messages == ranks - 1);
        }
    }
}

TEST_CASE("folding: where routes go by position, all-to-alls are folded as far as the fabric is the same everywhere") {
    struct World {
        std::string name;
        TopologySpec topology;
        std::uint32_t ranks = 0;
        std::string algorithm;
        std::uint32_t images = 0;
    };
    const auto fat_tree = [](std::vector<std::int64_t> down, std::vector<std::int64_t> up) {
        TopologySpec spec = wired(Shape::fat_tree, bandwidth, latency);
        spec.down = std::move(down);
        spec.up = std::move(up);
        return spec;
    };
    const auto torus = [](std::vector<std::int64_t> dimensions) {
        TopologySpec spec = wired(Shape::torus, bandwidth, latency);
        spec.dimensions = std::move(dimensions);
        return spec;
    };
    const auto hypercube = [](std::int64_t hosts) {
        TopologySpec spec = wired(Shape::hypercube, bandwidth, latency);
        spec.hosts = hosts;
        return spec;
    };
    const std::vector<World> worlds{
        {"6 leaves of 4 hosts, 4:1", fat_tree({4, 6}, {1, 1}), 24, "direct", 24},
        {"6 leaves of 4 hosts with 4 ways up", fat_tree({4, 6}, {1, 4}), 24, "direct", 24},
        // The way up goes by the destination's number modulo 3, in which a rotation of 24 hosts fits, but none of 4.
        {"6 leaves of 4 hosts with 3 ways up", fat_tree({4, 6}, {1, 3}), 24, "direct", 6},
        {"three levels", fat_tree({2, 3, 4}, {1, 2, 2}), 24, "direct", 0},
        // Of two leaves and a half each pair of hosts is alike.
        {"an incomplete leaf", fat_tree({4, 6}, {1, 1}), 10, "direct", 2},
        // One partner after the other: the order among them is that of the ranks, and only whole leaves keep it.
        {"one partner after the other", fat_tree({4, 6}, {1, 1}), 24, "pairwise", 6},
        {"a ring", wired(Shape::ring, bandwidth, latency), 7, "direct", 7},
        {"a torus", torus({3, 5, 2}), 30, "direct", 30},
        // Half round a cycle of 4 the two ways are equal, and the first listed one depends on the place.
        {"a torus of even cycles", torus({3, 4, 2}), 24, "direct", 6},
        {"a hypercube", hypercube(16), 16, "direct", 16},
    };
    for (World world : worlds) {
        INFO(world.name);
        Cluster cluster = cluster_on(world.topology, world.ranks);
        if (world.topology.shape != Shape::fat_tree) cluster.fabric.routing.policy = Routing::Policy::first;
        CollectivePlan plan;
        plan.ranks = world.ranks;
        plan.algorithm = {"all-to-all", world.algorithm};
        plan.bytes = world.ranks * 9600;
        const Comparison compared = compare(cluster, plan);
        CHECK(compared.difference <= 1e-9);
        CHECK(std::ranges::equal(compared.simulated.links, compared.folded.links, {}, &LinkLoad::bytes,
                                 &LinkLoad::bytes));
        if (world.images > 0) CHECK(compared.folded.folded.images == world.images);
        CHECK(compared.folded.folded.images > 1);
        // Blocks that differ by a byte are simulated.
        plan.bytes += 1;
        const Comparison uneven = compare(cluster, plan);
        CHECK(uneven.difference <= 1e-9);
        CHECK(uneven.folded.folded.images == 1);
    }
}

TEST_CASE("folding: in a tree only whole leaves are alike if messages leave one after the other") {
    TopologySpec tree = wired(Shape::fat_tree, bandwidth, latency);
    tree.down = {4, 3};
    tree.up = {1, 1};
    Cluster cluster = cluster_on(tree, 12);
    CollectivePlan plan;
    plan.ranks = 12;
    plan.algorithm = {"all-to-all", "direct"};
    plan.bytes = 12 * 1000;
    CHECK(compare(cluster, plan).folded.folded.images == 12);
    cluster.transport.between.send_overhead_s = 3e-6;
    const Comparison late = compare(cluster, plan);
    CHECK(late.difference <= 1e-9);
    CHECK(late.folded.folded.images == 3);
    cluster.transport.between.send_overhead_s = 0;
    cluster.transport.window = 2;
    const Comparison few = compare(cluster, plan);
    CHECK(few.difference <= 1e-9);
    CHECK(few.folded.folded.images == 3);
}

TEST_CASE("folding: random exchanges on random fabrics whose routes go by position take as long message by message") {
    Chance chance(21);
    int folded = 0;
    for (int world = 0; world < (everything ? 150 : 15); ++world) {
        TopologySpec topology =
            wired(chance.of<Shape>({Shape::star, Shape::fat_tree, Shape::fat_tree, Shape::torus, Shape::hypercube}),
                  bandwidth, latency);
        const auto some = [&] { return 1 + static_cast<std::int64_t>(chance.below(4)); };
        std::int64_t hosts = 2 + chance.below(20);
        if (topology.shape == Shape::fat_tree) {
            topology.down = {1 + some(), 1 + some(), some()};
            topology.up = {1, some(), some()};
            hosts = topology.down[0] * topology.down[1] * topology.down[2];
        } else if (topology.shape == Shape::torus) {
            topology.dimensions = {1 + some(), 1 + some()};
            hosts = topology.dimensions[0] * topology.dimensions[1];
        } else if (topology.shape == Shape::hypercube) {
            topology.hosts = hosts = std::int64_t{1} << (1 + chance.below(4));
        }
        const std::int64_t devices = chance.of<std::int64_t>({1, 1, 2, 3});
        Cluster cluster = cluster_on(topology, hosts);
        cluster.node.devices = devices;
        cluster.node.link = {4 * bandwidth, latency};
        cluster.latency = chance.of<Latency>({Latency::travelling, Latency::blocking});
        if (topology.shape != Shape::star) cluster.fabric.routing.policy = Routing::Policy::first;
        if (topology.shape == Shape::fat_tree && chance.below(2) == 0)
            cluster.fabric.routing.policy = Routing::Policy::d_mod_k;
        CollectivePlan plan;
        plan.ranks = hosts * devices;
        if (chance.below(3) == 0) plan.ranks = 1 + chance.below(static_cast<std::uint64_t>(plan.ranks));
        plan.algorithm.operation = chance.of<std::string>({"all-to-all", "all-to-all", "allreduce", "allgather"});
        plan.algorithm.name = chance.of(algorithm_names(plan.algorithm.operation));
        plan.bytes = static_cast<std::uint64_t>(plan.ranks) * chance.below(20'000) + (chance.below(4) == 0 ? 1 : 0);
        try {
            make_algorithm(plan.algorithm, static_cast<std::uint32_t>(plan.ranks));
        } catch (const AlgorithmError&) {
            continue;
        }
        CAPTURE(world, static_cast<int>(topology.shape), topology.down, topology.up, topology.dimensions, devices,
                plan.ranks, plan.bytes, plan.algorithm.operation, plan.algorithm.name);
        const Comparison compared = compare(cluster, plan);
        CHECK(compared.difference <= 1e-9);
        CHECK(std::ranges::equal(compared.simulated.links, compared.folded.links, {}, &LinkLoad::bytes,
                                 &LinkLoad::bytes));
        folded += compared.folded.folded.images > 1;
    }
    CHECK(folded > (everything ? 50 : 3));
}
