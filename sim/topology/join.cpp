#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "sim/topology/builder.hpp"

namespace syncline::shapes {

namespace {

using Members = std::span<const std::int64_t>;
using Distances = std::vector<std::size_t>;

/// Ring, exponential graph and full mesh are circulant: member i is connected to i ± d mod n for distances d ≤ n/2.
void join_circulant(Builder& builder, Members members, const Distances& distances, std::int64_t level) {
    const std::size_t n = members.size();
    for (const std::size_t distance : distances) {
        // At half the circumference, i + d and i - d are the same.
        const std::size_t starts = 2 * distance == n ? distance : n;
        for (std::size_t i = 0; i < starts; ++i) builder.add_cable(members[i], members[(i + distance) % n], level);
    }
}

Distances exponential_distances(std::size_t n) {
    std::set<std::size_t> distances;
    for (std::size_t power = 1; power < n; power *= 2) distances.insert(std::min(power, n - power));
    return {distances.begin(), distances.end()};
}

Distances all_distances(std::size_t n) {
    Distances distances(n / 2);
    std::iota(distances.begin(), distances.end(), std::size_t{1});
    return distances;
}

void join_hypercube(Builder& builder, Members members, std::int64_t level) {
    const std::size_t n = members.size();
    for (std::size_t bit = 1; bit < n; bit *= 2) {
        for (std::size_t i = 0; i < n; ++i) {
            if ((i & bit) == 0) builder.add_cable(members[i], members[i | bit], level);
        }
    }
}

}  // namespace

void join(Builder& builder, Shape pattern, Members members, std::int64_t level) {
    const std::size_t n = members.size();
    switch (pattern) {
        case Shape::star:
            for (const std::int64_t member : members.subspan(1)) builder.add_cable(member, members[0], level);
            return;
        case Shape::ring:
            return join_circulant(builder, members, n > 1 ? Distances{1} : Distances{}, level);
        case Shape::exponential:
            return join_circulant(builder, members, exponential_distances(n), level);
        case Shape::full_mesh:
            return join_circulant(builder, members, all_distances(n), level);
        case Shape::hypercube:
            return join_hypercube(builder, members, level);
        default:
            throw std::logic_error(fmt::format("'{}' is not a pattern", shape_name(pattern)));
    }
}

void join_exponential_one_way(Builder& builder, Members members) {
    const std::size_t n = members.size();
    for (std::size_t power = 1; power < n; power *= 2) {
        for (std::size_t i = 0; i < n; ++i) builder.add_one_way(members[i], members[(i + power) % n], 0);
    }
}

}  // namespace syncline::shapes
