#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/topology/bisection.hpp"
#include "sim/topology/builder.hpp"
#include "sim/topology/layout.hpp"

/// Torus: 1 to 3 dimensions d0, d1, d2; the host at (x, y, z) has number x + d0·(y + d1·z).
///
/// Bisection of a ring, torus or hypercube of equal links: J. Arjona Aroca and A. Fernández Anta, "Bisection
/// (Band)Width of Product Networks", TAMC 2012 (arXiv:1202.6291). If the longest dimension k is even, the cut is 2n/k;
/// if all dimensions are odd, at least 3 and in falling order k₁ ≥ … ≥ k_d, it is 2·Σ_i Π_{j>i} k_j up to the first
/// even one. A dimension of 2, which has one cable per pair rather than two, counts as 4: the routes of all pairs load
/// its cables like those of a ring of 4.
namespace syncline::shapes {

namespace {

/// Returns the divisors of `hosts` nearest to its square root, the smaller one first.
std::vector<std::int64_t> squarest(std::int64_t hosts) {
    std::int64_t side = 1;
    for (std::int64_t divisor = 1; divisor * divisor <= hosts; ++divisor) {
        if (hosts % divisor == 0) side = divisor;
    }
    return {side, hosts / side};
}

/// The first dimension counts fastest.
std::vector<std::int64_t> dimensions_of(const TopologySpec& spec, std::int64_t hosts) {
    return spec.dimensions.empty() ? squarest(hosts) : spec.dimensions;
}

std::int64_t count_hosts(const Request& request, const std::vector<std::int64_t>& dimensions) {
    if (dimensions.size() > 3)
        throw TopologyError("dimensions", fmt::format("a torus has 1 to 3 dimensions, not {}", dimensions.size()));
    std::int64_t hosts = 1;
    for (const std::int64_t size : dimensions) hosts = capped_product(hosts, size);
    request.require_fit(hosts, fmt::format("the torus of {}", fmt::join(dimensions, " x ")), "dimensions");
    return hosts;
}

Topology build_torus(const Request& request) {
    const std::vector<std::int64_t> dimensions = dimensions_of(request.spec, request.hosts());
    const std::int64_t hosts = count_hosts(request, dimensions);
    Builder builder(request, static_cast<std::int64_t>(dimensions.size()));
    builder.add_hosts(hosts);

    std::int64_t stride = 1, level = 0;
    for (const std::int64_t size : dimensions) {
        for (std::int64_t host = 0; host < hosts; ++host) {
            if (host / stride % size != 0) continue;
            std::vector<std::int64_t> line;
            for (std::int64_t i = 0; i < size; ++i) line.push_back(host + i * stride);
            families::ring.join(builder, line, level);
        }
        stride *= size;
        ++level;
    }
    Topology topology = builder.take();
    topology.circular = true;
    return topology;
}

/// Puts one dimension on a circle, two into rows and columns; with three, the planes lie behind each other.
GraphLayout grid(const TopologySpec& spec, const Topology& topology) {
    const std::vector<std::int64_t> dimensions = dimensions_of(spec, topology.hosts);
    if (dimensions.size() == 1) return circle(topology, false);
    std::int64_t size[3] = {1, 1, 1};
    std::copy(dimensions.begin(), dimensions.end(), size);
    const bool deep = size[2] > 1;
    const double step = std::max(deep ? 90.0 : 36.0, std::min(110.0, 700.0 / static_cast<double>(size[0])));
    // The planes behind are shifted right and up, between the rows and columns of the plane in front.
    const double depth = static_cast<double>(size[2]);
    const Point behind = (step / depth) * Point{0.8, -0.55};
    GraphLayout layout;
    layout.spacing = deep ? std::hypot(behind.x, behind.y) : step;
    for (std::uint32_t host = 0; host < topology.hosts; ++host) {
        const double x = static_cast<double>(host % size[0]), y = static_cast<double>(host / size[0] % size[1]),
                     z = static_cast<double>(host / size[0] / size[1]);
        layout.at.push_back(Point{x * step, y * step} + z * behind);
        layout.outward.push_back({0.35, 0.94});
    }
    for (const auto& [from, to] : cable_ends(topology)) {
        const std::int64_t distance = std::abs(static_cast<std::int64_t>(from) - to);
        layout.around.push_back(distance != 1 && distance != size[0] && distance != size[0] * size[1]);
    }
    return layout;
}

std::vector<std::uint32_t> torus_factors(const TopologySpec& spec, const Topology& topology) {
    const std::vector<std::int64_t> dimensions = dimensions_of(spec, topology.hosts);
    return {dimensions.begin(), dimensions.end()};
}

CableKinds dimension_kinds(const TopologySpec& spec, const Topology& topology) {
    return [dimensions = dimensions_of(spec, topology.hosts)](std::uint32_t from, std::uint32_t to) -> CableKind {
        std::int64_t a = from, b = to, number = 1;
        for (const std::int64_t size : dimensions) {
            if (a % size != b % size) break;
            a /= size;
            b /= size;
            ++number;
        }
        return {number, fmt::format("dimension {}", number)};
    };
}

constexpr ShapeParameter torus_parameters[]{
    {"dimensions", &TopologySpec::dimensions,
     "Hosts along each of one to three axes of a torus. Default: two axes, nearly a square."}};

}  // namespace

/// Returns nothing if no formula is proved: links that differ, or a longest dimension that is odd, beside one of 2.
std::optional<Bisection> bisect_torus(const TopologySpec& spec, const Topology& topology, const Network& network) {
    const auto weight = common_weight(network);
    if (!weight) return std::nullopt;
    const auto cut = [&](double links) {
        return Bisection{*weight * links, true, "formula for tori (Arjona Aroca, Fernández Anta 2012)"};
    };
    std::vector<std::uint32_t> lengths = cyclic_factors(spec, topology);
    std::replace(lengths.begin(), lengths.end(), 2U, 4U);
    std::erase(lengths, 1U);
    std::sort(lengths.begin(), lengths.end(), std::greater<>());
    const double hosts = topology.hosts;
    if (lengths.front() % 2 == 0) return cut(2 * hosts / lengths.front());
    double size = 1, sum = 0;  // from here on `size` is the number of hosts, if no dimension is 2
    for (const std::uint32_t length : lengths) size *= length;
    if (size != hosts) return std::nullopt;
    for (const std::uint32_t length : lengths) {
        size /= length;
        sum += size;
        if (length % 2 == 0) break;
    }
    return cut(2 * sum);
}

constinit const Family families::torus{.shape = Shape::torus,
                                       .name = "torus",
                                       .parameters = torus_parameters,
                                       .build = build_torus,
                                       .lay_out = grid,
                                       .cable_kinds = dimension_kinds,
                                       .factors = torus_factors,
                                       .bisection = bisect_torus};

}  // namespace syncline::shapes
