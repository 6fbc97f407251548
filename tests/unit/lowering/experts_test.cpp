#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>

#include "sim/collective/uneven_all_to_all.hpp"
#include "sim/config/scenario.hpp"
#include "sim/lowering/device_memory.hpp"
#include "sim/lowering/expert_loads.hpp"
#include "sim/lowering/expert_parallelism.hpp"
#include "sim/lowering/lowered.hpp"
#include "sim/workload/experts.hpp"
#include "sim/workload/transformer.hpp"
#include "tests/catch.hpp"

// Expert parallelism: loads, unequal all-to-alls, keys, what ranks hold.

using namespace syncline;

namespace {

config::Scenario load(const std::string& parallelism, const std::string& rest = "", int ranks = 16) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("syncline-experts-{}.yaml", getpid());
    std::ofstream(path) << "platform:\n  device: {flops: 1 Tflops, memory_bandwidth: 100 GBps}\n"
                           "  fabric: {bandwidth: 10 Gbps, latency: 1 us}\n"
                           "workload:\n  name: sparse\n  sequence: 64\n  layers:\n"
                           "    - {name: words, kind: embedding, vocabulary: 100, width: 32}\n"
                           "    - {name: sight, kind: attention, width: 32, heads: 4}\n"
                           "    - {name: choice, kind: moe, width: 32, hidden: 64, experts: 8, top_k: 2}\n"
                        << "training: {ranks: " << ranks << ", batch_per_rank: 4, parallelism: {" << parallelism << "}"
                        << rest << "}\n";
    struct Remove {
        std::filesystem::path path;
        ~Remove() { std::filesystem::remove(path); }
    } remove{path};
    return config::load_scenario(path.string(), {});
}

std::string error_of(const std::string& parallelism, const std::string& rest = "", int ranks = 16) {
    try {
        load(parallelism, rest, ranks);
    } catch (const ConfigError& error) {
        return error.diagnostics().front().message + " / " + error.diagnostics().front().hint;
    }
    return "";
}

}  // namespace

TEST_CASE("experts: loads add up, have the wanted variation, and no expert has more than all tokens", "[memory]") {
    for (const std::int64_t experts : {1, 3, 8, 256})
        for (const std::int64_t top_k : {1, 2, 3})
            for (const double imbalance : {0.05, 0.5, 5.0}) {
                if (top_k > experts) continue;
                CAPTURE(experts, top_k, imbalance);
                const std::vector<double> loads = expert_loads(experts, top_k, imbalance, 7, 3);
                REQUIRE(std::ssize(loads) == experts);
                const auto all = static_cast<double>(experts);
                CHECK(std::accumulate(loads.begin(), loads.end(), 0.0) == Approx(all).epsilon(1e-12));
                for (const double one : loads) {
                    CHECK(one >= 0);
                    CHECK(one <= all / static_cast<double>(top_k) * (1 + 1e-12));
                }
                CHECK(loads == expert_loads(experts, top_k, imbalance, 7, 3));
            }
    // 40 layers of 256 experts: the sample's coefficient of variation is within a few percent of the wanted one.
    double squares = 0;
    for (std::uint32_t layer = 0; layer < 40; ++layer)
        for (const double one : expert_loads(256, 8, 0.2, 1, layer)) squares += (one - 1) * (one - 1);
    CHECK(std::sqrt(squares / (40 * 256)) == Approx(0.2).epsilon(0.05));
    CHECK(expert_loads(8, 2, 0.2, 1, 0) != expert_loads(8, 2, 0.2, 2, 0));
    CHECK(expert_loads(8, 2, 0.2, 1, 0) != expert_loads(8, 2, 0.2, 1, 1));
}

TEST_CASE("experts: what is sent in an unequal all-to-all is received, and the way back is the same", "[memory]") {
    const std::vector<double> shares{0.5, 0.125, 0, 0.25, 0.125};
    for (const bool pairwise : {false, true})
        for (const std::uint64_t bytes : {0ULL, 1ULL, 1000ULL, 123'456'789ULL}) {
            CAPTURE(pairwise, bytes);
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> sent[2], received[2];
            using Direction = UnevenAllToAll::Direction;
            for (const Direction direction : {Direction::apart, Direction::together}) {
                const UnevenAllToAll algorithm(shares, direction, pairwise);
                const int way = direction == Direction::apart ? 0 : 1;
                for (std::uint32_t rank = 0; rank < 5; ++rank) {
                    const Program program = algorithm.program(rank, 5, bytes, 0);
                    CHECK(program.steps.size() == (pairwise ? 4u : 1u));
                    for (const Step& step : program.steps) {
                        for (const Message& one : step.sends)
                            sent[way][{rank, one.peer}] += message_bytes(program.partition, one, 0);
                        for (const Message& one : step.receives)
                            received[way][{one.peer, rank}] += message_bytes(program.partition, one, 0);
                    }
                }
                CHECK(sent[way] == received[way]);
            }
            for (std::uint32_t from = 0; from < 5; ++from)
                for (std::uint32_t to = 0; to < 5; ++to) {
                    if (from == to) continue;
                    CHECK(std::abs(static_cast<double>(sent[0][{from, to}]) -
                                   shares[to] * static_cast<double>(bytes)) <= 1 + 1e-7 * static_cast<double>(bytes));
                    CHECK(sent[1][{to, from}] == sent[0][{from, to}]);
                }
        }
}

TEST_CASE("experts: a number is the ranks of a group, and a mapping also has the imbalance", "[memory]") {
    const Plan number = load("experts: 4").variants.front().plan;
    CHECK(number.parallelism.experts.ranks == 4);
    CHECK(number.parallelism.experts.imbalance == 0);
    CHECK(!number.draws());
    CHECK(number.replicas() == 16);
    CHECK(!number.parallelism.whole_model());
    const Plan mapping = load("model: 2, experts: {ranks: 8, imbalance: 20 %}").variants.front().plan;
    CHECK(mapping.parallelism.experts.imbalance == Approx(0.2));
    CHECK(mapping.draws());
}

TEST_CASE("experts: what cannot be divided, or is not modelled, is refused with what to write instead", "[memory]") {
    CHECK(error_of("experts: 16").starts_with("layer 'choice': 8 experts cannot be divided among 16 ranks / write"));
    CHECK(
        error_of("experts: 8, model: 4").starts_with("layer 'choice': 4 replicas cannot be divided into groups of 8"));
    CHECK(error_of("experts: {ranks: 1, imbalance: 10 %}").starts_with("an imbalance has no effect"));
    CHECK(error_of("experts: {ranks: 1, exchange: deduplicated}").starts_with("a rank that has all experts"));
    CHECK(error_of("experts: {ranks: 1, dispatch: fp8}").starts_with("a rank that has all experts"));
    CHECK(error_of("experts: {ranks: 2, token_nodes: 1}").starts_with("a copy for each expert"));
    CHECK(error_of("experts: {ranks: 2, exchange: deduplicated, imbalance: 10 %}").starts_with("ranks with one copy"));
    CHECK(error_of("experts: 4, sharding: {of: parameters, within: 2}").empty());
    CHECK(error_of("experts: 2, sharding: {of: optimizer, within: 8}").empty());
    CHECK(error_of("experts: 4, sharding: {of: parameters, within: 6}", "", 24) ==
          "layer 'choice': 6 neighbours, which divide the state, and 4, which have every expert once, do not divide "
          "each other / write a multiple of 4");
    CHECK(error_of("experts: {ranks: 4, imbalance: 10 %}, activations: {all_to_all: bruck}")
              .starts_with("'bruck' moves equal blocks"));
    CHECK(error_of("experts: {ranks: 4, imbalance: 20}").starts_with("'imbalance' is 20, which is above 1000 %"));
    CHECK(error_of("experts: 4", ", exchange: gossip").empty());
    CHECK(error_of("experts: 4", ", exchange: parameter-server").starts_with("servers have whole tensors"));
    CHECK(error_of("experts: {imbalance: 10 %}").find("ranks") != std::string::npos);
}

TEST_CASE("experts: a model without experts has none to divide, unless nothing would be divided", "[memory]") {
    Model model;
    model.name = "plain";
    model.layers = {dense("fc", 8, 8, true)};
    Plan plan;
    plan.ranks = 4;
    plan.parallelism.experts.model = 1;
    const Cluster cluster = star_cluster(4, 1e9, 0);
    CHECK_NOTHROW(lower(cluster, model, plan));
    plan.parallelism.layout.rows = 2;
    CHECK_THROWS_WITH(lower(cluster, model, plan), Catch::Matchers::StartsWith("model 'plain' has no experts"));
    plan.parallelism.layout.rows = 1;
    plan.parallelism.experts.ranks = 2;
    CHECK_THROWS_WITH(lower(cluster, model, plan), Catch::Matchers::StartsWith("model 'plain' has no experts"));
}

TEST_CASE("experts: expert rows that the rows do not allow are refused", "[memory]") {
    const std::string model = "model: 4, sequence: true, ";
    for (const int ranks : {3, 8})
        CHECK(
            error_of(model + fmt::format("experts: {{ranks: 2, model: {}}}", ranks), "", 48) ==
            fmt::format("layer 'choice': 4 rows cannot be divided into groups of {}, which would divide each expert / "
                        "write a divisor of 4",
                        ranks));
    CHECK(
        error_of("experts: {ranks: 1, model: 2}").starts_with("layer 'choice': 1 rows cannot be divided into groups"));
    CHECK(error_of("model: 4, experts: {ranks: 2, model: 2}")
              .starts_with("layer 'choice': 4 rows have the same tokens, but only 2 of them would divide each expert / "
                           "write `sequence: true`"));
    CHECK(error_of(model + "experts: {ranks: 8, model: 2}", "", 24) ==
          "layer 'choice': 12 ranks with the same part of each expert cannot be divided into groups of 8 / write a "
          "number of ranks that divides them");
    CHECK(error_of(model + "experts: {ranks: 16, model: 1}")
              .starts_with("layer 'choice': 8 experts cannot be divided among 16 ranks"));
    // Blocks of 8 and of 12 ranks.
    CHECK(error_of(model + "experts: {ranks: 8, model: 1}, sharding: {of: parameters, within: 3}", "", 24) ==
          "layer 'choice': 12 neighbours, which divide the state, and 8, which have every expert once, do not divide "
          "each other / write a multiple of 2");
    CHECK(error_of(model + "experts: {ranks: 8, model: 1}, sharding: {of: parameters, within: 2}", "", 24).empty());
    CHECK(error_of(model + "experts: {ranks: 4, model: 1}, sharding: {of: parameters, within: 3}", "", 24).empty());
    // Only with sequence parallelism, unless nothing changes.
    CHECK(error_of("model: 4, experts: {ranks: 2, model: 4}").empty());
    CHECK(error_of("experts: {ranks: 2, model: 1}").empty());
    CHECK(error_of("experts: {ranks: 2, model: 0}").find("model") != std::string::npos);
}

TEST_CASE("experts: a rank holds its experts and the whole rest, and only ranks with the same experts exchange them",
          "[memory]") {
    const std::int64_t h = 32, hidden = 64, X = 8;
    for (const std::int64_t E : {1, 2, 8}) {
        CAPTURE(E);
        const config::Variant variant = load(E == 1 ? "pipeline: {micro_batches: 2}"
                                                    : fmt::format("experts: {}, pipeline: {{micro_batches: 2}}", E))
                                            .variants.front();
        const Lowered lowered = lower(variant.cluster, variant.model, variant.plan);
        const std::int64_t expert = 2 * h * hidden, routed = X * expert;
        const std::int64_t rest = variant.model.parameters() - routed;
        const Memory memory = memory_of(lowered);
        CHECK(memory.weights_bytes == 4.0 * static_cast<double>(rest + routed / E));
        CHECK(memory.gradients_bytes == memory.weights_bytes);
        CHECK(memory.optimizer_bytes == memory.weights_bytes);  // one momentum
        // A rank computes as many tokens as without groups.
        const PlacedLayer& placed = lowered.arrangement.layers.back();
        CHECK(placed.replicas == Grouping{16, 1});
        if (E == 1) continue;
        REQUIRE(placed.experts);
        CHECK(placed.experts->group == Grouping{static_cast<std::uint32_t>(E), 1});
        CHECK(placed.experts->replicas == Grouping{static_cast<std::uint32_t>(16 / E), static_cast<std::uint32_t>(E)});
        std::uint64_t exchanged = 0;
        for (const Bucket& bucket : lowered.buckets)
            if (bucket.replicas.stride == E) exchanged += bucket.bytes;
        CHECK(exchanged == 4 * static_cast<std::uint64_t>(routed / E));
    }
}

TEST_CASE("experts: in folded layouts each part of every expert is on as many ranks as its gradients' group has",
          "[memory]") {
    int checked = 0;
    for (const std::int64_t rows : {2, 4, 8})
        for (const std::int64_t expert_rows : {1, 2, 4, 8})
            for (const std::int64_t E : {1, 2, 4, 8})
                for (const std::int64_t columns : {1, 2, 3})
                    for (const std::int64_t stages : {1, 2}) {
                        const std::int64_t n = rows * columns;
                        if (rows % expert_rows != 0 || n / expert_rows % E != 0) continue;
                        if (expert_rows == rows && E == 1) continue;
                        CAPTURE(rows, expert_rows, E, columns, stages);
                        ++checked;
                        const config::Variant variant =
                            load(fmt::format(
                                     "model: {}, sequence: true, pipeline: {}, experts: {{ranks: {}, model: {}}}", rows,
                                     stages, E, expert_rows),
                                 "", static_cast<int>(n * stages))
                                .variants.front();
                        const Lowered lowered = lower(variant.cluster, variant.model, variant.plan);
                        const PlacedLayer& placed = lowered.arrangement.layers.back();
                        REQUIRE(placed.experts);
                        const PlacedExperts& experts = *placed.experts;
                        const std::int64_t D = n / (expert_rows * E);
                        // Megatron-Core's order of the ranks of a stage: expert rows, experts, replicas of these.
                        std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> holders;
                        for (std::int64_t rank = 0; rank < n; ++rank) {
                            const auto index = static_cast<std::uint32_t>(rank);
                            const std::int64_t part = rank % expert_rows, member = rank / expert_rows % E;
                            CHECK(experts.group.member(index) == member);
                            CHECK(experts.group.first(index) == rank - member * expert_rows);
                            CHECK(experts.replicas.first(index) == part + member * expert_rows);
                            CHECK(experts.replicas.member(index) == rank / (expert_rows * E));
                            ++holders[{part, member}];
                        }
                        CHECK(std::ssize(holders) == expert_rows * E);
                        for (const auto& [which, count] : holders) CHECK(count == D);
                        CHECK(experts.group.size == E);
                        CHECK(experts.replicas.size == D);
                        // Parts of all ranks together are D times all experts, and columns times the rest, with a
                        // router per row.
                        const std::int64_t routed = 8 * 2 * 32 * 64;
                        CHECK(static_cast<std::int64_t>(experts.bytes) * n == D * 4 * routed);
                        const std::int64_t rest = variant.model.layers.back().parameters - routed + (rows - 1) * 32 * 8;
                        CHECK(std::abs(static_cast<std::int64_t>(placed.bytes) * n - columns * 4 * rest) <= n);
                        std::uint64_t exchanged = 0;
                        for (const Bucket& bucket : lowered.buckets)
                            if (bucket.replicas == experts.replicas && bucket.bytes == experts.bytes) ++exchanged;
                        CHECK(exchanged == (D > 1 ? 1 : 0));
                    }
    CHECK(checked > 60);
}

TEST_CASE("experts: sharded state of experts is divided among ranks with the same part, within the same block",
          "[memory]") {
    for (const std::int64_t expert_rows : {1, 2})
        for (const std::int64_t E : {1, 2, 4})
            for (const std::int64_t within : {2, 4, 8}) {
                CAPTURE(expert_rows, E, within);
                const config::Variant variant =
                    load(fmt::format("model: 4, sequence: true, experts: {{ranks: {}, model: {}}}, sharding: {{of: "
                                     "optimizer, within: {}}}",
                                     E, expert_rows, within),
                         "", 32)
                        .variants.front();
                const Lowered lowered = lower(variant.cluster, variant.model, variant.plan);
                const PlacedExperts& experts = *lowered.arrangement.layers.back().experts;
                // A block of 4 rows of `within` columns has all of the state once, or some experts less than once.
                const std::int64_t once = expert_rows * E, block = 4 * within;
                CHECK(experts.shards == Grouping{static_cast<std::uint32_t>(std::max<std::int64_t>(1, block / once)),
                                                 static_cast<std::uint32_t>(once)});
            }
}

TEST_CASE("experts: the nodes and ranks that a token needs are those of all its choices, counted", "[memory]") {
    // Counts the choices of K of X experts, e on each node and c on each rank: bit i of `chosen` is expert i.
    const auto counted = [](unsigned experts, unsigned of_part, unsigned top_k) {
        double parts = 0, choices = 0;
        for (unsigned chosen = 0; chosen < 1u << experts; ++chosen) {
            if (std::popcount(chosen) != static_cast<int>(top_k)) continue;
            ++choices;
            for (unsigned first = 0; first < experts; first += of_part)
                if ((chosen >> first & ((1u << of_part) - 1)) != 0) ++parts;
        }
        return parts / choices;
    };
    for (const unsigned nodes : {1u, 2u, 3u})
        for (const unsigned ranks : {1u, 2u})
            for (const unsigned each : {1u, 2u})
                for (const unsigned top_k : {1u, 2u, 3u}) {
                    const unsigned all = nodes * ranks * each;
                    if (top_k > all) continue;
                    CAPTURE(nodes, ranks, each, top_k);
                    const TokenSpread spread = token_spread(nodes, ranks, each, top_k);
                    CHECK(spread.nodes == Approx(counted(all, ranks * each, top_k)));
                    CHECK(spread.ranks == Approx(counted(all, each, top_k)));
                    // On any of more nodes, but on no more than so many, it is the same.
                    const TokenSpread limited = token_spread(nodes + 5, ranks, each, top_k, nodes);
                    CHECK(limited.nodes == Approx(spread.nodes));
                    CHECK(limited.ranks == Approx(spread.ranks));
                }
    // DeepSeek-V3: 8 of 256 experts, on 8 nodes of 8 ranks; without a limit, 1 - C(224, 8)/C(256, 8) = 0.6618 of them.
    CHECK(token_spread(8, 8, 4, 8).nodes == Approx(5.295).epsilon(1e-3));
    // At most four: 4·(1 - C(96, 8)/C(128, 8)), where the quotient is (96·95·…·89)/(128·127·…·121) = 0.0927.
    CHECK(token_spread(8, 8, 4, 8, 4).nodes == Approx(3.629).epsilon(1e-3));
}
