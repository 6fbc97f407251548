#include <algorithm>
#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/replay/replay.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Sharded state of ranks with the same weights (S. Rajbhandari et al., "ZeRO", SC 2020, section 7: volumes).

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr std::int64_t element_bytes = 4;

struct World {
    Model model;
    Cluster cluster;
    std::vector<double> forward_s, backward_s;

    double bytes(std::size_t layer) const {
        return static_cast<double>(model.layers[layer].parameters * element_bytes);
    }
};

/// The parameters of each layer are divisible by the number of ranks, so that shards are equal.
World world_of(std::mt19937& random, std::int64_t ranks, std::size_t layers) {
    World world;
    world.model = plain_model(layers, 0, 100);
    std::uniform_real_distribution<double> seconds(1e-4, 4e-3);
    for (Layer& layer : world.model.layers) {
        layer.parameters = ranks * static_cast<std::int64_t>(random() % 400'000 + 1);
        world.forward_s.push_back(seconds(random));
        world.backward_s.push_back(seconds(random));
    }
    world.cluster =
        timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model, world.forward_s, world.backward_s);
    world.cluster.device.reduction_Bps = 2e10;
    return world;
}

Plan plan_of(std::int64_t ranks, Sharding sharding) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.overlap = Overlap::none;
    plan.algorithm.name = "ring";
    plan.parallelism.sharding = sharding;
    return plan;
}

}  // namespace

TEST_CASE("sharded optimizer and gradients take a reduce-scatter and an allgather, as long as the ring's all-reduce",
          "[memory]") {
    std::mt19937 random(3);
    for (std::int64_t ranks = 2; ranks <= 7; ++ranks) {
        const World world = world_of(random, ranks, 1 + random() % 5);
        const Result whole = simulate(lower(world.cluster, world.model, plan_of(ranks, Sharding::none)));
        double by_hand_s = 0, all_bytes = 0;
        for (std::size_t i = 0; i < world.model.layers.size(); ++i) {
            const double n = static_cast<double>(ranks), reduced = (n - 1) / n * world.bytes(i) / 2e10;
            by_hand_s += world.forward_s[i] + world.backward_s[i] + 2 * star.ring_s(n, world.bytes(i)) + reduced;
            all_bytes += world.bytes(i);
        }
        for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients}) {
            CAPTURE(ranks, static_cast<int>(sharding));
            const Result sharded = simulate(lower(world.cluster, world.model, plan_of(ranks, sharding)));
            CHECK(sharded.time.iteration_s == Approx(by_hand_s).epsilon(1e-6));
            CHECK(sharded.time.iteration_s == Approx(whole.time.iteration_s).epsilon(1e-6));
            CHECK(static_cast<double>(sharded.bytes_sent) == 2 * static_cast<double>(ranks - 1) * all_bytes);
        }
    }
}

TEST_CASE("sharded optimizer: weights that are gathered before the forward pass hide behind the layers below",
          "[memory]") {
    std::mt19937 random(4);
    for (std::int64_t ranks = 2; ranks <= 7; ++ranks) {
        for (const std::size_t layers : {1u, 2u, 5u}) {
            const World world = world_of(random, ranks, layers);
            const auto n = static_cast<double>(ranks);
            double gathered_s = 0, by_hand_s = 0, all_bytes = 0;
            for (std::size_t i = 0; i < layers; ++i) {
                gathered_s += star.ring_s(n, world.bytes(i));
                by_hand_s = std::max(by_hand_s, gathered_s) + world.forward_s[i];
                all_bytes += world.bytes(i);
            }
            for (std::size_t i = 0; i < layers; ++i)
                by_hand_s += world.backward_s[i] + star.ring_s(n, world.bytes(i)) + (n - 1) / n * world.bytes(i) / 2e10;
            for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients})
                for (const std::int64_t iterations : {1, 3}) {
                    CAPTURE(ranks, layers, static_cast<int>(sharding), iterations);
                    Plan plan = plan_of(ranks, sharding);
                    plan.iterations = iterations;
                    plan.parallelism.gather = Gather::before_forward;
                    const Result result = simulate(lower(world.cluster, world.model, plan));
                    CHECK(result.time.iteration_s == Approx(by_hand_s).epsilon(1e-6));
                    CHECK(static_cast<double>(result.bytes_sent) == 2 * (n - 1) * all_bytes);
                }
        }
    }
}

TEST_CASE("sharded parameters take two allgathers and a reduce-scatter of each layer, with the expected times",
          "[memory]") {
    std::mt19937 random(5);
    for (std::int64_t ranks = 2; ranks <= 7; ++ranks) {
        for (const std::size_t layers : {1u, 2u, 3u}) {
            CAPTURE(ranks, layers);
            const World world = world_of(random, ranks, layers);
            const Result result = simulate(lower(world.cluster, world.model, plan_of(ranks, Sharding::parameters)));
            // Passes F0 F1 … B1 B0: a gathering begins when the previous gathering and the pass before the previous one
            // are done.
            const auto n = static_cast<double>(ranks);
            double gathered_s = 0, computed_s = 0, before_s = 0, all_bytes = 0;
            for (std::size_t pass = 0; pass < 2 * layers; ++pass) {
                const std::size_t layer = pass < layers ? pass : 2 * layers - 1 - pass;
                gathered_s = std::max(gathered_s, before_s) + star.ring_s(n, world.bytes(layer));
                before_s = computed_s;
                computed_s = std::max(computed_s, gathered_s) +
                             (pass < layers ? world.forward_s[layer] : world.backward_s[layer]);
            }
            for (std::size_t i = 0; i < layers; ++i) {
                computed_s += star.ring_s(n, world.bytes(i)) + (n - 1) / n * world.bytes(i) / 2e10;
                all_bytes += world.bytes(i);
            }
            CHECK(result.time.iteration_s == Approx(computed_s).epsilon(1e-6));
            CHECK(static_cast<double>(result.bytes_sent) == 3 * (n - 1) * all_bytes);
        }
    }
}

TEST_CASE("sharded parameters: the layers of a transformer's block are gathered together, beside the block before",
          "[memory]") {
    std::mt19937 random(6);
    using Way = std::pair<Overlap, DeviceQueues>;
    for (const std::int64_t ranks : {2, 3, 5}) {
        for (const std::size_t blocks : {1u, 2u, 5u}) {
            World world = world_of(random, ranks, 2 * blocks + 2);
            // Units: an embedding, blocks of two halves, a head.
            std::vector<LayerSpan> units{{0, 1}};
            for (std::uint32_t i = 1; i + 1 < world.model.layers.size(); i += 2) {
                world.model.layers[i].shape = Attention{.positions = 4, .width = 8};
                world.model.layers[i + 1].shape = FeedForward{.positions = 4, .width = 8, .hidden = 8};
                units.push_back({i, i + 2});
            }
            units.push_back({units.back().end, units.back().end + 1});
            for (const Recomputation recomputation : {Recomputation::none, Recomputation::full}) {
                for (const auto& [overlap, queues] :
                     {Way{Overlap::none, DeviceQueues::several}, Way{Overlap::wait_free, DeviceQueues::several},
                      Way{Overlap::wait_free, DeviceQueues::one}}) {
                    CAPTURE(ranks, blocks, static_cast<int>(recomputation), static_cast<int>(overlap),
                            static_cast<int>(queues));
                    Plan plan = plan_of(ranks, Sharding::parameters);
                    plan.recomputation = recomputation;
                    plan.overlap = overlap;
                    plan.parallelism.device_queues = queues;
                    const Result result = simulate(lower(world.cluster, world.model, plan));

                    const auto n = static_cast<double>(ranks);
                    const auto gather_s = [&](const LayerSpan& unit) {
                        double sum_s = 0;
                        for (std::uint32_t i = unit.first; i < unit.end; ++i) sum_s += star.ring_s(n, world.bytes(i));
                        return sum_s;
                    };
                    const auto reduce_s = [&](const LayerSpan& unit) {
                        double sum_s = gather_s(unit);
                        for (std::uint32_t i = unit.first; i < unit.end; ++i)
                            sum_s += (n - 1) / n * world.bytes(i) / 2e10;
                        return sum_s;
                    };
                    const auto compute_s = [&](const LayerSpan& unit, bool forward) {
                        const bool again = recomputation == Recomputation::full && unit.end - unit.first == 2;
                        double sum_s = 0;
                        for (std::uint32_t i = unit.first; i < unit.end; ++i)
                            sum_s +=
                                forward ? world.forward_s[i] : world.backward_s[i] + (again ? world.forward_s[i] : 0);
                        return sum_s;
                    };
                    double free_s = 0, computed_s = 0, before_s = 0, all_bytes = 0;
                    for (std::size_t pass = 0; pass < 2 * units.size(); ++pass) {
                        const bool forward = pass < units.size();
                        const std::size_t at = forward ? pass : 2 * units.size() - 1 - pass;
                        free_s = std::max(free_s, before_s) + gather_s(units[at]);
                        double begin_s = std::max(computed_s, free_s);
                        if (overlap != Overlap::none && pass > units.size()) {
                            free_s = std::max(free_s, computed_s) + reduce_s(units[at + 1]);
                            if (queues == DeviceQueues::one && at > 0) begin_s = std::max(begin_s, free_s);
                        }
                        before_s = computed_s;
                        computed_s = begin_s + compute_s(units[at], forward);
                    }
                    double end_s = std::max(free_s, computed_s);
                    for (std::size_t i = 0; i < units.size(); ++i)
                        if (i == 0 || overlap == Overlap::none) end_s += reduce_s(units[i]);
                    for (std::size_t i = 0; i < world.model.layers.size(); ++i) all_bytes += world.bytes(i);
                    CHECK(result.time.iteration_s == Approx(end_s).epsilon(1e-6));
                    CHECK(static_cast<double>(result.bytes_sent) == 3 * (n - 1) * all_bytes);
                }
            }
        }
    }
}

TEST_CASE("sharded parameters: exchanges of one group follow each other in the order of their issue", "[memory]") {
    // As in NCCL's stream of a process group: what is gathered for the next pass goes before a pass' gradients. In one
    // queue of the device, what is gathered for the pass after that keeps the next pass waiting until it can begin.
    std::mt19937 random(11);
    bool held_up = false;
    for (std::int64_t ranks = 2; ranks <= 7; ++ranks) {
        for (const std::size_t layers : {1u, 2u, 3u, 6u}) {
            const World world = world_of(random, ranks, layers);
            std::vector<double> by_queues_s;
            for (const DeviceQueues queues : {DeviceQueues::several, DeviceQueues::one}) {
                CAPTURE(ranks, layers, static_cast<int>(queues));
                Plan plan = plan_of(ranks, Sharding::parameters);
                plan.overlap = Overlap::wait_free;
                plan.parallelism.device_queues = queues;
                const auto n = static_cast<double>(ranks);
                const auto reduce_s = [&](std::size_t layer) {
                    return star.ring_s(n, world.bytes(layer)) + (n - 1) / n * world.bytes(layer) / 2e10;
                };
                std::vector<double> computed_s;  // by pass: its end
                double free_s = 0;               // end of the last exchange
                for (std::size_t pass = 0; pass < 2 * layers; ++pass) {
                    const std::size_t layer = pass < layers ? pass : 2 * layers - 1 - pass;
                    // The weights of this pass, then the gradients of the last one.
                    if (pass >= 2) free_s = std::max(free_s, computed_s[pass - 2]);
                    free_s += star.ring_s(n, world.bytes(layer));
                    double begin_s = std::max(pass > 0 ? computed_s.back() : 0, free_s);
                    if (pass > layers) {
                        free_s = std::max(free_s, computed_s.back()) + reduce_s(layer + 1);
                        if (queues == DeviceQueues::one && pass + 1 < 2 * layers) begin_s = std::max(begin_s, free_s);
                    }
                    computed_s.push_back(begin_s + (pass < layers ? world.forward_s[layer] : world.backward_s[layer]));
                }
                free_s = std::max(free_s, computed_s.back()) + reduce_s(0);
                by_queues_s.push_back(free_s);
                const Result result = simulate(lower(world.cluster, world.model, plan));
                CHECK(result.time.iteration_s == Approx(free_s).epsilon(1e-6));
            }
            held_up = held_up || by_queues_s[1] > 1.02 * by_queues_s[0];
        }
    }
    CHECK(held_up);
}

TEST_CASE("sharded parameters are gathered before each pass, and for at most two layers at a time", "[memory]") {
    std::mt19937 random(7);
    for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
        for (const std::int64_t micro_batches : {1, 3}) {
            for (const std::int64_t rows : {1, 2}) {
                CAPTURE(static_cast<int>(overlap), micro_batches, rows);
                World world = world_of(random, 4, 5);
                Plan plan = plan_of(4, Sharding::parameters);
                plan.overlap = overlap;
                plan.batch_per_rank = micro_batches;
                plan.parallelism.pipeline.micro_batches = micro_batches;
                plan.parallelism.layout.rows = rows;
                const TaskGraph graph = build_iteration(lower(world.cluster, world.model, plan));
                const Timeline timeline = replay_isolated(world.cluster, graph, {3, 1});
                for (ProcessId rank = 0; rank < 4; ++rank) {
                    // From the start of a gathering to the end of the first pass of that layer that waits for it.
                    std::vector<std::pair<double, int>> changes;
                    std::size_t gatherings = 0;
                    for (TaskId id = 0; id < graph.tasks().size(); ++id) {
                        const Task& task = graph.tasks()[id];
                        const bool gathering = task.phase == Phase::weights;
                        if (graph.streams()[task.stream].process != rank || !gathering) continue;
                        ++gatherings;
                        std::size_t users = 0;
                        for (TaskId user = 0; user < graph.tasks().size(); ++user) {
                            const auto on = graph.dependencies_of(user);
                            const bool waits = std::ranges::any_of(
                                on, [&](const Dependency& d) { return d.on == id && d.distance == 0; });
                            if (!waits || graph.tasks()[user].phase == Phase::exchange) continue;
                            ++users;
                            CHECK(graph.tasks()[user].subject == task.subject);
                            CHECK(timeline.measured()[user].start_s >= timeline.measured()[id].end_s - 1e-12);
                            changes.push_back({timeline.measured()[id].start_s + 1e-9, 1});
                            changes.push_back({timeline.measured()[user].end_s, -1});
                        }
                        CHECK(users == 1);
                    }
                    CHECK(gatherings == 2 * 5 * static_cast<std::size_t>(micro_batches));
                    std::sort(changes.begin(), changes.end());
                    int held = 0, most = 0;
                    for (const auto& [when, change] : changes) most = std::max(most, held += change);
                    CHECK(most <= 2);
                }
            }
        }
    }
}

TEST_CASE("sharding on one rank, or of layers without parameters, changes nothing", "[memory]") {
    std::mt19937 random(9);
    for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
        for (const std::int64_t ranks : {1, 3}) {
            CAPTURE(static_cast<int>(sharding), ranks);
            World world = world_of(random, ranks, 3);
            if (ranks > 1)
                for (Layer& layer : world.model.layers) layer.parameters = 0;
            const Result result = simulate(lower(world.cluster, world.model, plan_of(ranks, sharding)));
            double computed_s = 0;
            for (std::size_t i = 0; i < 3; ++i) computed_s += world.forward_s[i] + world.backward_s[i];
            CHECK(result.time.iteration_s == Approx(computed_s).epsilon(1e-9));
            CHECK(result.bytes_sent == 0);
        }
    }
}
