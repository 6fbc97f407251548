#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "sim/analysis/experiment.hpp"
#include "sim/collective/algorithm.hpp"
#include "sim/plan/collective_plan.hpp"
#include "sim/platform/wiring.hpp"
#include "tests/catch.hpp"
#include "tests/replay/every_shape.hpp"

// Every topology as fabric × every exchange × many numbers of ranks: each runs to its end, and every rank receives the
// bytes that the exchange promises, or it is rejected with a reason, exactly if it has to be. Promises and rejections
// are written down here again, from the definitions.

using namespace syncline;

namespace {

const std::vector<std::uint32_t> rank_counts{2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 47, 63, 64};

// ---- exchanges

/// Checks the bytes that each rank received.
using Promise = std::function<void(const CollectiveResult& result)>;

struct NamedExchange {
    std::string name;
    std::function<CollectivePlan(std::uint32_t ranks)> plan;
    std::function<bool(std::uint32_t ranks)> exists;
    Promise check;
};

std::uint64_t sum(const std::vector<std::uint64_t>& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

/// Each rank receives 2(N-1)/N of the buffer, except for the rounding of the pieces.
void check_shared_alike(const CollectiveResult& result, double pieces) {
    const double n = result.ranks, fair = 2 * (n - 1) / n * static_cast<double>(result.bytes);
    for (const std::uint64_t bytes : result.received_by) CHECK(std::abs(static_cast<double>(bytes) - fair) <= pieces);
    CHECK(result.bytes_sent == 2 * (result.ranks - 1) * result.bytes);
}

/// A reduction and a broadcast over a tree: each rank receives once from the parent, once from each child.
void check_tree(const CollectiveResult& result) {
    for (std::uint32_t rank = 0; rank < result.ranks; ++rank) {
        CAPTURE(rank);
        CHECK(result.received_by[rank] % result.bytes == 0);
        CHECK(result.received_by[rank] >= result.bytes);
        CHECK(result.received_by[rank] == result.sent_by[rank]);
    }
    CHECK(result.bytes_sent == 2 * (result.ranks - 1) * result.bytes);
}

/// The same in two trees: half of the buffer from the parent, and half from each of at most two children.
void check_halves(const CollectiveResult& result) {
    for (std::uint32_t rank = 0; rank < result.ranks; ++rank) {
        CAPTURE(rank);
        CHECK(result.received_by[rank] % (result.bytes / 2) == 0);
        CHECK(result.received_by[rank] >= result.bytes);
        CHECK(result.received_by[rank] <= 2 * result.bytes);
        CHECK(result.received_by[rank] == result.sent_by[rank]);
    }
    CHECK(result.bytes_sent == 2 * (result.ranks - 1) * result.bytes);
}

CollectivePlan plan_of(std::uint32_t ranks, AlgorithmSpec algorithm) {
    CollectivePlan plan;
    plan.ranks = ranks;
    plan.algorithm = std::move(algorithm);
    return plan;
}

NamedExchange plain_allreduce(const std::string& algorithm, const Promise& check) {
    return {algorithm, [=](std::uint32_t n) { return plan_of(n, {.name = algorithm, .overlay = {}}); }, always, check};
}

NamedExchange parameter_server(std::int64_t servers) {
    const auto plan = [=](std::uint32_t n) {
        CollectivePlan served = plan_of(n, {.name = "parameter-server", .overlay = {}});
        served.servers = servers;
        return served;
    };
    return {fmt::format("parameter-server of {}", servers), plan, always, [](const CollectiveResult& result) {
                for (const std::uint64_t bytes : result.received_by) CHECK(bytes == result.bytes);
                for (const std::uint64_t bytes : result.sent_by) CHECK(bytes == result.bytes);
                CHECK(result.bytes_sent == 2 * result.ranks * result.bytes);
            }};
}

std::vector<NamedExchange> allreduces() {
    std::vector<NamedExchange> result{
        // Two pieces in each channel, of which a torus of two axes has four.
        plain_allreduce("ring", [](const CollectiveResult& r) { check_shared_alike(r, 8); }),
        plain_allreduce("recursive-doubling",
                        [](const CollectiveResult& r) {
                            const std::uint32_t places = std::bit_floor(r.ranks), extra = r.ranks - places;
                            const auto steps = static_cast<std::uint32_t>(std::countr_zero(places));
                            for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                                const bool helped = rank < 2 * extra;
                                const std::uint32_t times = !helped ? steps : rank % 2 == 0 ? 1 : steps + 1;
                                CHECK(r.received_by[rank] == times * r.bytes);
                            }
                        }),
        plain_allreduce("binomial-tree", check_tree),
        plain_allreduce("double-binary-tree", check_halves),
        parameter_server(1),
        parameter_server(3)};
    for (const double segment : {0.0, 400.0}) {
        for (const NamedOverlay& overlay : overlays()) {
            const auto plan = [=](std::uint32_t n) {
                return plan_of(n, {.name = "pipelined-tree", .overlay = overlay.topology(n), .segment_bytes = segment});
            };
            result.push_back({fmt::format("pipelined-tree over {} in segments of {} B", overlay.name, segment), plan,
                              [=](std::uint32_t n) { return overlay.exists(n) && !overlay.directed; }, check_tree});
        }
    }
    const auto over_groups = [](const char* name, Shape inside) {
        return [=](std::uint32_t n) { return plan_of(n, {.name = name, .overlay = groups_of_four(inside)}); };
    };
    result.push_back({"hierarchical", over_groups("hierarchical", Shape::ring), [](auto n) { return n % 4 == 0; },
                      [](const CollectiveResult& r) { check_shared_alike(r, 8); }});
    result.push_back({"hierarchical-leaders", over_groups("hierarchical-leaders", Shape::star), always,
                      [](const CollectiveResult& r) {
                          for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                              if (rank % 4 != 0) CHECK(r.received_by[rank] == r.bytes);
                          }
                          CHECK(r.bytes_sent == 2 * (r.ranks - 1) * r.bytes);
                      }});
    result.push_back({"hierarchical-leaders of hypercubes", over_groups("hierarchical-leaders", Shape::hypercube),
                      [](auto n) { return n % 4 != 3; },
                      [](const CollectiveResult& r) { CHECK(r.bytes_sent == 2 * (r.ranks - 1) * r.bytes); }});
    for (const char* name : {"hierarchical", "hierarchical-leaders"}) {
        const auto plan = [=](std::uint32_t n) { return plan_of(n, {.name = name, .overlay = row_of_ranks(n)}); };
        result.push_back({fmt::format("{} over a row", name), plan, [](auto) { return false; }, {}});
    }
    return result;
}

std::vector<NamedExchange> rooted() {
    std::vector<NamedExchange> result;
    for (const char* operation : {"broadcast", "reduce"}) {
        for (const std::string& algorithm : algorithm_names(operation)) {
            const auto plan = [=](std::uint32_t n) {
                return plan_of(n, {.operation = operation, .name = algorithm, .overlay = {}});
            };
            const bool down = std::string(operation) == "broadcast";
            result.push_back(
                {fmt::format("{} by {}", operation, algorithm), plan, always, [=](const CollectiveResult& r) {
                     const auto& at_other_end = down ? r.received_by : r.sent_by;
                     for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                         if (algorithm == "scatter-allgather") {  // plus its blocks of the scatter again
                             CHECK(at_other_end[rank] >= (rank == 0 ? 0 : r.bytes));
                             CHECK(at_other_end[rank] <= 2 * r.bytes);
                         } else {
                             CHECK(at_other_end[rank] == (rank == 0 ? 0 : r.bytes));
                         }
                     }
                 }});
        }
    }
    return result;
}

/// Each rank receives at least the data that it lacks and must have.
std::vector<NamedExchange> blockwise() {
    const std::vector<std::pair<std::string, std::vector<std::string>>> named{
        {"allreduce", {"rabenseifner"}},
        {"reduce-scatter", {"recursive-halving", "pat"}},
        {"allgather", {"recursive-doubling", "bruck", "pat"}},
        {"scatter", {"binomial-tree"}},
        {"gather", {"binomial-tree"}},
        {"all-to-all", {"pairwise", "bruck"}},
        {"barrier", {"dissemination"}}};
    std::vector<NamedExchange> result;
    for (const auto& [operation, algorithms] : named) {
        for (const std::string& algorithm : algorithms) {
            const AlgorithmSpec spec{.operation = operation, .name = algorithm};
            const auto check = [](const std::string& of, const CollectiveResult& r) {
                for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                    const std::uint64_t own = r.bytes * (rank + 1) / r.ranks - r.bytes * rank / r.ranks;
                    std::uint64_t least = 0;
                    if (of == "allreduce") least = r.bytes;
                    if (of == "reduce-scatter") least = own;
                    if (of == "allgather" || (of == "gather" && rank == 0)) least = r.bytes - own;
                    if (of == "scatter" && rank != 0) least = own;
                    if (of == "all-to-all") least = (r.ranks - 1) * own;
                    CAPTURE(rank);
                    CHECK(r.received_by[rank] >= least);
                }
                CHECK((of == "barrier") == (r.bytes_sent == 0));
                CHECK(r.messages > 0);
            };
            result.push_back({operation + " by " + algorithm, [spec](std::uint32_t n) { return plan_of(n, spec); },
                              always, [check, of = operation](const CollectiveResult& r) { check(of, r); }});
        }
    }
    return result;
}

std::vector<NamedExchange> neighbourly() {
    std::vector<NamedExchange> result;
    const auto direct = [](std::uint32_t n) {
        return plan_of(n, {.operation = "all-to-all", .name = "direct", .overlay = {}});
    };
    result.push_back({"all-to-all", direct, always, [](const CollectiveResult& r) {
                          for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                              const std::uint64_t own = r.bytes * (rank + 1) / r.ranks - r.bytes * rank / r.ranks;
                              CHECK(r.received_by[rank] == (r.ranks - 1) * own);
                              CHECK(r.sent_by[rank] == r.bytes - own);
                          }
                      }});
    for (const bool one_peer : {false, true}) {
        for (const NamedOverlay& overlay : overlays()) {
            const auto plan = [=](std::uint32_t n) {
                CollectivePlan asked = plan_of(n, {.operation = "neighbour-exchange",
                                                   .name = "gossip",
                                                   .overlay = overlay.topology(n),
                                                   .peers = one_peer ? Peers::one : Peers::all});
                if (one_peer) asked.round = 0;
                return asked;
            };
            const auto check = [=](const CollectiveResult& r) {
                for (std::uint32_t rank = 0; rank < r.ranks; ++rank) {
                    std::uint64_t senders = 0;
                    for (std::uint32_t other = 0; other < r.ranks; ++other)
                        senders += other != rank && overlay.joined(other, rank, r.ranks);
                    CAPTURE(rank, senders);
                    if (!one_peer) CHECK(r.received_by[rank] == senders * r.bytes);
                    if (one_peer) CHECK(r.received_by[rank] % r.bytes == 0);
                    if (one_peer) CHECK(r.received_by[rank] <= std::min<std::uint64_t>(senders, 1) * r.bytes);
                    CHECK((overlay.directed || r.received_by[rank] == r.sent_by[rank]));
                }
                // The first round of one-peer exponential is i to i + 1.
                if (one_peer && overlay.directed) CHECK(r.bytes_sent == r.ranks * r.bytes);
                CHECK(r.bytes_sent > 0);
            };
            result.push_back({fmt::format("{} gossip over {}", one_peer ? "one-peer" : "all-peers", overlay.name), plan,
                              overlay.exists, check});
        }
    }
    return result;
}

// ---- cells

/// Checks that no rank receives its bytes faster than its node's cables and its own link allow.
void check_time(const Cluster& cluster, const CollectiveResult& result) {
    const auto nodes = static_cast<std::int64_t>(cluster.nodes);
    const Topology fabric = make_topology(cluster.fabric.topology, Use::fabric, nodes * cluster.node.nics);
    double least_s = latency;
    for (std::uint32_t rank = 0; rank < result.ranks; ++rank) {
        if (result.received_by[rank] == 0) continue;
        std::size_t cables = cluster.node.devices > 1 ? 1 : 0;
        for (std::int64_t nic = 0; nic < cluster.node.nics; ++nic)
            cables += boost::in_degree(static_cast<std::size_t>(rank / cluster.node.devices * cluster.node.nics + nic),
                                       fabric.graph);
        least_s = std::max(least_s, latency + static_cast<double>(result.received_by[rank]) /
                                                  (static_cast<double>(cables) * bandwidth));
    }
    CHECK(result.completion_time_s >= least_s * (1 - 1e-9));
}

void check_cell(const NamedFabric& fabric, const NamedExchange& exchange, std::uint32_t ranks) {
    CAPTURE(fabric.name, exchange.name, ranks);
    CollectivePlan plan = exchange.plan(ranks);
    plan.bytes = 1000 + 2 * ranks;  // divisible by only some numbers of ranks
    const Cluster cluster = fabric.cluster(ranks, plan.served() ? plan.servers : 0);
    if (!exchange.exists(ranks)) {
        try {
            simulate_collective(cluster, plan);
            FAIL_CHECK("not refused");
        } catch (const AlgorithmError& error) {
            CHECK_FALSE(std::string(error.what()).empty());
            CHECK(error.key == "overlay");
        }
        return;
    }
    try {
        const CollectiveResult result = simulate_collective(cluster, plan);
        REQUIRE(result.received_by.size() == ranks);
        if (!plan.served()) {
            CHECK(sum(result.received_by) == result.bytes_sent);
            CHECK(sum(result.sent_by) == result.bytes_sent);
        }
        exchange.check(result);
        check_time(cluster, result);
    } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
    }
}

/// Checks every number of ranks on a star; elsewhere a few for each exchange, and others for the next exchange and
/// fabric.
void check_cells(const std::vector<NamedExchange>& exchanges) {
    const std::vector<NamedFabric> all = fabrics();
    constexpr std::size_t samples = 5;
    for (std::size_t e = 0; e < exchanges.size(); ++e) {
        for (const std::uint32_t ranks : rank_counts) check_cell(all.front(), exchanges[e], ranks);
        for (std::size_t f = 1; f < all.size(); ++f) {
            for (std::size_t i = 0; i < samples; ++i)
                check_cell(all[f], exchanges[e], rank_counts[(e + 5 * f + 7 * i) % rank_counts.size()]);
        }
    }
}

}  // namespace

TEST_CASE("every all-reduce on every fabric among any number of ranks delivers its result or is refused") {
    check_cells(allreduces());
}

TEST_CASE("every broadcast and reduction on every fabric among any number of ranks delivers its result or is refused") {
    check_cells(rooted());
}

TEST_CASE("every exchange of blocks on every fabric among any number of ranks delivers its result or is refused") {
    check_cells(blockwise());
}

TEST_CASE(
    "every neighbour exchange and all-to-all on every fabric among any number of ranks delivers its result or is "
    "refused") {
    check_cells(neighbourly());
}

TEST_CASE("every fabric among any number of ranks carries a ring and an all-to-all") {
    const NamedExchange ring = allreduces().front(), all_to_all = neighbourly().front();
    for (const NamedFabric& fabric : fabrics()) {
        for (const std::uint32_t ranks : rank_counts) {
            check_cell(fabric, ring, ranks);
            if (ranks <= 17) check_cell(fabric, all_to_all, ranks);
        }
    }
}

TEST_CASE("a fabric that does not fit is refused with a reason", "[memory]") {
    const auto refused = [](const TopologySpec& spec, std::uint32_t nodes) {
        CAPTURE(shape_name(spec.shape), nodes);
        try {
            Wiring(cluster_on(spec, nodes), nodes);
            FAIL_CHECK("not refused");
        } catch (const TopologyError& error) {
            CHECK_FALSE(std::string(error.what()).empty());
            CHECK_FALSE(error.key.empty());
        }
    };
    for (const std::uint32_t ranks : rank_counts) {
        const TopologySpec hypercube = wired(Shape::hypercube, bandwidth, latency);
        if (std::has_single_bit(ranks))
            CHECK_NOTHROW(Wiring(cluster_on(hypercube, ranks), ranks));
        else
            refused(hypercube, ranks);
        TopologySpec small = wired(Shape::ring, bandwidth, latency);
        small.hosts = ranks - 1;
        refused(small, ranks);
        TopologySpec torus = wired(Shape::torus, bandwidth, latency);
        torus.dimensions = {1, ranks - 1};
        refused(torus, ranks);
        refused(row_of_switches(ranks - 1), std::max(ranks, 4u));
    }
}
