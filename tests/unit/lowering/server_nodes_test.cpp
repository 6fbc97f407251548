#include <algorithm>
#include <map>
#include <set>

#include "sim/iteration/exchange.hpp"
#include "tests/catch.hpp"

// The node of each server, for any number of nodes, ranks and servers.

using namespace syncline;

namespace {

using Nodes = std::vector<std::uint32_t>;

Nodes nodes_of(std::int64_t count, ServerLocation location, const std::vector<Place>& places) {
    return server_nodes({.count = count, .location = location}, places);
}

/// Returns `devices` ranks on each of `nodes` nodes, starting with node `first`.
std::vector<Place> packed(std::uint32_t nodes, std::uint32_t devices, std::uint32_t first = 0) {
    std::vector<Place> places;
    for (std::uint32_t rank = 0; rank < nodes * devices; ++rank)
        places.push_back({first + rank / devices, rank % devices});
    return places;
}

}  // namespace

TEST_CASE("dedicated servers are on the nodes after all ranks", "[memory]") {
    CHECK(nodes_of(3, ServerLocation::dedicated, packed(2, 4)) == Nodes{2, 3, 4});
    CHECK(nodes_of(2, ServerLocation::dedicated, {{7, 0}, {1, 0}}) == Nodes{8, 9});
}

TEST_CASE("packed servers are on the nodes of the ranks with their numbers", "[memory]") {
    CHECK(nodes_of(2, ServerLocation::packed, packed(2, 4)) == Nodes{0, 0});
    CHECK(nodes_of(5, ServerLocation::packed, packed(2, 4)) == Nodes{0, 0, 0, 0, 1});
    CHECK(nodes_of(5, ServerLocation::packed, packed(3, 1)) == Nodes{0, 1, 2, 0, 1});
}

TEST_CASE("spread servers are placed as by hand, for fewer servers than nodes, as many, and more", "[memory]") {
    CHECK(nodes_of(1, ServerLocation::spread, packed(4, 2)) == Nodes{0});
    CHECK(nodes_of(2, ServerLocation::spread, packed(4, 2)) == Nodes{0, 2});
    CHECK(nodes_of(3, ServerLocation::spread, packed(4, 2)) == Nodes{0, 1, 2});
    CHECK(nodes_of(4, ServerLocation::spread, packed(4, 2)) == Nodes{0, 1, 2, 3});
    CHECK(nodes_of(6, ServerLocation::spread, packed(4, 2)) == Nodes{0, 1, 2, 3, 0, 1});
    // In the order of their first ranks, whatever their numbers.
    CHECK(nodes_of(2, ServerLocation::spread, {{5, 0}, {2, 0}, {5, 1}, {9, 0}}) == Nodes{5, 2});
}

TEST_CASE("spread servers: no node has two more than another, and equal shares of racks have equal shares of them",
          "[memory]") {
    for (std::uint32_t nodes = 1; nodes <= 16; ++nodes) {
        for (std::int64_t count = 1; count <= 40; ++count) {
            CAPTURE(nodes, count);
            const Nodes placed = nodes_of(count, ServerLocation::spread, packed(nodes, 3, 10));
            REQUIRE(std::ssize(placed) == count);
            // The servers without tensors are the last ones: properties of all servers also hold for the first ones.
            std::map<std::uint32_t, std::int64_t> servers;
            for (std::uint32_t node = 10; node < 10 + nodes; ++node) servers[node] = 0;
            for (const std::uint32_t node : placed) {
                REQUIRE(servers.contains(node));
                ++servers[node];
                const auto [least, most] = std::minmax_element(
                    servers.begin(), servers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
                CHECK(most->second - least->second <= 1);
            }
            for (std::uint32_t racks = 1; racks <= nodes; ++racks) {
                if (nodes % racks != 0 || count % racks != 0) continue;
                std::map<std::uint32_t, std::int64_t> of_rack;
                for (const std::uint32_t node : placed) ++of_rack[(node - 10) / (nodes / racks)];
                if (count > nodes && count % nodes != 0) continue;
                for (const auto& [rack, number] : of_rack) CHECK(number == count / racks);
            }
        }
    }
}
