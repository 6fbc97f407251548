#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "sim/analysis/experiment.hpp"
#include "sim/analysis/scaling.hpp"
#include "sim/iteration/iteration.hpp"
#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"

// Parameter servers that do not make all workers wait for all others. N workers compute for c seconds and exchange S
// bytes with a server whose link has B bytes per second each way.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr double bandwidth_Bps = 1e9;

struct World {
    Cluster cluster = plain_star(bandwidth_Bps, 0);
    Model model;
    Plan plan;

    World(std::int64_t workers, std::int64_t bytes, std::int64_t microseconds) {
        model.name = "one layer";
        model.layers.push_back(layer_of(bytes, microseconds));
        plan.ranks = workers;
        plan.batch_per_rank = 1;
        plan.exchange = ExchangeKind::parameter_server;
        plan.input_copy = InputCopy::none;
        plan.servers.updates = Updates::asynchronous;
        plan.iterations = 30;
    }

    Lowered lowered() const { return lower(cluster, model, plan); }
    ReplayedIteration replayed() const { return replay_iteration(lowered(), Watch{}); }
    double compute_s() const {
        Plan alone = plan;
        alone.ranks = 1;
        alone.noise = {};
        alone.exchange = ExchangeKind::allreduce;
        return simulate(lower(cluster, model, alone)).time.iteration_s;
    }
    double transfer_s() const { return static_cast<double>(model.gradient_bytes()) / bandwidth_Bps; }
    World with(Updates updates, std::int64_t staleness = 0) const {
        World other = *this;
        other.plan.servers.updates = updates;
        other.plan.servers.staleness = staleness;
        return other;
    }
};

/// Returns the ends of all ranks' updates, by iteration.
std::vector<std::vector<double>> ends_of(const ReplayedIteration& replayed) {
    std::vector<std::vector<double>> ends;
    for (const std::vector<Interval>& recorded : replayed.timeline.recorded) {
        ends.emplace_back();
        for (TaskId task = 0; task < recorded.size(); ++task)
            if (replayed.graph.tasks()[task].phase == Phase::update) ends.back().push_back(recorded[task].end_s);
    }
    return ends;
}

bool noted(const Result& result, const char* words) {
    return std::ranges::any_of(result.notes,
                               [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

World random_world(std::mt19937& random) {
    const auto below = [&](std::uint32_t limit) { return static_cast<std::int64_t>(random() % limit); };
    World world(2 + below(6), 4, 1);
    world.model.layers.clear();
    for (std::int64_t layers = 1 + below(4); layers > 0; --layers)
        world.model.layers.push_back(layer_of(4 * (1 + below(500'000)), 1 + below(2000)));
    world.plan.servers.count = 1 + below(3);
    world.plan.servers.pull = below(2) == 0 ? PullStart::together : PullStart::each;
    world.plan.servers.assignment = below(2) == 0 ? ServerAssignment::round_robin : ServerAssignment::sliced;
    world.plan.overlap = below(2) == 0 ? Overlap::none : Overlap::wait_free;
    world.plan.iterations = 12;
    return world;
}

}  // namespace

TEST_CASE("asynchronous: updates per second are those of the workers, or those of the servers' links") {
    // Computation times of a wide spread keep workers out of step, so that the links are used evenly. The bounds meet
    // at c/(S/B) + 2 = 22 workers per server.
    const std::int64_t servers = GENERATE(1, 2, 4);
    const bool many = GENERATE(false, true);
    const std::int64_t workers = many ? 40 * servers : 4;
    World world(workers, 2'000'000, 20'000);
    world.cluster.nodes = 256;
    world.plan.servers.count = servers;
    world.plan.servers.assignment = ServerAssignment::sliced;
    world.plan.noise.jitter = 0.5;
    world.plan.iterations = 40;
    const double compute_s = world.compute_s(), transfer_s = world.transfer_s();
    REQUIRE(compute_s == Approx(20 * transfer_s));
    const double workers_per_s = static_cast<double>(workers) / (compute_s + 2 * transfer_s);
    const double servers_per_s = static_cast<double>(servers) / transfer_s;
    CHECK((servers_per_s < workers_per_s) == many);
    const double bound_per_s = std::min(workers_per_s, servers_per_s);
    const WorkerUpdates updates = *simulate(world.lowered()).updates;
    INFO(servers << " servers, " << workers << " workers: " << updates.per_s / bound_per_s);
    CHECK(updates.per_s < 1.05 * bound_per_s);
    CHECK(updates.per_s > 0.9 * bound_per_s);
    CHECK(updates.mean_staleness == Approx(static_cast<double>(workers) - 1).epsilon(0.05));
}

TEST_CASE("asynchronous: between a worker's updates there is one of each other worker, if all are equally fast") {
    World world(8, 4'000'000, 1000);
    world.plan.iterations = 6;
    const Result result = simulate(world.lowered());
    CHECK(result.updates->mean_staleness == 7);
    REQUIRE(result.updates->distribution.size() == 1);
    CHECK(result.updates->distribution.front() == std::pair<std::uint64_t, double>(7, 1));
    CHECK(result.updates->staleness_by_rank == std::vector<double>(8, 7));
    // In step, they share the link in each direction.
    CHECK(result.time.iteration_s == Approx(world.compute_s() + 2 * 8 * world.transfer_s()));
    CHECK(result.updates->per_s == Approx(8 / result.time.iteration_s));
}

TEST_CASE("asynchronous: a worker of a quarter of the others' speed misses four updates of each") {
    World world(4, 4, 1000);
    world.plan.noise.stragglers = {0, {3}, 4};
    world.plan.iterations = 40;
    const WorkerUpdates updates = *simulate(world.lowered()).updates;
    const double fast_per_s = 1 / world.compute_s();
    for (const std::size_t fast : {0u, 1u, 2u}) {
        CHECK(updates.staleness_by_rank[fast] == Approx(2.25));
        CHECK(updates.per_s_by_rank[fast] == Approx(fast_per_s).epsilon(1e-4));
    }
    CHECK(updates.staleness_by_rank[3] == Approx(12));
    CHECK(updates.per_s_by_rank[3] == Approx(fast_per_s / 4).epsilon(1e-4));
    CHECK(updates.mean_staleness == Approx(3));
    CHECK_FALSE(updates.few);
}

TEST_CASE("stale-synchronous: without staleness iterations are those of synchronous training to the last digit") {
    std::mt19937 random(1);
    for (int trial = 0; trial < 40; ++trial) {
        const World world = random_world(random);
        const ReplayedIteration together = world.with(Updates::synchronous).replayed();
        const ReplayedIteration bounded = world.with(Updates::stale_synchronous).replayed();
        INFO("trial " << trial);
        for (std::size_t i = 0; i < together.timeline.iteration_end_s.size(); ++i)
            CHECK(bounded.timeline.iteration_end_s[i] == together.timeline.iteration_end_s[i]);
        CHECK(bounded.timeline.bytes_sent == together.timeline.bytes_sent);
        CHECK(bounded.timeline.messages == together.timeline.messages);
    }
}

TEST_CASE("stale-synchronous: a bound beyond the iterations is none") {
    std::mt19937 random(2);
    for (int trial = 0; trial < 20; ++trial) {
        World world = random_world(random);
        world.plan.noise.jitter = 0.3;
        world.plan.noise.stragglers = {1, {}, 3};
        const auto free = ends_of(world.replayed());
        CHECK(ends_of(world.with(Updates::stale_synchronous, 1000).replayed()) == free);
        CHECK(ends_of(world.with(Updates::asynchronous).replayed()) == free);
    }
}

TEST_CASE("stale-synchronous: no worker is more than s iterations ahead, and the slowest sets the speed") {
    const std::int64_t staleness = GENERATE(0, 1, 3);
    World world = World(4, 4, 1000).with(Updates::stale_synchronous, staleness);
    world.plan.noise.stragglers = {0, {2}, 3};
    world.plan.iterations = 40;
    const ReplayedIteration replayed = world.replayed();
    const auto ends = ends_of(replayed);
    // The update of iteration c begins iteration c + 1, which waits for those of c - s.
    for (std::size_t c = static_cast<std::size_t>(staleness); c < ends.size(); ++c) {
        const double slowest_s = *std::ranges::max_element(ends[c - static_cast<std::size_t>(staleness)]);
        for (const double end_s : ends[c]) CHECK(end_s >= Approx(slowest_s).epsilon(1e-4));
    }
    CHECK(replayed.time.iteration_s == Approx(3 * world.compute_s()).epsilon(0.06));
}

TEST_CASE("stale-synchronous: a note says that workers of different speeds have not reached the bound") {
    World world = World(4, 4, 1000).with(Updates::stale_synchronous, 30);
    world.plan.noise.stragglers = {0, {2}, 1.25};
    CHECK(noted(simulate(world.lowered()), "drift apart"));
    world.plan.servers.staleness = 1;
    CHECK_FALSE(noted(simulate(world.lowered()), "drift apart"));
    world.plan.noise.stragglers = {};
    CHECK_FALSE(noted(simulate(world.lowered()), "drift apart"));
    world.plan.servers.staleness = 30;
    CHECK_FALSE(noted(simulate(world.lowered()), "drift apart"));
}

TEST_CASE("asynchronous: a note says that a platform's power gives no energy") {
    World world(2, 4, 1000);
    world.plan.iterations = 4;
    CHECK_FALSE(noted(simulate(world.lowered()), "energy is left out"));
    world.cluster.device.power = DevicePower{{100, 200}, 150};
    const Result result = simulate(world.lowered());
    CHECK_FALSE(result.energy);
    CHECK(noted(result, "energy is left out"));
}

TEST_CASE("stale-synchronous: a larger bound absorbs more of the fluctuation") {
    World world(8, 4, 1000);
    world.plan.noise.jitter = 0.5;
    world.plan.iterations = 60;
    const auto per_s = [&](std::int64_t staleness) {
        return simulate(world.with(Updates::stale_synchronous, staleness).lowered()).updates->per_s;
    };
    const double none = per_s(0), one = per_s(1), four = per_s(4);
    CHECK(none < one);
    CHECK(one < four);
    CHECK(four < 1.001 * simulate(world.lowered()).updates->per_s);
}

TEST_CASE("backup workers: an update takes the first gradients, and the others are given up") {
    // Two workers push at the same time, then all three pull: 2S/B + 3S/B.
    World world(3, 4'000'000, 1000);
    world.plan.servers.updates = Updates::synchronous;
    world.plan.servers.backup_workers = 1;
    world.plan.noise.stragglers = {0, {1}, 10};
    const ReplayedIteration replayed = world.replayed();
    CHECK(replayed.time.iteration_s == Approx(world.compute_s() + 5 * world.transfer_s()));
    CHECK(replayed.timeline.bytes_sent == 5 * world.model.gradient_bytes());
    const Result result = simulate(world.lowered());
    CHECK(result.samples == 2);
    CHECK(*result.throughput_samples_per_s == Approx(2 / result.time.iteration_s));
}

TEST_CASE("backup workers: the samples that they lose do not count in the scaling efficiency") {
    World world(3, 4, 1000);
    world.plan.servers.updates = Updates::synchronous;
    CHECK(*scaling_efficiency(world.plan, 2, 1) == Approx(0.5));
    world.plan.servers.backup_workers = 1;
    CHECK(*scaling_efficiency(world.plan, 2, 1) == Approx(0.5 * 2 / 3));
}

TEST_CASE("backup workers: an iteration takes the order statistic of the workers' times") {
    constexpr std::int64_t workers = 25, backup = 2;
    World world(workers, 4, 1000);
    world.plan.servers.updates = Updates::synchronous;
    world.plan.servers.backup_workers = backup;
    world.plan.noise.jitter = 1;
    world.plan.iterations = 20;
    const ReplayedIteration replayed = world.replayed();
    const std::vector<Pace> drawn = paces(world.plan.noise, workers);
    double expected_s = 0;
    for (std::uint32_t i = 0; i < replayed.timeline.iteration_end_s.size(); ++i) {
        std::vector<double> factors;
        for (const Pace& pace : drawn) factors.push_back(pace.factor(i));
        std::ranges::sort(factors);
        expected_s += world.compute_s() * factors[workers - backup - 1];
        CHECK(replayed.timeline.iteration_end_s[i] == Approx(expected_s).epsilon(1e-3));
    }
}

TEST_CASE("asynchronous: every gradient and every pull is sent once, and the same again in another run") {
    std::mt19937 random(3);
    for (int trial = 0; trial < 10; ++trial) {
        World world = random_world(random);
        world.plan.noise.jitter = 0.4;
        const ReplayedIteration replayed = world.replayed();
        const auto workers = static_cast<std::uint64_t>(world.plan.ranks);
        CHECK(replayed.timeline.bytes_sent == 2 * workers * world.model.gradient_bytes());
        CHECK(std::accumulate(replayed.timeline.received_by.begin(), replayed.timeline.received_by.end(),
                              std::uint64_t{0}) == replayed.timeline.bytes_sent);
        CHECK(ends_of(world.replayed()) == ends_of(replayed));
    }
}

TEST_CASE("asynchronous: a server applies updates one after the other") {
    // The server takes longer for each of them than a worker for the rest of its iteration.
    World world(4, 4'000'000, 100);
    world.cluster.host.reduction_Bps = 4e6 / 0.05;
    world.plan.iterations = 12;
    const Result result = simulate(world.lowered());
    CHECK(result.updates->per_s == Approx(1 / 0.05));
    CHECK(result.updates->mean_staleness == Approx(3));
}
