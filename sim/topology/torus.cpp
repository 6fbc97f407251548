#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/topology/builder.hpp"

namespace syncline {
namespace shapes {

namespace {

/// Returns the divisors of `hosts` nearest to its square root, the smaller one first.
std::vector<std::int64_t> squarest(std::int64_t hosts) {
    std::int64_t side = 1;
    for (std::int64_t divisor = 1; divisor * divisor <= hosts; ++divisor) {
        if (hosts % divisor == 0) side = divisor;
    }
    return {side, hosts / side};
}

std::int64_t count_hosts(const Request& request, const std::vector<std::int64_t>& dimensions) {
    if (dimensions.size() > 3)
        throw TopologyError("dimensions", fmt::format("a torus has 1 to 3 dimensions, not {}", dimensions.size()));
    std::int64_t hosts = 1;
    for (const std::int64_t size : dimensions) hosts = capped_product(hosts, size);
    request.require_fit(hosts, fmt::format("the torus of {}", fmt::join(dimensions, " x ")), "dimensions");
    return hosts;
}

}  // namespace
}  // namespace shapes

std::vector<std::int64_t> torus_dimensions(const TopologySpec& spec, std::int64_t hosts) {
    return spec.dimensions.empty() ? shapes::squarest(hosts) : spec.dimensions;
}

namespace shapes {

Topology torus(const Request& request) {
    const std::vector<std::int64_t> dimensions = torus_dimensions(request.spec, request.hosts());
    const std::int64_t hosts = count_hosts(request, dimensions);
    Builder builder(request, static_cast<std::int64_t>(dimensions.size()));
    builder.add_hosts(hosts);

    std::int64_t stride = 1, level = 0;
    for (const std::int64_t size : dimensions) {
        for (std::int64_t host = 0; host < hosts; ++host) {
            if (host / stride % size != 0) continue;
            std::vector<std::int64_t> line;
            for (std::int64_t i = 0; i < size; ++i) line.push_back(host + i * stride);
            join(builder, Shape::ring, line, level);
        }
        stride *= size;
        ++level;
    }
    return builder.take();
}

}  // namespace shapes
}  // namespace syncline
