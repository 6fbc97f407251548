#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/analysis/exchange_experiment.hpp"
#include "sim/plan/collective_plan.hpp"
#include "tests/catch.hpp"
#include "tests/replay/worlds.hpp"

// Single exchanges of gossip whose peers change: the mean over all rounds, or one of them.

using namespace syncline;

namespace {

constexpr double bandwidth = 2e9, latency = 1e-5, reduction = 5e10;

Cluster with_reductions(Cluster cluster) {
    cluster.device.reduction_Bps = reduction;
    return cluster;
}

CollectivePlan gossip(std::uint32_t ranks, Shape shape, bool directed, Peers peers = Peers::one) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.bytes = 1'000'003;
    plan.algorithm = {.operation = "neighbour-exchange", .name = "gossip", .overlay = TopologySpec{}, .peers = peers};
    plan.algorithm.overlay->shape = shape;
    plan.algorithm.overlay->directed = directed;
    return plan;
}

std::uint32_t rounds_of(const CollectivePlan& plan) {
    return make_algorithm(plan.algorithm, static_cast<std::uint32_t>(plan.ranks))->period();
}

/// Returns the results by round.
std::vector<CollectiveResult> rounds_alone(const Cluster& cluster, CollectivePlan plan) {
    std::vector<CollectiveResult> results;
    for (std::uint32_t round = 0; round < rounds_of(plan); ++round) {
        plan.round = static_cast<std::int32_t>(round);
        results.push_back(simulate_collective(cluster, plan));
    }
    return results;
}

/// Returns the mean, rounded to the nearest integer.
std::uint64_t mean(std::uint64_t sum, std::size_t of) {
    return (sum + of / 2) / of;
}

/// Returns true if a note says that figures are means. Other notes are about routes.
bool says_so(const std::vector<std::string>& notes) {
    return std::any_of(notes.begin(), notes.end(),
                       [](const std::string& note) { return note.find("means over") != std::string::npos; });
}

void check_mean(const Cluster& cluster, const CollectivePlan& plan) {
    const CollectiveResult whole = simulate_collective(cluster, plan);
    const std::vector<CollectiveResult> rounds = rounds_alone(cluster, plan);
    REQUIRE(rounds.size() > 1);
    CHECK(whole.rounds == rounds.size());
    CHECK(says_so(whole.notes));
    double seconds = 0;
    std::uint64_t messages = 0, bytes = 0;
    std::vector<std::uint64_t> sent(whole.ranks, 0), received(whole.ranks, 0);
    for (const CollectiveResult& round : rounds) {
        CHECK(round.rounds == 1);
        CHECK_FALSE(says_so(round.notes));
        seconds += round.completion_time_s;
        messages += round.messages;
        bytes += round.bytes_sent;
        for (std::uint32_t rank = 0; rank < whole.ranks; ++rank) {
            sent[rank] += round.sent_by[rank];
            received[rank] += round.received_by[rank];
        }
    }
    CHECK(whole.completion_time_s == Approx(seconds / static_cast<double>(rounds.size())).epsilon(1e-9));
    CHECK(whole.messages == mean(messages, rounds.size()));
    CHECK(whole.bytes_sent == mean(bytes, rounds.size()));
    for (std::uint32_t rank = 0; rank < whole.ranks; ++rank) {
        CHECK(whole.sent_by[rank] == mean(sent[rank], rounds.size()));
        CHECK(whole.received_by[rank] == mean(received[rank], rounds.size()));
    }
}

}  // namespace

TEST_CASE("one-peer exponential on a ring of cables: an exchange alone takes the mean of its rounds, not the first",
          "[memory]") {
    // Ranks exchange with the ranks 1, 2, 4, … places on. All do the same, so every cable on the path carries as many
    // buffers as the path is long. With an odd number of nodes no two paths are equally short.
    for (const std::uint32_t n : {5u, 9u, 21u, 31u}) {
        const Cluster cluster = with_reductions(cluster_on(wired(Shape::ring, bandwidth, latency), n));
        CollectivePlan plan = gossip(n, Shape::exponential, true);
        const auto size = static_cast<double>(plan.bytes);
        std::vector<double> expected_s;
        std::uint64_t ahead = 0, back = 0;  // buffers that a cable carries in all rounds, in either direction
        for (std::uint32_t distance = 1; distance < n; distance *= 2) {
            const std::uint32_t cables = std::min(distance, n - distance);
            expected_s.push_back(cables * (latency + size / bandwidth) + size / reduction);
            (cables == distance ? ahead : back) += cables;
        }
        const double mean_s =
            std::accumulate(expected_s.begin(), expected_s.end(), 0.0) / static_cast<double>(expected_s.size());
        CAPTURE(n);
        for (const Fidelity fidelity : {Fidelity::message, Fidelity::folded}) {
            plan.fidelity = fidelity;
            const CollectiveResult result = simulate_collective(cluster, plan);
            CHECK(result.completion_time_s == Approx(mean_s).epsilon(1e-6));
            CHECK(result.completion_time_s > 1.1 * expected_s.front());
            CHECK(result.rounds == expected_s.size());
            CHECK(result.messages == n);
            CHECK(result.bytes_sent == n * plan.bytes);
            CHECK(result.most_bytes_sent_by_rank == plan.bytes);
            CHECK(result.folded.messages_simulated + result.folded.messages_folded == n);
            REQUIRE_FALSE(result.links.empty());
            CHECK(result.links.front().bytes == mean(std::max(ahead, back) * plan.bytes, expected_s.size()));
            for (const LinkLoad& link : result.links) {
                CHECK((link.bytes == mean(ahead * plan.bytes, expected_s.size()) ||
                       link.bytes == mean(back * plan.bytes, expected_s.size())));
                CHECK(link.utilisation == Approx(static_cast<double>(link.bytes) / (bandwidth * mean_s)).epsilon(1e-6));
            }
        }
        const std::vector<CollectiveResult> rounds = rounds_alone(cluster, plan);
        for (std::size_t round = 0; round < rounds.size(); ++round)
            CHECK(rounds[round].completion_time_s == Approx(expected_s[round]).epsilon(1e-6));
    }
}

TEST_CASE("an exchange with changing peers takes the mean of its rounds, even if ranks idle in some", "[memory]") {
    for (const std::uint32_t n : {3u, 5u, 8u}) {
        for (const Shape fabric : {Shape::star, Shape::ring, Shape::tree}) {
            const Cluster cluster = with_reductions(cluster_on(wired(fabric, bandwidth, latency), n));
            // A star's centre has one neighbour at a time; in an odd ring one rank is left out.
            for (const Shape overlay : {Shape::star, Shape::ring, Shape::full_mesh, Shape::exponential}) {
                CAPTURE(n, shape_name(fabric), shape_name(overlay));
                check_mean(cluster, gossip(n, overlay, false));
            }
        }
    }
}

TEST_CASE("inner-outer gossip alone takes the mean of its rounds, each of which takes α + S(β + γ) on a star",
          "[memory]") {
    CollectivePlan plan = gossip(12, Shape::hierarchical, false, Peers::inner_outer);
    plan.algorithm.overlay->levels = {{Shape::ring, 4}, {Shape::ring, 0}};
    const Cluster star = with_reductions(cluster_on(wired(Shape::star, bandwidth, latency), 12));
    const auto size = static_cast<double>(plan.bytes);
    CHECK(rounds_of(plan) == 4);  // one of four speaks; two distances among the other three, and two of three groups
    const CollectiveResult result = simulate_collective(star, plan);
    CHECK(result.completion_time_s == Approx(2 * latency + size / bandwidth + size / reduction).epsilon(1e-6));
    REQUIRE(result.closed_form_s);
    CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
    check_mean(with_reductions(cluster_on(wired(Shape::ring, bandwidth, latency), 12)), plan);
}

TEST_CASE("gossip by machine: simulated equals the closed form on a star, and folded equals every message",
          "[memory]") {
    CollectivePlan plan = gossip(24, Shape::hierarchical, false, Peers::machine);
    plan.algorithm.overlay->levels = {{Shape::ring, 8}, {Shape::ring, 0}};
    CHECK(rounds_of(plan) == 2);  // three machines: 1 and 2 further on
    plan.bytes = 8'000'000;
    const Cluster star = with_reductions(cluster_on(wired(Shape::star, bandwidth, latency), 24));
    const auto size = static_cast<double>(plan.bytes);
    const double block_s = size / 8 / bandwidth, alpha_s = 2 * latency;  // over two links
    const double ring_s = 14 * (alpha_s + block_s) + 7 * size / 8 / reduction;
    const double exchange_s = alpha_s + size / bandwidth + size / reduction;
    for (const Latency how : {Latency::travelling, Latency::blocking}) {
        Cluster cluster = star;
        cluster.latency = how;
        const double chain_s = 14 * block_s + (how == Latency::travelling ? 7 : 14) * alpha_s;
        for (const Fidelity fidelity : {Fidelity::message, Fidelity::folded}) {
            plan.fidelity = fidelity;
            const CollectiveResult result = simulate_collective(cluster, plan);
            CHECK(result.completion_time_s == Approx(ring_s + exchange_s + chain_s).epsilon(1e-6));
            REQUIRE(result.closed_form_s);
            CHECK(result.completion_time_s == Approx(*result.closed_form_s).epsilon(1e-6));
            CHECK(result.bytes_sent == 3 * (3 * 7 + 1) * plan.bytes);
        }
    }
    plan.fidelity = Fidelity::automatic;
    check_mean(with_reductions(cluster_on(wired(Shape::ring, bandwidth, latency), 24)), plan);
}

TEST_CASE("gossip by machine on nodes of eight devices: one buffer leaves each node, and takes the time of the port",
          "[memory]") {
    Cluster cluster = with_reductions(cluster_on(wired(Shape::star, bandwidth, latency), 4));
    cluster.node.devices = 8;
    cluster.node.link = {50e9, 1e-6};
    CollectivePlan plan = gossip(32, Shape::hierarchical, false, Peers::machine);
    plan.algorithm.overlay->levels = {{Shape::ring, 8}, {Shape::ring, 0}};
    plan.bytes = 80'000'000;
    const CollectiveResult result = simulate_collective(cluster, plan);
    const double size = 80e6, exchange_s = size / bandwidth, inside_s = (14 + 14) * size / 8 / 50e9;
    // The ring and the chain run at the devices' links; latencies and reductions are below 3 % here.
    CHECK(result.completion_time_s > exchange_s + inside_s);
    CHECK(result.completion_time_s < 1.03 * (exchange_s + inside_s + 8 * size / 8 / reduction + size / reduction));
    for (const LinkLoad& link : result.links) CHECK(link.bytes <= 3 * plan.bytes);
}

TEST_CASE("each of several sizes with changing peers takes the mean that it takes alone", "[memory]") {
    const Cluster cluster = with_reductions(cluster_on(wired(Shape::ring, bandwidth, latency), 9));
    CollectivePlan plan = gossip(9, Shape::exponential, true);
    plan.sweep = {1000, 50'000'000, 0, 30'000};
    const SweepResult sweep = simulate_sweep(cluster, plan);
    CHECK(sweep.rounds == 4);
    CHECK(says_so(sweep.notes));
    for (const SweepPoint& point : sweep.points) {
        CollectivePlan alone = plan;
        alone.sweep.clear();
        alone.bytes = point.bytes;
        CHECK(point.completion_time_s == Approx(simulate_collective(cluster, alone).completion_time_s).epsilon(1e-9));
    }
}

TEST_CASE("an exchange whose rounds are all alike has one round", "[memory]") {
    const Cluster cluster = cluster_on(wired(Shape::star, bandwidth, latency), 8);
    CollectivePlan ring;
    ring.ranks = 8;
    for (CollectivePlan plan : {gossip(8, Shape::exponential, true, Peers::all), ring}) {
        plan.bytes = 1000;
        const CollectiveResult result = simulate_collective(cluster, plan);
        CHECK(result.rounds == 1);
        CHECK_FALSE(says_so(result.notes));
    }
}
