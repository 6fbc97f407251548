#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/catch.hpp"
#include "tests/cli/batch.hpp"
#include "tests/sanitized.hpp"

// Checks scenarios/studies/yan-2024-fabric-overlay.yaml against the table in its README: five topologies as fabrics and
// as overlays.

using namespace syncline::test;
using nlohmann::json;

namespace {

using Table = std::map<std::string, std::map<std::string, double>>;  // by fabric, by overlay

/// Communication in units of S/B, of a buffer of S bytes over one cable, as far as the busiest cable determines it.
///
/// ring: 2(n-1)/n, since neighbours have a path of their own everywhere. star: rank 0 receives and sends n-1 buffers,
/// one after the other. hierarchical: two rings, 2·3/4 within groups, then 2·3/4 of a quarter to the rank four places
/// on; four such messages share a path on the tree (4:1), between groups of the hierarchy, and on the ring, where each
/// has four hops. Gossip sends to the ranks 1, 2, 4 and 8 places on, all in one iteration or one in each: over separate
/// cables on the exponential graph, over the host's only cable on the star. On the ring, 1, 2 and 4 share a cable, and
/// of 8 places on four messages, since half of them use the other direction; as many leave a leaf of the tree. In the
/// ring of the hierarchy's groups hashes choose the direction.
const Table derived{
    {"star",
     {{"star", 30}, {"hierarchical", 1.875}, {"ring", 1.875}, {"exponential-gossip", 4}, {"one-peer-exponential", 1}}},
    {"tree",
     {{"star", 30}, {"hierarchical", 3}, {"ring", 1.875}, {"exponential-gossip", 11}, {"one-peer-exponential", 2.75}}},
    {"hierarchical", {{"star", 30}, {"hierarchical", 3}, {"ring", 1.875}}},
    {"ring",
     {{"star", 30}, {"hierarchical", 3}, {"ring", 1.875}, {"exponential-gossip", 11}, {"one-peer-exponential", 2.75}}},
    {"exponential",
     {{"star", 30}, {"hierarchical", 1.875}, {"ring", 1.875}, {"exponential-gossip", 1}, {"one-peer-exponential", 1}}},
};

const std::vector<std::string> fabrics{"star", "tree", "hierarchical", "ring", "exponential"};
const std::vector<std::string> overlays{
    "star", "tree", "hierarchical", "ring", "exponential-gossip", "one-peer-exponential"};

}  // namespace

TEST_CASE("yan-2024: five topologies, as fabrics and as overlays, give the table in the studies' README") {
#if !defined(SYNCLINE_SANITIZED)  // 30 trainings
    const TempDir directory;
    const auto run = [&](std::vector<std::string> arguments) {
        const Outcome outcome =
            run_program({.arguments = std::move(arguments), .directory = directory.path(), .limit_s = 120});
        CAPTURE(outcome.err);
        REQUIRE(outcome.status == 0);
        return outcome.out;
    };
    run({"batch", shipped("scenarios/studies/yan-2024-fabric-overlay.yaml"), "--out", "out"});
    const json rows = json::parse(run(
        {"results", "out", "--format", "json", "--columns", "topology,variant,communication_time_s,gradient_bytes"}));
    Table units;
    for (const json& row : rows.at("points"))
        units[row.at("topology")][row.at("variant")] =
            row.at("communication_time_s").get<double>() * 3.125e9 / row.at("gradient_bytes").get<double>();
    REQUIRE(units.size() == fabrics.size());
    for (const auto& [fabric, by_overlay] : derived) {
        for (const auto& [overlay, expected] : by_overlay) {
            CAPTURE(fabric, overlay);
            // Latencies and reductions are added: reductions of at most four buffers, except in a star's centre, at a
            // third of the memory's 732 GB/s.
            CHECK(units.at(fabric).at(overlay) >= expected * (1 - 1e-9));
            CHECK(units.at(fabric).at(overlay) <= expected * 1.01 + 4 * 3.125e9 / (732e9 / 3));
        }
    }
    // A group sends four messages to the group half way round. At best two of them use each direction, so that 4 cross
    // a cable, but with distances 1, 2 and 4 in one direction it is better if none does; the maximum is all 8.
    CHECK(units.at("hierarchical").at("one-peer-exponential") >= (1 + 2 + 4 + 4) / 4.0);
    CHECK(units.at("hierarchical").at("exponential-gossip") >= 7.5);
    CHECK(units.at("hierarchical").at("exponential-gossip") <= 1 + 2 + 4 + 8 + 1);
    // The star is slowest on all fabrics: its centre sends and receives one buffer after the other.
    for (const std::string& fabric : fabrics) {
        const auto& by_overlay = units.at(fabric);
        CAPTURE(fabric);
        for (const std::string& overlay : overlays)
            if (overlay != "star") CHECK(by_overlay.at("star") > by_overlay.at(overlay));
        // One peer is cheapest if the fabric has cables over the distances of the exchanges, and the ring is cheapest
        // elsewhere.
        const bool far = fabric == "star" || fabric == "exponential";
        CHECK((by_overlay.at("one-peer-exponential") < by_overlay.at("ring")) == far);
    }

    // The README's table.
    const std::string readme = read_file(shipped("scenarios/studies/README.md"));
    for (const std::string& fabric : fabrics) {
        std::string line = "| `" + fabric + "` |";
        for (const std::string& overlay : overlays) line += fmt::format(" {:.2f} |", units.at(fabric).at(overlay));
        CAPTURE(line);
        CHECK(readme.find(line) != std::string::npos);
    }
#endif
}
