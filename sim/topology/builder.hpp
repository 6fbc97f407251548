#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/topology/shape.hpp"

/// What make_topology is made of; of no use outside.
namespace syncline::shapes {

/// A connected graph has at most one vertex more than cables.
inline constexpr std::int64_t most_vertices = most_cables + 1;

/// Of two numbers up to about `most_vertices`; more than most_vertices is all the same.
constexpr std::int64_t capped_product(std::int64_t a, std::int64_t b) {
    return a * b > most_vertices ? most_vertices + 1 : a * b;
}

[[noreturn]] void refuse_so_many(const std::string& key);

struct Request {
    const TopologySpec& spec;
    Use use;
    std::int64_t needed;  ///< hosts, whoever uses the topology; 0: unknown

    bool fabric() const { return use == Use::fabric; }
    const char* hosts_word() const { return fabric() ? "hosts" : "ranks"; }
    /// How many hosts a shape gets that takes any number.
    std::int64_t hosts(std::int64_t if_nobody_says = 16) const;
    /// For a shape whose parameters alone give it `count` hosts: throws TopologyError if the spec says another number
    /// or the user cannot do with it. `what`: "the torus of 4 x 4"; `key`: the parameter to blame for too many.
    void require_fit(std::int64_t count, const std::string& what, const char* key) const;
};

/// A topology in the making, which never has too many vertices or cables.
class Builder {
public:
    /// `cable_levels`: how many bandwidths and latencies make sense. Throws TopologyError if there are more.
    Builder(const Request& request, std::int64_t cable_levels);

    /// The key that is to blame if it becomes too much from here on; "hosts" at first.
    void blame(const char* key) { blamed_ = key; }

    /// Hosts 0 … count-1.
    void add_hosts(std::int64_t count);
    void add_host(std::string name);
    std::int64_t add_switch(std::string name, std::int64_t level);
    void add_cable(std::int64_t a, std::int64_t b, std::int64_t level);
    void add_cable(std::int64_t a, std::int64_t b, const Wire& wire);
    void add_one_way(std::int64_t from, std::int64_t to, std::int64_t level);

    /// What the spec says about cables of this level.
    Wire wire(std::int64_t level) const;
    /// The topology, at last. The cables wait until here, because a graph takes long to make and much memory; too many
    /// are refused before.
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

/// Joins the members in a pattern: star (the first in the centre), ring, full-mesh, exponential, hypercube (of a power
/// of two of members).
void join(Builder& builder, Shape pattern, std::span<const std::int64_t> members, std::int64_t level);

/// One-way connections from member i to i + 2^k mod n.
void join_exponential_one_way(Builder& builder, std::span<const std::int64_t> members);

/// The families, each in a file of its own. Star, ring, exponential, hypercube and full mesh are hierarchies of one
/// level.
Topology hierarchical(const Request& request, std::span<const HierarchyLevel> levels);
Topology tree(const Request& request);
Topology torus(const Request& request);
Topology fat_tree(const Request& request);
Topology dragonfly(const Request& request);
Topology rails(const Request& request);
Topology user_graph(const Request& request);

}  // namespace syncline::shapes
