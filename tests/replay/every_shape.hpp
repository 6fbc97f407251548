#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/replay/worlds.hpp"

/// Every topology as a fabric with room for a number of ranks, and as an overlay, each with its definition.
namespace syncline {

inline constexpr double bandwidth = 1e9;
inline constexpr double latency = 1e-6;

/// A fabric with its number of nodes and its special properties.
struct NamedFabric {
    std::string name;
    std::int64_t devices = 1, nics = 1;
    std::function<TopologySpec(std::int64_t hosts)> topology;

    Cluster cluster(std::uint32_t ranks, std::int64_t servers) const {
        const std::int64_t nodes = (ranks + devices - 1) / devices + servers;
        Cluster cluster = cluster_on(topology(nodes * nics), nodes);
        cluster.node.devices = devices;
        cluster.node.nics = nics;
        cluster.node.link = {bandwidth, latency};
        return cluster;
    }
};

/// Returns hosts in turn on three switches, which are connected in a row.
inline TopologySpec row_of_switches(std::int64_t hosts) {
    TopologySpec spec = wired(Shape::graph, bandwidth, latency);
    spec.switches = {"s0", "s1", "s2"};
    spec.edges = {{"s0", "s1", {}}, {"s1", "s2", {}}};
    // All switches have a host; excess hosts only forward.
    for (std::int64_t host = 0; host < std::max<std::int64_t>(hosts, 3); ++host)
        spec.edges.push_back({fmt::format("h{}", host), fmt::format("s{}", host % 3), {}});
    return spec;
}

inline std::vector<NamedFabric> fabrics() {
    const auto plain = [](Shape shape) { return [shape](std::int64_t) { return wired(shape, bandwidth, latency); }; };
    const auto tree = [](std::int64_t) {
        TopologySpec spec = wired(Shape::tree, bandwidth, latency);
        spec.arity = 4;
        return spec;
    };
    const auto groups = [](std::int64_t) {
        TopologySpec spec = wired(Shape::hierarchical, bandwidth, latency);
        spec.levels = {{Shape::full_mesh, 4}, {Shape::ring, 0}};
        return spec;
    };
    const auto hypercube = [](std::int64_t hosts) {
        TopologySpec spec = wired(Shape::hypercube, bandwidth, latency);
        spec.hosts = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(hosts)));
        return spec;
    };
    const auto rails = [](std::int64_t) {
        TopologySpec spec = wired(Shape::rails, bandwidth, latency);
        spec.rails = 2;
        spec.nodes_per_group = 3;
        spec.spines = 2;
        return spec;
    };
    return {{"star", 1, 1, plain(Shape::star)},
            {"star of two-device nodes", 2, 1, plain(Shape::star)},
            {"ring", 1, 1, plain(Shape::ring)},
            {"tree", 1, 1, tree},
            {"tree of two-device nodes", 2, 1, tree},
            {"hierarchical", 1, 1, groups},
            {"exponential", 1, 1, plain(Shape::exponential)},
            {"torus", 1, 1, plain(Shape::torus)},
            {"hypercube", 1, 1, hypercube},
            {"full-mesh", 1, 1, plain(Shape::full_mesh)},
            {"fat-tree", 1, 1, plain(Shape::fat_tree)},
            {"dragonfly", 1, 1, plain(Shape::dragonfly)},
            {"rails of two-device nodes", 2, 2, rails},
            {"graph", 1, 1, row_of_switches}};
}

using Joined = std::function<bool(std::uint32_t from, std::uint32_t to, std::uint32_t ranks)>;

struct NamedOverlay {
    std::string name;
    std::function<TopologySpec(std::uint32_t ranks)> topology;
    std::function<bool(std::uint32_t ranks)> exists;
    Joined joined;
    bool directed = false;
};

inline bool always(std::uint32_t) {
    return true;
}

/// Returns true if a and b are neighbours on a ring of n.
inline bool around(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
    return (a + 1) % n == b || (b + 1) % n == a;
}

inline TopologySpec row_of_ranks(std::uint32_t ranks) {
    TopologySpec spec;
    spec.shape = Shape::graph;
    for (std::uint32_t rank = 1; rank < ranks; ++rank)
        spec.edges.push_back({fmt::format("r{}", rank - 1), fmt::format("r{}", rank), {}});
    return spec;
}

inline TopologySpec groups_of_four(Shape inside) {
    TopologySpec spec;
    spec.shape = Shape::hierarchical;
    spec.levels = {{inside, 4}, {Shape::ring, 0}};
    return spec;
}

inline std::vector<NamedOverlay> overlays() {
    const auto plain = [](Shape shape, bool directed = false) {
        return [=](std::uint32_t) {
            TopologySpec spec;
            spec.shape = shape;
            spec.directed = directed;
            spec.arity = 3;
            return spec;
        };
    };
    const auto never = [](std::uint32_t) { return false; };
    const Joined nobody = [](auto, auto, auto) { return false; };
    return {
        {"star", plain(Shape::star), always, [](auto a, auto b, auto) { return a == 0 || b == 0; }},
        {"ring", plain(Shape::ring), always, around},
        {"tree", plain(Shape::tree), always,
         [](auto a, auto b, auto) { return (b > 0 && (b - 1) / 3 == a) || (a > 0 && (a - 1) / 3 == b); }},
        {"hierarchical", [](std::uint32_t) { return groups_of_four(Shape::star); }, always,
         [](auto a, auto b, auto n) {
             const bool leaders = a % 4 == 0 && b % 4 == 0;
             return leaders ? around(a / 4, b / 4, (n + 3) / 4) : a / 4 == b / 4 && (a % 4 == 0 || b % 4 == 0);
         }},
        {"hierarchical with hypercubes", [](std::uint32_t) { return groups_of_four(Shape::hypercube); },
         [](auto n) { return n % 4 != 3; },
         [](auto a, auto b, auto n) {
             if (a / 4 == b / 4) return std::has_single_bit(a ^ b);
             return a % 4 == 0 && b % 4 == 0 && around(a / 4, b / 4, (n + 3) / 4);
         }},
        {"exponential", plain(Shape::exponential), always,
         [](auto a, auto b, auto n) {
             return std::has_single_bit((a + n - b) % n) || std::has_single_bit((b + n - a) % n);
         }},
        {"directed exponential", plain(Shape::exponential, true), always,
         [](auto a, auto b, auto n) { return std::has_single_bit((b + n - a) % n); }, true},
        {"torus", plain(Shape::torus), always,
         [](auto a, auto b, auto n) {
             auto side = static_cast<std::uint32_t>(std::sqrt(n));
             while (n % side != 0) --side;
             const bool row = a / side == b / side && around(a % side, b % side, side);
             return row || (a % side == b % side && around(a / side, b / side, n / side));
         }},
        {"hypercube", plain(Shape::hypercube), [](auto n) { return std::has_single_bit(n); },
         [](auto a, auto b, auto) { return std::has_single_bit(a ^ b); }},
        {"full-mesh", plain(Shape::full_mesh), always, [](auto, auto, auto) { return true; }},
        {"fat-tree", plain(Shape::fat_tree), never, nobody},
        {"dragonfly", plain(Shape::dragonfly), never, nobody},
        {"rails", plain(Shape::rails), never, nobody},
        {"graph", row_of_ranks, always, [](auto a, auto b, auto) { return a + 1 == b || b + 1 == a; }},
        {"graph of five", [](std::uint32_t) { return row_of_ranks(5); }, [](auto n) { return n == 5; },
         [](auto a, auto b, auto) { return a + 1 == b || b + 1 == a; }},
        {"graph with switches", [](std::uint32_t n) { return row_of_switches(n); }, never, nobody},
    };
}

}  // namespace syncline
