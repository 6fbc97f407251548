#include "sim/platform/node_rings.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tests/catch.hpp"
#include "tests/unit/dgx1.hpp"

// Rings of devices inside a node: each visits every device once, and no link is used more often than it exists. The
// number of rings is compared with NCCL's on public machines, and with an exhaustive search.

using namespace syncline;

namespace {

using Rings = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint32_t> first(std::int64_t devices) {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(devices));
    std::iota(result.begin(), result.end(), 0U);
    return result;
}

NodeDesign node_of(NodeLinks links, std::int64_t devices) {
    NodeDesign node;
    node.links = links;
    node.devices = devices;
    return node;
}

/// Checks that the rings are orders of the devices, and that none uses a link in a direction that others have used up.
void check_disjoint(const NodeDesign& node, const std::vector<std::uint32_t>& devices, const Rings& rings) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> used;
    for (const auto& ring : rings) {
        CHECK(ring.size() == devices.size());
        CHECK(std::set(ring.begin(), ring.end()) == std::set(devices.begin(), devices.end()));
        CHECK(ring.front() == devices.front());
        for (std::size_t i = 0; i < ring.size(); ++i) ++used[{ring[i], ring[(i + 1) % ring.size()]}];
    }
    for (const auto& [ends, times] : used) {
        CAPTURE(ends.first, ends.second);
        CHECK(times <= direct_links(node, ends.first, ends.second));
    }
}

/// Returns the maximum number of undirected Hamiltonian cycles that share no link, by trying all sets of all of them.
class Exhaustive {
public:
    Exhaustive(const NodeDesign& node, const std::vector<std::uint32_t>& devices) : n_(devices.size()) {
        for (const std::uint32_t a : devices) {
            for (const std::uint32_t b : devices) links_.push_back(static_cast<int>(direct_links(node, a, b)));
        }
        std::vector<std::size_t> order(n_);
        std::iota(order.begin(), order.end(), std::size_t{0});
        do {
            if (order[1] < order.back()) cycles_.push_back(order);
        } while (std::next_permutation(order.begin() + 1, order.end()));
    }

    std::size_t most(std::size_t from = 0) {
        std::size_t best = 0;
        for (std::size_t c = from; c < cycles_.size(); ++c) {
            if (!take(cycles_[c], 1)) continue;
            best = std::max(best, 1 + most(c));
            take(cycles_[c], -1);
        }
        return best;
    }

private:
    bool take(const std::vector<std::size_t>& cycle, int times) {
        bool enough = true;
        for (std::size_t i = 0; i < n_; ++i) {
            const std::size_t a = cycle[i], b = cycle[(i + 1) % n_];
            if ((links_[a * n_ + b] -= times) < 0) enough = false;
            links_[b * n_ + a] -= times;
        }
        if (!enough) take(cycle, -times);
        return enough;
    }

    std::size_t n_;
    std::vector<int> links_;
    std::vector<std::vector<std::size_t>> cycles_;
};

}  // namespace

TEST_CASE("node rings: a switch has as many as asked and PCIe has one", "[memory]") {
    for (const std::int64_t devices : {1, 2, 3, 8}) {
        const auto all = first(devices);
        for (const std::uint32_t most : {1U, 2U, 7U, 24U}) {
            CHECK(node_rings(node_of(NodeLinks::pcie, devices), all, most) == Rings{all});
            CHECK(node_rings(node_of(NodeLinks::crossbar, devices), all, most) == Rings(devices == 1 ? 1 : most, all));
        }
    }
}

TEST_CASE("node rings: DGX-1 has four with P100 and six with V100 as NCCL has", "[memory]") {
    for (const auto& [node, count] : {std::pair{dgx1_p100(), 4U}, std::pair{dgx1_v100(), 6U}}) {
        const auto all = first(8);
        for (std::uint32_t most = 1; most <= 12; ++most) {
            const Rings rings = node_rings(node, all, most);
            CAPTURE(count, most);
            CHECK(rings.size() == std::min(most, count));
            check_disjoint(node, all, rings);
            CHECK(rings == node_rings(node, all, most));
        }
        // Every link is used in both directions.
        const Rings rings = node_rings(node, all, 100);
        for (std::size_t i = 0; i < rings.size(); i += 2) {
            auto reverse = rings[i];
            std::reverse(reverse.begin() + 1, reverse.end());
            CHECK(rings[i + 1] == reverse);
        }
    }
}

TEST_CASE("node rings: four V100 with two links for each pair have the six of NCCL's issue 713", "[memory]") {
    NodeDesign node = node_of(NodeLinks::mesh, 4);
    for (std::uint32_t a = 0; a < 4; ++a) {
        for (std::uint32_t b = a + 1; b < 4; ++b) node.pairs.push_back({a, b, 2});
    }
    const Rings rings = node_rings(node, first(4), 100);
    check_disjoint(node, first(4), rings);
    const std::set<std::vector<std::uint32_t>> nccl = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1},
                                                       {0, 2, 1, 3}, {0, 3, 1, 2}, {0, 3, 2, 1}};
    CHECK(std::set(rings.begin(), rings.end()) == nccl);
    CHECK(rings.size() == 6);
}

TEST_CASE("node rings: no set of devices of a DGX-1 has more cycles than are found", "[memory]") {
    for (const NodeDesign& node : {dgx1_p100(), dgx1_v100()}) {
        for (std::uint32_t set = 1; set < 256; ++set) {
            std::vector<std::uint32_t> devices;
            for (std::uint32_t device = 0; device < 8; ++device) {
                if (set >> device & 1U) devices.push_back(device);
            }
            CAPTURE(set);
            const Rings rings = node_rings(node, devices, 100);
            if (devices.size() == 1) {
                CHECK(rings == Rings{devices});
                continue;
            }
            if (devices.size() == 2) {
                const std::uint32_t links = direct_links(node, devices[0], devices[1]);
                CHECK(rings == Rings(std::max(links, 1U), devices));
                continue;
            }
            if (devices.size() > 6) {
                if (rings.size() > 1) check_disjoint(node, devices, rings);
                continue;
            }
            const std::size_t cycles = Exhaustive(node, devices).most();
            if (cycles == 0) {
                CHECK(rings == Rings{devices});
            } else {
                CHECK(rings.size() / 2 == cycles);
                check_disjoint(node, devices, rings);
            }
        }
    }
}

TEST_CASE("node rings: links of all pairs give Walecki's number of cycles") {
    for (std::int64_t devices = 2; devices <= 40; ++devices) {
        const NodeDesign node = node_of(NodeLinks::all_to_all, devices);
        const auto all = first(devices);
        const Rings rings = node_rings(node, all, 1000);
        CAPTURE(devices);
        check_disjoint(node, all, rings);
        const auto n = static_cast<std::size_t>(devices);
        CHECK(rings.size() >= (n == 2 ? 1 : (n - 1) / 2 * 2));
        CHECK(rings.size() < n);
        CHECK(node_rings(node, all, 1) == Rings{all});
    }
}

TEST_CASE("node rings: a ring of devices has its two directions and an open chain has the plain order", "[memory]") {
    for (const std::int64_t devices : {3, 5, 8}) {
        const NodeDesign node = node_of(NodeLinks::ring, devices);
        auto reverse = first(devices);
        std::reverse(reverse.begin() + 1, reverse.end());
        CHECK(node_rings(node, first(devices), 9) == Rings{first(devices), reverse});
        const std::vector<std::uint32_t> part = {2, 0, 1};
        const Rings rings = node_rings(node, part, 9);
        CHECK(rings == (devices == 3 ? Rings{{2, 0, 1}, {2, 1, 0}} : Rings{part}));
    }
}

TEST_CASE("node rings: an odd number of links is used in one direction more often", "[memory]") {
    // Three links a device: a cycle in both directions uses two; the others form no cycle of four devices.
    NodeDesign node = node_of(NodeLinks::mesh, 4);
    node.pairs = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
    CHECK(node_rings(node, first(4), 9).size() == 2);
    // A triangle with one, two and three links: one cycle.
    NodeDesign triangle = node_of(NodeLinks::mesh, 3);
    triangle.pairs = {{0, 1, 1}, {1, 2, 2}, {0, 2, 3}};
    CHECK(node_rings(triangle, first(3), 9).size() == 2);
}

TEST_CASE("node rings: random meshes share no link") {
    std::uint32_t state = 12345;
    const auto below = [&state](std::uint32_t bound) {
        state = state * 1664525 + 1013904223;
        return (state >> 8) % bound;
    };
    for (int world = 0; world < 300; ++world) {
        NodeDesign node = node_of(NodeLinks::mesh, 2 + below(19));
        const auto devices = static_cast<std::uint32_t>(node.devices);
        for (std::uint32_t a = 0; a < devices; ++a) {
            for (std::uint32_t b = a + 1; b < devices; ++b) {
                if (const std::uint32_t links = below(4); links > 0) node.pairs.push_back({a, b, links});
            }
        }
        const Rings rings = node_rings(node, first(devices), 8);
        CAPTURE(world, devices);
        CHECK(rings.size() <= 8);
        CHECK_FALSE(rings.empty());
        if (rings.size() > 1) check_disjoint(node, first(devices), rings);
    }
}
