#include <algorithm>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/work.hpp"
#include "tests/catch.hpp"
#include "tests/replay/split_worlds.hpp"

// Iterations with compressed gradients, and with elements of different sizes, worked out by hand on a star.

using namespace syncline;

namespace {

constexpr Star star{1e9, 5e-6};
constexpr double reduction_Bps = 2e10;
using Kind = Compression::Kind;

struct World {
    Model model;
    Cluster cluster;
    std::vector<double> forward_s, backward_s;
};

/// Dense layers whose weights are matrices, and whose bytes the number of ranks divides in every form.
World world_of(std::mt19937& random, std::int64_t ranks, std::size_t layers) {
    World world;
    world.model.name = "chain";
    std::uniform_real_distribution<double> seconds(1e-4, 2e-3);
    for (std::size_t i = 0; i < layers; ++i) {
        const auto side = [&] { return ranks * 50 * static_cast<std::int64_t>(1 + random() % 4); };
        world.model.layers.push_back(dense(fmt::format("l{}", i), side(), side(), false));
        world.forward_s.push_back(seconds(random));
        world.backward_s.push_back(seconds(random));
    }
    world.cluster =
        timed_star(ranks, star.bandwidth_Bps, star.latency_s, world.model, world.forward_s, world.backward_s);
    world.cluster.device.memory_Bps = 4e10;
    world.cluster.device.reduction_Bps = reduction_Bps;
    return world;
}

Plan plan_of(std::int64_t ranks, const Compression& compression) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.compute = ComputeKind::measured;
    plan.iterations = 3;
    plan.input_copy = InputCopy::none;
    plan.compression = compression;
    if (compression.kind == Kind::top_k) plan.algorithm = {.operation = "allgather", .name = "ring"};
    return plan;
}

/// Returns the time of a ring's all-reduce.
double allreduce_s(double ranks, double bytes) {
    return 2 * star.ring_s(ranks, bytes) + (ranks - 1) / ranks * bytes / reduction_Bps;
}

struct ByHand {
    double iteration_s = 0, bytes_sent = 0;
};

/// Returns the iteration of a world in which each layer is a bucket. Passes: bytes read and written, by the rate.
ByHand by_hand(const World& world, const Plan& plan) {
    const auto ranks = static_cast<double>(plan.ranks);
    ByHand result;
    double now_s = 0, free_s = 0;
    for (const double forward_s : world.forward_s) now_s += forward_s;
    std::vector<std::pair<double, double>> arrivals;  // and the time of decoding
    std::vector<double> ready_s;
    std::vector<std::array<double, 3>> exchanges;  // time, bytes, and time of decoding
    for (std::size_t i = world.model.layers.size(); i-- > 0;) {
        const auto& shape = std::get<Dense>(world.model.layers[i].shape);
        const auto rows = static_cast<double>(shape.outputs), columns = static_cast<double>(shape.inputs);
        const double elements = rows * columns, gradients = 4 * elements;
        double read = 0, written = 0, exchange_s = 0, bytes = 0;  // of the passes before and after
        if (plan.compression.kind == Kind::fp16) {
            read = written = gradients + 2 * elements;
            exchange_s = allreduce_s(ranks, 2 * elements);
            bytes = 2 * (ranks - 1) * 2 * elements;
        } else if (plan.compression.kind == Kind::top_k) {
            const double sent = 8 * std::ceil(plan.compression.ratio * elements);
            read = gradients + sent;
            written = gradients + ranks * sent;
            exchange_s = star.ring_s(ranks, ranks * sent);
            bytes = (ranks - 1) * ranks * sent;
        } else {
            const double rank = static_cast<double>(plan.compression.rank);
            read = written = gradients + 4 * rank * (rows + columns);
            exchange_s = allreduce_s(ranks, 4 * rank * rows) + read / 4e10 + allreduce_s(ranks, 4 * rank * columns);
            bytes = 2 * (ranks - 1) * 4 * rank * (rows + columns);
        }
        now_s += world.backward_s[i] + read / 4e10;
        ready_s.push_back(now_s);
        exchanges.push_back({exchange_s, bytes, written / 4e10});
    }
    double decoded_s = now_s;
    for (std::size_t b = 0; b < exchanges.size(); ++b) {
        free_s = std::max(free_s, plan.overlap == Overlap::none ? now_s : ready_s[b]) + exchanges[b][0];
        decoded_s = std::max(decoded_s, free_s) + exchanges[b][2];
        result.bytes_sent += exchanges[b][1];
    }
    result.iteration_s = decoded_s;
    return result;
}

const std::vector<Compression> methods{{.kind = Kind::fp16},
                                       {.kind = Kind::top_k, .ratio = 0.01},
                                       {.kind = Kind::top_k, .ratio = 0.2},
                                       {.kind = Kind::powersgd, .rank = 1},
                                       {.kind = Kind::powersgd, .rank = 4}};

}  // namespace

TEST_CASE("compressed gradients are encoded after their pass, exchanged in turn, and decoded before the update",
          "[memory]") {
    std::mt19937 random(11);
    for (std::int64_t ranks = 2; ranks <= 6; ++ranks) {
        for (const Compression& method : methods) {
            for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
                const World world = world_of(random, ranks, 1 + random() % 5);
                Plan plan = plan_of(ranks, method);
                plan.overlap = overlap;
                CAPTURE(ranks, static_cast<int>(method.kind), method.ratio, method.rank, static_cast<int>(overlap));
                const ByHand expected = by_hand(world, plan);
                const Result result = simulate(lower(world.cluster, world.model, plan));
                CHECK(result.time.iteration_s == Approx(expected.iteration_s).epsilon(1e-6));
                CHECK(static_cast<double>(result.bytes_sent) == Approx(expected.bytes_sent).epsilon(1e-12));
                CHECK_FALSE(result.closed_form.iteration_time_s);
                CHECK(result.gradient_bytes == world.model.gradient_bytes());
            }
        }
    }
}

TEST_CASE("compressed gradients: folding changes neither times nor bytes, and tasks and messages are counted ahead",
          "[memory]") {
    std::mt19937 random(13);
    for (const Compression& method : methods) {
        const World world = world_of(random, 8, 3);
        Plan plan = plan_of(8, method);
        const Lowered training = lower(world.cluster, world.model, plan);
        const ReplayedIteration whole = replay_iteration(training);
        plan.fidelity = Fidelity::folded;
        const Result folded = simulate(lower(world.cluster, world.model, plan));
        CAPTURE(static_cast<int>(method.kind));
        CHECK(folded.folded.messages_folded > 0);
        CHECK(folded.time.iteration_s == Approx(whole.time.iteration_s).epsilon(1e-9));
        CHECK(folded.bytes_sent == whole.timeline.bytes_sent);
        const Work work = work_of(training);
        CHECK(work.tasks == static_cast<double>(whole.graph.tasks().size()));
        CHECK(work.messages == static_cast<double>(count_messages(whole.graph)));
    }
}

TEST_CASE("layers in one bucket are exchanged and decoded together, and pieces of a cast bucket one by one",
          "[memory]") {
    std::mt19937 random(29);
    for (std::int64_t ranks = 2; ranks <= 6; ++ranks) {
        const World world = world_of(random, ranks, 4);
        double passes_s = 0;
        for (std::size_t i = 0; i < 4; ++i) passes_s += world.forward_s[i] + world.backward_s[i];
        for (const Compression& method : methods) {
            double coded = 0, decoded = 0, between = 0, first = 0, second = 0;  // bytes
            for (const Layer& layer : world.model.layers) {
                const Compressed one =
                    compress(method, world.model, layer, static_cast<std::uint32_t>(ranks), {.memory_Bps = 1});
                coded += one.encode_s;
                between += one.between_s;
                decoded += one.decode_s;
                first += static_cast<double>(one.bytes);
                second += static_cast<double>(one.second_bytes);
            }
            const auto n = static_cast<double>(ranks);
            const double exchange_s = method.kind == Kind::top_k
                                          ? star.ring_s(n, n * first)
                                          : allreduce_s(n, first) + (second > 0 ? allreduce_s(n, second) : 0);
            const double expected_s = passes_s + (coded + between + decoded) / 4e10 + exchange_s;
            Plan plan = plan_of(ranks, method);
            plan.fusion.threshold_bytes = 1e9;
            CAPTURE(ranks, static_cast<int>(method.kind), method.rank);
            CHECK(simulate(lower(world.cluster, world.model, plan)).time.iteration_s ==
                  Approx(expected_s).epsilon(1e-6));
            if (method.kind != Kind::fp16) continue;
            plan.partition_bytes = first / 3;
            const Result pieces = simulate(lower(world.cluster, world.model, plan));
            CHECK(static_cast<double>(pieces.bytes_sent) == 2 * (n - 1) * first);
            // Pieces are decoded while the next are exchanged, and have latencies of their own.
            CHECK(pieces.time.iteration_s > expected_s - decoded / 4e10);
            CHECK(pieces.time.iteration_s < expected_s + 4 * 2 * n * 2 * star.latency_s);
            CHECK(pieces.time.compute_s == Approx(passes_s + (coded + decoded) / 4e10).epsilon(1e-6));
        }
    }
}

TEST_CASE("compressed gradients are released by cycles, and negotiated, like others", "[memory]") {
    std::mt19937 random(31);
    for (const Compression& method : methods) {
        const World world = world_of(random, 4, 5);
        Plan plan = plan_of(4, method);
        const double plain_s = simulate(lower(world.cluster, world.model, plan)).time.iteration_s;
        plan.fusion = {.threshold_bytes = 64e6, .cycle_s = 1e-3, .negotiation = Negotiation::on_ready};
        const Result result = simulate(lower(world.cluster, world.model, plan));
        CAPTURE(static_cast<int>(method.kind), method.rank);
        CHECK(result.time.drift < 1e-6);
        CHECK(result.time.iteration_s > plain_s);
        CHECK(result.time.iteration_s < plain_s + 3e-3);
    }
}

TEST_CASE("fp16 pays where the network is slow, and costs where it is fast, and one rank never compresses",
          "[memory]") {
    std::mt19937 random(17);
    World world = world_of(random, 4, 4);
    const auto iteration_s = [&](const Compression& compression, std::int64_t ranks = 4) {
        return simulate(lower(world.cluster, world.model, plan_of(ranks, compression))).time.iteration_s;
    };
    CHECK(iteration_s({.kind = Kind::fp16}) < iteration_s({}));
    CHECK(iteration_s({.kind = Kind::fp16}, 1) == iteration_s({}, 1));
    world.cluster.fabric.topology.bandwidth_Bps = {1e13};
    world.cluster.device.reduction_Bps = unlimited;
    CHECK(iteration_s({.kind = Kind::fp16}) > iteration_s({}));
}

TEST_CASE("mixed precision halves the exchanged gradients and leaves the computation as it is", "[memory]") {
    std::mt19937 random(19);
    for (const std::int64_t ranks : {2, 5, 8}) {
        const World world = world_of(random, ranks, 4);
        Plan plan = plan_of(ranks, {});
        const Result full = simulate(lower(world.cluster, world.model, plan));
        plan.precision = Precision::mixed();
        const Result mixed = simulate(lower(world.cluster, world.model, plan));
        CHECK(2 * mixed.bytes_sent == full.bytes_sent);
        CHECK(mixed.time.compute_s == Approx(full.time.compute_s));
        CHECK(mixed.time.iteration_s < full.time.iteration_s);
        REQUIRE(mixed.closed_form.iteration_time_s);
        CHECK(mixed.time.iteration_s == Approx(*mixed.closed_form.iteration_time_s).epsilon(1e-6));
    }
}

TEST_CASE("sharded parameters send two sets of weights and one of gradients, each in its size", "[memory]") {
    std::mt19937 random(23);
    for (const Sharding sharding : {Sharding::optimizer, Sharding::gradients, Sharding::parameters}) {
        const World world = world_of(random, 4, 3);
        Plan plan = plan_of(4, {});
        plan.parallelism.sharding = sharding;
        plan.precision = {2, 4, {}, {}};
        const Result result = simulate(lower(world.cluster, world.model, plan));
        const auto parameters = static_cast<std::uint64_t>(world.model.parameters());
        const std::uint64_t gatherings = sharding == Sharding::parameters ? 2 : 1;
        CHECK(result.bytes_sent == 3 * (gatherings * 2 * parameters + 4 * parameters));
    }
}
