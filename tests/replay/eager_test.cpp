#include <cstdint>
#include <vector>

#include "tests/catch.hpp"
#include "tests/replay/allreduce.hpp"
#include "tests/replay/messages.hpp"
#include "tests/replay/scripted.hpp"

// MPI's eager and rendezvous protocols, worked out by hand on a star of 1 GB/s with a latency L of 100 us: 1000 bytes
// take 1 us.

using namespace syncline;

namespace {

constexpr double us = 1e-6;
constexpr double L = 100 * us;

/// `eager_bytes`: nothing for messages that start when both sides are ready.
Cluster star(std::optional<double> eager_bytes, Latency latency = Latency::travelling) {
    Cluster cluster = star_cluster(16, 1e9, L / 2);
    cluster.latency = latency;
    cluster.transport.between.eager_bytes = cluster.transport.inside.eager_bytes = eager_bytes;
    return cluster;
}

Step send(std::uint32_t to, std::uint32_t kilobytes) {
    return {{{to, 0, 1000 * kilobytes}}, {}, false, 1};
}

Step receive(std::uint32_t from, std::uint32_t kilobytes) {
    return {{}, {{from, 0, 1000 * kilobytes}}, false, 1};
}

std::vector<double> ends(const Cluster& cluster, const std::vector<std::vector<Step>>& steps) {
    return play(cluster, one_by_node(static_cast<std::uint32_t>(steps.size())), steps).ends;
}

void check(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
        CAPTURE(rank);
        CHECK(found[rank] == Approx(expected[rank]).epsilon(1e-9));
    }
}

}  // namespace

TEST_CASE("eager: a receiver that is ready changes nothing, and the rendezvous takes two latencies more", "[memory]") {
    const std::vector<std::vector<Step>> steps{{send(1, 4)}, {receive(0, 4)}};
    for (const std::optional<double> eager :
         {std::optional<double>{}, std::optional<double>{4000}, std::optional<double>{1e15}})
        check(ends(star(eager), steps), {4 * us, 4 * us + L});
    for (const double below : {0.0, 3999.0}) check(ends(star(below), steps), {2 * L + 4 * us, 3 * L + 4 * us});
    check(ends(star(0, Latency::blocking), steps), {3 * L + 4 * us, 3 * L + 4 * us});
}

TEST_CASE("eager: a sender does not wait for a late receiver, which finds the message there", "[memory]") {
    // Latency blocks, so that rank 1 posts its receive when it has sent 500 kB to rank 2.
    const std::vector<std::vector<Step>> steps{{send(1, 4)}, {send(2, 500), receive(0, 4)}, {receive(1, 500)}};
    const double late_s = 500 * us + L;
    check(ends(star({}, Latency::blocking), steps), {late_s + 4 * us + L, late_s + 4 * us + L, late_s});
    check(ends(star(1e6, Latency::blocking), steps), {4 * us + L, late_s, late_s});
    // 500 kB by rendezvous, 4 kB eager.
    check(ends(star(4000, Latency::blocking), steps), {4 * us + L, 2 * L + late_s, 2 * L + late_s});
}

TEST_CASE("eager: a request that waited for its receiver takes only the answer's latency", "[memory]") {
    // Rank 1 is busy for 500 us in every case: its message to rank 2 crosses a node, where nothing is eager or asked.
    Cluster cluster = star(0, Latency::blocking);
    cluster.transport.inside.eager_bytes.reset();
    cluster.node.devices = 2;
    cluster.node.links = NodeLinks::all_to_all;
    cluster.node.link = {1e9, 0};
    const std::vector<Place> places{{1, 0}, {0, 0}, {0, 1}};
    for (const double busy_kB : {50, 150, 500}) {
        const auto kilobytes = static_cast<std::uint32_t>(busy_kB);
        const std::vector<std::vector<Step>> steps{
            {send(1, 4)}, {send(2, kilobytes), receive(0, 4)}, {receive(1, kilobytes)}};
        const double ready_s = busy_kB * us;
        const double end_s = std::max(L, ready_s) + L + 4 * us + L;
        check(play(cluster, places, steps).ends, {end_s, end_s, ready_s});
    }
}

TEST_CASE("eager: two ranks that send before they receive do not wait for each other", "[memory]") {
    const std::vector<std::vector<Step>> steps{{send(1, 4), receive(1, 4)}, {send(0, 4), receive(0, 4)}};
    check(ends(star(4000, Latency::blocking), steps), {4 * us + L, 4 * us + L});
    // MPI_Send of two large messages to each other is the textbook's deadlock.
    CHECK_THROWS(ends(star(3999, Latency::blocking), steps));
}

TEST_CASE("eager: messages of a pair arrive in order, whatever their sizes are", "[memory]") {
    // 0 sends 1 kB (eager), 8 kB (rendezvous), 1 kB; the receiver takes them in this order.
    const std::vector<std::vector<Step>> steps{{send(1, 1), send(1, 8), send(1, 1)},
                                               {receive(0, 1), receive(0, 8), receive(0, 1)}};
    // The second leaves at 1 us, is asked for and answered, and starts 2L later; the third follows it.
    const double left_s = 1 * us + 2 * L + 8 * us + 1 * us;
    check(ends(star(4000), steps), {left_s, left_s + L});
}

TEST_CASE("eager: a ring's steps take three latencies by rendezvous, and one if blocks are eager", "[memory]") {
    for (const std::uint32_t ranks : {1u, 2u, 3u, 5u, 8u, 13u}) {
        for (const std::uint64_t block : {1ull, 1000ull, 40'000ull}) {
            const std::uint64_t bytes = block * ranks;
            CAPTURE(ranks, block);
            Cluster cluster = star(0);
            cluster.device.reduction_Bps = 1e18;
            const double steps = 2.0 * (ranks - 1), block_s = static_cast<double>(block) / 1e9;
            CHECK(allreduce(cluster, ranks, 1, "ring", bytes).completion_time_s ==
                  Approx(steps * (3 * L + block_s)).epsilon(1e-6));
            cluster = star(static_cast<double>(block));
            cluster.device.reduction_Bps = 1e18;
            CHECK(allreduce(cluster, ranks, 1, "ring", bytes).completion_time_s ==
                  Approx(steps * (L + block_s)).epsilon(1e-6));
        }
    }
}

TEST_CASE("eager: no protocol changes what is sent, and without contention eager is first and rendezvous last") {
    for (const Latency latency : {Latency::travelling, Latency::blocking}) {
        for (const std::string algorithm : {"ring", "recursive-doubling", "rabenseifner", "binomial-tree", "direct"}) {
            for (const std::uint32_t ranks : {2u, 3u, 7u, 8u}) {
                for (const std::uint64_t bytes : {0ull, 5ull, 100'003ull}) {
                    CAPTURE(algorithm, ranks, bytes);
                    const CollectiveResult both = allreduce(star({}, latency), ranks, 1, algorithm, bytes);
                    const CollectiveResult eager = allreduce(star(1e15, latency), ranks, 1, algorithm, bytes);
                    const CollectiveResult mixed = allreduce(star(20'000, latency), ranks, 1, algorithm, bytes);
                    const CollectiveResult asked = allreduce(star(0, latency), ranks, 1, algorithm, bytes);
                    for (const CollectiveResult& one : {eager, mixed, asked}) {
                        CHECK(one.bytes_sent == both.bytes_sent);
                        CHECK(one.messages == both.messages);
                    }
                    // Messages of surplus ranks, and all of `direct`, may share a receiver's link if they come early.
                    if (algorithm == "direct" || (algorithm != "ring" && ranks % 2 == 1)) continue;
                    CHECK(eager.completion_time_s <= both.completion_time_s * (1 + 1e-9));
                    CHECK(both.completion_time_s <= asked.completion_time_s * (1 + 1e-9));
                    if (bytes > 0) CHECK(asked.completion_time_s > both.completion_time_s);
                }
            }
        }
    }
}

TEST_CASE("eager: nothing is folded, and a closed form is left only where no message is asked for", "[memory]") {
    CollectivePlan plan;
    plan.ranks = 8;
    plan.bytes = 80'000;
    plan.fidelity = Fidelity::automatic;
    const CollectiveResult eager = simulate_collective(star(80'000), plan);
    REQUIRE(eager.closed_form_s);
    CHECK(eager.completion_time_s == Approx(*eager.closed_form_s).epsilon(1e-6));
    CHECK(eager.folded.messages_folded == 0);
    CHECK_FALSE(simulate_collective(star(79'999), plan).closed_form_s);
}
