#include <algorithm>
#include <array>
#include <bit>
#include <random>

#include "sim/analysis/experiment.hpp"
#include "sim/iteration/iteration.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/workload/compute_model.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Training by gossip: whole iterations, in which neighbours exchange their models.

using namespace syncline;

namespace {

Cluster compute_on(Cluster cluster) {
    cluster.device.flops_per_s = 1e12;
    cluster.device.memory_Bps = 1e11;
    cluster.device.reduction_Bps = 5e10;
    return cluster;
}

Cluster star(double bandwidth_Bps) {
    return compute_on(star_cluster(256, bandwidth_Bps, 2e-6));
}

Model random_model(std::mt19937& random) {
    Model model;
    model.name = "random";
    const auto below = [&](std::uint32_t limit) { return static_cast<std::int64_t>(random() % limit); };
    for (std::int64_t left = 1 + below(8); left > 0; --left) {
        const std::int64_t parameters = below(4) == 0 ? 0 : 1 + below(3'000'000);
        model.layers.push_back({"layer", parameters, 1 + below(100'000'000), 1000, 1000});
    }
    model.layers.push_back({"last", 1'000'003, 1'000'000, 1000, 1000});
    return model;
}

struct Pattern {
    Shape shape = Shape::ring;
    bool directed = false, one_peer = false;
};

/// `regular`: only patterns in which all ranks have the same number of neighbours, in every round.
std::vector<Pattern> patterns(std::uint32_t n, bool regular = false) {
    std::vector<Pattern> result;
    for (const bool one_peer : {false, true}) {
        result.push_back({Shape::exponential, true, one_peer});
        // Undirected overlays with one peer per round make matchings, which leave an odd rank out.
        if (!regular || !one_peer || n % 2 == 0) result.push_back({Shape::ring, false, one_peer});
        if (std::has_single_bit(n)) result.push_back({Shape::hypercube, false, one_peer});
        if (!regular || !one_peer) {
            result.push_back({Shape::full_mesh, false, one_peer});
            result.push_back({Shape::exponential, false, one_peer});
        }
        if (!regular) result.push_back({Shape::star, false, one_peer});
        if (!regular) result.push_back({Shape::tree, false, one_peer});
    }
    return result;
}

Plan gossip(std::int64_t ranks, const Pattern& pattern) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 8;
    plan.exchange = ExchangeKind::gossip;
    plan.input_copy = InputCopy::none;
    plan.algorithm = {.operation = "neighbour-exchange",
                      .name = "gossip",
                      .overlay = TopologySpec{},
                      .peers = pattern.one_peer ? Peers::one : Peers::all};
    plan.algorithm.overlay->shape = pattern.shape;
    plan.algorithm.overlay->directed = pattern.directed;
    return plan;
}

double compute_seconds(const Cluster& cluster, const Model& model, const Plan& plan) {
    double sum_s = 0;
    for (const LayerTime& time : layer_times(model, cluster.device, plan.batch_per_rank))
        sum_s += time.forward_s + time.backward_s();
    return sum_s;
}

}  // namespace

TEST_CASE("one-peer exponential gossip on a ring of cables takes the mean of the rounds' times", "[memory]") {
    // Ranks exchange with the ranks 1, 2, 4, … places on. All do the same, so every cable on the path carries as many
    // buffers as the path is long: round k takes the distance times (latency + S/B), plus S·γ for the average.
    std::mt19937 random(23);
    constexpr double bandwidth = 1e9, latency = 1e-5;
    for (const std::uint32_t n : {5u, 7u, 9u, 15u, 21u}) {
        Model model = random_model(random);
        model.layers = {model.layers.back()};
        const Cluster cluster = compute_on(cluster_on(wired(Shape::ring, bandwidth, latency), n));
        Plan plan = gossip(n, {Shape::exponential, true, true});
        plan.overlap = Overlap::none;
        const auto size = static_cast<double>(model.gradient_bytes());
        double sum_s = 0;
        std::uint32_t rounds = 0;
        for (std::uint32_t distance = 1; distance < n; distance *= 2, ++rounds)
            sum_s += std::min(distance, n - distance) * (latency + size / bandwidth) + size / 5e10;
        const double expected_s = compute_seconds(cluster, model, plan) + sum_s / rounds;
        // Fewer iterations than rounds, equal numbers, and numbers that are not multiples.
        for (const std::int64_t iterations : {2, 3, 4, 5, 7, 12}) {
            CAPTURE(n, rounds, iterations);
            plan.iterations = iterations;
            const Result result = simulate(lower(cluster, model, plan));
            CHECK(result.time.iteration_s == Approx(expected_s).epsilon(1e-6));
            CHECK(result.time.drift < 1e-6);
            CHECK(result.bytes_sent == n * model.gradient_bytes());
            CHECK(result.most_bytes_sent_by_rank == model.gradient_bytes());
        }
    }
}

TEST_CASE("over a period of one-peer gossip every rank receives from each of its neighbours once", "[memory]") {
    std::mt19937 random(29);
    Model model = random_model(random);
    model.layers = {model.layers.back()};
    const std::uint64_t size = model.gradient_bytes();
    for (const std::uint32_t n : {2u, 5u, 8u, 11u}) {
        for (const Pattern& pattern : patterns(n)) {
            if (!pattern.one_peer) continue;
            CAPTURE(n, shape_name(pattern.shape), pattern.directed);
            const Plan plan = gossip(n, pattern);
            const Cluster cluster = star(1e9);
            const TaskGraph graph = build_iteration(lower(cluster, model, plan));
            const std::uint32_t period = make_algorithm(plan.algorithm, n)->period();
            std::vector<std::uint64_t> received(n, 0);
            for (std::uint32_t round = 0; round < period; ++round) {
                const Timeline timeline = replay_isolated(cluster, graph, {round + 1, round});
                for (std::uint32_t rank = 0; rank < n; ++rank) {
                    CHECK(timeline.received_by[rank] <= size);
                    received[rank] += timeline.received_by[rank];
                }
            }
            CollectivePlan all;
            all.ranks = n;
            all.algorithm = plan.algorithm;
            all.algorithm.peers = Peers::all;
            all.bytes = size;
            CHECK(received == simulate_collective(cluster, all).received_by);
        }
    }
}

TEST_CASE("gossip on a star: simulated iterations equal the recurrence, and wait-free is never slower than none") {
    std::mt19937 random(31);
    for (int round = 0; round < 24; ++round) {
        const Model model = random_model(random);
        const Cluster cluster = star(round % 2 == 0 ? 1e9 : 1e10);
        const auto n = static_cast<std::uint32_t>(2 + random() % 9);
        for (const Pattern& pattern : patterns(n)) {
            Plan plan = gossip(n, pattern);
            if (round % 3 == 1) plan.fusion.threshold_bytes = 6e6;
            CAPTURE(round, n, shape_name(pattern.shape), pattern.directed, pattern.one_peer);
            std::array<double, 2> times_s{};
            for (const Overlap overlap : {Overlap::none, Overlap::wait_free}) {
                plan.overlap = overlap;
                const Result result = simulate(lower(cluster, model, plan));
                times_s[overlap == Overlap::none ? 0 : 1] = result.time.iteration_s;
                CAPTURE(overlap == Overlap::none);
                // Matchings that leave a rank out have no closed form: see the next test case.
                const bool partial = leaves_idle(*make_algorithm(plan.algorithm, n), n);
                CHECK(result.closed_form.iteration_time_s.has_value() != partial);
                if (!partial)
                    CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
                CHECK(result.time.exposed_communication_s <= result.time.communication_s * (1 + 1e-9));
                CHECK(result.scaling_efficiency.value() <= 1 + 1e-9);
            }
            CHECK(times_s[1] <= times_s[0] * (1 + 1e-9));
        }
    }
}

TEST_CASE("gossip by machine: iterations equal the closed form if latency blocks, and have none if it travels",
          "[memory]") {
    std::mt19937 random(47);
    for (int round = 0; round < 6; ++round) {
        const Model model = random_model(random);
        for (const std::uint32_t size : {1u, 2u, 4u}) {  // they divide 4-byte elements
            const std::uint32_t n = size * (1 + static_cast<std::uint32_t>(random() % 4));
            if (n == 1) continue;
            Plan plan = gossip(n, {Shape::hierarchical, false, false});
            plan.algorithm.overlay->levels = {{Shape::ring, size}, {Shape::ring, 0}};
            plan.algorithm.peers = Peers::machine;
            plan.overlap = round % 2 == 0 ? Overlap::none : Overlap::wait_free;
            Cluster cluster = star(round % 3 == 0 ? 1e9 : 1e10);
            CAPTURE(round, n, size);
            CHECK_FALSE(simulate(lower(cluster, model, plan)).closed_form.iteration_time_s);
            cluster.latency = Latency::blocking;
            for (const Fidelity fidelity : {Fidelity::message, Fidelity::folded}) {
                plan.fidelity = fidelity;
                const Result result = simulate(lower(cluster, model, plan));
                REQUIRE(result.closed_form.iteration_time_s);
                CHECK(result.time.iteration_s == Approx(*result.closed_form.iteration_time_s).epsilon(1e-6));
                const std::uint64_t machines = n / size, inside = (machines > 1 ? 3 : 2) * (size - 1);
                CHECK(result.bytes_sent == machines * (inside + (machines > 1 ? 1 : 0)) * model.gradient_bytes());
            }
        }
    }
}

TEST_CASE("if rounds leave ranks out, the mean is that of the long run, whatever the number of iterations",
          "[memory]") {
    // In the max-plus algebra: a rank is ready after its computation, two ranks that meet end together, and a rank that
    // meets none continues immediately. A run converges to the mean over the last of very many iterations.
    std::mt19937 random(43);
    Model model = random_model(random);
    model.layers = {model.layers.back()};
    const Cluster cluster = star(1e9);
    for (const std::uint32_t n : {3u, 5u, 7u, 9u}) {
        Plan plan = gossip(n, {Shape::ring, false, true});
        plan.overlap = Overlap::none;
        const auto algorithm = make_algorithm(plan.algorithm, n);
        const double compute_s = compute_seconds(cluster, model, plan);
        const auto size = static_cast<double>(model.gradient_bytes());
        const double exchange_s = 4e-6 + size / 1e9 + size / 5e10;
        constexpr std::uint32_t many = 1440;
        std::vector<double> at_s(n, 0);
        double half_s = 0;
        std::uint64_t messages = 0;
        for (std::uint32_t round = 0; round < many; ++round) {
            if (round == many / 2) half_s = *std::max_element(at_s.begin(), at_s.end());
            std::vector<double> next_s(n);
            for (std::uint32_t rank = 0; rank < n; ++rank) {
                next_s[rank] = at_s[rank] + compute_s;
                for (const Step& step : algorithm->program(rank, n, 8, round).steps) {
                    REQUIRE(step.sends.size() == 1);
                    next_s[rank] = std::max(next_s[rank], at_s[step.sends[0].peer] + compute_s) + exchange_s;
                    ++messages;
                }
            }
            at_s = next_s;
        }
        const double expected_s = (*std::max_element(at_s.begin(), at_s.end()) - half_s) / (many / 2);
        for (const std::int64_t iterations : {2, 4, 9}) {
            CAPTURE(n, iterations);
            plan.iterations = iterations;
            const Result result = simulate(lower(cluster, model, plan));
            CHECK(result.time.iteration_s == Approx(expected_s).epsilon(1e-6));
            CHECK(result.time.drift < 1e-6);
            CHECK(result.messages == (messages + many / 2) / many);
        }
    }
}

TEST_CASE("gossip with equally many neighbours on a star keeps ranks in step", "[memory]") {
    std::mt19937 random(37);
    for (int round = 0; round < 12; ++round) {
        const Model model = random_model(random);
        const Cluster cluster = star(2e9);
        const auto n = static_cast<std::uint32_t>(2 + random() % 11);
        for (const Pattern& pattern : patterns(n, true)) {
            CAPTURE(round, n, shape_name(pattern.shape), pattern.directed, pattern.one_peer);
            const TaskGraph graph = build_iteration(lower(cluster, model, gossip(n, pattern)));
            const Timeline timeline = replay_isolated(cluster, graph, {6, 5});
            for (TaskId task = 0; task < graph.tasks().size(); ++task) {
                if (graph.tasks()[task].phase == Phase::update)
                    CHECK(timeline.measured()[task].end_s == Approx(timeline.iteration_end_s.back()).epsilon(1e-12));
            }
        }
    }
}

TEST_CASE("one rank alone has no gossip", "[memory]") {
    std::mt19937 random(41);
    const Model model = random_model(random);
    for (const Pattern& pattern : patterns(1)) {
        CAPTURE(shape_name(pattern.shape), pattern.directed, pattern.one_peer);
        const Cluster cluster = star(1e9);
        const Plan plan = gossip(1, pattern);
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.messages == 0);
        CHECK(result.most_bytes_sent_by_rank == 0);
        CHECK(result.time.iteration_s == Approx(compute_seconds(cluster, model, plan)));
        CHECK(result.scaling_efficiency.value() == 1);
    }
}
