#include "tests/catch.hpp"
#include "tests/replay/training_worlds.hpp"
#include "tests/replay/worlds.hpp"

#include <algorithm>
#include <array>

#include "sim/iteration/iteration.hpp"

// Variants of parameter servers in frameworks: pulls of single tensors, local reductions first, pieces, priorities.

using namespace syncline;
using namespace syncline::test;

namespace {

constexpr std::array placements{ServerAssignment::round_robin, ServerAssignment::greedy_bytes,
                                ServerAssignment::sliced};

Plan served(std::int64_t ranks, std::int64_t servers, PullStart pull = PullStart::together) {
    Plan plan;
    plan.ranks = ranks;
    plan.batch_per_rank = 1;
    plan.input_copy = InputCopy::none;
    plan.exchange = ExchangeKind::parameter_server;
    plan.servers.count = servers;
    plan.servers.pull = pull;
    return plan;
}

/// Returns four devices per node, each with a link of 4 GB/s and 1 us to a switch inside; nodes at one switch, 1 GB/s.
Cluster four_in_a_node() {
    Cluster cluster = plain_star(1e9, 2e-6);
    cluster.device.reduction_Bps = 5e10;
    cluster.host.reduction_Bps = 2e10;
    cluster.node.devices = 4;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {4e9, 1e-6};
    return cluster;
}

}  // namespace

TEST_CASE("a server that answers each tensor immediately overlaps reductions and pulls with pushes", "[memory]") {
    // Two ranks, one server. 1 MB each way for both takes 2 ms and 2 us; reductions take 0.1 ms per MB for both.
    Cluster cluster = plain_star(1e9, 2e-6);
    cluster.host.reduction_Bps = 2e10;
    Model model;
    model.layers = {layer_of(2'000'000, 1000), layer_of(1'000'000, 1000)};
    // From the start of the backward pass: gradients at 2 and 3 ms. Pushes end at 4.002 and 8.004, reductions at 4.102
    // and 8.204, pulls at 6.104 and 12.206; forward takes 2.
    CHECK(simulate(lower(cluster, model, served(2, 1, PullStart::each))).time.iteration_s ==
          Approx(14.206e-3).epsilon(1e-9));
    // All together: pulls from 8.204 on, 2.002 and 4.002.
    CHECK(simulate(lower(cluster, model, served(2, 1))).time.iteration_s == Approx(16.208e-3).epsilon(1e-9));
    // The last layer's forward pass follows its own pull: the first layer's is done at 12.206, and two layers are left.
    Plan plan = served(2, 1, PullStart::each);
    plan.overlap = Overlap::across_iterations;
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(14.206e-3).epsilon(1e-9));
    // By priority, in pieces of 1 MB: pushes last 2-4.002, first 4.002-6.004 and 6.004-8.006; reductions 0.1 after
    // each; pulls last 4.102-6.104, first 6.104-8.106 and 8.106-10.108.
    plan.partition_bytes = 1e6;
    plan.schedule = Schedule::priority;
    CHECK(simulate(lower(cluster, model, plan)).time.iteration_s == Approx(12.108e-3).epsilon(1e-9));
}

TEST_CASE("pulls of single tensors equal their closed form, are never slower, and send as many bytes", "[memory]") {
    std::mt19937 random(31);
    int wins = 0;
    for (int round = 0; round < 16; ++round) {
        // In separate statements, because the order of evaluation of arguments is unspecified.
        const auto servers = 1 + static_cast<std::int64_t>(random() % 4);
        Plan plan = served(4 + static_cast<std::int64_t>(random() % 5), servers);
        const Model model = random_layers(random, 1 + random() % 9, 4, 300'000);
        Cluster cluster = plain_star(2e9, 3e-6);
        cluster.host.reduction_Bps = round % 3 == 0 ? 1e9 : 3e10;  // otherwise reductions are the bottleneck
        plan.overlap = round % 4 == 0 ? Overlap::none : Overlap::wait_free;
        plan.servers.assignment = placements[static_cast<std::size_t>(round) % placements.size()];
        if (round % 5 == 2) plan.partition_bytes = 123'457;
        CAPTURE(round, plan.ranks, plan.servers.count);
        const Result together = simulate(lower(cluster, model, plan));
        CHECK(together.time.iteration_s == Approx(together.closed_form.iteration_time_s.value()).epsilon(1e-6));
        plan.servers.pull = PullStart::each;
        const Result each = simulate(lower(cluster, model, plan));
        CHECK(each.time.iteration_s == Approx(each.closed_form.iteration_time_s.value()).epsilon(1e-6));
        CHECK(each.time.iteration_s <= together.time.iteration_s * (1 + 1e-9));
        CHECK(each.bytes_sent == 2 * static_cast<std::uint64_t>(plan.ranks) * model.gradient_bytes());
        CHECK(each.messages == together.messages);
        wins += each.time.iteration_s < 0.99 * together.time.iteration_s;
        plan.servers.location = ServerLocation::spread;
        CHECK(!simulate(lower(cluster, model, plan)).closed_form.iteration_time_s);
        plan.servers.location = ServerLocation::dedicated;
        plan.schedule = Schedule::priority;
        CHECK(!simulate(lower(cluster, model, plan)).closed_form.iteration_time_s);
    }
    CHECK(wins > 3);
}

TEST_CASE("reduction inside nodes leaves one push and one pull for each node", "[memory]") {
    const Cluster cluster = four_in_a_node();
    Model model;
    model.layers = {layer_of(1'000'000, 1000)};
    Plan plan = served(8, 1);
    plan.servers.local_reduction = true;
    const double into_first_s = 2e-6 + 3e6 / 4e9 + 3e6 / 5e10;  // three others
    const double to_server_s = 2e-6 + 2e6 / 1e9;
    const double sum_s = 2e6 / 2e10;
    const double out_of_first_s = 2e-6 + 3e6 / 4e9;
    const Result result = simulate(lower(cluster, model, plan));
    // A message to the server crosses the link between device and port, which takes no time, and the two of the fabric.
    CHECK(result.time.iteration_s ==
          Approx(2e-3 + into_first_s + 2 * to_server_s + sum_s + out_of_first_s).epsilon(1e-9));
    CHECK(!result.closed_form.iteration_time_s);
    CHECK(result.messages == 2 * 2 + 2 * 6);
    CHECK(result.bytes_sent == (2 * 2 + 2 * 6) * 1'000'000u);
    CHECK(result.most_bytes_sent_by_rank == 4'000'000);  // to the server, and to three others
}

TEST_CASE("reduction inside nodes sends the bytes that nodes and ranks imply, in any order", "[memory]") {
    std::mt19937 random(37);
    const Cluster cluster = four_in_a_node();
    for (int round = 0; round < 20; ++round) {
        const auto servers = 1 + static_cast<std::int64_t>(random() % 3);
        Plan plan = served(2 + static_cast<std::int64_t>(random() % 15), servers);
        const Model model = random_layers(random, 1 + random() % 6, 4, 100'000);
        plan.servers.local_reduction = true;
        plan.servers.assignment = placements[random() % placements.size()];
        plan.servers.pull = round % 2 == 0 ? PullStart::each : PullStart::together;
        plan.servers.location = round % 4 < 2 ? ServerLocation::dedicated : ServerLocation::spread;
        plan.schedule = round % 3 == 0 ? Schedule::priority : Schedule::fifo;
        plan.overlap = round % 5 < 2 ? Overlap::across_iterations : Overlap::wait_free;
        if (round % 3 < 2) plan.partition_bytes = 50'001;
        plan.placement.order = round % 2 == 0 ? RankPlacement::Order::packed : RankPlacement::Order::random;
        CAPTURE(round, plan.ranks, plan.servers.count);
        std::vector<bool> used(64, false);
        for (const Place& place : place_ranks(cluster, plan.placement, static_cast<std::uint32_t>(plan.ranks)))
            used[place.node] = true;
        const auto nodes = static_cast<std::uint64_t>(std::count(used.begin(), used.end(), true));
        const auto others = static_cast<std::uint64_t>(plan.ranks) - nodes;
        const Result result = simulate(lower(cluster, model, plan));
        CHECK(result.bytes_sent == 2 * (nodes + others) * model.gradient_bytes());
        CHECK(result.time.drift < 1e-6);
        const Breakdown& time = result.time;
        CHECK(time.exposed_communication_s <= time.communication_s * (1 + 1e-12));
        CHECK(time.compute_s + time.exposed_communication_s <= time.iteration_s * (1 + 1e-9));
    }
}

TEST_CASE("reduction inside a node of one device does nothing", "[memory]") {
    std::mt19937 random(41);
    const Cluster cluster = plain_star(1e9, 2e-6);
    const Model model = random_layers(random, 6, 4, 300'000);
    Plan plan = served(5, 2, PullStart::each);
    const Result without = simulate(lower(cluster, model, plan));
    plan.servers.local_reduction = true;
    const Result with = simulate(lower(cluster, model, plan));
    CHECK(with.time.iteration_s == without.time.iteration_s);
    CHECK(with.messages == without.messages);
    CHECK(with.closed_form.iteration_time_s == without.closed_form.iteration_time_s);
}

TEST_CASE("streams that agree on an order give the same result every time, to the last bit", "[memory]") {
    std::mt19937 random(59);
    const Cluster cluster = four_in_a_node();
    const Model model = random_layers(random, 8, 4, 100'000);
    Plan plan = served(11, 3, PullStart::each);
    plan.servers.local_reduction = true;
    plan.schedule = Schedule::priority;
    plan.overlap = Overlap::across_iterations;
    plan.partition_bytes = 33'333;
    const TaskGraph graph = build_iteration(lower(cluster, model, plan));
    const Timeline first = replay_isolated(cluster, graph, {3, 2});
    const Timeline second = replay_isolated(cluster, graph, {3, 2});
    REQUIRE(first.measured().size() == second.measured().size());
    for (std::size_t i = 0; i < first.measured().size(); ++i) {
        CHECK(first.measured()[i].start_s == second.measured()[i].start_s);
        CHECK(first.measured()[i].end_s == second.measured()[i].end_s);
    }
}

TEST_CASE("colocated servers: spread over nodes they share the cables that packed ones leave idle", "[memory]") {
    // Two nodes of four devices, 100 MB of gradients in two slices, a cable of 1 GB/s for each node; devices' own links
    // are no narrower than their shares. A server adds up 8 x 50 MB at 4 GB/s: 100 ms.
    Cluster cluster = plain_star(1e9, 0);
    cluster.nodes = 2;
    cluster.node.devices = 4;
    cluster.node.links = NodeLinks::crossbar;
    cluster.node.link = {1e11, 0};
    cluster.host.reduction_Bps = 4e9;
    Model model;
    model.layers = {layer_of(100'000'000, 0)};
    Plan plan = served(8, 2);
    plan.servers.assignment = ServerAssignment::sliced;
    const auto result = [&](ServerLocation location) {
        plan.servers.location = location;
        return simulate(lower(cluster, model, plan));
    };
    // Both servers on one node: the other node's four ranks send all their gradients to it, and receive the same: 400
    // MB each way.
    const Result packed = result(ServerLocation::packed);
    CHECK(packed.time.iteration_s == Approx(0.4 + 0.1 + 0.4).epsilon(1e-6));
    // One server on each node: either node's four ranks send half of their gradients, 200 MB, while the same amount
    // arrives.
    const Result spread = result(ServerLocation::spread);
    CHECK(spread.time.iteration_s == Approx(0.2 + 0.1 + 0.2).epsilon(1e-6));
    CHECK(spread.bytes_sent == packed.bytes_sent);
    CHECK(spread.cost.nodes == 2);
    CHECK(result(ServerLocation::dedicated).cost.nodes == 4);
}

TEST_CASE("colocated servers: they are spread over racks, too, and are then no slower than on the first nodes",
          "[memory]") {
    // A tree of four racks of four nodes, one device each: with as many servers as racks each rack has one.
    std::mt19937 random(43);
    TopologySpec tree = wired(Shape::tree, 1e9, 1e-6);
    tree.arity = 4;
    for (int round = 0; round < 8; ++round) {
        Cluster cluster = cluster_on(tree, 16);
        cluster.device = plain_star(1e9, 0).device;
        Plan plan = served(16, 2 + 2 * (round % 2), round % 4 < 2 ? PullStart::together : PullStart::each);
        plan.servers.assignment = ServerAssignment::sliced;
        const Model model = random_layers(random, 1 + random() % 4, 4, 300'000);
        plan.servers.location = ServerLocation::packed;
        const double packed_s = simulate(lower(cluster, model, plan)).time.iteration_s;
        plan.servers.location = ServerLocation::spread;
        CAPTURE(round, plan.servers.count);
        CHECK(simulate(lower(cluster, model, plan)).time.iteration_s <= packed_s * (1 + 1e-9));
    }
}
