#pragma once

#include <compare>
#include <cstdint>
#include <queue>
#include <unordered_map>
#include <vector>

#include "sim/topology/topology.hpp"

/// Routes through a fabric: shortest paths, by latency (then hops) or by hops (then latency).
///
/// Among equally short paths the one over the cables that were added first is taken, or, if traffic is spread, one that
/// a hash of source and destination picks at every branch, as ECMP does: always the same one for the same two hosts.
///
/// Nothing is tabulated in advance. A search runs backwards from a destination, only as far as the sources that ask,
/// and is kept; hosts with a single cable are reached through what it ends at. So a star or a fat tree of thousands of
/// hosts needs a few searches, among its switches. Source of the search: E. W. Dijkstra, Numerische Mathematik 1
/// (1959).
namespace syncline {

struct Routing {
    enum class Shortest : std::uint8_t { latency, hops };
    Shortest shortest = Shortest::latency;
    bool spread = false;
};

class Router {
public:
    /// One direction of a cable, in the order in which they were added.
    struct Hop {
        std::uint32_t from = 0, to = 0;
        std::uint32_t cable = 0;
        Wire wire;
    };

    Router(const Topology& topology, const Routing& routing);

    const std::vector<Hop>& hops() const { return hops_; }

    /// Appends the numbers of the hops from one vertex to another; nothing if they are the same. Throws
    /// std::logic_error where there is no way.
    void route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path);

private:
    /// Latency in units and hops, or the other way round: whole numbers, so that equal paths are equal.
    struct Distance {
        std::uint64_t major = 0, minor = 0;
        auto operator<=>(const Distance&) const = default;
    };
    static constexpr Distance unreached{~std::uint64_t{0}, ~std::uint64_t{0}};

    struct Search {
        struct Open {
            Distance distance;
            std::uint32_t vertex;
            bool operator>(const Open& other) const {
                return distance != other.distance ? distance > other.distance : vertex > other.vertex;
            }
        };
        std::vector<Distance> distance;
        std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
        Distance frontier;  ///< everything nearer than this is settled
    };

    Distance length(const Hop& hop) const;
    Search& search(std::uint32_t to);
    /// Until `from` and all that is nearer to the destination is settled.
    void extend(Search& search, std::uint32_t from) const;

    std::uint32_t vertices_;
    Routing routing_;
    double unit_s_ = 1e-15;  ///< of latency; coarser where the sums would not fit
    std::vector<Hop> hops_;
    std::vector<std::vector<std::uint32_t>> out_, in_;  // hops by vertex
    std::unordered_map<std::uint32_t, Search> searches_;
};

}  // namespace syncline
