#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/topology/topology.hpp"

/// Routes through a fabric: shortest paths, by latency (then hops) or by hops (then latency).
///
/// Among equally short paths a policy chooses, at every branch:
/// - first: the cable that was added first.
/// - ecmp: a hash of source, destination and channel picks one, always the same for the same flow. A host that has the
///   choice itself (the two ways round an even ring) takes turns with its neighbours, so that flows to hosts equally
///   far away are balanced over the directions.
/// - d_mod_k: of a fat tree. From level l up over port ⌊d / (w₁…w_l)⌋ mod (w_{l+1}·p_{l+1}) for destination d, ports
///   being numbered from parent to parent and then from cable to cable, and down over the same one of the parallel
///   cables: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift permutations on real life fat trees",
///   2010. SimGrid's FatTreeZone does the same, but uses only the first of parallel cables.
/// - adaptive_at_start: the path whose busiest hop has the fewest flows in flight, the first of them if there are
///   several. Who asks for the route says how many there are; the route then stays.
///
/// Left out: paths that are longer than the shortest (Valiant's), and flows that change their path on the way.
///
/// Nothing is tabulated in advance. A search runs backwards from a destination, only as far as the sources that ask,
/// and is kept; hosts with a single cable are reached through what it ends at. So a star or a fat tree of thousands of
/// hosts needs a few searches, among its switches. Source of the search: E. W. Dijkstra, Numerische Mathematik 1
/// (1959).
namespace syncline {

struct Routing {
    enum class Shortest : std::uint8_t { latency, hops };
    enum class Policy : std::uint8_t { d_mod_k, ecmp, first, adaptive_at_start };
    Shortest shortest = Shortest::latency;
    std::optional<Policy> policy = {};  ///< nothing: d_mod_k on fat trees, ecmp elsewhere
};

/// As in files: "d-mod-k".
const char* policy_name(Routing::Policy policy);

class Router {
public:
    /// One direction of a cable, in the order in which they were added.
    struct Hop {
        std::uint32_t from = 0, to = 0;
        std::uint32_t cable = 0;
        Wire wire;
    };

    /// Throws std::logic_error for d_mod_k on what is no fat tree.
    Router(const Topology& topology, const Routing& routing);

    const std::vector<Hop>& hops() const { return hops_; }
    Routing::Policy policy() const { return policy_; }
    /// Whether the graph is a tree: no policy has a choice.
    bool single_way() const { return single_way_; }

    /// Appends the numbers of the hops from one vertex to another; nothing if they are the same. `in_flight`: flows by
    /// hop, for adaptive_at_start; empty: none anywhere. Throws std::logic_error where there is no way.
    void route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint32_t channel = 0,
               std::span<const std::uint32_t> in_flight = {});

    /// Among the paths of equal length from one vertex to another, the number of those that avoid hop `around` and lie
    /// unused: some hop of theirs has carried nothing. `bytes`: by hop.
    double unused_ways(std::uint32_t from, std::uint32_t to, std::uint32_t around,
                       std::span<const std::uint64_t> bytes);

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

    /// The vertices between which there is a choice: a host's single cable leaves none.
    struct Ends {
        std::uint32_t at = 0, gate = 0;
        bool gated = false;  ///< the destination hangs on the gate by a single cable
    };

    Distance length(const Hop& hop) const;
    Ends ends(std::uint32_t from, std::uint32_t to) const;
    Search& search(std::uint32_t to);
    /// Until `from` and all that is nearer to the destination is settled.
    void extend(Search& search, std::uint32_t from) const;
    /// The search from the gate, as far as needed.
    const Search& searched(const Ends& ends);
    /// The hops from `at` that begin a shortest path, in choices_.
    void find_choices(const Search& way, std::uint32_t at);
    std::uint32_t by_hash(std::uint32_t at, std::uint64_t flow) const;
    std::uint32_t by_turn(std::uint32_t from, std::uint32_t to, std::uint32_t channel);
    std::uint32_t by_destination(std::uint32_t at, std::uint32_t to) const;
    void append_least_loaded(const Search& way, const Ends& ends, std::span<const std::uint32_t> in_flight,
                             std::vector<std::uint32_t>& path);

    std::uint32_t vertices_;
    Routing::Shortest shortest_;
    Routing::Policy policy_;
    bool single_way_;
    double unit_s_ = 1e-15;  ///< of latency; coarser where the sums would not fit
    std::vector<Hop> hops_;
    std::vector<std::vector<std::uint32_t>> out_, in_;  // hops by vertex
    std::vector<std::uint32_t> levels_;                 // by vertex, of a fat tree
    std::vector<std::uint32_t> parents_;                // by level, of a fat tree ...
    std::vector<std::uint64_t> strides_;                // ... and the product of those below
    std::unordered_map<std::uint32_t, Search> searches_;
    std::vector<std::uint32_t> choices_;  // scratch
};

}  // namespace syncline
