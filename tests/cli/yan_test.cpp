#include <cmath>

#include "tests/cli/results.hpp"

// Checks scenarios/yan-2024.yaml: the cost of exchanges over each topology, and the bytes that a rank sends.

using namespace syncline::test;
using nlohmann::json;

namespace {

/// In buffers of S bytes.
struct Cost {
    double most_sent;   ///< by one rank
    double on_busiest;  ///< through the busiest link, one exchange after the other
};

/// The file's formulas. A tree's inner link carries two children's buffers up, then two down; the star's centre
/// receives all buffers but its own, a server all.
std::map<std::string, Cost> formulas(double n) {
    const double lg = std::log2(n), ring = 2 * (n - 1) / n;
    return {{"star", {n - 1, 2 * (n - 1)}},   {"parameter-server", {1, 2 * n}}, {"tree", {3, 4}},
            {"recursive-doubling", {lg, lg}}, {"hierarchical", {ring, ring}},   {"ring", {ring, ring}},
            {"ring-gossip", {2, 2}},          {"exponential-gossip", {lg, lg}}, {"one-peer-exponential", {1, 1}}};
}

}  // namespace

TEST_CASE("yan-2024: the star is slowest, then tree, ring and one-peer exponential") {
    const int ranks = GENERATE(8, 16, 32);
    CAPTURE(ranks);
    const auto results = results_of("scenarios/yan-2024.yaml", {"--set", "training.ranks=" + std::to_string(ranks)});
    const auto costs = formulas(ranks);
    REQUIRE(results.size() == costs.size());
    const auto seconds = [&](const std::string& name) { return number(results.at(name), "communication_time_s"); };
    for (const auto& [name, result] : results) {
        CAPTURE(name);
        const double size = number(result, "gradient_bytes");
        CHECK(number(result, "most_bytes_sent_by_rank") == Approx(costs.at(name).most_sent * size));
        // Nothing overlaps, and everything but the busiest link's transfers is small: latency, reductions, the filling
        // of a pipeline.
        CHECK(number(result, "exposed_communication_time_s") == Approx(seconds(name)));
        const double transfers_s = costs.at(name).on_busiest * size / 3.125e9;
        CHECK(seconds(name) >= transfers_s);
        CHECK(seconds(name) <= 1.25 * transfers_s);
        const json& closed = result["closed_form"]["iteration_time_s"];
        CHECK((name == "tree") == closed.is_null());
        if (!closed.is_null()) CHECK(number(result, "iteration_time_s") == Approx(closed.get<double>()).epsilon(1e-6));
    }
    CHECK(seconds("star") > seconds("tree"));
    CHECK(seconds("parameter-server") > seconds("tree"));
    CHECK(seconds("tree") > seconds("ring"));
    CHECK(seconds("ring") > seconds("one-peer-exponential"));
    CHECK(seconds("exponential-gossip") > seconds("ring"));
    CHECK(seconds("exponential-gossip") > seconds("ring-gossip"));
    CHECK(seconds("hierarchical") == Approx(seconds("ring")).epsilon(0.01));
}

TEST_CASE("yan-2024: a server moves n buffers each way, and a star's centre, which has its own, n - 1") {
    const auto results = results_of("scenarios/yan-2024.yaml");
    const double n = 16, size = number(results.at("star"), "gradient_bytes");
    CHECK(number(results.at("parameter-server"), "bytes_sent") == 2 * n * size);
    CHECK(number(results.at("star"), "bytes_sent") == 2 * (n - 1) * size);
    CHECK(number(results.at("star"), "most_bytes_sent_by_rank") == (n - 1) * size);
}
