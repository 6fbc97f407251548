#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "sim/topology/bisection.hpp"
#include "sim/topology/builder.hpp"
#include "sim/topology/layout.hpp"

/// Shapes that connect any members, all hosts or the members of a group in a hierarchy. On its own a pattern is a
/// hierarchy of one level.
///
/// - star: every host on one switch. Overlay: rank 0 connected to every other rank.
/// - ring: host i connected to i + 1 mod n; two hosts have one cable.
/// - full-mesh: every pair of hosts. Its bisection is ⌊n/2⌋·⌈n/2⌉.
/// - exponential: host i connected to i ± 2^k mod n for all 2^k < n, each pair once; directed: one way to i + 2^k.
/// - hypercube: host i connected to i xor 2^k; n is a power of two.
namespace syncline::shapes {

namespace {

using Members = std::span<const std::int64_t>;
using Steps = std::vector<std::size_t>;

std::vector<std::uint32_t> one_cycle(const TopologySpec&, const Topology& topology) {
    return {topology.hosts};
}

/// Ring, exponential graph and full mesh are circulant: member i is connected to i ± d mod n for distances d ≤ n/2.
void join_circulant(Builder& builder, Members members, const Steps& distances, std::int64_t level) {
    const std::size_t n = members.size();
    for (const std::size_t distance : distances) {
        // At half the circumference, i + d and i - d are the same.
        const std::size_t starts = 2 * distance == n ? distance : n;
        for (std::size_t i = 0; i < starts; ++i) builder.add_cable(members[i], members[(i + distance) % n], level);
    }
}

/// Connects all members with the first.
void join_star(Builder& builder, Members members, std::int64_t level) {
    for (const std::int64_t member : members.subspan(1)) builder.add_cable(member, members[0], level);
}

void join_ring(Builder& builder, Members members, std::int64_t level) {
    join_circulant(builder, members, members.size() > 1 ? Steps{1} : Steps{}, level);
}

void join_full_mesh(Builder& builder, Members members, std::int64_t level) {
    Steps distances(members.size() / 2);
    std::iota(distances.begin(), distances.end(), std::size_t{1});
    join_circulant(builder, members, distances, level);
}

void join_exponential(Builder& builder, Members members, std::int64_t level) {
    const std::size_t n = members.size();
    const bool one_way = builder.request().spec.directed;
    std::set<std::size_t> distances;
    for (std::size_t power = 1; power < n; power *= 2) {
        for (std::size_t i = 0; one_way && i < n; ++i) builder.add_one_way(members[i], members[(i + power) % n], level);
        if (!one_way) distances.insert(std::min(power, n - power));
    }
    join_circulant(builder, members, {distances.begin(), distances.end()}, level);
}

void join_hypercube(Builder& builder, Members members, std::int64_t level) {
    const std::size_t n = members.size();
    if (!std::has_single_bit(n)) {
        const bool inner = builder.request().spec.shape == Shape::hierarchical;
        throw TopologyError(inner ? "levels" : "hosts",
                            fmt::format("the number of {} of a hypercube must be a power of two, not {}",
                                        inner ? "members" : builder.request().hosts_word(), n),
                            fmt::format("{} or {}", std::bit_floor(n), std::bit_ceil(n)));
    }
    for (std::size_t bit = 1; bit < n; bit *= 2) {
        for (std::size_t i = 0; i < n; ++i) {
            if ((i & bit) == 0) builder.add_cable(members[i], members[i | bit], level);
        }
    }
}

std::optional<Bisection> bisect_full_mesh(const TopologySpec&, const Topology&, const Network& network) {
    const auto weight = common_weight(network);
    if (!weight) return std::nullopt;
    const double half = network.hosts() / 2;
    return Bisection{*weight * half * (network.hosts() - half), true, "formula ⌊n/2⌋·⌈n/2⌉"};
}

CableKinds distances_of(const TopologySpec&, const Topology& topology) {
    return [&](std::uint32_t from, std::uint32_t to) -> CableKind {
        const std::uint32_t forward = (to + topology.hosts - from) % topology.hosts;
        if (topology.directed()) return {forward, fmt::format("i to i + {}", forward)};
        const std::uint32_t nearer = std::min(forward, topology.hosts - forward);
        return {nearer, fmt::format("i and i \u00b1 {}", nearer)};
    };
}

CableKinds bits_of(const TopologySpec&, const Topology&) {
    return [](std::uint32_t from, std::uint32_t to) -> CableKind {
        return {from ^ to, fmt::format("bit {}", std::countr_zero(from ^ to))};
    };
}

std::vector<std::uint32_t> hypercube_factors(const TopologySpec&, const Topology& topology) {
    return std::vector<std::uint32_t>(static_cast<std::size_t>(std::countr_zero(topology.hosts)), 2);
}

constexpr ShapeParameter exponential_parameters[]{
    {"directed", &TopologySpec::directed,
     "Direction of an exponential graph: only connections from i to i + 2^k, without those to i - 2^k."}};

}  // namespace

constinit const Family families::star{
    .shape = Shape::star, .name = "star", .join = join_star, .lay_out = [](const TopologySpec&, const Topology& it) {
        return circle(it, true);
    }};

constinit const Family families::ring{
    .shape = Shape::ring, .name = "ring", .join = join_ring, .factors = one_cycle, .bisection = bisect_torus};

constinit const Family families::full_mesh{.shape = Shape::full_mesh,
                                           .name = "full-mesh",
                                           .join = join_full_mesh,
                                           .factors = one_cycle,
                                           .bisection = bisect_full_mesh};

constinit const Family families::exponential{.shape = Shape::exponential,
                                             .name = "exponential",
                                             .called = "an exponential graph",
                                             .parameters = exponential_parameters,
                                             .join = join_exponential,
                                             .branches = true,
                                             .cable_kinds = distances_of,
                                             .factors = one_cycle};

constinit const Family families::hypercube{.shape = Shape::hypercube,
                                           .name = "hypercube",
                                           .join = join_hypercube,
                                           .branches = true,
                                           .cable_kinds = bits_of,
                                           .factors = hypercube_factors,
                                           .bisection = bisect_torus};

}  // namespace syncline::shapes
