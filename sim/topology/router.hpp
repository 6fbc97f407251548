#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/topology/topology.hpp"

/// Routes through a fabric: shortest paths, by latency (then hops) or by hops (then latency). Among equally short paths
/// a policy chooses at every branch:
/// - first: the cable that was added first.
/// - ecmp: a hash of source, destination and channel. In rings and tori the choice depends on the distances along the
///   dimensions alone, so that all cables of a direction carry the same if all hosts send to hosts at that distance.
///   Half way round, a host alternates between the directions with its neighbours, and from one distance along the
///   other dimensions to the next.
/// - d_mod_k: for fat trees. From level l, a flow to destination d goes up through port ⌊d / (w₁…w_l)⌋ mod
///   (w_{l+1}·p_{l+1}), where ports are numbered from parent to parent and then from cable to cable, and down through
///   the same one of the parallel cables: E. Zahavi, "D-Mod-K routing providing non-blocking traffic for shift
///   permutations on real life fat trees", 2010 (SimGrid's FatTreeZone uses only the first of parallel cables).
/// - adaptive_at_start: the path whose busiest hop has the fewest flows in flight, which the caller passes; ties go to
///   the first path; the route is then fixed.
/// - valiant: for dragonflies. Minimally to a group that a hash of source, destination and channel chooses, and from
///   there minimally to the destination: two cables between groups, for any pattern of traffic.
/// - ugal: for dragonflies. The minimal path if q·H is no more there than on the way by a random group, as valiant's; H
///   is the number of hops between routers, q the number of flows in flight on the busiest of these (UGAL-G, whose
///   queues are those of all channels; a router knows its own alone, UGAL-L).
///
/// - spray: each packet takes one of the hops at every branch, all of them equally often, so that a flow has a part of
///   its bytes on every shortest path: spread(). (A. Dixit et al., "On the impact of packet spraying in data center
///   networks", INFOCOM 2013; packets that arrive out of order cost nothing here.) route() then gives one of the paths.
///
/// In a dragonfly a path with fewer cables between groups is shorter, so that a minimal one has at most one: a local
/// hop, the global one, a local hop. Inside a group all policies are minimal. Source: J. Kim et al.,
/// "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, sections 4.1 and 4.2; its Valiant and UGAL
/// choose for each packet.
///
/// Left out: other paths longer than the shortest, and flows that change their path in flight.
///
/// No tables are precomputed. A search (E. W. Dijkstra, Numerische Mathematik 1, 1959) runs backwards from a
/// destination, only as far as the sources that ask, and is kept; hosts with a single cable are left out of it. A torus
/// and its like (Topology::cycles) need one, from host 0: distances to another host are the same, moved.
namespace syncline {

struct Routing {
    enum class Shortest : std::uint8_t { latency, hops };
    enum class Policy : std::uint8_t { d_mod_k, ecmp, first, adaptive_at_start, valiant, ugal, spray };
    Shortest shortest = Shortest::latency;
    std::optional<Policy> policy = {};  ///< nothing: d_mod_k on fat trees, ecmp elsewhere
};

/// Returns the policy's name in files, such as "d-mod-k".
const char* policy_name(Routing::Policy policy);

/// Returns true if routes depend on the flows in flight.
constexpr bool depends_on_load(Routing::Policy policy) {
    return policy == Routing::Policy::adaptive_at_start || policy == Routing::Policy::ugal;
}

/// Returns true if routes may leave the shortest paths, by a third group of a dragonfly.
constexpr bool takes_detours(Routing::Policy policy) {
    return policy == Routing::Policy::valiant || policy == Routing::Policy::ugal;
}

class Router {
public:
    /// One direction of a cable, in the order in which they were added.
    struct Hop {
        std::uint32_t from = 0, to = 0;
        std::uint32_t cable = 0;
        Wire wire;
    };

    /// Throws std::logic_error if d_mod_k is used on a topology that is not a fat tree, or valiant or ugal on one that
    /// is no dragonfly.
    Router(const Topology& topology, const Routing& routing);

    const std::vector<Hop>& hops() const { return hops_; }
    Routing::Policy policy() const { return policy_; }
    /// Returns true if the graph is a tree, so that no policy has a choice.
    bool single_way() const { return single_way_; }
    /// Returns the number of vertices that searches have settled.
    std::uint64_t settled() const { return settled_; }

    /// Appends the numbers of the hops from one vertex to another; nothing if they are the same. `in_flight`: flows by
    /// hop, for policies that depend on them; empty: none anywhere. Throws std::logic_error if there is no path.
    void route(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint32_t channel = 0,
               std::span<const std::uint32_t> in_flight = {});

    /// Leaves out hops from now on, by number. A host's only cable is used all the same.
    void avoid(std::vector<bool> hops);
    /// Returns false if there is no path without the hops that are left out.
    bool reaches(std::uint32_t from, std::uint32_t to);

    /// A hop, and the part of a flow that it carries.
    struct Share {
        std::uint32_t hop = 0;
        double part = 1;
    };
    /// Appends the hops of all shortest paths from one vertex to another, each once, for a flow that is divided evenly
    /// at every branch. Throws like route().
    void spread(std::uint32_t from, std::uint32_t to, std::vector<Share>& shares);

    /// Counts the paths of equal length from one vertex to another that avoid hop `around`, are unused (at least one of
    /// their hops has carried nothing), and would relieve it: with `moved` bytes more each of their hops would still
    /// carry less than `around` does. `bytes`: by hop.
    double unused_ways(std::uint32_t from, std::uint32_t to, std::uint32_t around, std::span<const std::uint64_t> bytes,
                       std::uint64_t moved);

private:
    /// Latency in units and then hops, or hops and then latency, as integers so that equal paths compare equal.
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
        std::vector<Distance> distance;   ///< by number(), of `gate`
        std::vector<std::uint32_t> only;  ///< the same of the only hop that begins a shortest path, if that is known
        std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
        Distance frontier;  ///< every vertex nearer than this is settled
    };

    /// The vertices between which a choice exists; the single cable of a host leaves none.
    struct Ends {
        std::uint32_t at = 0, gate = 0;
        bool gated = false;  ///< the destination is attached to the gate by a single cable
    };

    /// A search, and the vertex to which its distances are read.
    struct Way {
        Search* search = nullptr;
        std::uint32_t gate = 0;
    };

    Distance length(const Hop& hop) const;
    bool avoided(std::uint32_t hop) const { return !avoided_.empty() && avoided_[hop]; }
    /// Returns the number of a torus's vertex if all are moved so that `origin` has number 0.
    std::uint32_t seen_from(std::uint32_t origin, std::uint32_t vertex) const;
    bool joins_groups(const Hop& hop) const { return !groups_.empty() && groups_[hop.from] != groups_[hop.to]; }
    void append_shortest(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint64_t flow,
                         std::uint32_t channel, std::span<const std::uint32_t> in_flight);
    /// Appends the way by another group that the hash `draw` chooses. Returns false if there is none.
    bool append_detour(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t>& path, std::uint64_t draw,
                       std::uint32_t channel);
    /// Returns q·H of a path: see ugal.
    std::uint64_t cost(std::span<const std::uint32_t> path, std::span<const std::uint32_t> in_flight) const;
    Ends ends(std::uint32_t from, std::uint32_t to) const;
    Search& search(std::uint32_t to);
    /// Extends the search until the vertex of the number `asked` and all that are nearer to the destination are
    /// settled.
    void extend(Search& search, std::uint32_t asked) const;
    /// Returns the way to the gate, searched as far as needed.
    Way searched(const Ends& ends);
    /// Returns the number of a vertex in searches for the way to `gate`; no_number for a host with a single cable.
    std::uint32_t number(std::uint32_t vertex, std::uint32_t gate) const;
    Distance distance(const Way& way, std::uint32_t vertex) const;
    /// Stores the hops from `at` that begin a shortest path in choices_.
    void find_choices(const Way& way, std::uint32_t at);
    std::uint32_t by_hash(std::uint32_t at, std::uint64_t flow) const;
    std::uint32_t by_turn(std::uint32_t from, std::uint32_t to, std::uint32_t channel);
    void find_slots();
    /// Returns the slots of the hops from `at` that begin a shortest path.
    const std::vector<std::uint32_t>& slots_on_way(const Way& way, std::uint32_t at);
    void append_by_distance(const Way& way, std::uint32_t at, std::uint32_t from, std::uint32_t to,
                            std::uint32_t channel, std::vector<std::uint32_t>& path);
    std::uint32_t by_destination(std::uint32_t at, std::uint32_t to) const;
    void append_least_loaded(const Way& way, const Ends& ends, std::span<const std::uint32_t> in_flight,
                             std::vector<std::uint32_t>& path);

    std::uint32_t vertices_;
    Routing::Shortest shortest_;
    Routing::Policy policy_;
    bool single_way_;
    bool circular_;          ///< a ring or torus
    double unit_s_ = 1e-15;  ///< unit of latency; coarser if the sums would overflow
    std::vector<Hop> hops_;
    std::vector<std::vector<std::uint32_t>> out_, in_;  // hops by vertex
    std::vector<bool> avoided_;                         // by hop; empty: none
    static constexpr std::uint32_t no_number = ~std::uint32_t{0};
    std::vector<std::uint32_t> numbers_;  // by vertex, in searches: without hosts that have a single cable
    std::uint32_t numbered_ = 0;
    std::vector<std::uint32_t> cycles_;  // of Topology
    /// In rings and tori: hops by vertex and slot, in the order of where they lead; the axis along which each slot
    /// leads; and, by number in searches, the slots that begin a shortest path, once asked for.
    std::vector<std::uint32_t> slots_, axes_;
    std::vector<std::vector<std::uint32_t>> choices_from_;
    std::vector<std::uint32_t> groups_;  // of Topology
    /// With detours: the hops from one group to another, by both.
    std::vector<std::vector<std::uint32_t>> between_groups_;
    std::uint32_t group_count_ = 0;
    std::uint64_t drawn_ = 0;             // by ugal
    std::vector<std::uint32_t> levels_;   // by vertex, fat trees only
    std::vector<std::uint32_t> parents_;  // by level, fat trees only
    std::vector<std::uint64_t> strides_;  // product of the parents of the levels below
    std::unordered_map<std::uint32_t, Search> searches_;
    mutable std::uint64_t settled_ = 0;
    std::vector<std::uint32_t> choices_;  // scratch
};

}  // namespace syncline
