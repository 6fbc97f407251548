#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/topology/families.hpp"

/// Building blocks of the shapes, for use in their files only.
namespace syncline::shapes {

/// A connected graph has at most one vertex more than it has cables.
inline constexpr std::int64_t most_vertices = most_cables + 1;

/// Multiplies two numbers up to about `most_vertices`; every product above most_vertices becomes most_vertices + 1.
constexpr std::int64_t capped_product(std::int64_t a, std::int64_t b) {
    return a * b > most_vertices ? most_vertices + 1 : a * b;
}

[[noreturn]] void refuse_so_many(const std::string& key);

struct Request {
    const TopologySpec& spec;
    Use use;
    std::int64_t needed;  ///< hosts that the topology's user needs; 0: unknown

    bool fabric() const { return use == Use::fabric; }
    const char* hosts_word() const { return fabric() ? "hosts" : "ranks"; }
    /// Returns the number of hosts for a shape that can have any number.
    std::int64_t hosts(std::int64_t if_nobody_says = 16) const;
    /// Checks a shape whose parameters alone determine `count` hosts: throws TopologyError if the spec gives another
    /// number or the number does not suit the user. `what`: "the torus of 4 x 4"; `key`: the parameter to blame for too
    /// many.
    void require_fit(std::int64_t count, const std::string& what, const char* key) const;
};

/// A topology under construction, which never exceeds the limits on vertices and cables.
class Builder {
public:
    /// `cable_levels`: number of levels that bandwidths and latencies can be given for. Throws TopologyError if more
    /// are given.
    Builder(const Request& request, std::int64_t cable_levels);

    /// Sets the key to blame if the topology becomes too large from here on; "hosts" at first.
    void blame(const char* key) { blamed_ = key; }

    /// Adds hosts 0 … count-1.
    void add_hosts(std::int64_t count);
    void add_host(std::string name);
    std::int64_t add_switch(std::string name, std::int64_t level);
    void add_cable(std::int64_t a, std::int64_t b, std::int64_t level);
    void add_cable(std::int64_t a, std::int64_t b, const Wire& wire);
    void add_one_way(std::int64_t from, std::int64_t to, std::int64_t level);

    const Request& request() const { return request_; }
    /// Returns the spec's bandwidth and latency for cables of this level.
    Wire wire(std::int64_t level) const;
    /// Returns the finished topology. Cables are added to the graph only here, because a graph needs much time and
    /// memory; too many cables are rejected before.
    Topology take();

private:
    struct Connection {
        std::int64_t from, to;
        Wire wire;
        bool one_way;
    };
    void add(const Connection& connection);

    const Request& request_;
    Topology topology_;
    std::vector<Connection> connections_;
    const char* blamed_ = "hosts";
};

/// Builds groups of groups, each level in its pattern.
Topology build_hierarchy(const Request& request, std::span<const HierarchyLevel> levels);

/// Formulas of bisections that several shapes share; see torus.cpp and fat_tree.cpp.
std::optional<Bisection> bisect_torus(const TopologySpec& spec, const Topology& topology, const Network& network);
std::optional<Bisection> bisect_fat_tree(const TopologySpec& spec, const Topology& topology, const Network& network);

}  // namespace syncline::shapes
